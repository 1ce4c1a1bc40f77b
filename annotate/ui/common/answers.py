"""The names of answers on buttons and in tables."""

from allpairs.db.domain import AnswerKind

TITLES = {AnswerKind.POSITIVE: "Yes", AnswerKind.NEGATIVE: "No", AnswerKind.UNSURE: "Unsure"}
