"""Projects to review, and the page."""

from itertools import count

from sqlalchemy import Engine, select
from streamlit.testing.v1 import AppTest

from allpairs.db.domain import AnswerKind
from allpairs.db.labels.answers import answer_at_once
from allpairs.db.schema.engine import writing
from allpairs.db.schema.tables import Item
from tests.helpers.pages import open_page as opened
from tests.helpers.paths import ROOT

YES, NO, UNSURE = AnswerKind.POSITIVE, AnswerKind.NEGATIVE, AnswerKind.UNSURE

KEYS = count()


def open_page(*sections: str) -> AppTest:
    """Return the page Review with these sections opened."""
    page = opened(ROOT / "annotate" / "pages" / "review.py")
    for section in sections:
        page.session_state[section] = True
    page.run()
    assert not page.exception
    return page


def label_pairs(engine: Engine, project: int, labels: dict[tuple[int, int], AnswerKind]) -> None:
    """Store Ann's labels of these pairs of texts, given by position."""
    with writing(engine) as session:
        items = session.scalars(select(Item.id).where(Item.project_id == project).order_by(Item.id)).all()
        for (one, other), answer in labels.items():
            answer_at_once(session, project, "ann", [(items[one], items[other])], answer, f"t{next(KEYS)}")
