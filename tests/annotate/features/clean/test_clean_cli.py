"""The command `project clean --new`: its files, its exit codes, and that twice is once."""

import csv
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import Engine, select

from allpairs.annotate.features.clean import cli
from allpairs.annotate.features.projects.projects import create_project
from allpairs.annotate.features.texts.change_texts import list_changes
from allpairs.annotate.kit.jobs import wait
from allpairs.db.corpus.corpus import Columns, stage_corpus
from allpairs.db.corpus.split import split_corpus
from allpairs.db.domain import Clustering, Representative, Settings
from allpairs.db.errors import InputError
from allpairs.db.projects.jobs import MATCHES, add_job
from allpairs.db.schema.engine import reading, writing
from allpairs.db.schema.tables import GroupedItem, GroupUpdate, Identifier, Job, StoredModel
from tests.helpers.services.commands import annotate, failure

GROUPING = {"clustering": Clustering.CONNECTED, "representative": Representative.CENTRAL, "newest_by": ""}


@pytest.fixture
def project(engine: Engine, tmp_path: Path) -> int:
    path = tmp_path / "customers.csv"
    path.write_text("Nr,Name\n1,Anna\n2,Bea\n3,Carl\n")
    corpus = stage_corpus(path, Columns("Nr", ("Name",)), keeps_rows=True)
    settings = Settings(evaluation_share=0)
    project_id = create_project(engine, "Customers", split_corpus(corpus, 0.0, np.random.default_rng(0)), settings)
    with writing(engine) as session:
        session.add(StoredModel(project_id=project_id, number=1, encoder="tiny", w=10.0, b=-5.0))
    return project_id


@pytest.fixture
def searches(engine: Engine, project: int, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Let a search join records 1 and 4, and return the list of the searches that commands wait for."""
    waited = list[str]()

    def search(engine: Engine, project_id: int, job_id: str) -> None:
        waited.append(job_id)
        with writing(engine) as session:
            session.get_one(Job, job_id).state = "done"
            session.add(GroupUpdate(project_id=project_id, matcher=1, threshold=0.5, groups=1, texts=2, **GROUPING))
            names = Identifier.external_id.in_(["1", "4"])
            for item in session.scalars(select(Identifier.item_id).where(names)).all():
                session.add(GroupedItem(item_id=item, project_id=project_id, number=7))

    monkeypatch.setattr(cli, "wait_for_job", search)
    return waited


def test_a_timer_takes_a_version_over_once(
    engine: Engine, project: int, searches: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    new = tmp_path / "march.csv"
    new.write_text("Nr,Name\n1,Anna\n3,Carl\n4,Anne\n5,Dora\n")
    command = ("project", "clean", "Customers", "--new", str(new), "--out", str(tmp_path / "out.csv"))
    assert annotate(*command) == 3  # nobody knows how sure the group is
    assert "2 new, 0 changed, 1 gone, 2 the same" in capsys.readouterr().out

    def written(name: str) -> list[list[str]]:
        with (tmp_path / name).open(encoding="utf-8-sig", newline="") as stream:
            return list(csv.reader(stream))[1:]

    assert [row[0] for row in written("out.csv")] == ["1", "3", "5"]
    assert [(row[0], row[2], row[5]) for row in written("out-new.csv")] == [("4", "g7", "1"), ("5", "", "5")]
    before = {path.name: path.read_bytes() for path in tmp_path.glob("out*")}
    assert annotate(*command, "--unsure", "0.5") == 0
    assert {path.name: path.read_bytes() for path in tmp_path.glob("out*")} == before
    assert (len(searches), len(list_changes(engine, project))) == (1, 1)


def test_a_workbook_has_its_new_rows_beside_it(
    engine: Engine, project: int, searches: list[str], tmp_path: Path
) -> None:
    new = tmp_path / "march.csv"
    new.write_text("Nr,Kunde\n1,Anna\n2,Bea\n5,Dora\n")
    command = ("project", "clean", "Customers", "--new", str(new), "--out", str(tmp_path / "out.xlsx"))
    assert annotate(*command, "--renamed", "Name=Kunde") == 0
    assert {path.name for path in tmp_path.glob("out*")} == {"out.xlsx", "out-new.xlsx"}


@pytest.mark.parametrize(
    ("text", "options", "problem"),
    [("Nr,Kunde\n1,Anna\n", (), "'Name'"), ("Nr,Name\n1,\n", (), "row 2"), ("x", ("--renamed", "Name"), "OLD=NEW")],
)
def test_a_bad_version_changes_nothing(
    engine: Engine, project: int, tmp_path: Path, capsys: pytest.CaptureFixture[str],
    text: str, options: tuple[str, ...], problem: str,
) -> None:  # fmt: skip
    new = tmp_path / "march.csv"
    new.write_text(text)
    command = ("project", "clean", "Customers", "--new", str(new), "--out", str(tmp_path / "out.csv"))
    assert problem in failure(capsys, *command, *options)
    assert not list_changes(engine, project)
    assert not list(tmp_path.glob("out*"))


def test_commands_wait_for_the_end_of_a_job(
    engine: Engine, project: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(wait, "WORKER", [wait.sys.executable, "-c", "pass"])
    with writing(engine) as session:
        job_id = add_job(session, project, MATCHES).id
    with pytest.raises(InputError, match="stopped"):
        wait.wait_for_job(engine, project, job_id)

    def end(state: str) -> Callable[[float], None]:
        def sleep(seconds: float) -> None:
            with writing(engine) as session:
                session.get_one(Job, job_id).state = state

        return sleep

    monkeypatch.setattr(wait, "worker_alive", lambda engine: True)
    monkeypatch.setattr(wait.time, "sleep", end("done"))
    wait.wait_for_job(engine, project, job_id)
    with writing(engine) as session:
        session.get_one(Job, job_id).state = "running"
    monkeypatch.setattr(wait.time, "sleep", end("failed"))
    with pytest.raises(InputError, match="failed"):
        wait.wait_for_job(engine, project, job_id)
    with reading(engine) as session:
        assert session.get_one(Job, job_id).state == "failed"
