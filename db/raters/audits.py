"""The machine rater by whose verdicts the pairs of an audit are drawn: one for each design."""

from collections.abc import Iterable
from datetime import datetime
from itertools import cycle, islice

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from allpairs.db.domain import DesignKind, Side, Split
from allpairs.db.errors import InputError
from allpairs.db.labels.audits import newest_design
from allpairs.db.labels.pairs import Pair
from allpairs.db.labels.stable_random import chance
from allpairs.db.raters.rows import setup_of
from allpairs.db.schema.tables import Design, Item, MachineRater, PairVerdict, Round, Task, now

RATER = "rater"  # of a design's details: its number in the project, and since when the design draws by its verdicts
IN_ORDER = 4_000  # pairs of a stratum that its sampling order has at the most
SAMPLED = 200  # texts whose pairs stand for those that are in a file


def rater_of_design(session: Session, design: Design) -> MachineRater | None:
    """Return the rater by whose verdicts the design draws pairs, in use or ended; None if there is none."""
    if RATER not in design.details:
        return None
    raters = select(MachineRater).where(MachineRater.project_id == design.project_id)
    return session.scalar(raters.where(MachineRater.number == design.details[RATER]["number"]))


def let_read(session: Session, rater: MachineRater) -> None:
    """Let the newest audit draw by this rater's verdicts from now on. Raises InputError as `require_readable`."""
    design, before = require_readable(session, rater)
    if before is None or before.id != rater.id:
        design.details = design.details | {RATER: {"number": rater.number, "since": now().isoformat()}}


def require_readable(session: Session, rater: MachineRater) -> tuple[Design, MachineRater | None]:
    """Return the project's newest audit design, and the rater by whose verdicts it draws so far.

    Raises InputError if there is no design yet, or if it has drawn pairs by another rater's verdicts: to this one they
    would be no random pairs.
    """
    design = newest_design(session, rater.project_id, DesignKind.AUDIT)
    if design is None:
        raise InputError("this project has no audit yet: prepare its first batch, or update the figures of its audit")
    before = rater_of_design(session, design)
    if before is not None and before.id != rater.id and _has_drawn(session, design):
        name = setup_of(before).name
        raise InputError(
            f"the pairs of this audit are drawn by what the machine rater {before.number} ({name}) said, and its "
            f"verdicts stay in use: rater {rater.number} can read pairs once an audit has new strata, after the model "
            "or the texts have changed"
        )
    return design, before


def _has_drawn(session: Session, design: Design) -> bool:
    """Return whether the design has drawn pairs since it has its rater."""
    last = select(func.max(Round.created_at)).join(Task, Task.round_id == Round.id).where(Task.design_id == design.id)
    newest = session.scalar(last)
    return newest is not None and newest >= datetime.fromisoformat(design.details[RATER]["since"])


def pairs_like_unread(session: Session, rater: MachineRater, most: int) -> list[Pair]:
    """Return as many random pairs of evaluation texts as the rater could read next for the audit, `most` at most.

    The pairs themselves are in a file that only the worker reads: these are about as long. Raises InputError as
    `require_readable`.
    """
    design, _ = require_readable(session, rater)
    items = select(Item.id).where(Item.project_id == rater.project_id, Item.withdrawn_at.is_(None))
    items = items.where(Item.split != Split.TRAIN)
    rated = select(func.count()).select_from(PairVerdict).where(PairVerdict.rater_id == rater.id)
    read = session.scalar(rated.where(PairVerdict.left_id.in_(items), PairVerdict.right_id.in_(items))) or 0
    left = _shuffled(session.scalars(items.where(Item.side == Side.LEFT)), rater)
    right = _shuffled(session.scalars(items.where(Item.side == Side.RIGHT)), rater) or left[1:] + left[:1]
    pairs = [(a, b) for a, b in zip(left, right, strict=False) if a != b]
    unread = max(sum(min(stratum["size"], IN_ORDER) for stratum in design.strata) - read, 0)
    return list(islice(cycle(pairs), min(most, unread)))


def _shuffled(items: Iterable[int], rater: MachineRater) -> list[int]:
    return sorted(items, key=lambda item: chance(rater.id, item))[:SAMPLED]
