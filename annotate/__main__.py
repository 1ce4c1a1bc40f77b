"""The command line `python -m annotate`: projects, labels, people, the database and the app, without the learner."""

import sys
from typing import Annotated

import typer

import annotate.cli.lifecycle  # noqa: F401  (adds its commands to `project`)
from annotate.cli import archive, history
from annotate.cli.db import db
from annotate.cli.labels import labels
from annotate.cli.output import group, run
from annotate.cli.people import people
from annotate.cli.projects import project
from annotate.cli.worker import worker
from db.version import VERSION

app = group("Projects, labels and people, and the app in the browser.")
project.command("export")(archive.export_to)
project.command("import")(archive.import_from)
project.command("history")(history.history)
app.add_typer(project, name="project")
app.add_typer(labels, name="labels")
app.add_typer(db, name="db")
app.add_typer(people, name="people")
app.command()(worker)


def _say_version(wanted: bool) -> None:
    if wanted:
        print(f"allpairs {VERSION}")
        raise typer.Exit


@app.callback()
def about(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", is_eager=True, callback=_say_version)
    ] = False,
) -> None:
    """Projects, labels and people, and the app in the browser."""


@app.command()
def serve(
    port: Annotated[int, typer.Option(help="Port of the app.", min=1, max=65535)] = 8501,
    address: Annotated[str, typer.Option(help="Address to listen on; 0.0.0.0 for every network.")] = "localhost",
) -> None:
    """Start the app and, unless one is alive, a worker.

    Example: python -m annotate serve --port 8501
    """
    from annotate.cli.serve import serve as serve_app  # DBOS takes longer to import than every other command to run

    serve_app(port=port, address=address)


if __name__ == "__main__":
    run(app, sys.argv[1:])
