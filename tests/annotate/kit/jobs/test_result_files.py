"""Results that a job wrote, read from a folder and from an object store."""

import shutil
from pathlib import Path
from uuid import uuid4

import pytest

from allpairs.annotate.kit.jobs.result_files import ResultFiles, read_results
from allpairs.db.files.artifacts import publish_files
from allpairs.db.files.report import FIGURES, REPORT, TABLES
from allpairs.db.results.experiments import experiment_folder


def test_a_store_is_asked_for_the_results_alone(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALLPAIRS_ARTIFACTS", f"memory://bucket/{uuid4().hex}")
    folder = experiment_folder("e")
    assert read_results(folder) == ResultFiles([], [], "")
    files = {f"{TABLES}/one.md": "| 1 |", f"{TABLES}/one.csv": "1", f"{FIGURES}/two.csv": "2", REPORT: "# All",
             f"{FIGURES}/two.json": '{"title": "Two", "panels": []}', "model/weights": "heavy"}  # fmt: skip
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content, encoding="utf-8")
    publish_files(folder)
    shutil.rmtree(folder)
    found = read_results(folder)
    assert [(one.name, one.markdown, one.csv) for one in found.tables] == [("one", "| 1 |", b"1")]
    assert [one.title for one in found.figures] == ["Two"] and found.report == "# All"
    assert not (folder / "model").exists()
