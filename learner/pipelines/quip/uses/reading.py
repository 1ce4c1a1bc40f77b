"""Reading: the place in a passage that answers a question.

Source: Jia, Lewis and Zettlemoyer (2022), section 4.3 and appendix A.6, Tables 1 and 7.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from allpairs.db.estimate import wilson
from allpairs.db.progress import Progress
from allpairs.learner.backbones.span_biencoder import answer_apart, load_biencoder
from allpairs.learner.backbones.span_reader import answer, load_reader
from allpairs.learner.metrics.text import exact_match, token_f1
from allpairs.learner.pipelines.pipeline import Run
from allpairs.learner.pipelines.quip.asked import QuestionWithAnswers
from allpairs.learner.pipelines.quip.inputs import QuipTexts
from allpairs.learner.pipelines.quip.student import Model
from allpairs.learner.pipelines.quip.uses.rows import Rows

# of the bootstrap
DRAWS = 500
TAILS = (0.025, 0.975)


def measure_reading(run: Run, model: Model, rows: Rows, progress: Progress) -> Iterator[dict[str, Any]]:
    """Yield exact match and F1 of all questions, then of each data set if there are several.

    Intervals are over questions. Nothing is yielded for an encoder that cannot answer. Questions without an answer are
    left out: no model here can say that there is none.
    """
    known = QuipTexts(run).tested
    tested = [question for question in known if question.answered]
    if model.kind == "bare":
        return
    read = _apart if model.kind == "bi-encoder" else _together
    texts = read(run, model, tested, progress)
    answered = [(text, question.answers) for text, question in zip(texts, tested, strict=True)]
    exact = np.array([exact_match(*question) for question in answered])
    f1 = np.array([token_f1(*question) for question in answered])
    yield {"questions": len(tested), "left_out": len(known) - len(tested), **_figures(exact, f1)}
    datasets = np.array([question.dataset for question in tested])
    names = dict.fromkeys(datasets.tolist())
    for name in names if len(names) > 1 else ():
        in_dataset = datasets == name
        yield {"dataset": name, "questions": int(in_dataset.sum()), **_figures(exact[in_dataset], f1[in_dataset])}


def _figures(exact: np.ndarray, f1: np.ndarray) -> dict[str, float]:
    """Return the means of some questions with their intervals."""
    exact_low, exact_high = wilson(int(exact.sum()), len(exact))
    draws = np.random.default_rng(0).integers(len(f1), size=(DRAWS, len(f1)))
    low, high = np.quantile(f1[draws].mean(axis=1), TAILS)
    return {
        "exact_match": exact.mean(),
        "exact_match_low": exact_low,
        "exact_match_high": exact_high,
        "token_f1": f1.mean(),
        "token_f1_low": low,
        "token_f1_high": high,
    }


def _together(run: Run, model: Model, tested: list[QuestionWithAnswers], progress: Progress) -> list[str]:
    questions = [question.question for question in tested]
    passages = [question.passage for question in tested]
    return [span.text for span in answer(load_reader(model.source), questions, passages, run.config.teacher, progress)]


def _apart(run: Run, model: Model, tested: list[QuestionWithAnswers], progress: Progress) -> list[str]:
    """Return the answers to the questions; each passage is encoded once."""
    biencoder = load_biencoder(model.source)
    by_passage = dict[str, list[int]]()
    for row, question in enumerate(tested):
        by_passage.setdefault(question.passage, []).append(row)
    texts = [""] * len(tested)
    answered = 0
    for passage, rows in by_passage.items():
        spans = answer_apart(biencoder, [tested[i].question for i in rows], passage, run.config.student)
        for i, best in zip(rows, spans, strict=True):
            texts[i] = best.text
        answered += len(rows)
        progress("read", answered / len(tested))
    return texts
