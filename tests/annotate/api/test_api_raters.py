"""Machine raters by the REST API: what a setup takes and shows, a run and its dry run, and verdicts."""

from itertools import combinations
from typing import Any

import pytest
from sqlalchemy import Engine, select
from starlette.testclient import TestClient

from allpairs.annotate.features.raters.project_raters import read_worth
from allpairs.annotate.frame.access import tokens
from allpairs.annotate.kit.jobs import requests
from allpairs.db.domain import AnswerKind, Role, Scope, Verdict
from allpairs.db.labels.pairs import Pair
from allpairs.db.raters.rows import pause, rater_in_use
from allpairs.db.schema.engine import reading, writing
from allpairs.db.schema.tables import Item, Job, MachineRater
from tests.helpers.factories import make_project
from tests.helpers.people import START, make_person
from tests.helpers.raters import add_rater, add_verdicts, allow, answer_pairs
from tests.helpers.web import browser, member, site

URL = "https://models.example.org/v1"
SETUP = {"name": "local", "url": URL, "model": "m", "key_name": "MY_KEY", "budget": 5}


@pytest.fixture
def rater(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the address of the rater of a project with eight texts; jobs are rows alone."""
    monkeypatch.setattr(requests, "enqueue_workflow", lambda *arguments: None)
    allow(monkeypatch, "judges:judge", "MY_KEY@models.example.org")
    return f"/projects/{make_project(engine, [f'text {at}' for at in range(8)])}/rater"


def pairs_of(engine: Engine) -> list[Pair]:
    with reading(engine) as session:
        return list(combinations(session.scalars(select(Item.id).order_by(Item.id)), 2))


def root_of(engine: Engine, *scopes: Scope) -> TestClient:
    """Return an administrator of the installation, with a token of these scopes."""
    person_id = make_person(engine, f"Root {len(scopes)}", administrator=True)
    return browser(site(), tokens.make(engine, person_id, "tests", START, scopes=scopes))


def given(found: Any) -> Any:
    """Return what was answered."""
    assert found.status_code == 200, found.text
    return found.json()


def test_a_rater_is_set_up_changed_and_ended(engine: Engine, rater: str) -> None:
    root = root_of(engine, *Scope)
    assert given(root.get(rater)) == {"raters": [], "worth": None}
    (one,) = given(root.put(rater, json=SETUP))["raters"]
    assert (one["setup"]["kind"], one["setup"]["url"], one["setup"]["key_name"]) == ("endpoint", URL, "MY_KEY")
    assert "models.example.org" in one["leaves"] and (one["ended_at"], one["pairs"]) == (None, 0)
    assert "nothing has changed" in root.put(rater, json=SETUP).json()["detail"]
    newer, older = given(root.put(rater, json={"name": "mine", "function": "judges:judge"}))["raters"]
    assert newer["setup"]["kind"] == "function" and older["ended_at"] and older["leaves"] is None
    assert given(root.post(f"{rater}/end", json={}))["raters"][0]["ended_at"]
    assert "no machine rater" in root.post(f"{rater}/end", json={}).json()["detail"]


@pytest.mark.parametrize(
    ("wrong", "status"),
    [
        ({"key": "secret"}, 422),
        ({"url": "https://me:secret@x/v1"}, 422),
        ({"url": "https://x/v1?key=secret"}, 422),
        ({"url": "http://[:.:]/v1"}, 409),
        ({"url": "http://x:99999/v1"}, 409),
        ({"model": ""}, 409),
        ({"key_name": "HOME"}, 409),
        ({"url": "https://elsewhere.example.org/v1"}, 409),
        ({"function": "cProfile:run"}, 409),
        ({"name": "a\nb"}, 422),
        ({"samples": 99}, 422),
    ],
)
def test_a_setup_that_cannot_work_is_refused(engine: Engine, rater: str, wrong: dict[str, Any], status: int) -> None:
    found = root_of(engine, *Scope).put(rater, json=SETUP | wrong)
    assert found.status_code == status, found.text
    with reading(engine) as session:
        assert session.scalars(select(MachineRater)).all() == []


def test_where_texts_go_is_no_matter_of_training(engine: Engine, rater: str) -> None:
    """A token that may train asks a rater, and does not choose the machine that gets the texts."""
    root = root_of(engine, Scope.READ, Scope.LABEL, Scope.TRAIN)
    found = root.put(rater, json=SETUP)
    assert found.status_code == 403 and "administer" in found.json()["detail"]
    boss = member(engine, int(rater.split("/")[2]), Role.ADMINISTRATOR)
    assert "whole installation" in boss.put(rater, json=SETUP).json()["detail"]


def test_a_run_says_what_it_takes_and_a_dry_run_asks_nothing(engine: Engine, rater: str) -> None:
    root = root_of(engine, *Scope)
    root.put(rater, json=SETUP)
    answer_pairs(engine, 1, [(pair, AnswerKind.NEGATIVE) for pair in pairs_of(engine)[:5]])
    dry = given(root.post(f"{rater}/run", json={"pairs": 3, "dry_run": True}))
    assert (dry["pairs"], dry["budget_left"], dry["measured"], dry["job"]) == (3, 5.0, False, None)
    assert "models.example.org" in dry["leaves"]
    with reading(engine) as session:
        assert session.scalars(select(Job)).all() == []
    assert "no audit" in root.post(f"{rater}/run", json={"purpose": "audit", "dry_run": True}).json()["detail"]
    run = given(root.post(f"{rater}/run", json={"pairs": 3}))
    assert run == dry | {"job": run["job"]}
    assert given(root.get(f"/projects/1/jobs/{run['job']}"))["state"] == "waiting"
    assert "being asked already" in root.post(f"{rater}/run", json={}).json()["detail"]


def test_a_paused_rater_says_why_and_is_resumed(engine: Engine, rater: str) -> None:
    root = root_of(engine, *Scope)
    root.put(rater, json=SETUP)
    with writing(engine) as session:
        row = rater_in_use(session, 1)
        assert row is not None
        pause(session, row, "it is wrong")
    assert given(root.get(rater))["raters"][0]["paused_why"] == "it is wrong"
    assert "paused: it is wrong" in root.post(f"{rater}/run", json={}).json()["detail"]
    (one,) = given(root.post(f"{rater}/resume", json={}))["raters"]
    assert (one["paused_at"], one["paused_why"]) == (None, None)


def test_its_worth_and_its_verdicts(engine: Engine, rater: str) -> None:
    """Four people and a rater on all pairs: every part of its worth is there, as on the page Monitor."""
    pairs = [(left, right) for left, right in pairs_of(engine)] + [(right, left) for left, right in pairs_of(engine)]
    for who in ("ann", "ben", "carl"):
        answer_pairs(engine, 1, [(pair, AnswerKind.NEGATIVE) for pair in pairs], who)
    said = [Verdict.NO] * (len(pairs) - 2) + [Verdict.YES, Verdict.ABSTAIN]
    add_verdicts(engine, add_rater(engine, 1), [(pair, one, 0.1) for pair, one in zip(pairs, said, strict=True)])
    viewer, boss = member(engine, 1, Role.VIEWER), member(engine, 1, Role.ADMINISTRATOR)
    shown, worth = given(viewer.get(rater)), read_worth(engine, 1)
    assert worth is not None and worth.alternative_annotator is not None
    assert shown["worth"] == worth.model_dump() and len(shown["worth"]["alternative_annotator"]["against"]) == 3
    specificity = shown["worth"]["quality"]["specificity"]
    assert specificity["low"] < specificity["value"] < specificity["high"]
    assert (shown["raters"][0]["pairs"], shown["raters"][0]["tokens_in"]) == (len(pairs), 100 * len(pairs))

    seen, cursor, more = [], 0, True
    while more:
        page = given(boss.get(f"{rater}/verdicts", params={"cursor": cursor, "limit": 40}))
        seen, cursor, more = seen + page["verdicts"], page["cursor"], page["more"]
    assert [one["verdict"] for one in seen] == said
    assert seen[0] | {"created_at": ""} == {
        "id1": "left-0", "id2": "left-1", "text1": "text 0", "text2": "text 1", "rater": "judge", "number": 1,
        "verdict": "no", "p": 0.1, "prompt": "0a1b2c3d", "created_at": "", "cost": 0.01, "also1": "", "also2": "",
    }  # fmt: skip
    assert given(boss.get(f"{rater}/verdicts", params={"cursor": cursor}))["verdicts"] == []
