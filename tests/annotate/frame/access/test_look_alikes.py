"""Names that look like an existing one are refused, and names of projects that somebody may not see stay unknown."""

from pathlib import Path

import pytest
from sqlalchemy import Engine, select

from allpairs.annotate.features.archives.project_export import export_project
from allpairs.annotate.features.archives.project_import import import_project
from allpairs.annotate.features.projects.lifecycle import bin_project, duplicate_project, name_of_copy, name_problem
from allpairs.annotate.features.projects.projects import create_project
from allpairs.annotate.frame.access import invitations, people
from allpairs.annotate.frame.access.transactions import Refused
from allpairs.db.confusables import skeleton
from allpairs.db.corpus.corpus import Corpus
from allpairs.db.corpus.item import CorpusItem
from allpairs.db.domain import Kind, Role, Settings, Side, Split
from allpairs.db.errors import InputError
from allpairs.db.schema.engine import reading, writing
from allpairs.db.schema.tables import Person, Project
from tests.helpers.factories import make_project
from tests.helpers.people import PASSWORD, at, make_member, make_person, token_of

CYRILLIC, SPACED, LIGATURE, UNSEEN = "\u0410nnа", "An  na", "rn\u0430p", "Anna\ufe0f"
ALIKE = [
    ("Anna", CYRILLIC), ("An na", SPACED), ("map", LIGATURE), ("Anna", UNSEEN), ("Phase 1", "Phase l"),
    ("\u0391\u0397", "AH"), ("Zo\u00eb", "Zo\u0435\u0308"), ("\u05d5", "l"),
    ("paypal", "\U0001d52d\U0001d4b6\u1eff\U0001d561\U0001d552\u2113"),
]  # fmt: skip
DIFFERENT = [("Anna", "Anne"), ("Zoë", "Zoe"), ("Questions", "questions"), ("Films", "Films (2)"), ("Анна", "Anna")]


def corpus() -> Corpus:
    return Corpus(Kind.SYMMETRIC, [CorpusItem((f"{i}",), Side.LEFT, f"t {i}", Split.TRAIN) for i in range(4)], [])


def names(engine: Engine) -> list[str]:
    with reading(engine) as session:
        return sorted(session.scalars(select(Project.name)))


def test_what_looks_alike_has_one_skeleton() -> None:
    assert all(one != other and skeleton(one) == skeleton(other) for one, other in ALIKE)
    assert all(skeleton(one) != skeleton(other) for one, other in DIFFERENT)


def test_no_new_project_looks_like_another(engine: Engine) -> None:
    made = make_project(engine, ["a", "b"], name="Anna")
    tries = (
        lambda: create_project(engine, CYRILLIC, corpus(), Settings(evaluation_share=0)),
        lambda: duplicate_project(engine, made, labels=False, name=CYRILLIC),
    )
    for one in tries:
        with pytest.raises(InputError, match=r"'Anna' exists .* looks the same"):
            one()
    assert "looks the same" in name_problem(engine, CYRILLIC) and name_problem(engine, "Anne") == ""
    bin_project(engine, made)
    assert "is in the bin" in name_problem(engine, CYRILLIC)
    assert names(engine) == ["Anna"]


def test_an_archive_and_a_copy_get_names_that_look_like_no_other(engine: Engine, tmp_path: Path) -> None:
    make_project(engine, ["a", "b"], name="Anna")
    export_project(engine, "Anna", tmp_path / "one.zip")
    arrived = import_project(engine, tmp_path / "one.zip", CYRILLIC)
    assert arrived.name == f"{CYRILLIC} (2)" and "looks like" in arrived.notes[0]
    make_project(engine, ["a", "b"], name=f"{CYRILLIC} copy")
    assert name_of_copy(engine, "Anna") == "Anna copy 2"


def test_projects_and_people_that_look_alike_already_go_on(engine: Engine) -> None:
    for name in ("Anna", CYRILLIC):
        make_project(engine, ["a", "b"], name=name)
    with writing(engine) as session:
        for name in ("Anna", CYRILLIC):
            session.add(Person(name=name, folded=name.casefold()))
    assert "looks the same" not in name_problem(engine, CYRILLIC)  # it names that very project
    assert [row.name for row in people.list_people(engine, at())] == ["Anna", CYRILLIC]
    for row in people.list_people(engine, at()):
        people.disable(engine, row.id, at())


@pytest.mark.parametrize("name", [CYRILLIC, CYRILLIC.upper(), "anna\ufe0f", "ANNA"])
def test_nobody_new_looks_like_somebody(engine: Engine, name: str) -> None:
    project = make_project(engine, ["a", "b"])
    people.disable(engine, make_person(engine, "Anna"), at())
    _, admin = make_member(engine, project, Role.ADMINISTRATOR)
    token = token_of(invitations.invite(admin, project, Role.ANNOTATOR, 7, at()))
    tries = (
        lambda: people.add_account(engine, name, None, at()),
        lambda: invitations.accept_as_new(engine, token, name, PASSWORD, at()),
        lambda: invitations.accept_by_subject(engine, token, name, "https://one.example", "1", at()),
    )
    for one in tries:
        with pytest.raises(InputError, match="is taken, or looks"):
            one()
    assert invitations.accept_as_new(engine, token, "Anne", PASSWORD, at())


def test_who_may_not_make_projects_learns_no_name(engine: Engine, tmp_path: Path) -> None:
    mine = make_project(engine, ["a", "b"], name="Mine")
    make_project(engine, ["a", "b"], name="Secret")
    make_project(engine, ["a", "b"], name="Mine copy")
    export_project(engine, "Mine", tmp_path / "one.zip")
    _, admin = make_member(engine, mine, Role.ADMINISTRATOR)
    said = set()
    for name in ("Secret", "S\u0435cret", "Free"):
        said.add(name_problem(admin, name))
        for act in (
            lambda name=name: duplicate_project(admin, mine, labels=False, name=name),
            lambda name=name: import_project(admin, tmp_path / "one.zip", name),
            lambda name=name: create_project(admin, name, corpus(), Settings(evaluation_share=0)),
            lambda: name_of_copy(admin, "Mine"),
        ):
            with pytest.raises(Refused) as caught:
                act()
            said.add(str(caught.value))
    assert len(said) == 1 and "Secret" not in said.pop()
