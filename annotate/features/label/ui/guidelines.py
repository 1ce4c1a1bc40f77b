"""The guidelines beside the card, with labelled pairs as examples."""

from typing import Any

from markdown_it import MarkdownIt
from sqlalchemy import Engine

from allpairs.annotate.frame.language.translator import later
from allpairs.annotate.kit.text.formatting import beginning
from allpairs.annotate.kit.ui.language import _
from allpairs.db.domain import AnswerKind, version_of
from allpairs.db.labels.examples import example_pairs
from allpairs.db.schema.engine import reading

EXAMPLES = 3  # matches, and as many non-matches
LONGEST = 200  # characters shown of an example's text
LABELS = {AnswerKind.POSITIVE: later("Match"), AnswerKind.NEGATIVE: later("No match")}


def panel(
    engine: Engine, project_id: int, annotator: str, guidelines: str, round_id: int | None, known_version: str
) -> dict[str, Any] | None:
    """Return the guidelines as HTML (their author's own HTML is text), and examples from the labels.

    Returns None if the browser has them: their version changes with the guidelines and, for the examples, with the
    batch. known_version: the version that the browser has.
    """
    version = f"{version_of(guidelines)}-{round_id}"
    if version == known_version:
        return None
    with reading(engine) as session:
        examples = example_pairs(session, project_id, annotator, EXAMPLES)
    return {
        "version": version,
        "html": _markdown().render(guidelines),
        "examples": [
            {"label": _(LABELS[pair.answer]), "texts": [beginning(text, LONGEST) for text in (pair.left, pair.right)]}
            for pair in examples
        ],
    }


def _markdown() -> MarkdownIt:
    """Return Markdown with tables, but without HTML, and with links in place of pictures: no page asks other sites."""
    return MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
