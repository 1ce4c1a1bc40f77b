"""The command `serve-model`."""

from typing import Annotated

import typer


def serve_model(
    port: Annotated[int, typer.Option(help="Port to listen on; 0 for a free one.", min=0, max=65535)] = 0,
    host: Annotated[
        str, typer.Option(help="Address to listen on; one that the app reaches, if it runs on another machine.")
    ] = "127.0.0.1",
    name: Annotated[str | None, typer.Option(help="Name of this process; default: the machine's name.")] = None,
    project: Annotated[
        list[str] | None, typer.Option(help="Load this project's model at once, not at its first request; repeatable.")
    ] = None,
) -> None:
    """Answer the app's `match` requests with published models, until stopped.

    The app finds the process by the database, and only the app is answered.

    Example: allpairs serve-model --project questions
    """
    from allpairs.learner.serving.process import run_server

    run_server(host, port, name, project or ())
