"""Operations for single records, and for the models that answer them."""

from datetime import datetime
from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from allpairs.annotate.features.publish import matching, publications
from allpairs.annotate.features.publish.publications import ShadowAgreement
from allpairs.annotate.frame.access.roles import Right
from allpairs.annotate.frame.web.problems import UNAVAILABLE, Wrong
from allpairs.annotate.kit.api import (
    CONFLICT,
    PROJECT_PATH,
    WITHOUT_NUL,
    ApiInput,
    ApiOutput,
    Call,
    Number,
    Operation,
    as_integer,
)
from allpairs.db.domain import LONGEST_NOTE, PublicationKind, Scope, Side
from allpairs.db.estimate import Estimate

MOST_ASKED = 100
MOST_CANDIDATES = 100
LONGEST_TEXT = 10_000
MOST_IN_ALL = 2_000  # candidates of all texts of a request
MatchText = Annotated[str, Field(max_length=LONGEST_TEXT)]


class MatchTextsRequest(ApiInput):
    """Texts, or records by the names of their columns, whose best candidates are wanted: 2,000 in all at most."""

    texts: list[MatchText | dict[str, MatchText]] = Field(
        min_length=1, max_length=MOST_ASKED, description="Either texts, or records: `{column: value}`."
    )
    k: Annotated[int, Field(ge=1, le=MOST_CANDIDATES), BeforeValidator(as_integer)] = Field(
        10, description="The most candidates of each text."
    )
    side: Side = Field(
        Side.LEFT,
        description="The list that the texts belong to; candidates come from the other, if there are two.",
    )
    why: bool = Field(True, description="Whether to give the parts of each score.")

    @model_validator(mode="after")
    def _is_bounded(self) -> Self:
        """Refuse a request for very many candidates: it would keep everybody else waiting."""
        if len(self.texts) * self.k > MOST_IN_ALL:
            size = f"{len(self.texts)} texts with {self.k} candidates each are more than {MOST_IN_ALL:,}"
            raise PydanticCustomError("too_many", size + ": ask for fewer at a time")
        return self


class ScorePart(ApiOutput):
    """What one part adds to the log-odds of a match."""

    part: str
    amount: float
    words: list[str] = Field(description="Words behind it: shared ones, or numbers of either text.")


class MatchCandidate(ApiOutput):
    """A text of the project that may match."""

    item: int = Field(description="Its number in the project.")
    ids: list[str] = Field(description="Its ids from the imported file.")
    group: str | None = Field(description="The id of its group; null: it is alone, or no groups are kept.")
    text: str
    fields: dict[str, str] | None = Field(description="Its columns, if it has several.")
    score: float
    p: float = Field(description="The probability of a match; 1 for an equal text.")
    reason: Literal["model", "equal"] = Field(description="Why it may match: the model's p, or an equal text.")
    why: list[ScorePart] | None = Field(description="The parts of the model's log-odds, if they were asked for.")


class MatchResults(ApiOutput):
    """The best candidates of each text, best first, in the order of the texts."""

    round: int = Field(description="The round whose model answered.")
    publication: int = Field(description="The number of its publication.")
    recall: Estimate | None = Field(
        description="The share of a text's ten nearest that the search finds, measured on `labels` texts; null: all."
    )
    results: list[list[MatchCandidate]]


class PublishRequest(ApiInput):
    """Which round's model to publish."""

    round: Number | None = Field(None, description="The round; null for the newest.")
    note: str = Field("", max_length=LONGEST_NOTE, pattern=WITHOUT_NUL, description="Why, for the history.")
    kind: PublicationKind = Field(
        PublicationKind.MODEL, description="model: it answers requests; shadow: it is compared on the same requests."
    )


class EndPublicationRequest(ApiInput):
    """What to take out of service."""

    kind: PublicationKind = Field(
        PublicationKind.MODEL, description="model: what answers requests, and its shadow; shadow: the shadow alone."
    )
    note: str = Field("", max_length=LONGEST_NOTE, pattern=WITHOUT_NUL, description="Why, for the history.")


class PublicationDetails(ApiOutput):
    """A round's model put into service, or the end of that."""

    id: int
    kind: PublicationKind
    round: int | None = Field(
        description="null: nothing of this kind is in service from here on.", validation_alias="number"
    )
    note: str
    who: str = Field(description="Empty: the command line, or an app without sign-in.")
    at: datetime


class PublicationList(ApiOutput):
    """What is in service, and all publications, the newest first."""

    published: PublicationDetails | None
    shadow: PublicationDetails | None
    agreement: ShadowAgreement | None = Field(description="null before the first comparison.")
    publications: list[PublicationDetails] = Field(validation_alias="history")


def match(call: Call, request: MatchTextsRequest) -> MatchResults:
    """Find the best candidates of up to 100 texts or records under the published model.

    The answer comes from a process of its own, which has to be started: `allpairs serve --match`.
    """
    try:
        results = matching.match_texts(call.engine, call.project_id, request.model_dump(mode="json"))
    except matching.NotAnswering as error:
        raise Wrong(UNAVAILABLE, str(error), error.seconds) from None
    return MatchResults.model_validate(results)


def publish(call: Call, request: PublishRequest) -> PublicationDetails:
    """Publish a round's model, so that it answers `match`, or name it as the shadow of the published one."""
    row = publications.publish_round(call.engine, call.project_id, request.round, request.note, request.kind)
    return PublicationDetails.model_validate(row)


def end_publication(call: Call, request: EndPublicationRequest) -> PublicationList:
    """Take the published model, or its shadow, out of service; return what is left, as `list_publications`."""
    publications.end(call.engine, call.project_id, request.kind, request.note)
    return list_publications(call)


def list_publications(call: Call) -> PublicationList:
    """Show what is in service, how far the shadow agrees with it, and all publications, the newest first."""
    return PublicationList.model_validate(publications.read_service(call.engine, call.project_id))


PUBLICATIONS = f"{PROJECT_PATH}/publications"
UNANSWERED = {
    409: "No model is published, the project is archived, or a record does not fit it; the problem says which.",
    UNAVAILABLE: "No process answers `match`, it is loading the model, or the database does not answer.",
}
OPERATIONS = (
    Operation("POST", f"{PROJECT_PATH}/match", match, Scope.READ, Right.SEE, problems=UNANSWERED, slow=True),
    Operation("POST", PUBLICATIONS, publish, Scope.TRAIN, Right.CHANGE, 201, CONFLICT),
    Operation("POST", f"{PUBLICATIONS}/end", end_publication, Scope.TRAIN, Right.CHANGE, problems=CONFLICT),
    Operation("GET", PUBLICATIONS, list_publications, Scope.READ, Right.SEE),
)
