"""The names of answers on buttons and in tables."""

from allpairs.annotate.frame.language.translator import later
from allpairs.db.domain import AnswerKind

TITLES = {AnswerKind.POSITIVE: later("Yes"), AnswerKind.NEGATIVE: later("No"), AnswerKind.UNSURE: later("Unsure")}
