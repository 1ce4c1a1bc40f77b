"""What annotators are told of the first training, against the facts: labels, what is missing, what comes next."""

import pytest
from sqlalchemy import Engine

from allpairs.annotate.features.projects.training_outlook import Outlook, outlook_in_words, outlook_of
from allpairs.annotate.frame.language.translator import ENGLISH_WORDS
from allpairs.db.labels.tasks import batch_progress
from allpairs.db.schema.engine import reading, writing
from allpairs.db.schema.tables import Job, StoredModel
from tests.helpers.factories import make_project, make_round
from tests.helpers.projects.rounds import NEGATIVE, POSITIVE, RETRACT, SKIP, UNSURE, answer, newest

Y, N, U, S, R = POSITIVE, NEGATIVE, UNSURE, SKIP, RETRACT
MISSING = "A model learns from both. The next batch is chosen to find what is missing."
TABLE = {
    "one yes": ([Y], {}, f"1 answer so far is yes, and none is no. {MISSING}"),
    "yes alone": ([Y, Y, Y], {}, f"3 answers so far are yes, and none is no. {MISSING}"),
    "no alone": ([N, N], {}, f"2 answers so far are no, and none is yes. {MISSING}"),
    "random": ([N, N], {"strategy": "random"}, "2 answers so far are no, and none is yes. A model learns from both."),
    "unsure": ([U, U], {}, f"No answer so far is yes or no. {MISSING}"),
    "both": ([Y, N, Y], {}, "both kinds. The first training starts when this batch is complete: 3 pairs are left."),
    "no taken back": ([Y, N, R], {}, f"1 answer so far is yes, and none is no. {MISSING}"),
    "complete": ([Y, N] * 3, {}, "The first training starts when somebody asks for it."),
    "by hand": ([Y, N], {"auto_train": False}, "The first training starts when somebody asks for it."),
}


def outlook(engine: Engine, project_id: int) -> Outlook | None:
    with reading(engine) as session:
        batch = batch_progress(session, project_id)
    return outlook_of(engine, project_id, batch)


@pytest.mark.parametrize("name", TABLE)
def test_the_sentence_follows_the_facts(engine: Engine, name: str) -> None:
    answers, settings, words = TABLE[name]
    project_id = make_project(engine, [f"text {i}" for i in range(6)], **settings)
    make_round(engine, project_id, 6)
    assert outlook(engine, project_id) is None
    tasks = newest(engine, project_id)[1]
    for place, kind in enumerate(answers):
        answer(engine, tasks[place - (kind == R)], kind)
    known = outlook(engine, project_id)
    assert known is not None
    assert words in outlook_in_words(known, ENGLISH_WORDS)


def test_no_outlook_once_the_first_training_has_begun(engine: Engine) -> None:
    project_id = make_project(engine, [f"text {i}" for i in range(6)])
    make_round(engine, project_id, 3)
    answer(engine, newest(engine, project_id)[1][0], Y)
    with writing(engine) as session:
        session.add(Job(id="job", project_id=project_id, kind="next_round", state="running"))
    assert outlook(engine, project_id) is None
    with writing(engine) as session:
        session.get_one(Job, "job").state = "failed"
    failed = outlook(engine, project_id)
    assert failed is not None and not failed.automatic
    with writing(engine) as session:
        session.add(StoredModel(project_id=project_id, number=1, encoder="tiny", w=1.0, b=0.0))
    assert outlook(engine, project_id) is None
