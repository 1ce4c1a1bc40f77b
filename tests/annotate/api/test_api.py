"""The REST API, address by address: what it returns, to whom, and what it refuses."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import Engine, select, update

from allpairs.annotate.api import routes
from allpairs.annotate.api.operations import OPERATIONS
from allpairs.annotate.features.publish import matching, publications
from allpairs.annotate.features.quality.round_tables import estimates_table
from allpairs.annotate.features.quality.rounds import read_report
from allpairs.annotate.features.webhooks import webhooks as services
from allpairs.annotate.frame.access import people
from allpairs.annotate.frame.access.transactions import Refused
from allpairs.annotate.frame.web.problems import LONGEST_BODY, Wrong
from allpairs.annotate.kit.api import Call
from allpairs.annotate.kit.jobs import open_jobs
from allpairs.db.domain import Role, Side, version_of
from allpairs.db.errors import Busy, InputError
from allpairs.db.labels.answers import current_labels
from allpairs.db.projects.jobs import add_job, fail_job
from allpairs.db.projects.match_servers import report_server
from allpairs.db.projects.publications import add_counts
from allpairs.db.schema.engine import artifacts, reading, writing
from allpairs.db.schema.tables import Answer, Identifier, Item, Job
from tests.helpers.factories import make_groups, make_project, make_round
from tests.helpers.figures.measured import make_measured_project
from tests.helpers.machine import free_port
from tests.helpers.people import at
from tests.helpers.projects.results import ANSWER, answering, make_published, make_trained
from tests.helpers.services.webhooks import WEBHOOK
from tests.helpers.web import answer, body_of, browser, leased, member, of, refused, said, site

R, ASK = Role, matching.ask_servers


# What each address gives


def test_projects_are_those_that_one_was_let_into(engine: Engine, project: int) -> None:
    make_project(engine, ["a", "b"], name="Another")
    ben = member(engine, project, R.ANNOTATOR)
    listed = ben.get("/projects").json()["projects"]
    assert [(one["id"], one["name"], one["kind"], one["question"]) for one in listed] == [
        (project, "Questions", "symmetric", "The same?")
    ]
    assert ben.get(of(project)).json() == listed[0]
    root = member(engine, 0, None, "Root", administrator=True)
    assert [one["name"] for one in root.get("/projects").json()["projects"]] == ["Another", "Questions"]


def test_tasks_are_leased_and_answered_once(engine: Engine, project: int) -> None:
    ben, carl = member(engine, project, R.ANNOTATOR), member(engine, project, R.ADJUDICATOR)
    found = ben.post(of(project, "/tasks"), json={"n": 4}).json()
    assert [set(task) for task in found["tasks"]] == [{"id", "left", "right", "rows"}] * 4  # no score, no reason
    assert found["progress"] == {"number": 1, "size": 6, "answered": 0} and found["reason"] is None
    mine = [task["id"] for task in found["tasks"]]
    assert leased(ben, project, 4) == mine and not set(mine) & set(leased(carl, project, 2))
    acts = [
        answer("a", mine[0]),
        answer("b", mine[1], "negative", seconds=1.5, note=" why "),
        answer("c", mine[2], "skip"),
    ]
    for _ in range(2):  # a replay
        assert said(ben, project, *acts) == {"stored": ["a", "b", "c"], "refused": []}
    with reading(engine) as session:
        rows = session.scalars(select(Answer).order_by(Answer.id)).all()
    assert [(row.annotator, row.answer, row.seconds, row.note) for row in rows] == [
        ("annotator", "positive", None, None), ("annotator", "negative", 1.5, "why"), ("annotator", "skip", None, None),
    ]  # fmt: skip
    assert leased(ben, project)[-1] == mine[2]


def test_a_retraction_is_an_act_like_others(engine: Engine, project: int) -> None:
    ben = member(engine, project, R.ANNOTATOR)
    first = leased(ben, project)[0]
    said(ben, project, answer("a", first), answer("b", first, "retract"))
    with reading(engine) as session:
        assert current_labels(session, project) == []
    assert first in leased(ben, project)


def test_the_same_key_of_two_people_and_projects_is_no_replay(engine: Engine, project: int) -> None:
    ben = member(engine, project, R.ANNOTATOR)
    carl = member(engine, project, R.ADJUDICATOR)
    said(ben, project, answer("1", leased(ben, project, 1)[0]))
    said(carl, project, answer("1", leased(carl, project, 1)[0]))
    other = make_project(engine, ["a", "b", "c"], name="Another")
    make_round(engine, other, 2)
    people.set_role_by_name(engine, "annotator", "Another", R.ANNOTATOR, at())
    said(ben, other, answer("1", leased(ben, other, 1)[0]))
    with reading(engine) as session:
        assert len(session.scalars(select(Answer.id)).all()) == 3


def test_groups_and_what_became_of_them(engine: Engine, project: int) -> None:
    viewer = member(engine, project, R.VIEWER)
    empty = {"groups": [], "update": None, "cursor": 0, "more": False, "changes_cursor": 0}
    assert viewer.get(of(project, "/groups")).json() == empty
    with writing(engine) as session:
        items = session.scalars(select(Item.id).where(Item.project_id == project).order_by(Item.id)).all()
        session.add(Identifier(project_id=project, side=Side.LEFT, external_id="same", item_id=items[0]))
    make_groups(engine, project, [items[:2], items[2:4]], matcher=1, p=0.5)
    first = viewer.get(of(project, "/groups?limit=1")).json()
    texts = [{"side": "left", "ids": ["left-0", "same"]}, {"side": "left", "ids": ["left-1"]}]
    assert first["groups"] == [{"id": "g1", "texts": texts}] and (first["cursor"], first["more"]) == (1, True)
    assert (first["update"]["round"], first["update"]["p"], first["update"]["groups"]) == (1, 0.5, 2)
    second = viewer.get(of(project, f"/groups?limit=1&cursor={first['cursor']}")).json()
    assert [one["id"] for one in second["groups"]] == ["g2"]
    assert viewer.get(of(project, f"/groups/changes?cursor={first['changes_cursor']}")).json() == {
        "changes": [], "cursor": first["changes_cursor"], "more": False,
    }  # fmt: skip

    make_groups(engine, project, [items[:4]], matcher=2)
    found = viewer.get(of(project, f"/groups/changes?cursor={first['changes_cursor']}&limit=1")).json()
    (joined,) = found["changes"]
    assert (joined["group"], joined["event"], joined["from_groups"], joined["round"]) == ("g1", "joined", ["g2"], 2)
    assert joined["texts_added"] == [{"side": "left", "id": "left-2"}, {"side": "left", "id": "left-3"}]
    (ended,) = viewer.get(of(project, f"/groups/changes?cursor={found['cursor']}")).json()["changes"]
    assert (ended["group"], ended["event"], ended["size"], ended["to_groups"]) == ("g2", "ended", 0, ["g1"])
    assert viewer.get(of(project, "/groups?group=g2")).json()["groups"] == []
    assert len(viewer.get(of(project, "/groups?group=g1")).json()["groups"][0]["texts"]) == 4
    assert "group" in refused(viewer.get(of(project, "/groups?group=17")), 422)

    member(engine, project, R.ADMINISTRATOR).post(of(project, "/texts/withdraw"), json={"ids": ["left-3"]})
    (group,) = viewer.get(of(project, "/groups")).json()["groups"]
    assert [text["ids"][0] for text in group["texts"]] == ["left-0", "left-1", "left-2"]
    make_groups(engine, project, [items[:3]], matcher=2)
    (shrunk,) = viewer.get(of(project, "/groups/changes?cursor=4")).json()["changes"]
    assert shrunk["event"] == "shrunk" and shrunk["texts_removed"] == [{"side": "left", "id": "left-3"}]
    refused(member(engine, project, R.ANNOTATOR).get(of(project, "/groups")), 403)


def test_nothing_to_label_says_why(engine: Engine, project: int) -> None:
    parts = [len(leased(member(engine, project, R.ANNOTATOR, f"Ann {n}"), project)) for n in range(8)]
    assert parts == [6, 3, 2, 1, 1, 1, 2, 1]  # fair parts of the batch, and of its reserve
    dora = member(engine, project, R.ANNOTATOR, "Dora")
    found = dora.post(of(project, "/tasks"), json={}).json()
    assert (found["tasks"], found["reason"]) == ([], "leased") and found["free_at"]


def test_labels_come_page_by_page_and_later_ones_after(engine: Engine, project: int) -> None:
    ben, boss = member(engine, project, R.ANNOTATOR), member(engine, project, R.ADMINISTRATOR)
    tasks = leased(ben, project)
    said(
        ben, project, *(answer(str(i), task, ("positive", "negative", "unsure")[i % 3]) for i, task in enumerate(tasks))
    )
    seen, cursor = [], 0
    while True:
        page = boss.get(of(project, "/labels"), params={"cursor": cursor, "limit": 4}).json()
        seen, cursor = seen + page["labels"], page["cursor"]
        if not page["more"]:
            break
    assert [one["label"] for one in seen] == [1, 0, None] * 2
    assert seen[0] | {"created_at": ""} == {
        "id1": "left-0", "id2": "left-1", "text1": "text 0", "text2": "text 1", "label": 1, "answer": "positive",
        "annotator": "annotator", "round": 1, "strategy": "uncertainty", "score": 0.95, "created_at": "",
        "purpose": "train", "note": None, "model": None, "guidelines": version_of(""), "withdrawn": 0,
    }  # fmt: skip
    said(ben, project, answer("changed", tasks[1]))
    news = boss.get(of(project, "/labels"), params={"cursor": cursor}).json()
    assert [(one["id2"], one["label"]) for one in news["labels"]] == [("left-2", 1)] and not news["more"]


def test_metrics_are_the_figures_of_the_page(engine: Engine, project: int) -> None:
    measured = make_measured_project(engine, rounds=3, half_width=0.05)
    found = member(engine, measured, R.VIEWER).get(of(measured, "/metrics")).json()["evaluations"]
    table = estimates_table(read_report(engine, measured))
    assert [one["round"] for one in found] == [0, 1, 2]
    newest = table[(table["round"] == 2) & (table["measure"] == "Average precision")].iloc[0]
    figure = found[2]["figures"]["average_precision"]
    assert (figure["value"], figure["low"], figure["high"]) == (newest.value, newest.low, newest.high)
    assert figure["low"] < figure["value"] < figure["high"]
    assert sum(len(one["figures"]) for one in found) == len(table)
    assert member(engine, project, R.VIEWER, "Vera").get(of(project, "/metrics")).json() == {"evaluations": []}


def test_jobs_are_started_watched_and_cancelled(engine: Engine, project: int) -> None:
    boss = member(engine, project, R.ADMINISTRATOR)
    started = boss.post(of(project, "/jobs"), json={"kind": "next_round"})
    job = started.json()
    assert started.status_code == 202 and (job["kind"], job["state"]) == ("next_round", "waiting")
    assert boss.post(of(project, "/jobs"), json={"kind": "next_round"}).json()["id"] == job["id"]
    assert boss.get(of(project, "/jobs")).json()["jobs"] == [job]
    assert boss.get(of(project, f"/jobs/{job['id']}")).json() == job
    for _ in range(2):
        assert boss.delete(of(project, f"/jobs/{job['id']}")).json()["state"] == "cancelled"
    with writing(engine) as session:
        session.execute(update(Job).values(state="done"))
    assert "no new answers" in refused(boss.post(of(project, "/jobs"), json={"kind": "next_round"}), 409)
    assert boss.get(of(project, "/jobs"), params={"limit": 1}).json()["jobs"][0]["state"] == "done"


# One record now


def test_a_record_is_answered_and_publications_are_listed(
    engine: Engine, project: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, viewer = answering(monkeypatch), member(engine, project, R.VIEWER)
    found = viewer.post(of(project, "/match"), json={"texts": ["a", {"name": "b"}], "k": 3.0})
    assert found.json() == ANSWER
    assert asked == [{"project_id": project, "texts": ["a", {"name": "b"}], "k": 3, "side": "left", "why": True}]
    boss = member(engine, project, R.ADMINISTRATOR)
    assert "is the published one" in refused(boss.post(of(project, "/publications"), json={"kind": "shadow"}), 409)
    assert "round 7 has no model" in refused(boss.post(of(project, "/publications"), json={"round": 7}), 409)
    make_trained(engine, project, 2)
    made = boss.post(of(project, "/publications"), json={"kind": "shadow", "note": "a try"}).json()
    with writing(engine) as session:
        more = {
            "texts": 4,
            "same_best": 3,
            "shared": 2.0,
            "pairs": 50,
            "more": -5.0,
            "away": 10.0,
            "gained": 1,
            "lost": 2,
        }
        add_counts(session, project, 1, made["id"], more)
    listed = viewer.get(of(project, "/publications")).json()
    assert listed["publications"][0] == listed["shadow"] == made and listed["published"]["round"] == 1
    left = boss.post(of(project, "/publications/end"), json={"kind": "shadow", "note": "tried"}).json()
    assert left["shadow"] is None and left["published"]["round"] == 1 and left["publications"][0]["note"] == "tried"
    assert boss.post(of(project, "/publications/end"), json={}).json()["published"] is None
    assert "no model is published" in refused(boss.post(of(project, "/publications/end"), json={}), 409)
    assert (made["round"], made["note"], made["who"]) == (2, "a try", "administrator")
    assert listed["agreement"] == {
        "texts": 4, "same_best": 0.75, "shared": 0.5, "pairs": 50, "p_mean_difference": -0.1, "p_mean_distance": 0.2,
        "gained": 1, "lost": 2,
    }  # fmt: skip


def test_without_a_process_or_publication_the_answer_advises(
    engine: Engine, project: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(matching, "ask_servers", ASK)
    viewer, body = member(engine, project, R.VIEWER), {"texts": ["a"]}
    assert "allpairs serve --match" in refused(viewer.post(of(project, "/match"), json=body), 503)
    with writing(engine) as session:  # one that has died, and cannot be reached
        report_server(session, "gone", "here", 1, f"127.0.0.1:{free_port()}", "secret")
    assert "allpairs serve-model" in refused(viewer.post(of(project, "/match"), json=body), 503)
    publications.end(engine, project)
    assert "allpairs publish" in refused(viewer.post(of(project, "/match"), json=body), 409)
    for status, answered in ((503, 503), (500, 503), (409, 409), (401, 503)):
        make_published(engine, project)
        monkeypatch.setattr(matching, "ask_servers", lambda servers, body, status=status: (status, {"detail": "why"}))
        assert "why" in refused(viewer.post(of(project, "/match"), json=body), answered)


# What is wrong


@pytest.mark.parametrize(
    ("body", "status", "line"),
    [
        (b"{", 400, "body: Invalid JSON"),
        (b"", 400, "body: Invalid JSON"),
        (b"\xff", 400, "body: Invalid JSON"),
        (b"[" * 100_000, 400, "body: Invalid JSON"),
        (b"[]", 422, "body: Input should be an object"),
        (b'{"answers": []}', 422, "body.answers: List should have at least 1 item"),
        (b'{"answers": [{"key": "a", "task_id": "1", "answer": "positive"}]}', 422, "body.answers.0.task_id"),
        (b'{"answers": [{"key": "a", "task_id": 1, "answer": "maybe"}]}', 422, "body.answers.0.answer"),
        (b'{"answers": [{"key": "a b", "task_id": 1, "answer": "skip"}]}', 422, "body.answers.0.key"),
        (b'{"answers": [{"key": "a", "task_id": 1, "answer": "skip", "annotator": "Eve"}]}', 422, "Extra inputs"),
        (b'{"answers": [{"key": "a", "task_id": 4294967296, "answer": "skip"}]}', 422, "body.answers.0.task_id"),
        (b'{"answers": [{"key": "a", "task_id": 1, "answer": "skip", "seconds": NaN}]}', 422, "finite"),
        (b'{"answers": [{"key": "a", "task_id": 1, "answer": "skip", "note": "\\u0000"}]}', 422, "note"),
    ],
)
def test_a_body_that_does_not_fit(engine: Engine, project: int, body: bytes, status: int, line: str) -> None:
    ben = member(engine, project, R.ANNOTATOR)
    found = ben.post(of(project, "/answers"), content=body, headers={"Content-Type": "application/json"})
    assert line in refused(found, status)


def test_a_body_that_is_too_long_is_not_read(engine: Engine, project: int) -> None:
    ben, pieces = member(engine, project, R.ANNOTATOR), []

    def endless() -> Any:
        for _ in range(100):
            pieces.append(1)
            yield b" " * (LONGEST_BODY // 10)

    found = ben.post(of(project, "/answers"), content=endless(), headers={"Content-Type": "application/json"})
    assert "send less" in refused(found, 413)
    many = {"answers": [answer(str(i), 1) for i in range(201)]}
    assert "at most 200" in refused(ben.post(of(project, "/answers"), json=many), 422)


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""])
def test_what_a_form_of_another_site_can_send_is_refused(engine: Engine, project: int, kind: str) -> None:
    alone = browser(site(forced=False))  # where nobody needs a token
    found = alone.post(of(project, "/jobs"), content=b'{"kind": "next_round"}', headers={"Content-Type": kind})
    assert "application/json" in refused(found, 415)
    found = alone.options(of(project, "/jobs"), headers={"Origin": "https://evil.example"})
    assert refused(found, 405) and "access-control-allow-origin" not in found.headers
    assert open_jobs.read_jobs(engine, project) == []


@pytest.mark.parametrize(
    ("path", "status"),
    [("/projects/0", 404), ("/projects/4294967296", 404), ("/projects/one", 404), ("/projects/1e0", 404),
     ("/projects/1/jobs/a%00b", 404), ("/projects/1%0A", 404), ("/nothing", 404),
     ("/projects/1/labels?limit=1001", 422), ("/projects/1/labels?limit=0", 422), ("/projects/1/labels?cursor=-1", 422),
     ("/projects/1/labels?cursor=x", 422), ("/projects/+1", 404), ("/projects/%201", 404),
     ("/projects/1/labels?cursor=1&cursor=2", 422), ("/projects/1/labels?page=1", 422), ("/projects?all=1", 422)],
)  # fmt: skip
def test_an_address_that_does_not_fit(engine: Engine, project: int, path: str, status: int) -> None:
    refused(member(engine, project, R.ADMINISTRATOR).get(path), status)


def test_a_method_that_an_address_does_not_take(engine: Engine, project: int) -> None:
    boss = member(engine, project, R.ADMINISTRATOR)
    found = boss.put(of(project, "/jobs"))
    refused(found, 405)
    assert boss.head(of(project, "/jobs")).status_code == 200
    assert set(found.headers["allow"].split(", ")) == {"GET", "HEAD", "POST"}


def test_what_fails_here_tells_nothing_of_it(
    engine: Engine, project: int, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    boss = member(engine, project, R.ADMINISTRATOR)

    def broken(*arguments: object) -> None:
        raise RuntimeError("secret of the inside")

    monkeypatch.setattr(open_jobs, "read_jobs", broken)
    found = boss.get(of(project, "/jobs"))
    assert "secret" not in refused(found, 500) and "secret of the inside" in caplog.text


@pytest.mark.parametrize("error", [InputError, Refused, lambda text: Busy(text, 7), lambda text: Wrong(409, text)])
def test_no_error_names_a_place_on_the_server(
    engine: Engine, project: int, monkeypatch: pytest.MonkeyPatch, error: Callable[[str], Exception]
) -> None:
    place = artifacts() / "project-1" / "model"

    def failing(call: Call) -> Any:
        raise error(f"the file {place}/config.json is damaged: restore {place}")

    monkeypatch.setattr(routes, "OPERATIONS", [replace(one, answer=failing) for one in OPERATIONS])
    asking = browser(site(forced=False))
    for one in OPERATIONS:
        path = one.path.format(project_id=project, job_id="x", webhook_id=1)
        found = asking.request(one.method, path, json=body_of(one.name))
        assert "config.json is damaged" in found.json()["detail"], one.name
        assert found.headers.get("Retry-After") == ("7" if found.status_code == 429 else None)


def test_a_job_that_failed_names_no_place_on_the_server(engine: Engine, project: int) -> None:
    with writing(engine) as session:
        fail_job(session, add_job(session, project, "search"), f"{artifacts() / 'a' / 'b'} is missing: search again")
    assert "b is missing" in browser(site(forced=False)).get(of(project, "/jobs")).json()["jobs"][0]["error"]


def test_alone_one_needs_no_token_and_answers_as_in_the_app(engine: Engine, project: int) -> None:
    alone = browser(site(forced=False))
    said(alone, project, answer("a", leased(alone, project)[0]))
    with reading(engine) as session:
        assert session.scalars(select(Answer.annotator)).all() == ["me"]
    assert "its own machine" in refused(browser(site(forced=False), address="10.0.0.9").get("/projects"), 403)
    renamed = alone.get("/projects", headers={"Host": "evil.example"})  # another site's name for this machine
    assert "its own machine" in refused(renamed, 403)


def test_a_webhook_is_added_listed_and_deleted(engine: Engine, project: int) -> None:
    boss = member(engine, project, R.ADMINISTRATOR)
    made = boss.post(of(project, "/webhooks"), json=WEBHOOK).json()
    assert made["secret"].startswith("whsec_") and (made["url"], made["kinds"]) == (WEBHOOK["url"], WEBHOOK["kinds"])
    listed = boss.get(of(project, "/webhooks")).json()["webhooks"]
    assert listed == [{name: value for name, value in made.items() if name != "secret"}]
    services.send_test(engine, project, made["id"])
    (delivery,) = boss.get(of(project, f"/webhooks/{made['id']}/deliveries")).json()["deliveries"]
    assert (delivery["kind"], delivery["state"], delivery["attempts"]) == ("test", "waiting", 0)
    assert boss.delete(of(project, f"/webhooks/{made['id']}")).json() == listed[0]
    assert boss.get(of(project, "/webhooks")).json() == {"webhooks": []}
    assert "private" in refused(boss.post(of(project, "/webhooks"), json=WEBHOOK | {"url": "http://10.0.0.1/"}), 409)
    for wrong in ({"kinds": []}, {"kinds": ["test"]}, {"url": "ftp://x.org"}, {"url": "https://a@b.org/"}):
        refused(boss.post(of(project, "/webhooks"), json=WEBHOOK | wrong), 422)


# Changes of texts


def test_texts_are_added_changed_withdrawn_and_brought_back(engine: Engine, project: int) -> None:
    ada, ben = member(engine, project, R.ADMINISTRATOR), member(engine, project, R.ANNOTATOR)
    sent = {"texts": [{"id": "new", "text": "a new text"}, {"id": "left-0", "text": "text 1"}]}
    refused(ben.post(of(project, "/texts"), json=sent), 403)
    tried = ada.post(of(project, "/texts"), json=sent | {"dry_run": True}).json()
    assert (tried["new"], tried["changed"], tried["change"]) == (1, 1, None)
    assert ada.post(of(project, "/texts"), json=sent).json() == tried | {"change": 1}
    gone = ada.post(of(project, "/texts/withdraw"), json={"ids": ["new", "nobody"]}).json()
    assert (gone["withdrawn"], gone["unknown"], gone["change"]) == (1, 1, 2)
    assert "not the newest" in refused(ada.post(of(project, "/texts/undo"), json={"number": 1}), 409)
    assert ada.post(of(project, "/texts/undo"), json={"number": 2}).json()["undone_at"]
    changes = ada.get(of(project, "/texts/changes")).json()["changes"]
    assert [(one["number"], one["can_undo"], bool(one["undone_at"])) for one in changes] == [
        (2, False, True), (1, True, False)
    ]  # fmt: skip


@pytest.mark.parametrize(("sent", "status", "said"), [
    ({}, 422, "texts"),
    ({"texts": []}, 422, "at least 1"),
    ({"texts": [{"id": "a"}]}, 422, "text"),
    ({"texts": [{"id": "a", "text": {"title": "x"}}]}, 409, "column"),
    ({"texts": [{"id": "a", "text": " "}]}, 409, "the text is empty"),
    ({"texts": [{"id": "a", "text": "x"}, {"id": "a", "text": "y"}]}, 409, "row 2, column 'id'"),
    ({"texts": [{"id": "a", "text": "x"}], "side": "right"}, 409, "one list"),
    ({"texts": [{"id": "a", "text": 3}]}, 422, "text"),
])  # fmt: skip
def test_texts_that_cannot_be_read_change_nothing(
    engine: Engine, project: int, sent: dict[str, Any], status: int, said: str
) -> None:
    ada = member(engine, project, R.ADMINISTRATOR)
    assert said in refused(ada.post(of(project, "/texts"), json=sent), status)
    assert ada.get(of(project, "/texts/changes")).json()["changes"] == []
