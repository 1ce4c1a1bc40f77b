"""All commands of `python -m annotate`."""

from typing import Annotated

import typer

from allpairs.annotate.cli.check_worker import check_worker
from allpairs.annotate.cli.db import db
from allpairs.annotate.cli.serve import serve as serve_app
from allpairs.annotate.features.archives import cli as archive
from allpairs.annotate.features.clean.cli import clean_project
from allpairs.annotate.features.groups.cli import decisions
from allpairs.annotate.features.labels.cli import labels
from allpairs.annotate.features.projects.cli import project
from allpairs.annotate.features.projects.history_cli import show_history
from allpairs.annotate.features.publish.cli import publish_model
from allpairs.annotate.features.raters.cli import rater
from allpairs.annotate.features.team.cli import people
from allpairs.annotate.features.texts.cli import texts
from allpairs.annotate.features.webhooks.cli import webhooks
from allpairs.program import program

app = program("Projects, labels and people, and the app in the browser.")
project.command("export")(archive.export_to)
project.command("import")(archive.import_from)
project.command("history")(show_history)
project.command("clean")(clean_project)
app.add_typer(project, name="project")
app.add_typer(labels, name="labels")
app.add_typer(decisions, name="decisions")
app.add_typer(texts, name="texts")
app.add_typer(db, name="db")
app.add_typer(people, name="people")
app.add_typer(webhooks, name="webhooks")
app.add_typer(rater, name="rater")


@app.command()
def serve(
    port: Annotated[int, typer.Option(help="Port of the app.", min=1, max=65535)] = 8501,
    address: Annotated[str, typer.Option(help="Address to listen on; 0.0.0.0 for every network.")] = "localhost",
    match: Annotated[
        bool, typer.Option("--match", help="Also start a process that answers `match` requests with published models.")
    ] = False,
) -> None:
    """Start the app and, unless one is alive, a worker.

    Example: allpairs serve --port 8501
    """
    serve_app(port=port, address=address, match=match)


app.command("publish")(publish_model)
app.command()(check_worker)
app.command("worker", hidden=True)(check_worker)  # its name until 0.1; `allpairs worker` starts one
