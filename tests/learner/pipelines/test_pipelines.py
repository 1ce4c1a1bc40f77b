"""Pipelines resume where they stopped, refuse unusable inputs, and each entry of the catalog has one."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from pydantic import BaseModel
from pydantic_core import PydanticUndefined

from allpairs.db.errors import Cancelled, InputError
from allpairs.db.progress import Progress
from allpairs.learner.light.catalog import PIPELINES, PipelineEntry
from allpairs.learner.light.catalog.section import Section
from allpairs.learner.pipelines import pipeline as module
from allpairs.learner.pipelines.pipeline import (
    RESULTS,
    Artifact,
    Pipeline,
    Run,
    Stage,
    begin,
    pipeline_named,
    read_artifacts,
    run_pipeline,
    write_artifacts,
)
from allpairs.learner.pipelines.spec import make_spec, read_spec


class Inputs(Section):
    texts: str
    more: str | None = None


class Config(Section):
    seed: int = 0


@pytest.fixture
def did(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the stages worked on, in order; `second` fails while a file named `stop` is in the run's folder."""
    worked: list[str] = []

    def work(name: str) -> Callable[[Run, Path, Progress], None]:
        def write(run: Run, folder: Path, progress: Progress) -> None:
            worked.append(name)
            (folder / "half").write_text(name)
            progress("half", 0.5)
            if name == "second" and (run.folder / "stop").exists():
                raise Cancelled("stopped")
            if name == RESULTS:
                write_artifacts(folder, [Artifact("pairs", "Pairs", "first/half", {"pairs": 1})])

        return write

    def check(run: Run) -> None:
        if Path(run.inputs.texts).read_text(encoding="utf-8") == "bad":
            raise InputError("texts.csv: bad")

    made = Pipeline(check, [Stage("first", 1, work("first")), Stage("second", 2, work("second")), Stage(RESULTS, 1, work(RESULTS))])  # fmt: skip  # noqa: E501
    monkeypatch.setattr(module, "pipeline_named", lambda name: made)
    entry = PipelineEntry(
        title="t", paper="p", description="d", reads="r", makes="m", config=Config, inputs=Inputs, place="none"
    )
    monkeypatch.setitem(PIPELINES, "try", entry)
    return worked


def files(folder: Path, text: str = "id,text\n") -> Inputs:
    (folder / "texts.csv").write_text(text)
    return Inputs(texts=str(folder / "texts.csv"))


def test_a_stopped_run_goes_on_at_the_unfinished_stage(tmp_path: Path, did: list[str]) -> None:
    inputs, out = files(tmp_path), tmp_path / "out"
    run = begin("try", out, inputs, Config())
    (out / "stop").touch()
    with pytest.raises(Cancelled):
        run_pipeline("try", run)
    assert did == ["first", "second"] and run.has("first") and not run.has("second")
    (out / "stop").unlink()
    said: list[tuple[str, float]] = []
    run_pipeline("try", begin("try", out, inputs, Config()), lambda words, done: said.append((words, done)))
    assert did == ["first", "second", "second", RESULTS]
    assert said == [("second: half", 0.5), (f"{RESULTS}: half", 0.875)]
    assert [one["path"] for one in read_artifacts(run.of(RESULTS))] == ["first/half"]
    run_pipeline("try", run)
    assert len(did) == 4  # nothing is done twice


@pytest.mark.parametrize("change", ["config", "inputs"])
def test_a_folder_of_another_run_is_refused(tmp_path: Path, did: list[str], change: str) -> None:
    inputs, out = files(tmp_path), tmp_path / "out"
    begin("try", out, inputs, Config())
    other = Config(seed=1) if change == "config" else Config()
    if change == "inputs":
        files(tmp_path, "id,text\n1,other\n")
    with pytest.raises(InputError, match=f"another {change}: choose another folder"):
        begin("try", out, inputs, other)


def test_bad_inputs_are_refused_before_anything_is_written(tmp_path: Path, did: list[str]) -> None:
    with pytest.raises(InputError, match=r"texts\.csv: bad"):
        begin("try", tmp_path / "out", files(tmp_path, "bad"), Config())
    with pytest.raises(InputError, match=r"missing\.csv: file not found"):
        begin("try", tmp_path / "out", Inputs(texts=str(tmp_path / "missing.csv")), Config())
    assert not (tmp_path / "out").exists()
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="cannot write to"):
        begin("try", tmp_path / "file" / "out", files(tmp_path), Config())


SPECS = {
    "no inputs": ("seed = 1", r"the table \[inputs\] is missing; it names the files: texts"),
    "unknown key": (
        '[inputs]\ntexts = "t.csv"\nothers = "o.csv"',
        r"inputs.others: there is no such key; use one of texts",
    ),
    "missing key": ("[inputs]", "inputs.texts: field required"),
    "wrong value": ('seed = "x"\n[inputs]\ntexts = "t.csv"', "seed: input should be a valid integer.*not 'x'"),
    "no toml": ("seed =", "not valid TOML"),
}


@pytest.mark.parametrize("name", SPECS)
def test_a_bad_specification_is_one_line(tmp_path: Path, did: list[str], name: str) -> None:
    text, said = SPECS[name]
    (tmp_path / "wanted.toml").write_text(text)
    with pytest.raises(InputError, match=f"wanted.toml: .*{said}") as found:
        read_spec("try", tmp_path / "wanted.toml")
    assert "\n" not in str(found.value)


def test_paths_of_a_specification_are_relative_to_it(tmp_path: Path, did: list[str]) -> None:
    (tmp_path / "wanted.toml").write_text('seed = 3\n[inputs]\ntexts = "data/t.csv"')
    inputs, config = read_spec("try", tmp_path / "wanted.toml")
    assert inputs == Inputs(texts=str(tmp_path / "data" / "t.csv")) and config == Config(seed=3)
    with pytest.raises(InputError, match=r"pipeline 'none'.* few-shot-mining"):
        make_spec("none", {}, tmp_path / "wanted.toml")
    with pytest.raises(InputError, match="cannot read the file"):
        read_spec("try", tmp_path / "missing.toml")


@pytest.mark.parametrize("name", PIPELINES)
def test_every_entry_of_the_catalog_keeps_the_contract(name: str) -> None:
    entry, made = PIPELINES[name], pipeline_named(name)
    names = [stage.name for stage in made.stages]
    assert names[-1] == RESULTS and len(set(names)) == len(names)
    assert all(stage.share > 0 for stage in made.stages)
    assert json.loads(entry.config().model_dump_json()) == entry.config().model_dump(mode="json")  # a job carries it
    for model in (entry.config, entry.inputs):
        described(model)
    for field in entry.config.model_fields.values():
        assert field.get_default(call_default_factory=True) is not PydanticUndefined, "a form needs a default"


def described(model: type[BaseModel]) -> None:
    for name, field in model.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, Section):
            assert field.annotation.__doc__
            described(field.annotation)
        else:
            assert field.description and field.description.endswith("."), name
