"""The serving process's answers: the candidates and scores of a matcher on files, of the model that is published."""

import json
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import Engine, delete, select
from starlette.testclient import TestClient

from allpairs import Matcher
from allpairs.annotate.features.publish.publications import end, publish_round, read_service
from allpairs.db.corpus.text_columns import TextColumns
from allpairs.db.domain import PublicationKind, Side
from allpairs.db.errors import InputError
from allpairs.db.files.artifacts import size_of
from allpairs.db.requests.server_proof import app_proof, process_proof
from allpairs.db.schema.engine import artifacts, reading, writing
from allpairs.db.schema.tables import Identifier, Item, StoredModel
from allpairs.learner.scoring.any_pairs import encode_texts, explain_pairs
from allpairs.learner.serving.candidates import make_candidates
from allpairs.learner.serving.desk import Compared, Desk, MatchQuestion, counts
from allpairs.learner.serving.loaded import Loaded, NothingPublished, StillLoading
from allpairs.learner.serving.loading import load_served
from allpairs.learner.serving.project_texts import ProjectTexts
from allpairs.learner.serving.routes import application
from allpairs.learner.serving.trial import require_loadable
from tests.helpers.factories import make_groups
from tests.helpers.projects.lists import change
from tests.helpers.projects.rounds import answer_batch, half, run, texts, trained
from tests.helpers.services.workers import wait_for
from tests.helpers.tiny import tiny_encoder

WIDE = {code: code + 0xFEE0 for code in range(ord("!"), ord("~") + 1)}  # NFKC takes full width back
ASKED = ["topic1 word3 word4", "topic2 word1", *texts(60)[:2]]  # two new texts, and two of the project
SETTINGS: dict[str, dict[str, Any]] = {
    "one list": {"hubness": 0.25, "lexical": True},
    "two lists": {"hubness": 0.25, "lexical": False, "right": 40},
    "second stage": {"hubness": 0.25, "lexical": True, "second_stage": "on"},
}
SHADOW = PublicationKind.SHADOW


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_encoder(tmp_path_factory.mktemp("encoder"), texts(150))


def asking(desk: Desk, project_id: int, **more: Any) -> dict[str, Any]:
    return desk.match(MatchQuestion(project_id, ASKED, **more))[0]


@pytest.mark.parametrize("name", SETTINGS)
def test_the_answer_is_that_of_the_matcher_on_files(engine: Engine, encoder: Path, name: str) -> None:
    row = trained(engine, encoder, name, **SETTINGS[name])
    publish_round(engine, row.project_id, 1)
    matcher = Matcher.load(str(artifacts() / str(row.folder)))
    desk = Desk(engine, Loaded(engine))
    for side in Side if "right" in SETTINGS[name] else (Side.LEFT,):
        own, other = (Side.LEFT, Side.RIGHT) if side == Side.LEFT else (Side.RIGHT, Side.LEFT)
        items = listed(engine, row.project_id, other if "right" in SETTINGS[name] else own)
        answer = asking(desk, row.project_id, k=5, side=side)
        for text, found in zip(ASKED, answer["results"], strict=True):
            pairs = [text] * len(items), [one.text for one in items]
            score = matcher.score(*(pairs if side == Side.LEFT else pairs[::-1]))
            best = np.sort(score)[::-1][:5]
            assert sorted((one["score"] for one in found), reverse=True) == pytest.approx(best, abs=2e-6)
            same = [one["text"] == text for one in found]
            assert same == sorted(same, reverse=True) and same[0] == (text in {one.text for one in items})
            assert [one["reason"] == "equal" for one in found] == same == [one["p"] == 1 for one in found]
            places = {one.id: at for at, one in enumerate(items)}
            for one in found:
                at = places[one["item"]]
                assert one["score"] == pytest.approx(score[at], abs=2e-6) and one["text"] == items[at].text
            assert [one["why"] for one in found] == why(
                matcher, text, [one["text"] for one in found], side == Side.LEFT
            )
        wide = [text.translate(WIDE) for text in ASKED]
        assert desk.match(MatchQuestion(row.project_id, wide, k=5, side=side))[0]["results"] == answer["results"]
    assert answer["round"] == 1 and answer["recall"] is None
    with reading(engine) as session:
        names = session.scalars(select(Identifier.external_id).where(Identifier.item_id == found[0]["item"])).all()
    assert found[0]["ids"] == names


def why(matcher: Matcher, text: str, others: list[str], of_left: bool) -> list[list[Any]]:
    """Return the parts of the pairs' log-odds, as `match --why` computes them."""
    loaded, rows = matcher.loaded, np.arange(len(others))
    sides = encode_texts(loaded, [text] * len(others), of_left), encode_texts(loaded, others, not of_left)
    found = explain_pairs(loaded, *(sides if of_left else sides[::-1]), rows, rows)
    return [[{"part": part.title, "amount": pytest.approx(part.amount, abs=2e-3), "words": list(part.words)}
             for part in parts] for parts in found]  # fmt: skip


def listed(engine: Engine, project_id: int, side: Side) -> list[Item]:
    with reading(engine) as session:
        mine = select(Item).where(Item.project_id == project_id, Item.side == side).order_by(Item.id)
        return list(session.scalars(mine))


def test_a_record_is_asked_for_by_its_columns(engine: Engine, encoder: Path) -> None:
    project = ProjectTexts(np.arange(2), False, TextColumns({Side.LEFT: ("title", "year"), Side.RIGHT: ("name",)}))
    assert project.records([{"year": " 1999 ", "title": "A"}, {"title": "B"}], True).texts == ["A . 1999", "B"]
    assert project.records([{"name": "C"}], False).texts == ["C"] and project.records([" D "], True).texts == ["D"]
    with pytest.raises(InputError, match=r"'city', .* 'title', 'year'"):
        project.records([{"city": "X"}], True)
    for nothing in ("", " ", "\u200b\xad", {"title": "\ufeff"}, {}):
        with pytest.raises(InputError, match="nothing to read in text 1 of 1"):
            project.records([nothing], True)
    with pytest.raises(InputError, match="one or the other"):
        project.records(["A", {"title": "B"}], True)


def test_an_inverted_file_finds_what_it_says_it_finds() -> None:
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(40, 16))
    vectors = (centres[rng.integers(40, size=4000)] + 0.5 * rng.normal(size=(4000, 16))).astype(np.float32)
    made = make_candidates(vectors, vectors, np.random.default_rng(1), exact=0)
    assert made.recall is not None and made.method == "faiss-ivf" and made.recall.value > 0.95
    queries = vectors[::7]
    true = np.argsort(-(queries @ vectors.T), axis=1)[:, :10]
    share = np.mean([np.isin(one, found).mean() for one, found in zip(true, made.search(queries, 10), strict=True)])
    assert made.recall.low <= share <= made.recall.high
    whole = make_candidates(vectors, vectors, np.random.default_rng(1))
    assert whole.recall is None and np.array_equal(np.sort(whole.search(queries, 10)), np.sort(true))


def test_nothing_is_answered_before_the_newest_publication(engine: Engine, encoder: Path) -> None:
    row = trained(engine, encoder, rounds=2, hubness=0.25)
    loaded = Loaded(engine)
    desk = Desk(engine, loaded)
    with pytest.raises(NothingPublished, match="allpairs publish"):
        asking(desk, row.project_id)
    publish_round(engine, row.project_id, 1)
    first = asking(desk, row.project_id)
    publish_round(engine, row.project_id, 2)
    assert asking(desk, row.project_id)["round"] == 1  # until it is loaded
    loaded.look()
    wait_for(lambda: asking(desk, row.project_id)["round"] == 2)
    publish_round(engine, row.project_id, 1)
    loaded.look()
    wait_for(lambda: asking(desk, row.project_id)["round"] == 1)
    assert asking(desk, row.project_id)["results"] == first["results"]
    end(engine, row.project_id)
    loaded.look()
    with pytest.raises(NothingPublished):
        asking(desk, row.project_id)


def test_a_published_model_keeps_its_vectors_over_later_rounds(engine: Engine, encoder: Path) -> None:
    row = trained(engine, encoder, hubness=0.0)
    publish_round(engine, row.project_id, 1)
    kept = (artifacts() / str(row.folder)).parent / "vectors.npy"
    before = kept.stat().st_mtime_ns
    for _ in range(2):
        answer_batch(engine, row.project_id, half)
        run(engine, row.project_id)
    assert kept.stat().st_mtime_ns == before
    with reading(engine) as session:
        others = session.scalars(select(StoredModel.folder).where(StoredModel.number == 2)).one()
    assert not ((artifacts() / str(others)).parent / "vectors.npy").exists()


def test_texts_that_come_and_go_are_noticed_and_groups_named(engine: Engine, encoder: Path, tmp_path: Path) -> None:
    row = trained(engine, encoder, hubness=0.25, lexical=True)
    publish_round(engine, row.project_id, 1)
    loaded = Loaded(engine)
    desk = Desk(engine, loaded)

    def best() -> list[list[dict[str, Any]]]:
        return [found[:2] for found in asking(desk, row.project_id)["results"]]

    (own, other), before = best()[2], best()[0][0]
    assert own["ids"] == ["left-0"] and own["group"] is None
    make_groups(engine, row.project_id, [[own["item"], other["item"]]])
    assert {one["group"] for one in best()[2]} == {"g1"}
    change(engine, tmp_path, {"more": ASKED[0]})
    change(engine, tmp_path, before["ids"])
    loaded.look()
    wait_for(lambda: best()[0][0]["ids"] == ["more"])
    assert before["item"] not in {one["item"] for found in best() for one in found}


def test_a_swap_fails_no_request(engine: Engine, encoder: Path) -> None:
    row = trained(engine, encoder, rounds=2, hubness=0.0)
    go, started = threading.Event(), threading.Event()

    def slow(engine: Engine, project_id: int, matcher_id: int) -> Any:
        if started.is_set():
            assert go.wait(60)
        started.set()
        return load_served(engine, project_id, matcher_id)

    loaded = Loaded(engine, slow)
    desk, seen = Desk(engine, loaded), list[int]()
    publish_round(engine, row.project_id, 1)
    seen.append(asking(desk, row.project_id)["round"])
    publish_round(engine, row.project_id, 2)
    loaded.look()
    seen += [asking(desk, row.project_id)["round"] for _ in range(3)]  # while the new one is being loaded
    go.set()
    wait_for(lambda: bool(seen.append(asking(desk, row.project_id)["round"])) or seen[-1] == 2)
    assert seen[:4] == [1] * 4 and seen == sorted(seen)


def test_a_slow_model_is_loading_and_a_failing_one_says_why(engine: Engine, encoder: Path) -> None:
    row = trained(engine, encoder, hubness=0.0)
    publish_round(engine, row.project_id, 1)
    go = threading.Event()

    def failing(engine: Engine, project_id: int, matcher_id: int) -> Any:
        assert go.wait(60)
        raise InputError("the folder is damaged")

    loaded = Loaded(engine, failing)
    with pytest.raises(StillLoading, match="is being loaded"):
        loaded.model(row.project_id, patience=0.01)
    go.set()
    with pytest.raises(InputError, match="the folder is damaged"):
        loaded.model(row.project_id)


# The shadow


def test_agreement_is_counted_on_the_first_candidates_of_either() -> None:
    one = Compared(np.array([7, 8]), np.array([7, 9]), np.array([0.9, 0.6, 0.2]), np.array([0.8, 0.4, 0.7]))
    other = Compared(np.array([1]), np.array([2]), np.array([0.9, 0.1]), np.array([0.7, 0.2]))
    nothing = Compared(*[np.empty(0)] * 4)
    found = counts([one, other, nothing])
    assert found.pop("more") == pytest.approx(0.1) and found.pop("away") == pytest.approx(1.1)
    assert found == {"texts": 3, "same_best": 2, "shared": 1.5, "pairs": 5, "gained": 1, "lost": 1}


def test_a_shadow_is_compared_on_requests_until_either_changes(engine: Engine, encoder: Path) -> None:
    row = trained(engine, encoder, rounds=2, hubness=0.25)
    loaded = Loaded(engine)
    desk = Desk(engine, loaded)
    publish_round(engine, row.project_id, 1)
    publish_round(engine, row.project_id, 2, kind=SHADOW)

    def ask_and_compare() -> Any:
        answer, answered = desk.match(MatchQuestion(row.project_id, ASKED, k=1))
        assert answer["round"] == 1 and [len(one) for one in answer["results"]] == [1] * len(ASKED)
        desk.compare(answered)
        return read_service(engine, row.project_id).agreement

    assert ask_and_compare() is None  # the shadow is not loaded yet
    loaded.look()
    wait_for(lambda: loaded.shadow(row.project_id) is not None)
    first = ask_and_compare()
    assert first.texts == len(ASKED) and 10 * len(ASKED) <= first.pairs <= 20 * len(ASKED)
    assert (
        0 < first.shared <= 1
        and abs(first.p_mean_difference) <= first.p_mean_distance
        and 0 < first.p_mean_distance < 1
    )
    second = ask_and_compare()
    assert (second.texts, second.pairs, second.shared) == (2 * first.texts, 2 * first.pairs, first.shared)
    publish_round(engine, row.project_id, 2, "again", SHADOW)
    assert read_service(engine, row.project_id).agreement is None
    publish_round(engine, row.project_id, 2)  # the shadow wins
    service = read_service(engine, row.project_id)
    assert service.shadow is None and service.published is not None and service.published.number == 2


def test_only_who_proves_to_know_the_secret_is_answered(engine: Engine, encoder: Path) -> None:
    row = trained(engine, encoder, hubness=0.0)
    publish_round(engine, row.project_id, 1)
    client = TestClient(application(Desk(engine, Loaded(engine)), "secret"))
    asked = {"project_id": row.project_id, "texts": ASKED, "k": 2, "side": "left", "why": False}

    def ask(secret: str = "secret", own: str = "mine", **more: Any) -> Any:
        body = json.dumps(asked | more).encode()
        shown = client.post("/challenge", content="mine").json()
        assert shown["proof"] == process_proof("secret", "mine", shown["challenge"])
        proof = app_proof(secret, own, shown["challenge"], body)
        headers = {"Authorization": f"Proof {shown['challenge']}:{proof}"}
        found = client.post("/match", content=body, headers=headers)
        assert client.post("/match", content=body, headers=headers).status_code == 401  # each proof is good once
        return found

    for authorization in ("", "Proof ", "Proof a:b", "Bearer secret"):
        assert client.post("/match", json=asked, headers={"Authorization": authorization}).status_code == 401
    assert ask("secret2").status_code == ask(own="other").status_code == 401
    found = ask()
    assert found.status_code == 200 and [len(one) for one in found.json()["results"]] == [2] * len(ASKED)
    assert ask(k=0).status_code == 422
    assert ask(texts=[{"x": "y"}]).status_code == ask(project_id=99).status_code == 409
    with writing(engine) as session:
        session.execute(delete(Item).where(Item.project_id == row.project_id))
    assert ask().status_code == 409


def test_no_project_waits_for_the_loading_of_another(engine: Engine, encoder: Path) -> None:
    slow, row = trained(engine, encoder, "Slow", hubness=0.0), trained(engine, encoder, hubness=0.0)
    go = threading.Event()

    def load(engine: Engine, project_id: int, matcher_id: int) -> Any:
        assert project_id == row.project_id or go.wait(60)
        return load_served(engine, project_id, matcher_id)

    loaded = Loaded(engine, load)
    for one in (slow, row):
        publish_round(engine, one.project_id, 1)
    loaded.start([slow.project_id])
    assert asking(Desk(engine, loaded), row.project_id)["round"] == 1
    with pytest.raises(StillLoading):
        loaded.model(slow.project_id, patience=0.01)
    go.set()


def test_a_model_beyond_the_limits_ends_a_process_of_its_own(encoder: Path) -> None:
    with pytest.raises(InputError, match=r"memory|0\.0 GB"):
        require_loadable(encoder, spare=-4 * size_of(encoder))
    with pytest.raises(InputError, match=r"more than 0\.01 seconds"):
        require_loadable(encoder, patience=0.01)
