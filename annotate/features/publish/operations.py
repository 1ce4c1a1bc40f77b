"""Requests for single records, and the models that answer them."""

from allpairs.annotate.features.publish import matching, publications
from allpairs.annotate.features.publish import schemas as m
from allpairs.annotate.frame.access.roles import Right
from allpairs.annotate.frame.web.problems import UNAVAILABLE, Wrong
from allpairs.annotate.kit.api.operation import BUSY, ONE, Call, Operation
from allpairs.db.domain import Scope
from allpairs.db.schema.tables import Publication, ShadowCounts


def match(call: Call) -> m.Matches:
    """Find the best candidates of up to 100 texts or records under the published model.

    The answer comes from a process of its own, which has to be started: `allpairs serve --match`.
    """
    try:
        return m.Matches.model_validate(matching.match(call.engine, call.here.id, call.given.model_dump(mode="json")))
    except matching.NotAnswering as error:
        raise Wrong(UNAVAILABLE, str(error), error.seconds) from None


def publish(call: Call) -> m.Publication:
    """Publish a round's model, so that it answers `match`, or name it as the shadow of the published one."""
    given = call.given
    return _publication(publications.publish(call.engine, call.here.id, given.round, given.note, given.kind))


def end_publication(call: Call) -> m.Publications:
    """Take the published model, or its shadow, out of service; return what is left, as `list_publications`."""
    publications.end(call.engine, call.here.id, call.given.kind, call.given.note)
    return list_publications(call)


def list_publications(call: Call) -> m.Publications:
    """Show what is in service, how far the shadow agrees with it, and all publications, the newest first."""
    found = publications.read_service(call.engine, call.here.id)
    return m.Publications(
        published=found.published and _publication(found.published),
        shadow=found.shadow and _publication(found.shadow),
        agreement=found.agreement and _agreement(found.agreement),
        publications=[_publication(one) for one in found.history],
    )


def _publication(row: Publication) -> m.Publication:
    return m.Publication(id=row.id, kind=row.kind, round=row.number, note=row.note, who=row.who, at=row.at)


def _agreement(row: ShadowCounts) -> m.Agreement:
    texts = max(1, row.texts)
    pairs = max(1, row.pairs)
    return m.Agreement(
        texts=row.texts,
        same_best=row.same_best / texts,
        shared=row.shared / texts,
        pairs=row.pairs,
        p_mean_difference=row.more / pairs,
        p_mean_distance=row.away / pairs,
        gained=row.gained,
        lost=row.lost,
    )


UNANSWERED = {
    409: "No model is published, the project is archived, or a record does not fit it; the problem says which.",
    UNAVAILABLE: "No process answers `match`, or it loads the model, or the database fails; the problem says.",
}
OPERATIONS = (
    Operation(
        "POST", f"{ONE}/match", match, m.Matches, Scope.READ, m.MatchAsked, Right.SEE, problems=UNANSWERED, slow=True
    ),
    Operation("POST", f"{ONE}/publications", publish, m.Publication, Scope.TRAIN, m.Publish, Right.CHANGE, 201, BUSY),
    Operation(
        "POST",
        f"{ONE}/publications/end",
        end_publication,
        m.Publications,
        Scope.TRAIN,
        m.PublicationEnd,
        Right.CHANGE,
        problems=BUSY,
    ),
    Operation("GET", f"{ONE}/publications", list_publications, m.Publications, Scope.READ, None, Right.SEE),
)
