"""The command `worker`."""

from typing import Annotated

import typer

from allpairs.db.domain import Queue


def worker(
    name: Annotated[str | None, typer.Option(help="Name of this worker; default: the machine's name.")] = None,
    queue: Annotated[
        Queue | None,
        typer.Option(
            help="Whose jobs to run: gpu (training and encoding) or cpu (audits, previews, searches; never uses "
            "a GPU); default: gpu on a machine with a GPU, else cpu."
        ),
    ] = None,
) -> None:
    """Run jobs of the app one at a time, until stopped.

    Jobs of a queue that no live worker serves go to the workers of the other queue, so that none waits in vain.

    Example: allpairs worker --queue gpu
    """
    from allpairs.learner.worker import run_worker

    run_worker(name, queue)
