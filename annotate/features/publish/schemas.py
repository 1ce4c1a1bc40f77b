"""Requests for single records, and the models that answer them."""

from datetime import datetime
from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from allpairs.annotate.features.quality.schemas import Figure
from allpairs.annotate.kit.api.schema import STORED, Asked, Given, Number, as_whole
from allpairs.db.domain import LONGEST_NOTE, PublicationKind, Side

MOST_ASKED = 100
MOST_CANDIDATES = 100
LONGEST_TEXT = 10_000
MOST_IN_ALL = 2_000  # candidates of all texts of a request


Text = Annotated[str, Field(max_length=LONGEST_TEXT)]


class MatchAsked(Asked):
    """Texts, or records by the names of their columns, whose best candidates are wanted: 2,000 in all at most."""

    texts: list[Text | dict[str, Text]] = Field(
        min_length=1, max_length=MOST_ASKED, description="Either texts, or records: `{column: value}`."
    )
    k: Annotated[int, Field(ge=1, le=MOST_CANDIDATES), BeforeValidator(as_whole)] = Field(
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
            what = f"{len(self.texts)} texts with {self.k} candidates each are more than {MOST_IN_ALL:,}"
            raise PydanticCustomError("too_many", what + ": ask for fewer at a time")
        return self


class WhyPart(Given):
    """What one part adds to the log-odds of a match."""

    part: str
    amount: float
    words: list[str] = Field(description="Words behind it: shared ones, or numbers of either text.")


class Candidate(Given):
    """A text of the project that may match."""

    item: int = Field(description="Its number in the project.")
    ids: list[str] = Field(description="Its ids from the imported file.")
    group: str | None = Field(description="The id of its group; null: it is alone, or no groups are kept.")
    text: str
    fields: dict[str, str] | None = Field(description="Its columns, if it has several.")
    score: float
    p: float = Field(description="The probability of a match; 1 for an equal text.")
    reason: Literal["model", "equal"] = Field(description="Why it may match: the model's p, or an equal text.")
    why: list[WhyPart] | None = Field(description="The parts of the model's log-odds, if they were asked for.")


class Recall(Figure):
    """The share of a text's ten nearest that the search finds, with its 95 % interval."""

    labels: int = Field(description="Texts on which it was measured.")


class Matches(Given):
    """The best candidates of each text, best first, in the order of the texts."""

    round: int = Field(description="The round whose model answered.")
    publication: int = Field(description="The number of its publication.")
    recall: Recall | None = Field(description="Of the search; null if it is exact.")
    results: list[list[Candidate]]


class Publish(Asked):
    """Which round's model to publish."""

    round: Number | None = Field(None, description="The round; null for the newest.")
    note: str = Field("", max_length=LONGEST_NOTE, pattern=STORED, description="Why, for the history.")
    kind: PublicationKind = Field(
        PublicationKind.MODEL, description="model: it answers requests; shadow: it is compared on the same requests."
    )


class PublicationEnd(Asked):
    """What to take out of service."""

    kind: PublicationKind = Field(
        PublicationKind.MODEL, description="model: what answers requests, and its shadow; shadow: the shadow alone."
    )
    note: str = Field("", max_length=LONGEST_NOTE, pattern=STORED, description="Why, for the history.")


class Publication(Given):
    """A round's model put into service, or the end of that."""

    id: int
    kind: PublicationKind
    round: int | None = Field(description="null: nothing of this kind is in service from here on.")
    note: str
    who: str = Field(description="Empty: the command line, or an app without sign-in.")
    at: datetime


class Agreement(Given):
    """How far the shadow agrees with the published model, on the candidates that are among the first ten of either."""

    texts: int = Field(description="Texts that were compared, since either model was published or named.")
    same_best: float = Field(description="Share of the texts with the same best candidate.")
    shared: float = Field(description="Mean share of the first ten candidates that both have.")
    pairs: int = Field(description="Candidates that were compared.")
    p_mean_difference: float = Field(description="Mean of the shadow's p less the published model's.")
    p_mean_distance: float = Field(description="Mean size of that difference.")
    gained: int = Field(description="Candidates at or above p = 1/2 under the shadow alone.")
    lost: int = Field(description="Candidates at or above p = 1/2 under the published model alone.")


class Publications(Given):
    """What is in service, and all publications, the newest first."""

    published: Publication | None
    shadow: Publication | None
    agreement: Agreement | None = Field(description="null before the first comparison.")
    publications: list[Publication]
