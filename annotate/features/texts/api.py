"""Operations that change a project's texts."""

from typing import Annotated

from pydantic import Field

from allpairs.annotate.features.texts import change_texts as services
from allpairs.annotate.features.texts.change_texts import Act, TextChangeDetails, TextsChanged
from allpairs.annotate.frame.access.roles import Right
from allpairs.annotate.kit.api import (
    CONFLICT,
    PROJECT_PATH,
    WITHOUT_NUL,
    ApiInput,
    ApiOutput,
    Call,
    Number,
    Operation,
)
from allpairs.db.corpus.cells import MAX_CELL
from allpairs.db.corpus.corpus import MAX_ID
from allpairs.db.domain import Scope, Side

MOST_TEXTS = 5_000
TextId = Annotated[str, Field(min_length=1, max_length=MAX_ID, pattern=WITHOUT_NUL)]
CellText = Annotated[str, Field(max_length=MAX_CELL, pattern=WITHOUT_NUL)]


class TextRecord(ApiInput):
    """A text, or a record, under its id."""

    id: TextId
    text: CellText | dict[str, CellText] = Field(
        description="A text, or the values of a record's text columns by name."
    )


class TextsRequest(ApiInput):
    """What both changes of texts say besides."""

    side: Side = Field(Side.LEFT, description="The list of the texts, if the project has two.")
    dry_run: bool = Field(False, description="Store nothing; only count what would change.")


class ChangeTextsRequest(TextsRequest):
    """Texts to add and change, as one change."""

    texts: list[TextRecord] = Field(
        min_length=1, max_length=MOST_TEXTS, description="An id that the project has gets this text."
    )


class WithdrawTextsRequest(TextsRequest):
    """Ids to withdraw, as one change."""

    ids: list[TextId] = Field(min_length=1, max_length=MOST_TEXTS)


class UndoTextsRequest(ApiInput):
    """The change to undo; with its number nobody undoes another one than they have seen."""

    number: Number | None = Field(None, description="Its number; null: whichever is the newest that stands.")


class TextChangeList(ApiOutput):
    """The last changes of the project's texts, the newest first."""

    changes: list[TextChangeDetails]


def change_texts(call: Call, request: ChangeTextsRequest) -> TextsChanged:
    """Add and change texts of the project as one change; with `dry_run`, only count."""
    return _changed(call, request, [_cells(record) for record in request.texts], Act.ADD)


def withdraw_texts(call: Call, request: WithdrawTextsRequest) -> TextsChanged:
    """Withdraw ids as one change; with `dry_run`, only count.

    Texts that no id names any more leave batches, matches and figures; their answers stay in the record.
    """
    return _changed(call, request, [{"id": id_} for id_ in request.ids], Act.WITHDRAW)


def _cells(record: TextRecord) -> dict[str, str]:
    """Return the record as a row of a file, by column."""
    return {**({"text": record.text} if isinstance(record.text, str) else record.text), "id": record.id}


def _changed(call: Call, request: TextsRequest, rows: list[dict[str, str]], act: Act) -> TextsChanged:
    change = services.preview_change if request.dry_run else services.apply
    with services.sent(rows, act, request.side) as source:
        return change(call.engine, call.project.name, source).in_short


def text_changes(call: Call) -> TextChangeList:
    """List the last hundred changes of the project's texts."""
    return TextChangeList(changes=services.list_changes(call.engine, call.project_id))


def undo_texts(call: Call, request: UndoTextsRequest) -> TextChangeDetails:
    """Undo the newest change of the project's texts that stands: every id names what it named before."""
    return services.undo_text_change(call.engine, call.project_id, request.number)


TEXTS = f"{PROJECT_PATH}/texts"
OPERATIONS = (
    Operation("POST", TEXTS, change_texts, Scope.TRAIN, Right.CHANGE, problems=CONFLICT),
    Operation("POST", f"{TEXTS}/withdraw", withdraw_texts, Scope.TRAIN, Right.CHANGE, problems=CONFLICT),
    Operation("GET", f"{TEXTS}/changes", text_changes, Scope.READ, Right.CHANGE),
    Operation("POST", f"{TEXTS}/undo", undo_texts, Scope.TRAIN, Right.CHANGE, problems=CONFLICT),
)
