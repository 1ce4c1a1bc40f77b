"""The job `rate`: which pairs a machine rater is asked about, what its prompt shows, and when it stops."""

import time
from itertools import combinations

import pytest
from sqlalchemy import Engine, select, update
from sqlalchemy.orm import Session

from allpairs.db.domain import AnswerKind, Purpose, Split, Verdict
from allpairs.db.errors import Cancelled, InputError
from allpairs.db.labels.pairs import Pair
from allpairs.db.projects.jobs import RATE, add_job
from allpairs.db.raters.pairs import example_pool
from allpairs.db.raters.rows import rater_in_use, spent_by
from allpairs.db.schema.engine import reading, writing
from allpairs.db.schema.tables import Item, Job, MachineRater, PairLabel, PairVerdict, Task, now
from allpairs.db.schema.tables.raters import LIMITS
from allpairs.learner.jobs import rate as steps
from allpairs.learner.jobs.queue import progress
from allpairs.learner.jobs.queue.turns import Turn
from allpairs.learner.raters.endpoint import Endpoint
from allpairs.learner.raters.rating import RaterError
from tests.helpers.factories import make_audit_batch, make_design, make_project, make_round
from tests.helpers.raters import Judge, Reply, add_rater, add_verdicts, answer_pairs, completion, judging, verdicts

POSITIVE, NEGATIVE = AnswerKind.POSITIVE, AnswerKind.NEGATIVE
TEXTS = [f"{colour} {thing}" for thing in ("chair", "table", "lamp") for colour in ("red", "blue", "green", "old")]


def same(left: str, right: str) -> Verdict:
    return Verdict.YES if left.split()[1] == right.split()[1] else Verdict.NO


def opposite(left: str, right: str) -> Verdict:
    return Verdict.NO if same(left, right) == Verdict.YES else Verdict.YES


def people_say(left: str, right: str) -> AnswerKind:
    return POSITIVE if same(left, right) == Verdict.YES else NEGATIVE


def texts_of(engine: Engine, project_id: int) -> dict[int, str]:
    with reading(engine) as session:
        rows = session.execute(select(Item.id, Item.text).where(Item.project_id == project_id).order_by(Item.id))
        return dict(rows.tuples().all())


def answer_rightly(engine: Engine, project_id: int, n: int) -> list[Pair]:
    """Let somebody answer the last n pairs of training texts, which are in no batch; return them."""
    texts = texts_of(engine, project_id)
    with reading(engine) as session:
        training = select(Item.id).where(Item.project_id == project_id, Item.split == Split.TRAIN)
        pairs = list(combinations(session.scalars(training.order_by(Item.id)), 2))[-n:]
    answer_pairs(engine, project_id, [((one, other), people_say(texts[one], texts[other])) for one, other in pairs])
    return pairs


def run(engine: Engine, project_id: int, most: int = 100) -> str:
    """Run the job's steps and return its summary."""
    with writing(engine) as session:
        job_id = add_job(session, project_id, RATE).id
    rater_id, pairs = steps.plan_rating(project_id, most)
    return steps.rate_pairs(job_id, rater_id, pairs)


def use(monkeypatch: pytest.MonkeyPatch, judge: object) -> None:
    monkeypatch.setattr(steps, "open_rater", lambda *_: judge)


@pytest.fixture
def project(engine: Engine) -> int:
    """Return twelve texts with a batch of six pairs and no answers."""
    project_id = make_project(engine, TEXTS, question="The same thing?", guidelines="Colours do not count.")
    make_round(engine, project_id, 4, reserve=2)
    return project_id


def test_half_are_answered_pairs_and_half_are_of_the_open_batch(
    engine: Engine, project: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    answered = answer_rightly(engine, project, 9)
    add_rater(engine, project)
    use(monkeypatch, judge := Judge(same))
    assert run(engine, project, 8) == "8 pairs rated"
    assert len(set(verdicts(engine)) & set(answered)) == 4
    assert run(engine, project) == "7 pairs rated"
    with reading(engine) as session:
        batch = {(left, right) for left, right in session.execute(select(Task.left_id, Task.right_id))}
        labels = {(left, right) for left, right in session.execute(select(PairLabel.left_id, PairLabel.right_id))}
    assert set(verdicts(engine)) == batch | set(answered) and len(judge.asked) == 15
    assert labels == set(answered), "a verdict is no label"
    assert run(engine, project) == "0 pairs rated"


def test_a_changed_setup_asks_anew(engine: Engine, project: int, monkeypatch: pytest.MonkeyPatch) -> None:
    answer_rightly(engine, project, 3)
    first = add_rater(engine, project)
    use(monkeypatch, judge := Judge(same))
    run(engine, project)
    with writing(engine) as session:
        session.get_one(MachineRater, first).ended_at = now()
    add_rater(engine, project, 2)
    run(engine, project)
    assert len(judge.asked) == 18


def test_the_prompt_shows_similar_labels_but_no_asked_texts(
    engine: Engine, project: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer_rightly(engine, project, 40)
    add_rater(engine, project, examples=4)
    use(monkeypatch, judge := Judge(same))
    run(engine, project)
    full = 0
    for prompt, left, right in judge.asked:
        assert (prompt.question, prompt.guidelines) == ("The same thing?", "Colours do not count.")
        kinds = [one.answer for one in prompt.examples]
        assert kinds == [Verdict.YES, Verdict.NO] * (len(kinds) // 2) and len(kinds) <= 4
        assert all(same(one.left, one.right) == one.answer for one in prompt.examples)
        assert not {left, right} & {text for one in prompt.examples for text in (one.left, one.right)}
        full += len(kinds) == 4
    assert full > len(judge.asked) / 2
    asked = next(one for one in judge.asked if one[1:] == ("red lamp", "blue lamp"))
    assert {asked[0].examples[0].left, asked[0].examples[0].right} == {"red table", "blue table"}


def test_examples_are_no_audit_evaluation_or_disputed_pairs(engine: Engine) -> None:
    project_id = make_project(engine, TEXTS, evaluation=4)
    make_design(engine, project_id)
    make_audit_batch(engine, project_id, 3)
    trains = answer_rightly(engine, project_id, 6)
    with reading(engine) as session:
        audits = [(t.left_id, t.right_id) for t in session.scalars(select(Task).where(Task.purpose == Purpose.AUDIT))]
        measures = list(session.scalars(select(Item.id).where(Item.split == Split.EVALUATION).order_by(Item.id)))
    free = next(pair for pair in combinations(measures, 2) if pair not in audits)
    answer_pairs(engine, project_id, [(pair, NEGATIVE) for pair in (*audits, free)])  # as imported ones: for training
    texts = texts_of(engine, project_id)
    disputed = trains[0]
    other = NEGATIVE if people_say(*(texts[item] for item in disputed)) == POSITIVE else POSITIVE
    answer_pairs(engine, project_id, [(disputed, other)], who="bob")
    with reading(engine) as session:
        found = {(one.left_id, one.right_id) for one in example_pool(session, project_id)}
    assert found == set(trains[1:])


def test_it_stops_before_the_budget_is_exceeded(engine: Engine, project: int, monkeypatch: pytest.MonkeyPatch) -> None:
    answer_rightly(engine, project, 9)
    add_rater(engine, project, price_in=1_000.0, price_out=1_000.0, budget=6.0)
    use(monkeypatch, judge := Judge(same, (1_000, 400)))
    assert "budget of 6.00" in run(engine, project)
    spent = 1.4 * len(judge.asked)
    assert 2.8 <= spent <= 6.0 and len(verdicts(engine)) == len(judge.asked)
    with pytest.raises(InputError, match="paused: the next pair could"):
        run(engine, project)


def test_verdicts_before_an_error_stay_and_are_not_repeated(
    engine: Engine, project: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer_rightly(engine, project, 9)
    add_rater(engine, project)
    judge = Judge(same)

    def failing(left: str, right: str) -> Verdict:
        if len(judge.asked) == 5:
            raise RaterError("the endpoint does not answer")
        return same(left, right)

    judge.say = failing
    monkeypatch.setattr(progress, "INTERVAL", 0.0)
    use(monkeypatch, judge)
    with writing(engine) as session:
        job_id = add_job(session, project, RATE).id
    rater_id, pairs = steps.plan_rating(project, 10)
    with pytest.raises(RaterError):
        steps.rate_pairs(job_id, rater_id, pairs)
    assert len(verdicts(engine)) == 4
    assert steps.rate_pairs(job_id, rater_id, pairs) == "10 pairs rated"  # as a worker that starts again
    assert set(verdicts(engine)) == set(pairs) and len(judge.asked) == 11
    with reading(engine) as session:
        assert session.get_one(Job, job_id).stage.startswith("9 of 10 pairs")


def test_a_pair_asked_by_two_jobs_has_one_verdict_and_both_costs(
    engine: Engine, project: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rater = add_rater(engine, project, price_in=10_000.0)

    def meanwhile(left: str, right: str) -> Verdict:
        add_verdicts(engine, rater, [(pairs[0], same(left, right), None)])  # another job, for 0.01
        return same(left, right)

    use(monkeypatch, Judge(meanwhile))
    with writing(engine) as session:
        job_id = add_job(session, project, RATE).id
    _, pairs = steps.plan_rating(project, 1)
    assert steps.rate_pairs(job_id, rater, pairs) == "1 pairs rated"
    with reading(engine) as session:
        spent = spent_by(session, rater)
    assert (spent.pairs, spent.tokens_in, spent.tokens_out, spent.cost) == (1, 200, 20, pytest.approx(1.01))


def test_a_cancelled_job_keeps_what_was_rated(engine: Engine, project: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "INTERVAL", 0.0)
    add_rater(engine, project)
    judge = Judge(same)

    def cancelling(left: str, right: str) -> Verdict:
        if len(judge.asked) == 3:
            with writing(engine) as session:
                session.scalars(select(Job)).one().cancel = True
        return same(left, right)

    judge.say = cancelling
    use(monkeypatch, judge)
    with pytest.raises(Cancelled):
        run(engine, project)
    assert len(verdicts(engine)) == 3
    with reading(engine) as session:
        assert "cost so far" in session.scalars(select(Job)).one().stage


def test_a_pair_that_takes_long_is_put_off_for_jobs_that_wait(
    engine: Engine, project: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And asked about in the job's next turn."""
    add_rater(engine, project)
    waiting = [True]
    monkeypatch.setattr(Turn, "is_over", lambda self, shortest=0.0: bool(shortest) and waiting[0])
    with writing(engine) as session:
        job_id = add_job(session, project, RATE).id
    rater_id, pairs = steps.plan_rating(project, 2)
    with judging(lambda *_: (429, {"Retry-After": "100"}, b"")) as slow:
        use(monkeypatch, Endpoint(slow.url, "m"))
        assert steps.rate_pairs(job_id, rater_id, pairs) == "" and verdicts(engine) == {}
    waiting[0] = False
    use(monkeypatch, Judge(same))
    assert steps.rate_pairs(job_id, rater_id, pairs) == "2 pairs rated"


def test_a_pair_with_an_answer_is_not_put_off(engine: Engine, project: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The answer would have to be paid again."""
    add_rater(engine, project)
    with writing(engine) as session:
        job_id = add_job(session, project, RATE).id
    rater_id, pairs = steps.plan_rating(project, 1)
    answers = [completion("what?", tokens=(100, 10)), completion('{"answer": "yes", "p": 0.9}', tokens=(100, 10))]
    begun: list[None] = []

    def answer_late(*_: object) -> Reply:
        time.sleep(0.7 * len(begun))  # the second one; what waits is heard every half second
        begun.append(None)
        return answers[len(begun) - 1]

    monkeypatch.setattr(Turn, "is_over", lambda self, shortest=0.0: bool(shortest) and bool(begun))
    with judging(answer_late) as slow:
        use(monkeypatch, Endpoint(slow.url, "m"))
        assert steps.rate_pairs(job_id, rater_id, pairs) == "1 pairs rated"
    with reading(engine) as session:
        assert spent_by(session, rater_id).tokens_in == 200


@pytest.mark.parametrize(("values", "why"), [({"ended_at": now()}, "ended"), ({"paused_at": now()}, "paused")])
def test_a_rater_that_ended_while_its_job_waited_is_sent_nothing(
    engine: Engine, project: int, monkeypatch: pytest.MonkeyPatch, values: dict[str, object], why: str
) -> None:
    rater_id = add_rater(engine, project)
    use(monkeypatch, judge := Judge(same))
    with writing(engine) as session:
        job_id = add_job(session, project, RATE).id
    _, pairs = steps.plan_rating(project, 2)
    with writing(engine) as session:
        session.execute(update(MachineRater).values(**values))
    assert why in steps.rate_pairs(job_id, rater_id, pairs) and judge.asked == []


def test_tokens_and_money_overflow_nowhere(engine: Engine, project: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not in a row that grows, not in a sum, and not in rows that a database was given some other way."""
    rater = add_rater(engine, project, price_in=1e6, price_out=1e6)
    most = LIMITS["tokens_in"]

    def meanwhile(left: str, right: str) -> Verdict:
        add_verdicts(engine, rater, [(pairs[0], same(left, right), None)])  # another job
        return same(left, right)

    use(monkeypatch, Judge(meanwhile, (int(most), int(most))))
    with writing(engine) as session:
        job_id = add_job(session, project, RATE).id
    _, pairs = steps.plan_rating(project, 1)
    steps.rate_pairs(job_id, rater, pairs)
    with writing(engine) as session:
        assert spent_by(session, rater).tokens_in == session.scalars(select(PairVerdict.tokens_in)).one() == most
        add_huge_verdicts(session, rater, 2**62 if session.get_bind().dialect.name == "sqlite" else 2**31 - 1)
    with reading(engine) as session:
        spent = spent_by(session, rater)
    assert (spent.tokens_in, spent.tokens_out) == (3 * most, 3 * most)
    assert spent.cost == pytest.approx(2 * LIMITS["cost"], rel=0.01)


def add_huge_verdicts(session: Session, rater: int, tokens: int) -> None:
    """Add two verdicts with so many tokens, for more money than there is."""
    project_id = session.get_one(MachineRater, rater).project_id
    items = session.scalars(select(Item.id).order_by(Item.id)).all()
    session.add_all(
        PairVerdict(project_id=project_id, rater_id=rater, left_id=items[0], right_id=right, verdict=Verdict.NO, p=None,
                    tokens_in=tokens, tokens_out=tokens, cost=1.7e308, prompt="0a1b2c3d")
        for right in items[-2:]
    )  # fmt: skip


@pytest.mark.parametrize(("say", "paused"), [(opposite, True), (same, False)])
def test_a_rater_that_is_surely_too_often_wrong_is_paused(
    engine: Engine, project: int, monkeypatch: pytest.MonkeyPatch, say: object, paused: bool
) -> None:
    monkeypatch.setattr(steps, "CHECK_EVERY", 10)
    answer_rightly(engine, project, 25)
    add_rater(engine, project, least_accuracy=0.7)
    use(monkeypatch, Judge(say))  # type: ignore[arg-type]
    said = run(engine, project)
    with reading(engine) as session:
        row = rater_in_use(session, project)
        assert row is not None and (row.paused_at is not None) == paused and (row.paused_why == said) == paused
    assert len(verdicts(engine)) == (10 if paused else 31)
    if paused:
        assert "0 of 10 pairs" in said and "its bound is 70%" in said


def test_the_pace_is_kept_and_a_wait_can_be_cut_short() -> None:
    time, slept, looks = [0.0], list[float](), list[float]()

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        time[0] += seconds

    wait = steps.Pace(30, clock=lambda: time[0], sleep=sleep)
    for _ in range(3):
        wait(lambda: looks.append(time[0]))
    assert time[0] == pytest.approx(4.0) and max(slept) <= 0.5 and len(looks) == len(slept) == 8
    late = steps.Pace(30, 1.5, lambda: time[0], sleep)  # half a second after a pair of the job's turn before
    late(lambda: None)
    assert slept.pop() == pytest.approx(0.5)
    free = steps.Pace(0, clock=lambda: time[0], sleep=sleep)
    free(lambda: None)
    free(lambda: None)
    assert len(slept) == 8
