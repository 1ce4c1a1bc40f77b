"""Opinions that a run's pre-trained encoder finds in typed texts, and the words that explain them (Jia, Lewis and
Zettlemoyer 2022, QuIP): requested, awaited, read.
"""

from html import escape

from sqlalchemy import Engine

from allpairs.annotate.jobs.requests import request_opinions
from allpairs.annotate.pipelines.runs import Made, made
from allpairs.db.errors import InputError
from allpairs.db.results.opinions import Opinion, Opinions, read_opinions
from allpairs.db.results.pipelines import read_began
from allpairs.learner.catalog.quip import HEADS, Sentiment

MOST, LONGEST, LONGEST_QUESTION = 100, 2_000, 300  # texts; characters of a text, of a question
JOIN = " | "  # between the questions for a positive and a negative opinion


def answers(one: Made) -> bool:
    """Return whether this is an encoder that finds answers to questions."""
    return (one.path / HEADS).is_file()


def prompts(run_id: str) -> list[tuple[str, str]]:
    """Return the questions of the run's configuration, each for a positive and for a negative opinion."""
    began = read_began(run_id)
    settings = Sentiment.model_validate(began.config.get("sentiment", {}) if began else {})
    return [(one.strip(), other.strip()) for one, other in (prompt.split("|") for prompt in settings.prompts)]


def ask(engine: Engine, project_id: int, run_id: str, number: int, lines: str, positive: str, negative: str) -> str:
    """Request the job in which the encoder reads the texts, one on each line; return its id.

    Raises InputError if the run has no such encoder, and for unusable texts and questions.
    """
    if not answers(made(engine, project_id, run_id, number)):
        raise InputError("this encoder cannot answer questions: choose another output of the run")
    texts = _texts(lines)
    asked = [" ".join(question.split()) for question in (positive, negative)]
    _check_questions(*asked)
    return request_opinions(engine, project_id, run_id, number, texts, JOIN.join(asked))


def found(run_id: str, job_id: str) -> Opinions | None:
    """Return the result of the job; None if there is none yet, or no longer."""
    return read_opinions(run_id, job_id)


def marked(opinion: Opinion) -> str:
    """Return the text as HTML with the explaining words marked; everything else is escaped."""
    text, start, end = opinion.text, opinion.start, opinion.end
    if start >= end:
        return escape(text)
    return f"{escape(text[:start])}<mark>{escape(text[start:end])}</mark>{escape(text[end:])}"


def _texts(lines: str) -> list[str]:
    """Return the texts. Raises InputError for none, for too many, and for one that is too long."""
    texts = [line.strip() for line in lines.splitlines() if line.strip()]
    if not texts:
        raise InputError("there is no text to read: type one or more, each on its own line")
    if len(texts) > MOST:
        raise InputError(f"there are {len(texts):,} texts, but the limit is {MOST}: remove some")
    for place, text in enumerate(texts, start=1):
        if len(text) > LONGEST:
            raise InputError(f"text {place} has {len(text):,} characters, but the limit is {LONGEST:,}: shorten it")
    return texts


def _check_questions(positive: str, negative: str) -> None:
    """Raise InputError for a question that is missing, too long, or equal to the other one."""
    for name, question in (("positive", positive), ("negative", negative)):
        if not question:
            raise InputError(f"the question for a {name} opinion is missing: write one")
        if len(question) > LONGEST_QUESTION:
            raise InputError(
                f"the question for a {name} opinion has {len(question):,} characters, but the limit is "
                f"{LONGEST_QUESTION}: shorten it"
            )
        if "|" in question:
            raise InputError(f"the question for a {name} opinion contains the character |: remove it")
    if positive.lower() == negative.lower():
        raise InputError("the two questions are the same: change one")
