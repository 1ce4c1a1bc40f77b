"""The step that marks the sentence most likely to answer in each passage to be labelled next."""

from collections.abc import Sequence

from sqlalchemy.orm import Session

from allpairs.db.domain import Kind
from allpairs.db.labels.tasks import mark_likely, round_to_label, unmarked_tasks
from allpairs.db.projects.items import item_texts
from allpairs.db.projects.matchers import newest_matcher
from allpairs.db.projects.projects import project_of, project_settings
from allpairs.db.schema.engine import artifacts, reading, writing
from allpairs.learner.jobs.queue.job_state import database
from allpairs.learner.jobs.queue.progress import reporting
from allpairs.learner.jobs.queue.steps import job_step
from allpairs.learner.models.encoder import load_encoder
from allpairs.learner.models.likely_sentence import is_passage, likely_sentences


@job_step
def mark_passages(job_id: str, project_id: int, audit_batch: bool = False) -> None:
    """Mark the likely sentence of each passage on the right in the newest batch (or audit batch).

    Audit tasks are marked like all others, so that nobody can recognise them. A project of one list has no questions
    and answers, so nothing is marked.
    """
    with database() as engine, reporting(engine, job_id, 0.99, 0.01) as progress:
        with reading(engine) as session:
            pairs = _passages(session, project_id, audit_batch)
            encoder = _encoder(session, project_id) if pairs else ""
        if not pairs:
            return
        tasks, questions, passages = zip(*pairs, strict=True)
        spans = likely_sentences(load_encoder(encoder), questions, passages, progress)
        with writing(engine) as session:
            mark_likely(session, dict(zip(tasks, spans, strict=True)))


def _passages(session: Session, project_id: int, audit_batch: bool) -> Sequence[tuple[int, str, str]]:
    """Return task, left text and right text of the pairs whose right text is a passage."""
    batch = round_to_label(session, project_id, audit_batch)
    if batch is None or project_of(session, project_id).kind != Kind.BIPARTITE:
        return []
    tasks = unmarked_tasks(session, batch.id)
    texts = item_texts(session, [item for task in tasks for item in (task.left_id, task.right_id)])
    pairs = [(task.id, texts[task.left_id], texts[task.right_id]) for task in tasks]
    return [pair for pair in pairs if is_passage(pair[2])]


def _encoder(session: Session, project_id: int) -> str:
    """Return name or folder of the newest matcher's encoder."""
    matcher = newest_matcher(session, project_id)
    if matcher is not None and matcher.folder:
        return str(artifacts() / matcher.folder)
    return project_settings(session, project_id).encoder
