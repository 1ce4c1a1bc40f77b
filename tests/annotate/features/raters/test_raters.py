"""A project's machine rater as people see it: set up, changed, ended, resumed, asked, and its dry run."""

import csv
import json
from itertools import combinations
from pathlib import Path

import pytest
from sqlalchemy import Engine, select
from sqlalchemy.exc import IntegrityError

from allpairs.annotate.features.archives.project_export import export_project
from allpairs.annotate.features.archives.project_import import import_project
from allpairs.annotate.features.labels.export import export_labels
from allpairs.annotate.features.labels.formats import Form
from allpairs.annotate.features.projects import history, lifecycle
from allpairs.annotate.features.raters.project_raters import (
    checked_setup,
    dry_run,
    rating_in_words,
    read_raters,
    read_worth,
    resume,
    retire_rater,
    set_up,
)
from allpairs.annotate.frame.access import people
from allpairs.annotate.frame.access.transactions import Refused
from allpairs.annotate.kit.jobs import requests
from allpairs.db.domain import AnswerKind, Role, Verdict
from allpairs.db.errors import InputError
from allpairs.db.labels.pairs import Pair
from allpairs.db.projects.jobs import RATE, open_job
from allpairs.db.raters.rows import pause, rater_in_use
from allpairs.db.rating import RaterKind
from allpairs.db.schema.engine import as_person, reading, writing
from allpairs.db.schema.tables import Item, Job, MachineRater, PairVerdict, now
from tests.helpers.factories import make_project
from tests.helpers.people import START, make_person
from tests.helpers.raters import FUNCTION, add_rater, add_verdicts, allow, answer_pairs, setup
from tests.helpers.services.commands import annotate, failure

URL = "https://models.example.org/v1"
ENDPOINT = {"url": URL, "model": "m"}
KEY = "MY_KEY@models.example.org"


@pytest.fixture
def project(engine: Engine) -> int:
    """Return a project named Q with eight texts."""
    return make_project(engine, [f"text {at}" for at in range(8)], name="Q", question="The same?")


@pytest.fixture(autouse=True)
def _no_queue(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requests, "enqueue_workflow", lambda *arguments: None)


def pairs_of(engine: Engine, project_id: int) -> list[Pair]:
    with reading(engine) as session:
        items = session.scalars(select(Item.id).where(Item.project_id == project_id).order_by(Item.id))
        return list(combinations(items, 2))


def test_a_changed_setup_is_a_new_rater_and_the_record_stays(engine: Engine, project: int) -> None:
    assert set_up(engine, project, setup()) == 1
    add_verdicts(engine, 1, [(pairs_of(engine, project)[0], Verdict.YES, 0.9)])
    with pytest.raises(InputError, match="nothing has changed"):
        set_up(engine, project, setup())
    assert set_up(engine, project, setup(samples=3)) == 2
    newer, older = read_raters(engine, project)
    assert (newer.in_use, newer.setup.samples, newer.pairs) == (True, 3, 0)
    assert (older.in_use, older.pairs, older.cost) == (False, 1, 0.01)
    retire_rater(engine, project)
    with pytest.raises(InputError, match="no machine rater"):
        retire_rater(engine, project)
    assert set_up(engine, project, setup()) == 3
    told = [(event.kind, event.about) for event in history.events(engine, project, 9).events]
    assert [kind for kind, _ in told] == ["machine rater set up", "machine rater ended", *["machine rater set up"] * 2]
    assert {about for _, about in told} == {"judge"}


def test_a_paused_rater_is_not_asked_until_it_is_resumed(engine: Engine, project: int) -> None:
    set_up(engine, project, setup())
    with writing(engine) as session:
        row = rater_in_use(session, project)
        assert row is not None
        pause(session, row, "it is wrong")
    with pytest.raises(InputError, match="paused: it is wrong"):
        requests.request_rating(engine, project, 5)
    resume(engine, project)
    requests.request_rating(engine, project, 5)
    with pytest.raises(InputError, match="being asked already"):
        requests.request_rating(engine, project, 5)
    with reading(engine) as session:
        assert session.scalars(select(Job.kind)).one() == RATE
        assert open_job(session, project) is None, "no other job waits for it"


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"url": "ftp://x"}, "up to /v1"),
        ({"url": "https://me:secret@x/v1"}, "no user name"),
        ({"url": "https://x/v1?key=secret"}, "no user name"),
        ({"model": ""}, "name the model"),
        ({"kind": RaterKind.FUNCTION, "function": "judge"}, "module:function"),
        ({"samples": 99}, "samples"),
        ({"name": "n" * 61}, "name.* 60 "),
        ({"key_name": "K" * 101}, "key_name.* 100 "),
        ({"key": "secret"}, "key"),
    ],
)
def test_a_setup_that_cannot_work_is_refused(wrong: dict[str, object], why: str) -> None:
    with pytest.raises(InputError, match=why):
        checked_setup({"name": "n"} | ENDPOINT | wrong)


@pytest.mark.parametrize(
    ("entered", "named", "why"),
    [
        (FUNCTION, {"functions": ""}, "ALLPAIRS_RATER_FUNCTIONS"),
        (FUNCTION, {"functions": "judges:judges, judges, :judge"}, "add judges:judge to"),
        ({"key_name": "MY_KEY"}, {"keys": ""}, "ALLPAIRS_RATER_KEYS"),
        ({"key_name": "MY_KEY"}, {"keys": "MY_KEY,MY_KEY@example.org"}, f"add {KEY} to"),
        ({"key_name": "MY_KEY", "url": "http://models.example.org/v1"}, {"keys": KEY}, "use https"),
    ],
)
def test_what_the_operator_has_not_named_is_refused(
    monkeypatch: pytest.MonkeyPatch, entered: dict[str, str], named: dict[str, str], why: str
) -> None:
    allow(monkeypatch, **named)
    with pytest.raises(InputError, match=why):
        checked_setup({"name": "n"} | ENDPOINT | entered)
    allow(monkeypatch, "others:judge, judges:judge", f"OTHER@localhost, {KEY}")
    assert checked_setup({"name": "n"} | ENDPOINT | entered | {"url": URL})


def test_a_rater_that_the_operator_no_longer_allows_is_not_asked(
    engine: Engine, project: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    allow(monkeypatch, functions="judges:judge")
    set_up(engine, project, setup(**FUNCTION))
    allow(monkeypatch)
    with pytest.raises(InputError, match=r"judges:judge to .* ALLPAIRS_RATER_FUNCTIONS"):
        requests.request_rating(engine, project, 5)


def test_who_sets_a_rater_up_manages_the_installation(engine: Engine, project: int) -> None:
    """A setup names a key or a function of the worker, and the machine that gets the texts."""
    who = make_person(engine, "Ann")
    people.set_role_of(engine, who, project, Role.ADMINISTRATOR, START)
    with pytest.raises(Refused, match="whole installation"):
        set_up(as_person(engine, who), project, setup())
    set_up(engine, project, setup())
    requests.request_rating(as_person(engine, who), project, 3)
    retire_rater(as_person(engine, who), project)


def test_the_dry_run_says_what_it_takes_and_what_leaves(engine: Engine, project: int) -> None:
    with pytest.raises(InputError, match="no machine rater"):
        dry_run(engine, project, 5)
    pairs = pairs_of(engine, project)
    answer_pairs(engine, project, [(pair, AnswerKind.NEGATIVE) for pair in pairs[:12]])
    money = {"price_in": 2_000.0, "price_out": 10_000.0, "budget": 9.0, "pairs_a_minute": 4, "examples": 0}
    set_up(engine, project, setup(**ENDPOINT, **money))
    estimate = dry_run(engine, project, 10)
    assert (estimate.pairs, estimate.tokens_out, estimate.minutes, estimate.measured, estimate.budget_left) == (
        10,
        300,
        2.5,
        False,
        9.0,
    )
    assert 1_500 < estimate.tokens_in < 3_000
    assert estimate.cost == pytest.approx((2_000 * estimate.tokens_in + 10_000 * estimate.tokens_out) / 1e6)
    assert "models.example.org" in estimate.leaves and "question and guidelines" in estimate.leaves
    with reading(engine) as session:
        assert session.scalars(select(PairVerdict)).all() == []
    add_verdicts(engine, 1, [(pair, Verdict.NO, None) for pair in pairs[:20]])
    answer_pairs(engine, project, [(pair, AnswerKind.NEGATIVE) for pair in pairs[20:]])
    estimate = dry_run(engine, project, 99)
    assert (estimate.pairs, estimate.tokens_in, estimate.tokens_out, estimate.measured) == (8, 800, 80, True)
    assert estimate.budget_left == pytest.approx(8.8)
    add_verdicts(engine, 1, [(pair, Verdict.NO, None) for pair in pairs[20:]])
    assert rating_in_words(dry_run(engine, project, 99)).startswith("no pair left")
    add_rater(engine, project, 2, **FUNCTION)
    assert "judges:judge" in dry_run(engine, project, 10).leaves


def test_its_worth_is_by_labels_of_texts_that_are_there(engine: Engine, project: int) -> None:
    assert read_worth(engine, project) is None
    pairs = pairs_of(engine, project)
    rater = add_rater(engine, project)
    add_verdicts(engine, rater, [(pair, Verdict.NO, 0.25) for pair in pairs])
    answer_pairs(engine, project, [(pair, AnswerKind.NEGATIVE) for pair in pairs[:10]])
    answer_pairs(engine, project, [(pairs[10], AnswerKind.POSITIVE), (pairs[11], AnswerKind.UNSURE)])
    worth = read_worth(engine, project)
    assert worth is not None and worth.quality.pairs == 11 and worth.calibration_error == pytest.approx(0.25 - 1 / 11)
    with writing(engine) as session:
        session.get_one(Item, pairs[10][1]).withdrawn_at = now()
    worth = read_worth(engine, project)
    assert worth is not None and worth.quality.sensitivity is None


def test_verdicts_are_exported_by_themselves(engine: Engine, project: int, tmp_path: Path) -> None:
    pairs = pairs_of(engine, project)
    answer_pairs(engine, project, [(pairs[0], AnswerKind.POSITIVE)])
    add_verdicts(engine, add_rater(engine, project), [(pairs[0], Verdict.NO, 0.25), (pairs[1], Verdict.ABSTAIN, None)])
    out = tmp_path / "verdicts.csv"
    assert export_labels(engine, "Q", out, Form.VERDICTS) == 2
    with out.open(encoding="utf-8", newline="") as stream:
        first, second = csv.DictReader(stream)
    assert (first["id1"], first["text2"], first["rater"], first["verdict"], first["p"], first["prompt"]) == (
        "left-0", "text 1", "judge", "no", "0.25", "0a1b2c3d",
    )  # fmt: skip
    assert (second["verdict"], second["p"]) == ("abstain", "")
    for form in set(Form) - {Form.VERDICTS}:
        rows = tmp_path / f"{form}.jsonl"
        export_labels(engine, "Q", rows, form)
        assert "judge" not in rows.read_text() and '"no"' not in rows.read_text()


def test_an_archive_brings_the_record_and_ends_the_rater(engine: Engine, project: int, tmp_path: Path) -> None:
    """Whoever wrote an archive must not choose where the texts and the worker's key go."""
    add_verdicts(engine, add_rater(engine, project, **ENDPOINT), [(pairs_of(engine, project)[3], Verdict.YES, 0.5)])
    with pytest.raises(IntegrityError), writing(engine) as session:
        session.add(MachineRater(project_id=project, number=2, who="", setup=setup().model_dump(mode="json")))
    export_project(engine, "Q", tmp_path / "q.zip")
    arrived = import_project(engine, tmp_path / "q.zip", "Again")
    assert any("machine rater" in note for note in arrived.notes)
    (one,) = read_raters(engine, arrived.project_id)
    assert (one.in_use, one.setup.url, one.pairs) == (False, URL, 1)
    with reading(engine) as session:
        row = session.scalars(select(PairVerdict).where(PairVerdict.project_id == arrived.project_id)).one()
        assert (row.left_id, row.right_id) == pairs_of(engine, arrived.project_id)[3]
    (mine,) = read_raters(engine, project)
    assert mine.in_use


def test_an_archive_with_a_setup_that_is_none_is_refused(engine: Engine, project: int, tmp_path: Path) -> None:
    rater = add_rater(engine, project)
    with writing(engine) as session:
        session.get_one(MachineRater, rater).setup = {"name": "n", "key": "secret"}
    export_project(engine, "Q", tmp_path / "q.zip")
    with pytest.raises(InputError, match="row 1, column 'setup'"):
        import_project(engine, tmp_path / "q.zip", "Again")


def test_a_copy_has_no_rater(engine: Engine, project: int) -> None:
    add_verdicts(engine, add_rater(engine, project), [(pairs_of(engine, project)[0], Verdict.YES, 0.5)])
    copy, _ = lifecycle.duplicate_project(engine, project, True)
    assert read_raters(engine, copy) == []


def test_the_commands(
    engine: Engine, project: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert annotate("rater", "show", "Q") == 0
    assert "no machine rater" in capsys.readouterr().err
    assert "up to /v1" in failure(capsys, "rater", "set", "Q", "--name", "n")
    told = ("--name", "local", "--url", URL, "--model", "m", "--key-name", "MY_KEY", "--budget", "5")
    assert f"add {KEY} to" in failure(capsys, "rater", "set", "Q", *told)
    allow(monkeypatch, keys=KEY)
    assert annotate("rater", "set", "Q", *told) == 0
    assert "models.example.org" in capsys.readouterr().err
    pairs = pairs_of(engine, project)
    answer_pairs(engine, project, [(pair, AnswerKind.NEGATIVE) for pair in pairs[:4]])
    assert annotate("rater", "run", "Q", "--pairs", "3", "--dry-run", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["pairs"], found["budget_left"], found["job"]) == (3, 5.0, None)
    assert annotate("rater", "run", "Q", "--pairs", "3") == 0
    assert "models.example.org" in (out := capsys.readouterr().out) and f"job rate-{project}-" in out
    add_verdicts(engine, 1, [(pair, Verdict.NO, 0.1) for pair in pairs[:4]])
    assert annotate("rater", "show", "Q") == 0
    out = capsys.readouterr().out
    assert "local" in out and "in use" in out and "1.00 (0.51–1.00), n = 4" in out
    assert annotate("rater", "show", "Q", "--json") == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["raters"][0]["setup"]["key_name"] == "MY_KEY" and shown["worth"]["quality"]["pairs"] == 4
    assert annotate("rater", "resume", "Q") == 0
    assert annotate("rater", "end", "Q") == 0
    assert "no machine rater" in failure(capsys, "rater", "run", "Q")
