"""The command `check-worker`: a health check for containers that does not load the learner."""

import socket
from datetime import timedelta
from typing import Annotated

import typer

from allpairs.db.projects.jobs import heard_of
from allpairs.db.schema.engine import make_engine, reading
from allpairs.db.schema.tables import now

SILENT = timedelta(minutes=1)  # a worker reports every two seconds


def check_worker(
    name: Annotated[str | None, typer.Option(help="Name of the worker. [default: the host name]")] = None,
) -> None:
    """Print how long ago a worker last reported. Exit code 1 if that is over a minute.

    Example: allpairs check-worker --name gpu-1
    """
    name = name or socket.gethostname()
    with reading(make_engine()) as session:
        last_report = heard_of(session, name)
    if last_report is None:
        print(f"no worker named {name} has ever reported")
        raise typer.Exit(1)
    silence = now() - last_report
    print(f"the worker {name} last reported {silence.total_seconds():.0f} s ago")
    if silence > SILENT:
        raise typer.Exit(1)
