"""What the page Explore reads and does, without the page: matches, figures, groups, mistakes, manual selection."""

import csv
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import Engine, select

from allpairs.annotate.features.download import match_export
from allpairs.annotate.features.explore import compare
from allpairs.annotate.features.explore import compare as mistakes
from allpairs.annotate.features.explore import matches as exploring_matches
from allpairs.annotate.features.explore import search as searching
from allpairs.annotate.features.groups import groups as exploring_groups
from allpairs.annotate.features.groups.groups import Answered, ItemGroups, answered_pairs, groups_of_matches, matches_at
from allpairs.annotate.features.label.pick_pair import pick, why_not
from allpairs.annotate.features.label.queue import record, serve
from allpairs.annotate.frame.access.transactions import Refused
from allpairs.annotate.kit.jobs import open_jobs, prepared
from allpairs.annotate.kit.jobs.prepared import (
    ExploredRound,
    Known,
    Scored,
    known_pairs,
    prepared_best_pairs,
    shown_pairs,
)
from allpairs.db.domain import AnswerKind, Clustering, Kind, Role, Side, Split
from allpairs.db.errors import InputError
from allpairs.db.groups.decisions import add_decisions
from allpairs.db.labels.answers import current_labels
from allpairs.db.labels.pairs import labels_of
from allpairs.db.projects.jobs import EXPLORE, SEARCH, open_job
from allpairs.db.results.job_results import Hit, Search, search_path, write_search
from allpairs.db.results.result_file import read_result
from allpairs.db.schema.engine import make_engine, reading, writing
from allpairs.db.schema.tables import Answer, Evaluation, Gold, Identifier, Job, StoredModel, Task
from allpairs.learner.light.groups.description import Changes
from tests.helpers.factories import make_project, make_round
from tests.helpers.figures.measured import add_job, add_matcher
from tests.helpers.machine import examples
from tests.helpers.people import make_member
from tests.helpers.projects.results import CURVE, FIGURES, SCORED, explore, item_ids

POSITIVE, NEGATIVE, UNSURE = AnswerKind.POSITIVE, AnswerKind.NEGATIVE, AnswerKind.UNSURE


@pytest.fixture
def project(engine: Engine, home: Path) -> int:
    """Return 8 texts, the last 2 for evaluation; two rounds, the first without an output layer."""
    project_id = make_project(engine, [f"text {i}" for i in range(8)], evaluation=2)
    for number in (0, 1, 2):
        add_matcher(engine, project_id, number, FIGURES)
    return project_id


@pytest.fixture
def found(engine: Engine, project: int) -> ExploredRound:
    known = [(0, 1, 0.9, 1, -1), (0, 2, 0.8, 0, 1), (3, 4, 0.7, -1, 0), (1, 2, 0.1, -1, 1)]
    return explore(engine, project, 1, SCORED, known)


def answer(engine: Engine, project_id: int, pair: tuple[int, int], kind: AnswerKind, who: str = "ada") -> None:
    with writing(engine) as session:
        number = len(session.scalars(select(Answer.id)).all())
        session.add(
            Answer(project_id=project_id, left_id=pair[0], right_id=pair[1], annotator=who, answer=kind,
                   key=f"test-{number}")
        )  # fmt: skip


def test_rounds_come_with_what_is_prepared(engine: Engine, project: int, found: ExploredRound) -> None:
    rounds = prepared.rounds_of(engine, project)
    assert [one.matcher.number for one in rounds] == [2, 1, 0]
    assert [one.exploration is not None for one in rounds] == [False, True, False]
    assert len(prepared_best_pairs(found)) == 7 and len(known_pairs(found).scored) == 4


def test_preparing_waits_beside_the_job_at_work(engine: Engine, project: int) -> None:
    first = prepared.request_exploration(engine, project, 1)
    work = prepared.preparation_progress(engine, prepared.rounds_of(engine, project)[0].matcher)
    assert work.job is not None and (work.job.id, work.job.kind, work.job.state) == (first, EXPLORE, "waiting")
    with reading(engine) as session:
        assert open_job(session, project) is None
    with pytest.raises(InputError, match="being prepared: wait"):
        prepared.request_exploration(engine, project, 2)
    open_jobs.cancel(engine, first)
    assert prepared.request_exploration(engine, project, 2) != first


def test_answers_after_the_preparation_are_counted(engine: Engine, project: int, found: ExploredRound) -> None:
    ids = item_ids(engine, project)
    assert found.exploration is not None
    assert prepared.answers_since(engine, project, found.exploration) == 0
    answer(engine, project, (ids[0], ids[1]), POSITIVE)
    assert prepared.answers_since(engine, project, found.exploration) == 1


def test_a_pair_is_shown_with_what_is_known_of_it_now(engine: Engine, project: int, found: ExploredRound) -> None:
    ids = item_ids(engine, project)
    with writing(engine) as session:
        session.add(Gold(project_id=project, left_id=ids[0], right_id=ids[2], positive=False))
    answer(engine, project, (ids[0], ids[1]), NEGATIVE)
    answer(engine, project, (ids[0], ids[1]), POSITIVE)
    answer(engine, project, (ids[3], ids[4]), POSITIVE)
    answer(engine, project, (ids[3], ids[4]), AnswerKind.RETRACT)
    first, second, third, mixed, kept, *_ = shown_pairs(engine, found.matcher, prepared_best_pairs(found))
    assert (first.left, first.right, first.label, first.gold) == ("text 0", "text 1", POSITIVE, None)
    assert (second.label, second.gold, third.label, third.gold) == (None, False, None, None)
    assert first.score == pytest.approx(0.9)
    assert first.p == pytest.approx(1 / (1 + np.exp(-(15 * 0.9 - 9.5))), abs=1e-6)
    assert [why_not(*pair.splits) != "" for pair in (first, third, mixed, kept)] == [False, False, True, True]
    untrained = next(one for one in prepared.rounds_of(engine, project) if one.matcher.number == 0)
    assert shown_pairs(engine, untrained.matcher, prepared_best_pairs(found))[0].p is None


ACTS = st.lists(
    st.tuples(st.integers(0, 1), st.sampled_from(["ada", "bo"]), st.sampled_from(list(AnswerKind))), max_size=8
)


@settings(max_examples=examples(40))
@given(ACTS)
def test_the_labels_of_given_pairs_are_those_of_all(migrated: Path, acts: list[tuple[int, str, AnswerKind]]) -> None:
    with TemporaryDirectory() as folder:
        engine = make_engine(f"sqlite:///{shutil.copy(migrated, folder)}")
        project_id = make_project(engine, ["a", "b", "c"])
        ids = item_ids(engine, project_id)
        pairs = [(ids[0], ids[1]), (ids[1], ids[2])]
        for which, who, kind in acts:
            answer(engine, project_id, pairs[which], kind, who)
        with reading(engine) as session:
            expected = {(one.left_id, one.right_id): one.answer for one in current_labels(session, project_id)}
            assert labels_of(session, project_id, pairs) == expected
        engine.dispose()


@pytest.mark.parametrize(
    ("at", "precision", "recall", "beyond"),
    [
        (0.8, 1.0, 0.25, False),
        (0.7, 1.0, 0.25, False),
        (0.6, 0.8, 0.5, False),
        (0.3, 0.5, 1.0, False),
        (0.2, 0.5, 1.0, True),
    ],
)
def test_the_curve_says_what_to_expect(at: float, precision: float, recall: float, beyond: bool) -> None:
    found = exploring_matches.expected_at(Evaluation(curve=CURVE), at)
    assert found == exploring_matches.Expected(precision, recall, None, None, beyond)


def test_above_all_measured_points_nothing_is_known() -> None:
    assert exploring_matches.expected_at(Evaluation(curve=CURVE), 0.81) is None
    assert exploring_matches.expected_at(Evaluation(curve={}), 0.1) is None


def test_a_sampled_precision_has_its_interval() -> None:
    curve = CURVE | {"low": [0.9, 0.7, 0.4], "high": [1.0, 0.9, 0.6]}
    found = exploring_matches.expected_at(Evaluation(curve=curve), 0.5)
    assert found is not None and (found.low, found.high) == (0.7, 0.9)


def test_precision_falls_where_wrong_matches_are_more() -> None:
    # 40 right and 10 wrong ones: four times as many wrong ones are as many as the right ones
    assert exploring_matches.over_all(0.8, 4) == pytest.approx(0.5)
    assert exploring_matches.over_all(0.0, 4) == 0


@given(st.lists(st.floats(-1, 1, width=32), min_size=1, max_size=30), st.floats(-1, 1, width=32))
def test_matches_are_the_pairs_that_score_at_least_the_threshold(scores: list[float], at: float) -> None:
    score = np.sort(np.array(scores, dtype=np.float32))[::-1]
    ids = np.arange(len(score))
    assert exploring_groups.count_above(Scored(ids, ids, score), at) == int((score >= np.float32(at)).sum())


def test_where_the_slider_begins(engine: Engine, project: int, found: ExploredRound) -> None:
    scored = prepared_best_pairs(found)
    assert exploring_matches.start_at(found, scored) == 0.633  # 9.5 / 15
    assert match_export.search_choices(engine, project).thresholds[1] == 0.633  # the page Export starts there, too
    first = explore(engine, project, 0, SCORED)
    assert exploring_matches.start_at(first, scored) == pytest.approx(0.3)  # F1 of 2/3 there, 0.62 and 0.4 above
    unmeasured = ExploredRound(first.matcher, None, first.exploration)
    assert exploring_matches.start_at(unmeasured, scored) == pytest.approx(0.1)
    assert exploring_matches.worth_a_look(found, scored) == pytest.approx((0.3, 0.9))
    assert exploring_matches.worth_a_look(unmeasured, scored) == pytest.approx((0.1, 0.9))


def test_the_model_expects_the_precision_of_its_own_matches(found: ExploredRound) -> None:
    scored = prepared_best_pairs(found)  # the last ones became matches by an answer
    own = scored.take(slice(exploring_groups.count_above(scored, 0.65)))
    assert exploring_matches.mean_p(found, scored, 0.65) == exploring_matches.mean_p(found, own, -1)
    assert exploring_matches.mean_p(found, scored, 0.95) is None


def test_matches_as_csv(engine: Engine, project: int, found: ExploredRound, tmp_path: Path) -> None:
    ids = item_ids(engine, project)
    answer(engine, project, (ids[0], ids[1]), POSITIVE)
    answer(engine, project, (ids[0], ids[2]), UNSURE)
    with writing(engine) as session:
        session.add(Identifier(project_id=project, side=Side.LEFT, external_id="zz", item_id=ids[2]))
    assert exploring_matches.write_round_matches(engine, found, 0.7, tmp_path / "m.csv") == 6
    with (tmp_path / "m.csv").open(encoding="utf-8-sig") as file:
        rows = list(csv.DictReader(file))
    assert [(row["id1"], row["id2"], row["text2"]) for row in rows] == [
        ("left-2", "zz", "text 2"), ("left-0", "left-1", "text 1"), ("left-0", "left-2", "text 2"),
        ("left-0", "zz", "text 2"), ("left-1", "left-2", "text 2"), ("left-1", "zz", "text 2"),
    ]  # fmt: skip
    assert [row["label"] for row in rows] == ["", "1", "", "", "", ""]
    assert [row["reason"] for row in rows] == ["equal", "known", "model", "model", "known", "known"]
    assert float(rows[1]["score"]) == pytest.approx(0.9)
    _, viewer = make_member(engine, project, Role.VIEWER)
    with pytest.raises(Refused):
        exploring_matches.write_round_matches(viewer, found, 0.7, tmp_path / "n.csv")
    assert not (tmp_path / "n.csv").exists()


def test_mistakes_are_the_worst_first(found: ExploredRound, engine: Engine, project: int) -> None:
    ids, known = item_ids(engine, project), known_pairs(found)
    wrong = mistakes.confident_mistakes(known)
    assert wrong.pairs == [(ids[0], ids[2]), (ids[3], ids[4])]  # a label goes before gold
    assert mistakes.missed_positives(known).pairs == [(ids[1], ids[2]), (ids[0], ids[1])]
    assert mistakes.wrong_above(wrong, 0.75) == 1


def grouped(engine: Engine, found: ExploredRound, at: float, how: Clustering = Clustering.CONNECTED) -> ItemGroups:
    scored = prepared_best_pairs(found)
    answered = answered_pairs(engine, found, scored)
    return groups_of_matches(found.matcher, matches_at(scored, at, answered), at, Kind.SYMMETRIC, answered, how)


def test_groups_are_connected_by_matches(engine: Engine, project: int) -> None:
    ids, shown = item_ids(engine, project), grouped(engine, explore(engine, project, 1, SCORED), 0.6)
    groups, largest = shown.groups, shown.groups.largest_first().tolist()
    assert [shown.items(group) for group in largest] == [[ids[i] for i in (0, 1, 2, 6, 7)], [ids[3], ids[4]]]
    assert groups.coherence[largest].tolist() == pytest.approx([0.4, 1.0])
    assert groups.score[largest].tolist() == pytest.approx([(0.9 + 0.8 + 0.65 + 0.6) / 4, 0.7])
    assert groups.least_coherent_first().tolist() == largest
    weakest = shown.weakest(groups.weakest_first())
    assert weakest.pairs == [(ids[6], ids[7]), (ids[3], ids[4])] and weakest.score.tolist() == pytest.approx([0.6, 0.7])


def test_answers_join_and_divide_groups(engine: Engine, project: int, found: ExploredRound) -> None:
    """The file knows 0–2 and 1–2 as gold positives, 3–4 as a negative; people's later answers go before."""
    ids = item_ids(engine, project)

    def parts() -> list[set[int]]:
        shown = grouped(engine, found, 0.6)
        return [{ids.index(item) for item in shown.items(group)} for group in shown.groups.largest_first().tolist()]

    assert parts() == [{0, 1, 2, 6, 7}]
    answer(engine, project, (ids[3], ids[5]), POSITIVE)  # without a score
    answer(engine, project, (ids[0], ids[6]), NEGATIVE)
    assert parts() == [{0, 1, 2}, {3, 5}, {6, 7}] or parts() == [{0, 1, 2}, {6, 7}, {3, 5}]
    answer(engine, project, (ids[3], ids[4]), UNSURE)  # the model's match again
    assert {3, 4, 5} in parts()


def test_no_group_may_be_left(engine: Engine, project: int) -> None:
    found, ids = explore(engine, project, 1, [(0, 1, 0.9)]), item_ids(engine, project)
    answer(engine, project, (ids[0], ids[1]), NEGATIVE)
    for how in (Clustering.CONNECTED, Clustering.AVERAGE, Clustering.CORRELATION):
        shown = grouped(engine, found, 0.6, how)
        assert len(shown.groups.size) == 0 and shown.changes == Changes(0, 0, 0)


def test_other_clusterings_say_what_they_change(engine: Engine, project: int) -> None:
    found = explore(engine, project, 1, [(0, 1, 0.9), (1, 2, 0.8), (2, 3, 0.7), (4, 5, 0.9)])
    assert grouped(engine, found, 0.6).changes == Changes(2, 0, 0)
    for how in (Clustering.AVERAGE, Clustering.CORRELATION):
        shown = grouped(engine, found, 0.6, how)
        assert sorted(shown.groups.size.tolist()) == [2, 2, 2] and shown.changes == Changes(1, 1, 0)


def test_groups_of_two_lists_pair_left_with_right() -> None:
    matches = Scored(np.array([1, 1, 2]), np.array([11, 12, 11]), np.ones(3, np.float32))
    no_pairs = np.empty((0, 2), np.int64)
    none = Answered(no_pairs, no_pairs, np.empty(0), no_pairs)
    groups = groups_of_matches(StoredModel(), matches, 0.5, Kind.BIPARTITE, none).groups
    assert (groups.size.tolist(), groups.pairs.tolist(), groups.matches.tolist()) == ([4], [4], [3])
    one = groups_of_matches(StoredModel(), matches, 0.5, Kind.BIPARTITE, none, Clustering.ONE_TO_ONE)
    assert one.groups.size.tolist() == [2, 2] and one.changes == Changes(0, 1, 0)


def test_the_pairs_that_changed_most(engine: Engine, project: int, found: ExploredRound) -> None:
    ids = item_ids(engine, project)
    later = explore(engine, project, 2, [(3, 4, 0.9), (0, 1, 0.9), (0, 2, 0.62)], [(1, 2, 0.7, 1, -1)], all_pairs=28)
    compared = compare.compare_rounds(found, later)
    rows = {pair: at for at, pair in enumerate(compared.scored.pairs)}
    p = [prepared.probability(one.matcher, np.array([0.1, 0.9, 0.7])) for one in (found, later)]
    assert p[0] is not None and p[1] is not None
    assert compared.scored.pairs[0] == (ids[1], ids[2])  # from 0.1 to 0.7
    assert (compared.before[0], compared.after[0]) == pytest.approx((p[0][0], p[1][2]), abs=1e-6)
    assert compared.truth[rows[ids[0], ids[2]]] == 0 and compared.truth[rows[ids[4], ids[5]]] == -1
    # Of a pair that the later round does not keep, it is known that it lies below the lowest pair that is kept.
    fell, low = rows[ids[0], ids[6]], rows[ids[4], ids[5]]
    assert compared.bound[[fell, low]].all() and not compared.bound[rows[ids[3], ids[4]]]
    assert compared.after[fell] == pytest.approx(1 / (1 + np.exp(-(16 * 0.62 - 10))), abs=1e-4)
    assert compared.after[fell] < compared.before[fell] and compared.change[low] == 0
    assert sorted(np.abs(compared.change), reverse=True) == np.abs(compared.change).tolist()


def test_a_plot_shows_the_most_changed_and_some_of_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compare, "DRAWN", 6)
    n, flat = np.arange(20), np.zeros(20)
    scored = Scored(n, n, flat)
    compared = compare.ComparedPairs(scored, flat, flat, flat.astype(bool), flat)
    positions = compare.drawn(compared, np.random.default_rng(0))
    assert positions[:3].tolist() == [0, 1, 2] and len(set(positions.tolist())) == 6
    few = compare.drawn(compared.take(slice(2)), np.random.default_rng(0))
    assert few.tolist() == [0, 1]


def test_a_chosen_pair_is_the_next_one_on_the_card(engine: Engine, project: int) -> None:
    make_round(engine, project, 3, reserve=1)
    ids = item_ids(engine, project)
    held, _ = serve(engine, project, "ada")
    assert pick(engine, project, "ada", (ids[3], ids[5]), 0.7, 0.6) == 1
    pairs, standing = serve(engine, project, "ada")
    assert (pairs[0].left, pairs[0].right, pairs[0].in_batch) == ("text 3", "text 5", True)
    assert [pair.task_id for pair in pairs[1:]] == [pair.task_id for pair in held]
    assert [pair.in_batch for pair in pairs] == [True] * 4 and standing.progress.size == 4
    event = {"key": "k", "task_id": pairs[0].task_id, "answer": "positive", "seconds": 1.0}
    why = record(engine, project, "ada", [event]).choices[pairs[0].task_id]
    assert (why.score, why.p) == (0.7, 0.6)
    with reading(engine) as session:
        assert sorted(session.scalars(select(Task.position))) == [0, 1, 2, 3, 4]


def test_what_cannot_be_chosen_says_why(engine: Engine, project: int) -> None:
    ids = item_ids(engine, project)

    def refused(*pair: int) -> str:
        with pytest.raises(InputError) as problem:
            pick(engine, project, "ada", (ids[pair[0]], ids[pair[1]]), 0.7, None)
        return str(problem.value)

    assert "no batch yet" in refused(0, 1)
    make_round(engine, project, 1)
    assert "already in batch 1" in refused(0, 1)
    assert refused(6, 7).startswith("both of its texts")
    assert refused(0, 7).startswith("one of its texts")
    answer(engine, project, (ids[2], ids[3]), UNSURE)
    assert "labelled: unsure" in refused(2, 3)
    add_job(engine, project, "train", state="running")
    assert "next batch is being prepared" in refused(3, 4)
    assert len(_tasks(engine)) == 1


def _tasks(engine: Engine) -> list[Task]:
    with reading(engine) as session:
        return list(session.scalars(select(Task)))


def test_a_chosen_pair_of_two_lists_trains(engine: Engine, home: Path) -> None:
    project_id = make_project(engine, ["a", "b"], ["c", "d"], evaluation=1)
    make_round(engine, project_id, 1)
    ids = item_ids(engine, project_id)
    assert pick(engine, project_id, "ada", (ids[0], ids[3]), 0.7, None) == 1
    with pytest.raises(InputError, match="in the evaluation set"):
        pick(engine, project_id, "ada", (ids[1], ids[3]), 0.7, None)
    assert why_not(Split.TRAIN, Split.SHARED) == ""


def test_searches_are_asked_for(engine: Engine, project: int) -> None:
    ids = item_ids(engine, project)
    first, second = (
        searching.request_text_search(engine, project, 1, "a text", True),
        searching.request_item_search(engine, project, 1, ids[3]),
    )
    with reading(engine) as session:
        kinds = [(job.id, job.kind) for job in session.scalars(select(Job).order_by(Job.created_at))]
    assert kinds == [(first, SEARCH), (second, SEARCH)]
    assert open_jobs.job_progress(engine, make_project(engine, ["a", "b"], name="Another"), second).job is None
    work = open_jobs.job_progress(engine, project, second)
    assert work.job is not None and work.job.state == "waiting" and not work.has_worker
    for text, why in (("  ", "text is empty"), ("x" * 10_001, "10,001 characters, but the limit is 10,000")):
        with pytest.raises(InputError, match=why):
            searching.request_text_search(engine, project, 1, text, True)
    with pytest.raises(InputError, match="not in the project"):
        searching.request_item_search(engine, project, 1, ids[-1] + 1)


def test_what_a_search_found_is_shown_as_pairs(engine: Engine, project: int) -> None:
    ids = item_ids(engine, project)
    answer(engine, project, (ids[0], ids[3]), NEGATIVE)
    hits = [Hit(ids[5], 0.8, 0.7, ""), Hit(ids[0], 0.6, 0.5, "")]
    write_search(project, Search("s-1", 1, "text 3", ids[3], hits))
    search = read_result(search_path(project, "s-1"), Search)
    assert search is not None and search.hits == hits and read_result(search_path(project, "s-2"), Search) is None
    near = searching.nearest_items(engine, project, Kind.SYMMETRIC, search, slice(10))
    assert [(one.text, one.score, one.p) for one in near] == [("text 5", 0.8, 0.7), ("text 0", 0.6, 0.5)]
    pairs = [one.pair for one in near if one.pair]
    assert [(pair.left_id, pair.right_id, pair.label) for pair in pairs] == [
        (ids[3], ids[5], None), (ids[0], ids[3], NEGATIVE)
    ]  # fmt: skip
    write_search(project, Search("s-3", 1, "typed", None, hits))
    typed = read_result(search_path(project, "s-3"), Search)
    assert typed is not None
    assert [one.pair for one in searching.nearest_items(engine, project, Kind.SYMMETRIC, typed, slice(1))] == [None]


def test_items_are_found_by_their_words(engine: Engine, home: Path) -> None:
    project_id = make_project(engine, ["Reset my password", "password of the VPN", "100 % sure", "1000 things"])

    def found(words: str) -> list[str]:
        return [item.text for item in searching.items_by_words(engine, project_id, words)]

    assert found("PASSWORD") == ["Reset my password", "password of the VPN"]
    assert found("vpn password") == ["password of the VPN"]
    assert found("0 %") == ["100 % sure"] and found("%") == ["100 % sure"]
    assert found(" ") == [] and found("none") == []


def test_truth_is_the_label_before_gold() -> None:
    scored = Scored(np.arange(3), np.arange(3), np.zeros(3))
    assert Known(scored, np.array([0, -1, 1]), np.array([1, 1, -1]), np.zeros(3, dtype=bool)).truth.tolist() == [
        0,
        1,
        1,
    ]


def test_groups_of_matches_keep_to_decisions(engine: Engine, project: int, found: ExploredRound) -> None:
    ids = item_ids(engine, project)
    with writing(engine) as session:
        add_decisions(session, project, "ada", "split-1", {(ids[3], ids[4]): True, (ids[4], ids[5]): False})
    best = prepared_best_pairs(found)
    answered = exploring_groups.answered_pairs(engine, found, best)
    yes, no = (set(map(tuple, pairs.tolist())) for pairs in (answered.yes, answered.no))
    assert (ids[3], ids[4]) in yes and {(ids[4], ids[5]), (ids[3], ids[5])} <= no
