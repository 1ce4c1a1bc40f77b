"""Audits whose pairs a machine rater reads first: people label by verdict, and the figures hold."""

from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import Engine, delete, select

from allpairs.annotate.features.raters.project_raters import dry_run
from allpairs.db.domain import Verdict
from allpairs.db.errors import InputError
from allpairs.db.projects.jobs import RATE, add_job
from allpairs.db.raters.audits import IN_ORDER, rater_of_design
from allpairs.db.rating import RatedFor
from allpairs.db.schema.engine import reading, writing
from allpairs.db.schema.tables import Answer, Item, MachineRater, PairLabel, PairVerdict, now
from allpairs.learner.evaluation.audit.sampling_order import DEEP
from allpairs.learner.evaluation.audit.verdicts import NO, UNREAD, YES
from allpairs.learner.jobs import rate as steps
from allpairs.learner.jobs.audit.designs import AuditDesign, read_designs
from allpairs.learner.jobs.audit.labels import LabelledAudit, read_under
from allpairs.learner.jobs.audit.read_pairs import orders_of
from allpairs.learner.jobs.data.project_data import read_project
from tests.helpers.figures.audits import (
    TOPICS,
    add_model,
    designs_of,
    draw_and_label,
    evaluation_of,
    exact,
    figures,
    make_audited,
    pair_of,
    run_audit,
    tasks_of,
    truth,
)
from tests.helpers.raters import Judge, add_rater, verdicts

pytestmark = pytest.mark.usefixtures("small")


def same(left: str, right: str) -> Verdict:
    """Say whether two texts are on one topic, as the truth does; abstain where the first one's number ends with 7."""
    if left.split()[0].endswith("7"):
        return Verdict.ABSTAIN
    return Verdict.YES if (int(left.split()[0]) - int(right.split()[0])) % TOPICS == 0 else Verdict.NO


def read(engine: Engine, project_id: int, most: int = 10_000, judge: Judge | None = None) -> str:
    """Let the rater read pairs of the audit; return the summary."""
    with writing(engine) as session:
        job_id = add_job(session, project_id, RATE).id
    rater_id, pairs = steps.plan_rating(project_id, most, RatedFor.AUDIT)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(steps, "open_rater", lambda *_: judge or Judge(same))
        return steps.rate_pairs(job_id, rater_id, pairs)


def now_labelled(engine: Engine, project_id: int) -> tuple[AuditDesign, LabelledAudit]:
    with reading(engine) as session:
        data = read_project(session, project_id)
        designs = read_designs(session, project_id, data)
        return designs[-1], read_under(session, project_id, data, designs, designs[-1])


@pytest.fixture
def audited(engine: Engine, encoders: list[Path]) -> int:
    """Return a project with a model, a design and a machine rater, and no audit label."""
    project_id = make_audited(engine, encoders[0])
    add_model(engine, project_id, 0, encoders[0])
    run_audit(engine, project_id)
    add_rater(engine, project_id)
    return project_id


def test_it_reads_the_first_pairs_of_every_stratum(engine: Engine, audited: int) -> None:
    assert read(engine, audited, 70) == "70 pairs rated"
    design, _ = now_labelled(engine, audited)
    orders = orders_of(design)
    said = verdicts(engine)
    heads = [sum(pair in said for pair in pairs) for pairs in orders]
    assert all(set(pairs[:n]) <= said.keys() for pairs, n in zip(orders, heads, strict=True))
    assert sum(heads) == 70 and max(heads) - min(heads) <= 1
    read(engine, audited, 14)
    assert len(verdicts(engine)) == 84
    assert IN_ORDER == DEEP


def test_people_label_by_verdict(engine: Engine, audited: int) -> None:
    """Most pairs are no matches; half of those that people label are what the rater calls one."""
    read(engine, audited)
    tasks = draw_and_label(engine, audited, 140)
    said = verdicts(engine)
    yes = [said[pair_of(task)] == Verdict.YES for task in tasks]
    share = np.mean([one == Verdict.YES for one in said.values()])
    assert share < 0.2 < 0.35 < np.mean(yes)
    _, labelled = now_labelled(engine, audited)
    found = labelled.sample.verdicts
    assert found is not None
    pairs = zip(labelled.left_ids.tolist(), labelled.right_ids.tolist(), strict=True)
    # An abstention is drawn and counted as a no. Where every pair that was read is labelled, verdicts tell no more.
    split = found.read[labelled.sample.stratum] > 0
    expected = np.array([YES if said[pair] == Verdict.YES else NO for pair in pairs])
    assert split.sum() > 60 and (found.verdict == np.where(split, expected, UNREAD)).all()
    weighted = np.bincount(labelled.sample.stratum, labelled.sample.weight)
    assert weighted.sum() == pytest.approx(labelled.sample.sizes.sum(), rel=0.25)


def test_the_figures_hold_and_say_what_the_rater_is_worth(engine: Engine, audited: int) -> None:
    read(engine, audited, 700)
    for _ in range(3):
        draw_and_label(engine, audited, 60)
    evaluation = evaluation_of(engine, 0)
    gold = exact(engine, audited, 0, truth(engine))
    for name, (_, low, high) in figures(evaluation).items():
        if name in gold.estimates:
            assert low <= gold.estimates[name].value <= high, name
    rater = evaluation.audit["rater"]
    assert rater["name"] == "judge" and rater["read"] <= 700
    assert 0.6 < rater["sensitivity"]["value"] < 1


def test_labels_from_before_count_and_stay_random(engine: Engine, audited: int) -> None:
    before = draw_and_label(engine, audited, 70)
    read(engine, audited, 700)
    run_audit(engine, audited)
    _, labelled = now_labelled(engine, audited)
    assert len(labelled.sample.positive) == len(before)
    found, stratum = labelled.sample.verdicts, labelled.sample.stratum
    assert found is not None
    for h in np.unique(stratum[found.read[stratum] > 0]):
        cells = found.verdict[stratum == h]
        assert set(cells.tolist()) <= {NO, YES}
    draw_and_label(engine, audited, 60)
    assert evaluation_of(engine, 0).audit["labels"] == 130


def test_the_design_goes_on_with_its_raters_verdicts(engine: Engine, audited: int) -> None:
    read(engine, audited, 100, Judge(lambda *_: Verdict.NO))
    _end_rater(engine)
    add_rater(engine, audited, 2)
    read(engine, audited, 350)  # nothing was drawn by what the first one said: the second one takes its place
    draw_and_label(engine, audited, 60)
    _end_rater(engine)
    add_rater(engine, audited, 3)
    with pytest.raises(InputError, match="rater 2"):
        read(engine, audited)
    with pytest.raises(InputError, match="rater 2"):
        dry_run(engine, audited, 100, RatedFor.AUDIT)
    draw_and_label(engine, audited, 30)
    _, labelled = now_labelled(engine, audited)
    assert labelled.sample.verdicts is not None
    with reading(engine) as session:
        rater = rater_of_design(session, designs_of(engine)[-1])
        assert rater is not None and rater.number == 2


def _end_rater(engine: Engine) -> None:
    with writing(engine) as session:
        for row in session.scalars(select(MachineRater).where(MachineRater.ended_at.is_(None))):
            row.ended_at = now()


def test_a_fully_labelled_reading_is_drawn_by_order_again(engine: Engine, audited: int) -> None:
    read(engine, audited, 35)
    design, _ = now_labelled(engine, audited)
    heads = {pair for pairs in orders_of(design) for pair in pairs[:5]}
    tasks: list[tuple[int, int]] = []
    for _ in range(3):
        tasks += [pair_of(task) for task in draw_and_label(engine, audited, 35)]
    assert heads < set(tasks), "what the rater has read comes first"
    _, labelled = now_labelled(engine, audited)
    assert labelled.sample.verdicts is None and len(labelled.sample.positive) == len(set(tasks))


def test_withdrawn_texts_leave_what_was_read(engine: Engine, audited: int) -> None:
    read(engine, audited, 700)
    draw_and_label(engine, audited, 60)
    with writing(engine) as session:
        gone = session.scalars(select(Item).where(Item.project_id == audited).order_by(Item.id)).all()[5]
        gone.withdrawn_at = now()
    run_audit(engine, audited)
    _, labelled = now_labelled(engine, audited)
    found = labelled.sample.verdicts
    assert found is not None and (found.read <= labelled.sample.sizes).all()
    assert not (np.r_[labelled.left_ids, labelled.right_ids] == gone.id).any()
    run_audit(engine, audited, 20)
    assert all(gone.id not in pair_of(task) for task in tasks_of(engine))


def test_an_answer_that_is_taken_back_breaks_nothing(engine: Engine, audited: int) -> None:
    """Among the first pairs one is unlabelled again, while labelled ones follow that the rater has not read."""
    read(engine, audited, 35)
    draw_and_label(engine, audited, 105)
    tasks = draw_and_label(engine, audited, 70)
    first = verdicts(engine).keys()
    with writing(engine) as session:
        taken = session.scalars(select(Answer).order_by(Answer.id)).first()
        assert taken is not None and (taken.left_id, taken.right_id) in first
        session.execute(delete(PairLabel).where(PairLabel.answer_id == taken.id))
        session.delete(taken)
    run_audit(engine, audited)
    _, labelled = now_labelled(engine, audited)
    found = labelled.sample.verdicts
    assert found is not None and (found.verdict[found.read[labelled.sample.stratum] > 0] == UNREAD).any()
    assert evaluation_of(engine, 0).audit["labels"] == len(first) + len(tasks) - 1


def test_a_dry_run_estimates_without_asking(engine: Engine, audited: int) -> None:
    found = dry_run(engine, audited, 200, RatedFor.AUDIT)
    assert found.pairs == 200 and found.tokens_in > 0
    read(engine, audited)
    assert dry_run(engine, audited, 200, RatedFor.AUDIT).pairs == 0
    with reading(engine) as session:
        assert len(session.scalars(select(PairVerdict)).all()) == len(verdicts(engine))


def test_a_project_without_an_audit_has_nothing_to_read(engine: Engine, encoders: list[Path]) -> None:
    project_id = make_audited(engine, encoders[0])
    add_rater(engine, project_id)
    with pytest.raises(InputError, match="no audit yet"):
        read(engine, project_id)
