"""The job `matches`: which pairs it writes, that labels override the model, and the groups."""

from itertools import combinations, pairwise
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from sqlalchemy import Engine, select

from allpairs.db.corpus.fields import joined
from allpairs.db.domain import AnswerKind, Clustering, Representative, Side
from allpairs.db.errors import InputError
from allpairs.db.projects.jobs import MATCHES, add_job
from allpairs.db.projects.stable_groups import changes_after, group_id, page_of_groups, wrong_groups
from allpairs.db.results.matches import GROUPS, PAIRS, Matches, folder_of_matches, read_matches, writing_matches
from allpairs.db.results.pipelines import runs_folder
from allpairs.db.schema.engine import reading, writing
from allpairs.db.schema.tables import (
    Answer,
    Gold,
    GroupChange,
    GroupUpdate,
    Identifier,
    Item,
    Project,
    StoredModel,
    Task,
)
from allpairs.learner.backbones.generator import load_generator
from allpairs.learner.backbones.reranking.reading import Reading
from allpairs.learner.backbones.reranking.reranker import Reranker, scores_of, truth_logits
from allpairs.learner.jobs import matches as steps
from allpairs.learner.jobs.next_round import follow_with_groups
from allpairs.learner.light.groups.grouping import USUAL, Grouping
from allpairs.learner.models.output_layer import OutputLayer
from allpairs.learner.scoring.matcher import load_matcher
from tests.helpers.factories import first_ids, make_project
from tests.helpers.projects.rounds import answer, answer_batch, half, matcher_of, newest, run, texts
from tests.helpers.tiny import tiny_encoder

Row = dict[str, object]


@pytest.fixture
def project(engine: Engine, encoder: Path) -> int:
    """Return 30 texts with a first trained round, half of whose labels are positives."""
    project_id = make_project(
        engine, texts(), evaluation=10, encoder=str(encoder), first=6, neighbours=10, epochs=1, audit_every=0
    )
    run(engine, project_id)
    answer_batch(engine, project_id, half)
    run(engine, project_id)
    return project_id


def find(
    engine: Engine, project_id: int, number: int, threshold: float, grouping: Grouping = USUAL, keep: bool = True
) -> Matches:
    with writing(engine) as session:
        job_id = add_job(session, project_id, MATCHES).id
    steps.find_matches(job_id, project_id, number, threshold, None, *grouping.words, keep)
    found = read_matches(project_id)
    assert found is not None and found.job_id == job_id
    return found


def rows(project_id: int, file: str) -> list[Row]:
    return list(pq.read_table(folder_of_matches(project_id) / file).to_pylist())


def names(engine: Engine, project_id: int, kind: AnswerKind) -> set[tuple[str, str]]:
    """Return the ids of the pairs of batch 1 with this answer."""
    with reading(engine) as session:
        tasks = session.scalars(select(Task).where(Task.project_id == project_id, Task.round_id == 1)).all()
        wanted = [task for task in tasks if task.position < 6 and half(task.position) == kind]
        ids = first_ids(session, [item for task in wanted for item in (task.left_id, task.right_id)])
        return {(ids[task.left_id], ids[task.right_id]) for task in wanted}


def test_the_pairs_are_those_of_the_model_and_of_people(engine: Engine, project: int) -> None:
    model = load_matcher(str(Path(folder_of_matches(project)).parents[1] / str(matcher_of(engine, 1).folder)))
    vectors = model.encoder.encode(texts())
    scores = {pair: float(vectors[pair[0]] @ vectors[pair[1]]) for pair in combinations(range(30), 2)}
    threshold = sorted(scores.values())[-25]
    positives, negatives = (names(engine, project, kind) for kind in (AnswerKind.POSITIVE, AnswerKind.NEGATIVE))
    above = {(f"left-{one}", f"left-{other}") for (one, other), score in scores.items() if score >= threshold - 1e-6}
    about = find(engine, project, 1, threshold - 1e-6)
    found = rows(project, PAIRS)
    assert {(row["id1"], row["id2"]) for row in found} == (above | positives) - negatives
    assert (about.matcher, about.pairs) == (1, len(found))
    for row in found:
        one, other = int(str(row["id1"])[5:]), int(str(row["id2"])[5:])
        assert float(str(row["score"])) == pytest.approx(scores[one, other], abs=1e-5)
        assert (row["text1"], row["text2"]) == (texts()[one], texts()[other])
        assert 0 < float(str(row["p"])) < 1
    assert {(row["id1"], row["id2"]) for row in found if row["known"] == "positive"} == positives
    assert [row["score"] for row in found] == sorted((row["score"] for row in found), reverse=True)


def test_what_a_killed_worker_left_is_in_nobodys_way(project: int) -> None:
    killed = writing_matches(project)
    left = killed.__enter__()  # and never ends
    with writing_matches(project) as folder:
        assert folder != left
        (folder / "a.txt").write_text("whole")
    assert (folder_of_matches(project) / "a.txt").read_text() == "whole"
    killed.__exit__(None, None, None)


def test_a_reranker_orders_the_pairs_and_changes_none(
    engine: Engine, project: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tiny_encoder(tmp_path, [*texts(), "Query: Document: Relevant: true false"])
    reranker = Reranker(load_generator(str(tmp_path / "bert"), 1, device="cpu"), Reading(source_length=64))
    reranker.save(runs_folder() / "run-1" / "model")
    find(engine, project, 1, 0.2)
    plain = rows(project, PAIRS)
    with writing(engine) as session:
        job_id = add_job(session, project, MATCHES).id
    steps.find_matches(job_id, project, 1, 0.2, "run-1/model", *USUAL.words)
    found = rows(project, PAIRS)
    scores = [float(str(row.pop("rerank"))) for row in found]
    assert len(found) > 10 and scores == sorted(scores, reverse=True) and len(set(scores)) > 1
    assert sorted(found, key=str) == sorted(plain, key=str) and "rerank" not in plain[0]
    first = [str(found[0]["text1"])], [str(found[0]["text2"])]
    assert scores_of(truth_logits(reranker, *first, np.array([[0, 0]])))[0] == pytest.approx(scores[0], abs=1e-4)
    about = read_matches(project)
    assert about is not None and about.reranker == "run-1/model"
    monkeypatch.setattr(steps, "MOST_READ", 10)
    with pytest.raises(InputError, match="at most 10: choose"):
        steps.find_matches(job_id, project, 1, 0.2, "run-1/model", *USUAL.words)


def test_groups_are_what_pairs_connect(engine: Engine, project: int) -> None:
    about = find(engine, project, 0, 2.0)  # nothing but what people know
    found = rows(project, GROUPS)
    parts: dict[object, set[object]] = {}
    for row in found:
        parts.setdefault(row["group"], set()).add(row["id"])
    expected: list[set[str]] = []
    for pair in names(engine, project, AnswerKind.POSITIVE):
        joined = [part for part in expected if part & set(pair)]
        expected = [part for part in expected if part not in joined] + [set(pair).union(*joined)]
    assert sorted(map(sorted, parts.values())) == sorted(map(sorted, expected))  # type: ignore[arg-type]
    sizes = [len(part) for part in parts.values()]
    assert sizes == sorted(sizes, reverse=True) and {row["size"] for row in found} == set(sizes)
    assert (about.groups, about.grouped, about.pairs) == (len(parts), len(found), 3)


def kept(engine: Engine, project_id: int) -> dict[str, set[str]]:
    """Return the ids of the texts of each kept group, after checking that the newest file names the same."""
    with reading(engine) as session:
        texts = page_of_groups(session, project_id, 0, 100)
        names = first_ids(session, [item for group in texts.values() for item in group])
        assert not wrong_groups(session, project_id)
    found = {group_id(number): {names[item] for item in group} for number, group in texts.items()}
    written: dict[str, set[str]] = {}
    for row in rows(project_id, GROUPS):
        written.setdefault(str(row["group_id"]), set()).add(str(row["id"]))
    assert written == found
    return found


def changed(engine: Engine, project_id: int, after: int = 0) -> list[GroupChange]:
    with reading(engine) as session:
        return [change for change, _ in changes_after(session, project_id, after, 100)]


def test_groups_keep_their_ids_until_people_say_otherwise(engine: Engine, encoder: Path) -> None:
    project_id = make_project(engine, texts(), encoder=str(encoder), first=6)
    run(engine, project_id)
    with writing(engine) as session:
        items = session.scalars(select(Item.id).order_by(Item.id)).all()
        for left, right in pairwise(items[:4]):
            session.add(Gold(project_id=project_id, left_id=left, right_id=right, positive=True))
        session.add(Gold(project_id=project_id, left_id=items[6], right_id=items[7], positive=True))
    assert find(engine, project_id, 0, 2.0).changed == 2
    first = {"g1": {"left-0", "left-1", "left-2", "left-3"}, "g2": {"left-6", "left-7"}}
    assert kept(engine, project_id) == first
    assert find(engine, project_id, 0, 2.0).changed == 0 and kept(engine, project_id) == first
    last = changed(engine, project_id)[-1].id

    with writing(engine) as session:
        session.add(Answer(project_id=project_id, left_id=items[2], right_id=items[3], annotator="ann",
                           answer=AnswerKind.NEGATIVE, key="no"))  # fmt: skip
        session.add(Answer(project_id=project_id, left_id=items[3], right_id=items[9], annotator="ann",
                           answer=AnswerKind.POSITIVE, key="yes"))  # fmt: skip
    assert find(engine, project_id, 0, 2.0).changed == 2
    found = kept(engine, project_id)
    assert found == {"g1": {"left-0", "left-1", "left-2"}, "g2": first["g2"], "g3": {"left-3", "left-9"}}
    told = {change.number: change for change in changed(engine, project_id, last)}
    assert {number: change.event for number, change in told.items()} == {1: "divided", 3: "made"}
    assert told[1].details["to_groups"] == [3] and told[1].details["items_removed"] == [["left", "left-3"]]


def test_looking_at_another_threshold_leaves_the_projects_groups(engine: Engine, project: int) -> None:
    find(engine, project, 1, 2.0)
    before, number = kept(engine, project), len(changed(engine, project))
    about = find(engine, project, 1, -1.0, keep=False)
    assert about.changed is None and "group_id" not in rows(project, GROUPS)[0]
    assert len(changed(engine, project)) == number
    find(engine, project, 1, 2.0)
    assert kept(engine, project) == before


def test_a_round_is_followed_by_its_groups_on_request(engine: Engine, project: int) -> None:
    assert follow_with_groups("round-1", project) is None
    with writing(engine) as session:
        row = session.get_one(Project, project)
        row.settings = row.settings | {"keep_groups": True}
    layer = OutputLayer(float(matcher_of(engine, 1).w or 0), float(matcher_of(engine, 1).b or 0))
    job_id, _, asked = follow_with_groups("round-1", project) or pytest.fail("no job")
    assert asked == (1, pytest.approx(layer.threshold), None, "average", "central", "")
    assert follow_with_groups("round-1", project) == (job_id, "gpu", asked)  # a step that runs again
    steps.find_matches(job_id, project, *asked)
    find(engine, project, 1, (1 - layer.b) / layer.w, Grouping(Clustering.CORRELATION))
    answer_batch(engine, project, half)
    run(engine, project)
    newer = OutputLayer(float(matcher_of(engine, 2).w or 0), float(matcher_of(engine, 2).b or 0))
    _, _, asked = follow_with_groups("round-2", project) or pytest.fail("no job")
    assert asked[0] == 2 and asked[3] == "correlation"  # at the same probability under the new model
    assert float(newer.logit(np.array(asked[1]))) == pytest.approx(1)


def test_a_list_has_careful_groups_before_its_first_training(
    engine: Engine, encoder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(steps, "CAREFUL", 0.4)  # the tiny encoder's cosines are low
    texts = ["anna meier hauptstr 12 berlin", "anna meier hauptstr. 12 berlin", "jo doe", "max weber ulm", "ute lau"]
    project = make_project(engine, texts, evaluation=2, encoder=str(encoder), keep_groups=True)
    round_job = run(engine, project)
    job_id, _, search = follow_with_groups(round_job, project) or pytest.fail("no job")
    assert search == (0, None, None, "connected", "central", "")
    steps.find_matches(job_id, project, *search)
    assert kept(engine, project) == {"g1": {"left-0", "left-1"}}
    with reading(engine) as session:
        update = session.scalars(select(GroupUpdate)).one()
        assert (update.matcher, update.threshold, update.p) == (0, 0.4, None)


def test_average_groups_hold_no_pair_that_people_rejected(
    engine: Engine, project: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    find(engine, project, 1, -1.0)
    scores = sorted(float(str(row["score"])) for row in rows(project, PAIRS))
    threshold = scores[-60]
    with writing(engine) as session:  # p is 1/2 there, however sure the trained model is
        matcher = session.scalars(select(StoredModel).where(StoredModel.number == 1)).one()
        matcher.w = 4 / (scores[-1] - threshold)
        matcher.b = -matcher.w * threshold
    plain = find(engine, project, 1, threshold)
    grouping = Grouping(Clustering.AVERAGE, Representative.LONGEST)
    with monkeypatch.context() as patch:
        patch.setattr(steps, "NEAR_LOGITS", 0.0)
        without_weak = find(engine, project, 1, threshold, grouping)
    about = find(engine, project, 1, threshold, grouping)
    assert about.pairs == without_weak.pairs and about.groups < without_weak.groups
    assert (about.clustering, about.representative) == ("average", "longest") and plain.clustering == "connected"
    assert about.pairs == plain.pairs and about.groups > plain.groups
    found, p = rows(project, GROUPS), {(row["id1"], row["id2"]): row["p"] for row in rows(project, PAIRS)}
    parts: dict[object, list[Row]] = {}
    for row in found:
        parts.setdefault(row["group"], []).append(row)
    apart = set(map(frozenset, names(engine, project, AnswerKind.NEGATIVE)))
    for part in parts.values():
        pairs = [(one["id"], other["id"]) for one, other in combinations(part, 2)]
        assert not apart & set(map(frozenset, pairs))
        matching = sum(pair in p or pair[::-1] in p for pair in pairs)
        assert {row["coherence"] for row in part} == {matching / len(pairs)}
        (chosen,) = (row for row in part if row["representative"] == 1)
        assert len(str(chosen["text"])) == max(len(str(row["text"])) for row in part)
        assert len({row["weakest"] for row in part}) == 1
    for pair in names(engine, project, AnswerKind.POSITIVE):
        assert len({row["group"] for row in found if row["id"] in pair}) == 1


def test_the_newest_text_by_a_column(engine: Engine, encoder: Path) -> None:
    records = [joined(["a b c", year]) for year in ("2019", "2021", "")]
    project_id = make_project(engine, [text for text, _ in records], encoder=str(encoder))
    with writing(engine) as session:
        session.get_one(Project, project_id).text_columns = {Side.LEFT: ["name", "year"]}
        for item, (_, lengths) in zip(session.scalars(select(Item).order_by(Item.id)), records, strict=True):
            item.field_lengths = list(lengths)
    run(engine, project_id)
    find(engine, project_id, 0, -1.0, Grouping(representative=Representative.NEWEST, newest_by="year"))
    assert [row["id"] for row in rows(project_id, GROUPS) if row["representative"]] == ["left-1"]
    with pytest.raises(InputError, match="'age': use name, year"):
        find(engine, project_id, 0, -1.0, Grouping(representative=Representative.NEWEST, newest_by="age"))


def test_groups_that_cannot_be_made_are_refused_before_the_work(
    engine: Engine, project: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(steps, "vectors_of", lambda *given: pytest.fail("it works"))
    for number, how in ((0, Clustering.CORRELATION), (1, Clustering.ONE_TO_ONE)):
        with pytest.raises(InputError, match="groups need"):
            find(engine, project, number, 0.5, Grouping(how))


def test_labels_go_before_known_pairs(engine: Engine, project: int) -> None:
    _, tasks = newest(engine, project)
    with writing(engine) as session:
        session.add(Gold(project_id=project, left_id=tasks[0].left_id, right_id=tasks[0].right_id, positive=True))
    before = find(engine, project, 0, 2.0).pairs
    answer(engine, tasks[0], AnswerKind.NEGATIVE)
    assert find(engine, project, 0, 2.0).pairs == before - 1


def test_two_lists_make_groups_over_both(engine: Engine, encoder: Path) -> None:
    project_id = make_project(engine, ["a b", "c d"], ["a b", "x y", "a b c"], encoder=str(encoder))
    with reading(engine) as session:
        same = session.scalars(select(Item).order_by(Item.id)).all()
        assert session.scalar(select(Identifier.external_id).where(Identifier.item_id == same[2].id)) == "right-0"
    run(engine, project_id)
    find(engine, project_id, 0, 0.999)
    found = {(row["side"], row["id"]) for row in rows(project_id, GROUPS) if row["group"] == 1}
    assert {("left", "left-0"), ("right", "right-0")} <= found


def test_no_match_makes_empty_files_and_a_wrong_round_is_named(engine: Engine, encoder: Path) -> None:
    project_id = make_project(engine, texts(), encoder=str(encoder), first=4)
    run(engine, project_id)
    assert find(engine, project_id, 0, 2.0).pairs == 0
    assert rows(project_id, PAIRS) == [] == rows(project_id, GROUPS)
    with pytest.raises(InputError, match="round 7 has no model"):
        find(engine, project_id, 7, 0.5)


def test_too_many_pairs_are_refused(engine: Engine, project: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steps, "MOST", 10)
    with pytest.raises(InputError, match=r"435 pairs .* at most 10"):
        find(engine, project, 0, -1.0)
    assert read_matches(project) is None


def test_matches_outlive_the_next_round(engine: Engine, project: int) -> None:
    find(engine, project, 1, 0.5)
    answer_batch(engine, project, half)
    run(engine, project)
    assert read_matches(project) is not None
