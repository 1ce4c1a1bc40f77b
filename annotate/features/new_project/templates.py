"""Questions and guidelines for the common tasks, to begin with, and which of them fits a project's files."""

from collections.abc import Sequence
from dataclasses import dataclass

from allpairs.db.corpus.column_guess import PASSAGES, QUESTIONS, has_word
from allpairs.db.corpus.corpus import Columns
from allpairs.db.domain import Settings

LONGER = 2  # times: passages are at least so much longer than their questions
ASKING = 0.3  # share of texts with a question mark at their end in a list of questions


@dataclass(frozen=True)
class TaskTemplate:
    """A task in words, with its question and its guidelines (Markdown)."""

    title: str
    description: str
    question: str
    guidelines: str


def _guidelines(yes: str, no: str, examples: str) -> str:
    return (
        f"- **Yes**: {yes}\n- **No**: {no}\n- **Unsure**: a text is unclear, or you would have to guess. "
        f"Unsure answers do not train the model.\n\n{examples}\n"
    )


TEMPLATES = {
    "duplicates": TaskTemplate(
        "Duplicates",
        "Two questions or texts that say the same in other words.",
        str(Settings.model_fields["question"].default),
        _guidelines(
            "both ask or say the same, so that one answer serves both. Other words, spelling or order do not matter.",
            "they share a subject, but one asks or says something else: another product, place, number or time.",
            "*Yes*: “How do I reset my password?” and “I forgot my password”. "
            "*No*: “How do I reset my password?” and “How do I change my user name?”",
        ),
    ),
    "answers": TaskTemplate(
        "Questions and answers",
        "A question, and the passage that answers it.",
        "Does the passage answer the question?",
        _guidelines(
            "someone who asks the question finds the answer in the passage, without any other text.",
            "the passage is only about the same subject, or answers a part of the question.",
            "*Yes*: “When was the bridge built?” and “The bridge, finished in 1932, spans the harbour.” "
            "*No*: “When was the bridge built?” and “The bridge spans the harbour.”",
        ),
    ),
    "records": TaskTemplate(
        "Same record",
        "Two records of the same thing, such as one product in two shops.",
        "Do both records describe the same thing?",
        _guidelines(
            "both describe the same thing. Other spellings, abbreviations and missing values do not matter.",
            "they describe two similar things: another model, edition, size or year.",
            "*Yes*: “Apple iPhone 12, 64 GB, black” and “iPhone 12 black 64GB”. "
            "*No*: “Apple iPhone 12, 64 GB” and “Apple iPhone 12, 128 GB”.",
        ),
    ),
}


def fitting(left: Columns, right: Columns | None = None, lefts: Sequence[str] = (), rights: Sequence[str] = ()) -> str:
    """Return the name of the template for lists with these columns.

    Several columns are records. lefts, rights: the first texts of two lists, which show whether one asks the other.
    """
    if _is_record(left) and (right is None or _is_record(right)):
        return "records"
    if right is None:
        return "duplicates"
    asks = any(has_word(name, QUESTIONS) for name in left.texts)
    asks = asks or sum(text.rstrip().endswith("?") for text in lefts) > ASKING * len(lefts)
    return "answers" if asks or _mean_length(rights) > LONGER * _mean_length(lefts) else "records"


def _is_record(columns: Columns) -> bool:
    return len(columns.texts) > 1 and not has_word(columns.texts[-1], PASSAGES)


def _mean_length(texts: Sequence[str]) -> float:
    return sum(map(len, texts)) / max(1, len(texts))
