"""What a file of texts, or of identifiers, would change in a project: found without changing anything."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from allpairs.db.corpus.cells import are_whole, number_spellings
from allpairs.db.corpus.item import CorpusItem
from allpairs.db.corpus.staging import Staging
from allpairs.db.domain import Side
from allpairs.db.identity import ById, identity, spellings
from allpairs.db.progress import Progress, no_progress
from allpairs.db.projects.items import CHUNK, chunks
from allpairs.db.projects.lists import count_changed_rows
from allpairs.db.projects.project_list import UNCHANGED, text_states
from allpairs.db.schema.tables import Identifier, Item

EXAMPLES = 5  # of each kind that a plan keeps to show
# New identifiers of new texts, and of texts that are there or come back; identifiers that change; that keep their text
# in a row with other values; that do not change; that are withdrawn; and that the project does not have.
KINDS = ("new", "equal", "changed", "updated", "same", "withdrawn", "unknown")


@dataclass(frozen=True)
class Move:
    """An identifier that will name another text. before: the item that it names; after: None if it is withdrawn.

    after: the item that it will name, or less than 0: the place −1, −2 … of a new text.
    """

    name: str
    before: int | None
    after: int | None


@dataclass(frozen=True)
class ChangeExample:
    """An identifier with its text before and after, "" for none."""

    id: str
    before: str
    after: str


@dataclass
class TextPlan:
    """The identifiers of one side that move, and the new texts in the order of their places.

    counts, examples: by kind, of KINDS. state: of the project's texts when the plan was made (`state_of`). spelt: the
    project's spelling of the file's identifiers, where it differs. whole: the file becomes the whole list; rewritten:
    with other columns, or in another order.
    """

    side: Side
    state: tuple[int, int]
    moves: list[Move] = field(default_factory=list)
    new: list[CorpusItem] = field(default_factory=list)
    spelt: dict[str, str] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(KINDS, 0))
    examples: dict[str, list[ChangeExample]] = field(default_factory=lambda: defaultdict(list))
    whole: bool = False
    rewritten: bool = False

    @property
    def changes_nothing(self) -> bool:
        """Whether there is nothing to store."""
        return not (self.moves or self.counts["updated"] or self.rewritten)

    def note(self, kind: str, name: str, before: str = "", after: str = "") -> None:
        """Count an identifier, and keep the first few as examples."""
        self.counts[kind] += 1
        if len(self.examples[kind]) < EXAMPLES:
            self.examples[kind].append(ChangeExample(name, before, after))


@dataclass(frozen=True)
class _Known:
    """The text that an identifier names."""

    item: int
    text: str


def state_of(session: Session, project_id: int) -> tuple[int, int]:
    """Return what differs whenever the project's texts do, as `text_states`."""
    return text_states(session, [project_id]).get(project_id, UNCHANGED)


def plan_texts(
    session: Session,
    project_id: int,
    side: Side,
    texts: Iterable[CorpusItem],
    progress: Progress = no_progress,
    numbers: Mapping[str, str] | None = None,
) -> TextPlan:
    """Return what these texts change: each with its identifiers, no text and no identifier twice.

    numbers: the project's identifier of each of the file's, where the file has none but the numbers of its rows.
    """
    rows = texts if isinstance(texts, Staging) else None
    texts = list(texts)
    file_names = [name for text in texts for name in text.ids]
    spelt = numbers or _spelt(session, project_id, side, file_names)
    texts = [replace(text, ids=tuple(spelt[name] for name in text.ids)) for text in texts]
    plan = TextPlan(side, state_of(session, project_id))
    known = _named(session, project_id, side, [name for text in texts for name in text.ids])
    texts = [replace(text, ids=tuple(map(known.spelt, text.ids))) for text in texts]
    names = [name for text in texts for name in text.ids]
    plan.spelt = {
        name: project_name for name, project_name in zip(file_names, names, strict=True) if name != project_name
    }
    equal_texts = _equal(session, project_id, side, {identity(text.text) for text in texts}, progress)
    for text in texts:
        _place(plan, text, known, equal_texts.get(identity(text.text)))
    if rows is not None:
        same = set(names) - {move.name for move in plan.moves}
        plan.counts["updated"] = count_changed_rows(session, project_id, side, rows, plan.spelt, same)
        plan.counts["same"] -= plan.counts["updated"]
    return plan


def _place(plan: TextPlan, text: CorpusItem, known: Mapping[str, _Known], item: int | None) -> None:
    """Let the text's identifiers name it. item: the one that has this text already."""
    moving = [name for name in text.ids if name not in known or known[name].item != item]
    target = item
    if item is None:
        target = -1 - len(plan.new)
        plan.new.append(text)
    for name in text.ids:
        before = known.get(name)
        if name not in moving:
            plan.note("same", name, text.text, text.text)
            continue
        plan.moves.append(Move(name, before.item if before else None, target))
        kind = "changed" if before else "new" if item is None else "equal"
        plan.note(kind, name, before.text if before else "", text.text)


def plan_withdrawal(session: Session, project_id: int, side: Side, names: Sequence[str]) -> TextPlan:
    """Return what it changes to withdraw these identifiers."""
    names = list(_spelt(session, project_id, side, names).values())
    plan = TextPlan(side, state_of(session, project_id))
    known = _named(session, project_id, side, names)
    for name in map(known.spelt, names):
        if name in known:
            plan.moves.append(Move(name, known[name].item, None))
            plan.note("withdrawn", name, known[name].text)
        else:
            plan.note("unknown", name)
    return plan


def _spelt(session: Session, project_id: int, side: Side, names: Sequence[str]) -> dict[str, str]:
    """Return each identifier as the project spells it: where all are whole numbers, 7.0 is 7."""
    same = dict(zip(names, names, strict=True))
    if not any("." in name for name in names) or not are_whole(names):
        return same
    stored = select(Identifier.external_id).where(Identifier.project_id == project_id, Identifier.side == side)
    if not are_whole(session.scalars(stored.execution_options(yield_per=CHUNK))):
        return same
    forms = {name: (name, *number_spellings(name)) for name in names}
    known = _named(session, project_id, side, [form for name in names for form in forms[name]])
    spelt = {name: next(filter(known.__contains__, forms[name]), forms[name][1]) for name in names}
    return spelt if len(set(spelt.values())) == len(names) else same


def _named(session: Session, project_id: int, side: Side, names: Sequence[str]) -> ById[_Known]:
    conditions = (Identifier.project_id == project_id, Identifier.side == side)
    query = (
        select(Identifier.external_id, Item.id, Item.text).join(Item, Item.id == Identifier.item_id).where(*conditions)
    )
    return ById(
        (name, _Known(item, text))
        for chunk in chunks(spellings(names))
        for name, item, text in session.execute(query.where(Identifier.external_id.in_(chunk)))
    )


def _equal(
    session: Session, project_id: int, side: Side, identities: set[str], progress: Progress = no_progress
) -> dict[str, int]:
    """Return the items of this side with these identities, withdrawn ones among them; reads every text once."""
    conditions = (Item.project_id == project_id, Item.side == side)
    rows = session.execute(select(Item.id, Item.text).where(*conditions), execution_options={"yield_per": CHUNK})
    equal_items: dict[str, int] = {}
    read = 0
    of_all = session.scalar(select(func.count()).where(*conditions)) or 1
    for part in rows.partitions():
        equal_items |= {key: id_ for id_, text in part if (key := identity(text)) in identities}
        read += len(part)
        progress("comparing texts", read / of_all)
    return equal_items
