"""Publications: the newest counts, each is in the history with who and why, on the page and by command too."""

import json
from pathlib import Path

import pytest
from sqlalchemy import Engine, delete

from allpairs.annotate.features.projects.history import changes, events
from allpairs.annotate.features.projects.lifecycle import archive_project
from allpairs.annotate.features.publish.publications import end, publish_round, read_service
from allpairs.db.domain import LONGEST_NOTE, PublicationKind, Role
from allpairs.db.errors import InputError
from allpairs.db.projects.publications import COUNTED, add_counts
from allpairs.db.schema.engine import as_person, writing
from allpairs.db.schema.tables import StoredModel
from tests.helpers.factories import make_project
from tests.helpers.figures.measured import make_measured_project
from tests.helpers.machine import ROOT
from tests.helpers.pages import open_page
from tests.helpers.people import make_person
from tests.helpers.projects.results import make_trained
from tests.helpers.services.commands import annotate, failure

MODEL, SHADOW = PublicationKind
PAGE = ROOT / "annotate" / "pages" / "monitor.py"


@pytest.fixture
def project(engine: Engine) -> int:
    """Return a project whose rounds 1 and 2 have a model."""
    project_id = make_project(engine, ["a", "b"])
    for number in (1, 2):
        make_trained(engine, project_id, number)
    return project_id


def standing(engine: Engine, project_id: int) -> tuple[int | None, int | None]:
    """Return the rounds of the published model and of its shadow."""
    found = read_service(engine, project_id)
    published, shadow = (one and one.number for one in (found.published, found.shadow))
    return published, shadow


def test_the_newest_publication_counts_and_all_are_kept(engine: Engine, project: int) -> None:
    mine = as_person(engine, make_person(engine, "Ann", project, Role.ADMINISTRATOR))
    publish_round(mine, project, 1, " first ")
    publish_round(mine, project, 2, kind=SHADOW)
    assert standing(engine, project) == (1, 2)
    publish_round(engine, project, None, "it was better")  # the newest, which was the shadow
    assert standing(engine, project) == (2, None)
    end(engine, project)
    assert standing(engine, project) == (None, None)
    history = read_service(engine, project).history
    assert [(row.kind, row.number, row.note, row.who) for row in history] == [
        (MODEL, None, "", ""), (MODEL, 2, "it was better", ""), (SHADOW, None, "", ""),
        (SHADOW, 2, "", "Ann"), (MODEL, 1, "first", "Ann"),
    ]  # fmt: skip
    told = [(event.kind, event.about, changes(event)) for event in reversed(events(engine, project, 5).events)]
    assert told == [
        ("model published", "", ["round: 1", "note: first"]),
        ("model published", "shadow", ["round: 2"]),
        ("publication ended", "shadow", ["round: 2"]),
        ("model published", "", ["round: 1 → 2", "note: it was better"]),
        ("publication ended", "", ["round: 2"]),
    ]


def test_what_cannot_be_published_says_why(engine: Engine, project: int) -> None:
    with writing(engine) as session:
        session.add(StoredModel(project_id=project, number=0, encoder="tiny"))
    wrong = {
        "round 7 has no model": lambda: publish_round(engine, project, 7),
        "no labels have trained": lambda: publish_round(engine, project, 0),
        "no model is published": lambda: publish_round(engine, project, 1, kind=SHADOW),
        "no model is published: publish": lambda: end(engine, project),
        "the limit is": lambda: publish_round(engine, project, 1, "x" * (LONGEST_NOTE + 1)),
        "NUL": lambda: publish_round(engine, project, 1, "\0"),
        "note cannot be stored": lambda: end(engine, project, note="\0"),
    }
    for said, act in wrong.items():
        with pytest.raises(InputError, match=said):
            act()
    publish_round(engine, project, 1)
    with pytest.raises(InputError, match="is the published one"):
        publish_round(engine, project, 1, kind=SHADOW)
    with pytest.raises(InputError, match="has no shadow"):
        end(engine, project, SHADOW)
    archive_project(engine, project)
    with pytest.raises(InputError, match="is archived"):
        publish_round(engine, project, 2)


def test_a_model_that_is_replaced_is_published_no_longer(engine: Engine, project: int) -> None:
    publish_round(engine, project, 2)
    with writing(engine) as session:  # as a training that runs again does
        session.execute(delete(StoredModel).where(StoredModel.number == 2))
    make_trained(engine, project, 2)
    assert standing(engine, project) == (None, None)
    assert read_service(engine, project).history[0].number == 2


def test_a_model_is_published_by_command(engine: Engine, project: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert annotate("publish", "Questions", "--round", "1", "--note", "the first") == 0
    said = capsys.readouterr()
    assert said.out == "published: round 1\n" and "serve-model" in said.err
    annotate("publish", "Questions", "--shadow", "--json")
    assert json.loads(capsys.readouterr().out) == {"kind": "shadow", "round": 2, "note": ""}
    assert standing(engine, project) == (1, 2)
    assert "leave out --round" in failure(capsys, "publish", "Questions", "--end", "--round", "1")
    annotate("publish", "Questions", "--end")
    assert standing(engine, project) == (None, None)


def test_a_model_is_published_on_the_page(engine: Engine, home: Path) -> None:
    project = make_measured_project(engine, rounds=3)
    for number in (1, 2):
        make_trained(engine, project, number)
    page = open_page(PAGE, tab="Model")
    page.text_input[0].input("after the audit")
    page.button(key="publish_2").click().run()
    assert not page.exception and standing(engine, project) == (2, None)
    assert [one.note for one in read_service(engine, project).history] == ["after the audit"]
    assert any("allpairs serve --match" in warning.value for warning in page.warning)
    page.selectbox[0].select(1).run()
    page.button(key="shadow_1").click().run()
    assert standing(engine, project) == (2, 1)
    service = read_service(engine, project)
    assert service.published is not None and service.shadow is not None
    with writing(engine) as session:
        more = dict(zip(COUNTED, (4, 3, 2.0, 50, -5.0, 10.0, 1, 2), strict=True))
        add_counts(session, project, service.published.id, service.shadow.id, more)
    page.run()
    values = dict(page.table[1].value.itertuples(index=False))
    assert values["Same best candidate"] == "75.0%" and values["Matches of the shadow alone (p ≥ ½)"] == "1 of 50"
    page.button(key="end_publication").click().run()
    assert standing(engine, project) == (None, None) and len(page.dataframe[-1].value) == 4
