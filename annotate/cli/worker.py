"""The command `worker`: what a container asks, without loading what a worker needs."""

import socket
from datetime import timedelta
from typing import Annotated

import typer

from db.projects.jobs import heard_of
from db.schema.engine import make_engine, reading
from db.schema.tables import now

SILENT = timedelta(minutes=1)  # a worker reports every two seconds


def worker(
    name: Annotated[str | None, typer.Option(help="Name of the worker; the machine's name without it.")] = None,
) -> None:
    """Say when a worker was last heard of. Exit code 1 where that was not within a minute.

    Example: python -m annotate worker --name gpu-1
    """
    name = name or socket.gethostname()
    with reading(make_engine()) as session:
        at = heard_of(session, name)
    if at is None:
        print(f"no worker named {name} has been heard of")
        raise typer.Exit(1)
    silence = now() - at
    print(f"the worker {name} was heard of {silence.total_seconds():.0f} s ago")
    if silence > SILENT:
        raise typer.Exit(1)
