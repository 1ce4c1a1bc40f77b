"""Opinions that a run's pre-trained encoder has of typed texts, and why: asked for, waited for, read (paper 003)."""

from html import escape

from sqlalchemy import Engine

from annotate.jobs.requests import request_opinions
from annotate.pipelines.runs import Made, made
from db.errors import InputError
from db.results.opinions import Opinion, Opinions, read_opinions
from db.results.pipelines import read_began
from learner.catalog.quip import HEADS, Sentiment

MOST, LONGEST, LONGEST_QUESTION = 100, 2_000, 300  # texts; characters of a text, of a question
JOIN = " | "  # between the question for a positive opinion and the other one


def answers(one: Made) -> bool:
    """Whether this is an encoder that finds answers to questions."""
    return (one.path / HEADS).is_file()


def prompts(run_id: str) -> list[tuple[str, str]]:
    """The questions that the run was configured with, each for a positive and for a negative opinion."""
    began = read_began(run_id)
    settings = Sentiment.model_validate(began.config.get("sentiment", {}) if began else {})
    return [(one.strip(), other.strip()) for one, other in (prompt.split("|") for prompt in settings.prompts)]


def ask(engine: Engine, project_id: int, run_id: str, number: int, lines: str, positive: str, negative: str) -> str:
    """The id of the job that has the encoder read the texts, one on each line.

    Raises InputError where the run has no such encoder, and for texts and questions that cannot be used.
    """
    if not answers(made(engine, project_id, run_id, number)):
        raise InputError("this encoder does not find answers: choose another thing that the run made")
    texts = _texts(lines)
    asked = [" ".join(question.split()) for question in (positive, negative)]
    _check_questions(*asked)
    return request_opinions(engine, project_id, run_id, number, texts, JOIN.join(asked))


def found(run_id: str, job_id: str) -> Opinions | None:
    """What the job found; nothing while it has not, and where it is too long ago."""
    return read_opinions(run_id, job_id)


def marked(opinion: Opinion) -> str:
    """The text as HTML, the words that say why marked; every sign of it stands as it was typed."""
    text, start, end = opinion.text, opinion.start, opinion.end
    if start >= end:
        return escape(text)
    return f"{escape(text[:start])}<mark>{escape(text[start:end])}</mark>{escape(text[end:])}"


def _texts(lines: str) -> list[str]:
    """The texts. Raises InputError for none, for too many, and for one that is too long."""
    texts = [line.strip() for line in lines.splitlines() if line.strip()]
    if not texts:
        raise InputError("there is no text to read: type one, or several on a line each")
    if len(texts) > MOST:
        raise InputError(f"there are {len(texts):,} texts, and the limit is {MOST}: leave some out")
    for place, text in enumerate(texts, start=1):
        if len(text) > LONGEST:
            raise InputError(f"text {place} has {len(text):,} characters, and the limit is {LONGEST:,}: shorten it")
    return texts


def _check_questions(positive: str, negative: str) -> None:
    """Nothing. Raises InputError for a question that is missing, too long, or cannot be told from the other."""
    for name, question in (("positive", positive), ("negative", negative)):
        if not question:
            raise InputError(f"the question for a {name} opinion is missing: write one")
        if len(question) > LONGEST_QUESTION:
            raise InputError(
                f"the question for a {name} opinion has {len(question):,} characters, and the limit is "
                f"{LONGEST_QUESTION}: shorten it"
            )
        if "|" in question:
            raise InputError(f"the question for a {name} opinion holds the sign |: leave it out")
    if positive.lower() == negative.lower():
        raise InputError("both questions are the same, so no text answers one better: change one")
