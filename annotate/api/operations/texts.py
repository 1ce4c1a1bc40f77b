"""Changes of the project's texts."""

from allpairs.annotate.access.roles import Right
from allpairs.annotate.api import models as m
from allpairs.annotate.api.operations.base import BUSY, ONE, Call, Operation
from allpairs.annotate.projects import change_texts as texts
from allpairs.db.domain import Scope
from allpairs.db.errors import InputError


def change_texts(call: Call) -> m.TextsChanged:
    """Add and change texts of the project, or withdraw some, as one change; with `dry_run`, only count.

    Withdrawn texts leave batches, matches and figures; their answers stay in the record.
    """
    given, act = call.given, texts.preview if call.given.dry_run else texts.apply
    with texts.sent([_record(one) for one in given.texts], given.withdraw, given.side) as source:
        found = act(call.engine, call.here.name, source)
    return m.TextsChanged(**found.as_dict())


def _record(one: m.TextRecord) -> dict[str, str]:
    if (one.text is None) == (one.columns is None):
        raise InputError(f"the text {one.id!r} needs either text or columns")
    return {"text": one.text, "id": one.id} if one.text is not None else {**(one.columns or {}), "id": one.id}


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
    Operation("GET", f"{ONE}/texts/changes", text_changes, m.TextChanges, Scope.READ, None, Right.CHANGE),
    Operation(
        "POST", f"{ONE}/texts/undo", undo_texts, m.TextChange, Scope.TRAIN, m.TextUndo, Right.CHANGE, problems=BUSY
    ),
)
