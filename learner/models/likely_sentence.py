"""The sentence of a passage that is most likely to answer, where an annotator looks first."""

import re
from collections.abc import Sequence

import numpy as np

from allpairs.db.progress import Progress, no_progress
from allpairs.learner.models.encoder import Encoder

LONG = 300  # characters from which a text is a passage
MOST_SENTENCES = 200  # sentences of it that are compared
Span = tuple[int, int]  # the first character, and the one after the last

# A sentence ends with its mark (and closing quotes) before white space, with a mark of a script without white space, or
# at the end of its line.
_SENTENCE = re.compile(r"\S.*?(?:[.!?…]+[\"'”’»)\]]*(?=\s|$)|[。！？]+[」』]*|(?=\n)|$)", re.DOTALL)


def sentences(text: str) -> list[Span]:
    """Return the spans of the text's sentences."""
    return [match.span() for match in _SENTENCE.finditer(text)]


def is_passage(text: str) -> bool:
    """Return whether the text is long enough to single out a sentence."""
    return len(text) >= LONG and len(sentences(text)) >= 3


def likely_sentences(
    encoder: Encoder, questions: Sequence[str], passages: Sequence[str], progress: Progress = no_progress
) -> list[Span]:
    """Return the sentence of each passage with the highest cosine to the text asked with it."""
    spans = [sentences(passage)[:MOST_SENTENCES] for passage in passages]
    parts = [passage[start:end] for passage, places in zip(passages, spans, strict=True) for start, end in places]
    texts = list(dict.fromkeys([*questions, *parts]))
    vectors = dict(zip(texts, encoder.encode(texts, progress), strict=True))
    likely = []
    for question, passage, places in zip(questions, passages, spans, strict=True):
        cosines = [vectors[passage[start:end]] @ vectors[question] for start, end in places]
        likely.append(places[int(np.argmax(cosines))])
    return likely
