"""Questions in two stages: answers that differ, then the likeliest question to each (paper 003, A.7 and Table 8)."""

from collections.abc import Sequence

from db.errors import InputError
from db.progress import Progress, part_of
from learner.backbones.beams import beginnings, continued
from learner.backbones.generator import load_generator
from learner.metrics.text import token_f1
from learner.pipelines.pipeline import Run
from learner.pipelines.quip.inputs import Texts
from learner.pipelines.quip.questions import SEPARATOR, Question, parsed, question_of

SPARE = 2  # answers that are written for each one that is kept (the paper: 20, of which 10 are kept)


def two_stage(run: Run, progress: Progress) -> list[Question]:
    """The likeliest question to each of some answers of every passage, which are as unlike each other as can be.

    Raises InputError where none comes of it.
    """
    passages, settings = Texts(run).passages, run.config.generator
    generator, sign = load_generator(str(run.of("generator"))), SEPARATOR.strip()
    wanted = SPARE * settings.each
    answers = beginnings(generator, passages, sign, wanted, settings, part_of(progress, 0.0, 0.5))
    chosen = [(row, answer) for row, found in enumerate(answers) for answer in unlike(found, settings.each)]
    begun = [f"{answer}{SEPARATOR.rstrip()}" for _, answer in chosen]
    texts = continued(generator, [passages[row] for row, _ in chosen], begun, settings, part_of(progress, 0.5, 1.0))
    pairs = [(row, parsed(text)) for (row, _), text in zip(chosen, texts, strict=True)]
    questions = [question_of(row, passages[row], *pair) for row, pair in pairs if pair is not None]
    if not questions:
        raise InputError("two-stage beam: no answer with a question was written: train the generator longer")
    return questions


def unlike(answers: Sequence[str], n: int) -> list[str]:
    """n of the answers: the first, and then each time the one that shares the fewest words with its likest chosen one.

    Likeness is F1 of words; of two alike in this the earlier one is taken.
    """
    left, chosen = list(answers), list[str]()
    while left and len(chosen) < n:
        best = min(left, key=lambda answer: max((token_f1(answer, [other]) for other in chosen), default=0.0))
        left.remove(best)
        chosen.append(best)
    return chosen
