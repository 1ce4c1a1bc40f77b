"""Put a round's model into service, compare another one with it, and end either."""

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import Field
from sqlalchemy import Engine
from sqlalchemy.orm import Session

from allpairs.annotate.frame.access.roles import Right
from allpairs.annotate.frame.access.transactions import acting, require
from allpairs.annotate.kit.api import ApiOutput
from allpairs.db.domain import EventKind, PublicationKind
from allpairs.db.errors import InputError
from allpairs.db.maintenance.row_checks import stored_note
from allpairs.db.projects.events import add_event
from allpairs.db.projects.match_servers import live_servers
from allpairs.db.projects.matchers import matcher_of, newest_matcher
from allpairs.db.projects.publications import NOTHING_PUBLISHED, counts_of, in_service, publications_of
from allpairs.db.schema.engine import as_system, person_of, reading
from allpairs.db.schema.tables import Person, Publication, ShadowCounts, StoredModel

MODEL, SHADOW = PublicationKind


class ShadowAgreement(ApiOutput):
    """How far the shadow agrees with the published model, on the candidates that are among the first ten of either."""

    texts: int = Field(description="Texts that were compared, since either model was published or named.")
    same_best: float = Field(description="Share of the texts with the same best candidate.")
    shared: float = Field(description="Mean share of the first ten candidates that both have.")
    pairs: int = Field(description="Candidates that were compared.")
    p_mean_difference: float = Field(description="Mean of the shadow's p less the published model's.")
    p_mean_distance: float = Field(description="Mean size of that difference.")
    gained: int = Field(description="Candidates at or above p = 1/2 under the shadow alone.")
    lost: int = Field(description="Candidates at or above p = 1/2 under the published model alone.")


@dataclass(frozen=True)
class Service:
    """What is in service, how far the shadow agrees, all publications, and whether a process answers."""

    published: Publication | None
    shadow: Publication | None
    agreement: ShadowAgreement | None
    history: Sequence[Publication]
    answers: bool


def read_service(engine: Engine, project_id: int) -> Service:
    """Return what is in service. Raises Refused without the right to see the project's figures."""
    with reading(engine) as session:
        require(session, Right.SEE, project_id)
        published, shadow = (in_service(session, project_id, kind) for kind in (MODEL, SHADOW))
        counts = counts_of(session, published, shadow) if published and shadow else None
        agreement = None if counts is None else _agreement(counts)
        history = publications_of(session, project_id)
    with reading(as_system(engine)) as session:
        return Service(published, shadow, agreement, history, bool(live_servers(session)))


def _agreement(counts: ShadowCounts) -> ShadowAgreement:
    texts = max(1, counts.texts)
    pairs = max(1, counts.pairs)
    return ShadowAgreement(
        texts=counts.texts,
        same_best=counts.same_best / texts,
        shared=counts.shared / texts,
        pairs=counts.pairs,
        p_mean_difference=counts.more / pairs,
        p_mean_distance=counts.away / pairs,
        gained=counts.gained,
        lost=counts.lost,
    )


def publish_round(
    engine: Engine, project_id: int, number: int | None, note: str = "", kind: PublicationKind = MODEL
) -> Publication:
    """Publish the model of this round, or of the newest one, with a note, or name it as the shadow; return that.

    A shadow that is published is the shadow no longer. Raises InputError if the round has no trained model, for a
    shadow of nothing or of itself, and for a note that cannot be stored.
    """
    note = stored_note(note) or ""
    with acting(engine, Right.CHANGE, project_id) as session:
        matcher = _trained(session, project_id, number)
        published, shadow = (in_service(session, project_id, service) for service in (MODEL, SHADOW))
        if kind is SHADOW and published is None:
            raise InputError(NOTHING_PUBLISHED)
        if kind is SHADOW and published is not None and published.matcher_id == matcher.id:
            raise InputError(f"the model of round {matcher.number} is the published one: choose another as its shadow")
        if kind is MODEL and shadow is not None and shadow.matcher_id == matcher.id:
            _append(session, engine, project_id, SHADOW, None, "")
        return _append(session, engine, project_id, kind, matcher, note)


def end(engine: Engine, project_id: int, kind: PublicationKind = MODEL, note: str = "") -> None:
    """Take what is published, or its shadow, out of service. Without a published model there is no shadow either.

    Raises InputError if nothing is in service, and for a note that cannot be stored.
    """
    note = stored_note(note) or ""
    with acting(engine, Right.CHANGE, project_id) as session:
        if in_service(session, project_id, kind) is None:
            raise InputError(NOTHING_PUBLISHED if kind is MODEL else "the published model has no shadow")
        if kind is MODEL and in_service(session, project_id, SHADOW) is not None:
            _append(session, engine, project_id, SHADOW, None, "")
        _append(session, engine, project_id, kind, None, note)


def _trained(session: Session, project_id: int, number: int | None) -> StoredModel:
    matcher = newest_matcher(session, project_id) if number is None else matcher_of(session, project_id, number)
    if matcher is None:
        problem = "the project has no model yet" if number is None else f"round {number} has no model"
        raise InputError(f"{problem}: publish one of those on the page Monitor, tab Model")
    if matcher.folder is None or matcher.w is None:
        raise InputError("no labels have trained this model, so it has no probabilities: publish a trained round's")
    return matcher


def _append(
    session: Session, engine: Engine, project_id: int, kind: PublicationKind, matcher: StoredModel | None, note: str
) -> Publication:
    """Store the publication, or with no matcher the end of what was in service, and the event."""
    before = in_service(session, project_id, kind)
    person_id = person_of(engine)
    person_name = session.get_one(Person, person_id).name if person_id is not None else ""
    row = Publication(
        project_id=project_id,
        kind=kind,
        note=note,
        who=person_name,
        matcher_id=matcher and matcher.id,
        number=None if matcher is None else matcher.number,
    )
    session.add(row)
    session.flush()
    old = {"round": before.number} if before is not None else None
    new = None if matcher is None else {"round": matcher.number} | ({"note": note} if note else {})
    event = EventKind.PUBLICATION_ENDED if matcher is None else EventKind.PUBLISHED
    add_event(session, person_id, event, project_id, "shadow" if kind is SHADOW else "", old, new)
    return row
