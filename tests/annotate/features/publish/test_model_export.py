"""The matcher exported as a file."""

import json
from collections.abc import Callable
from pathlib import Path
from zipfile import ZipFile

import pytest
from sqlalchemy import Engine, select
from starlette.applications import Starlette
from starlette.testclient import TestClient

from allpairs.annotate.features.download.routes import routes
from allpairs.annotate.features.publish.model_export import address, matcher_archive, usage
from allpairs.annotate.features.quality.rounds import read_report
from allpairs.db.errors import InputError
from allpairs.db.schema.engine import reading
from allpairs.db.schema.tables import Project, StoredModel
from allpairs.db.version import VERSION
from tests.helpers.figures.measured import make_measured_project, write_model_folder


@pytest.fixture
def trained(engine: Engine, home: Path) -> StoredModel:
    matcher = read_report(engine, make_measured_project(engine, "Näme / of: it?", rounds=2)).matchers[1][0]
    assert matcher.folder is not None
    write_model_folder(home, matcher.folder)
    return matcher


def test_the_archive_holds_the_folder_and_is_removed(home: Path, trained: StoredModel) -> None:
    folder = home / "artifacts" / str(trained.folder)
    with matcher_archive("Näme / of: it?", trained, "# Card") as path:
        assert path.name == "n-me-of-it-round-1.zip"
        with ZipFile(path) as bundle:
            held = {name: bundle.read(name) for name in bundle.namelist()}
    assert held.pop("n-me-of-it-round-1/README.md") == b"# Card"
    details = json.loads(held.pop("n-me-of-it-round-1/matcher.json"))
    assert details.pop("allpairs") == VERSION
    assert details == json.loads((folder / "matcher.json").read_text())
    assert held == {f"n-me-of-it-round-1/{file.relative_to(folder)}": file.read_bytes()
                    for file in folder.rglob("*") if file.is_file() and file.name != "matcher.json"}  # fmt: skip
    assert not path.exists()


def test_what_cannot_be_taken_away_is_named(engine: Engine, trained: StoredModel) -> None:
    with pytest.raises(InputError, match="the encoder all-MiniLM-L6-v2 itself"), matcher_archive("p", StoredModel(
        number=0, folder=None, encoder="all-MiniLM-L6-v2"), ""):  # fmt: skip
        pass
    gone = StoredModel(number=3, folder="nowhere", encoder="e")
    with pytest.raises(InputError, match="round 3 is missing"), matcher_archive("p", gone, ""):
        pass


@pytest.fixture
def download() -> Callable[[str], tuple[int, bytes]]:
    client = TestClient(Starlette(routes=routes()))

    def download(path: str) -> tuple[int, bytes]:
        answer = client.get(f"/{path}")
        return answer.status_code, answer.content

    return download


def test_the_matcher_is_downloaded(
    tmp_path: Path, trained: StoredModel, download: Callable[[str], tuple[int, bytes]]
) -> None:
    status, content = download(address(trained))
    assert status == 200
    (tmp_path / "got.zip").write_bytes(content)
    with ZipFile(tmp_path / "got.zip") as bundle:
        assert bundle.testzip() is None
        assert "n-me-of-it-round-1/matcher.json" in bundle.namelist()
        assert b"Trained on 40 labels, 9 of them positives." in bundle.read("n-me-of-it-round-1/README.md")


def test_a_download_of_what_is_not_there_says_so(
    engine: Engine, trained: StoredModel, download: Callable[[str], tuple[int, bytes]]
) -> None:
    assert download("download/matchers/999")[0] == 404
    with reading(engine) as session:
        encoder = session.scalars(select(StoredModel).where(StoredModel.number == 0)).one()
    status, content = download(address(encoder))
    assert status == 404 and b"nothing to export" in content


def test_the_lines_of_python_are_python_and_name_the_folder(trained: StoredModel) -> None:
    project = Project(name="Näme / of: it?")
    lines = usage(project, trained)
    assert lines.bare == ""  # of a model that has no output layer for its cosine
    trained.details = trained.details | {"bare": {"score": "cosine", "w": 9.0, "b": -4.0, "threshold": 0.4}}
    lines = usage(project, trained)
    for one in (lines.whole, lines.bare):
        compile(one, "usage", "exec")
        assert '("n-me-of-it-round-1")' in one
