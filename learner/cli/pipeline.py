"""The command `pipeline`."""

from pathlib import Path
from typing import Annotated

import typer

from allpairs.learner.experiment.display import grid_bar
from allpairs.learner.light.catalog import PIPELINES
from allpairs.learner.runtime.progress_output import print_result


def pipeline(
    name: Annotated[str, typer.Argument(help=f"The pipeline: {', '.join(PIPELINES)}.")],
    config: Annotated[Path, typer.Option(help="Its inputs and configuration as TOML.")],
    out: Annotated[
        Path, typer.Option(help="Folder for its stages; a stopped run of the same configuration is resumed.")
    ],
    json: Annotated[bool, typer.Option("--json", help="Print its artifacts (artifacts.json) as JSON.")] = False,
) -> None:
    """Run a paper's pipeline on files, and write tables, figures and the models and lists that it makes.

    Each stage leaves a folder below OUT and is not repeated; OUT/results holds tables/, figures/ and report.md.

    Example: allpairs pipeline few-shot-mining --config docs/examples/pipelines/mining.toml --out out/mining
    """
    from allpairs.db.files.report import REPORT
    from allpairs.learner.pipelines.pipeline import RESULTS, begin, read_artifacts, run_pipeline
    from allpairs.learner.pipelines.spec import read_spec

    inputs, spec = read_spec(name, config)
    run = begin(name, out.resolve(), inputs, spec)
    with grid_bar() as progress:
        run_pipeline(name, run, progress)
    if json:
        print_result({"out": str(out), "artifacts": read_artifacts(run.of(RESULTS))}, None)
    else:
        typer.echo((run.of(RESULTS) / REPORT).read_text(encoding="utf-8"))
