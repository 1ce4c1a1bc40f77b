"""Changes of the project's texts."""

from allpairs.annotate.features.texts import change_texts as texts
from allpairs.annotate.features.texts import schemas as m
from allpairs.annotate.features.texts.change_texts import Act
from allpairs.annotate.frame.access.roles import Right
from allpairs.annotate.kit.api.operation import BUSY, ONE, Call, Operation
from allpairs.db.domain import Scope


def change_texts(call: Call) -> m.TextsChanged:
    """Add and change texts of the project as one change; with `dry_run`, only count."""
    return _changed(call, [_record(one) for one in call.given.texts], Act.ADD)


def withdraw_texts(call: Call) -> m.TextsChanged:
    """Withdraw ids as one change; with `dry_run`, only count.

    Texts that no id names any more leave batches, matches and figures; their answers stay in the record.
    """
    return _changed(call, [{"id": id_} for id_ in call.given.ids], Act.WITHDRAW)


def _record(one: m.TextRecord) -> dict[str, str]:
    return {**({"text": one.text} if isinstance(one.text, str) else one.text), "id": one.id}


def _changed(call: Call, rows: list[dict[str, str]], act: Act) -> m.TextsChanged:
    change = texts.preview if call.given.dry_run else texts.apply
    with texts.sent(rows, act, call.given.side) as source:
        found = change(call.engine, call.here.name, source)
    return m.TextsChanged(**found.as_dict())


def text_changes(call: Call) -> m.TextChanges:
    """List the last hundred changes of the project's texts."""
    found = texts.list_changes(call.engine, call.here.id)
    return m.TextChanges(changes=[m.TextChange.model_validate(one, from_attributes=True) for one in found])


def undo_texts(call: Call) -> m.TextChange:
    """Undo the newest change of the project's texts that stands: every id names what it named before."""
    found = texts.undo(call.engine, call.here.id, call.given.number)
    return m.TextChange.model_validate(found, from_attributes=True)


OPERATIONS = (
    Operation("POST", f"{ONE}/texts", change_texts, m.TextsChanged, Scope.TRAIN, m.Texts, Right.CHANGE, problems=BUSY),
    Operation(
        "POST",
        f"{ONE}/texts/withdraw",
        withdraw_texts,
        m.TextsChanged,
        Scope.TRAIN,
        m.Withdrawal,
        Right.CHANGE,
        problems=BUSY,
    ),
    Operation("GET", f"{ONE}/texts/changes", text_changes, m.TextChanges, Scope.READ, None, Right.CHANGE),
    Operation(
        "POST", f"{ONE}/texts/undo", undo_texts, m.TextChange, Scope.TRAIN, m.TextUndo, Right.CHANGE, problems=BUSY
    ),
)
