"""Generate questions in two stages: diverse answers, then the likeliest question for each.

Source: Jia, Lewis and Zettlemoyer (2022), appendix A.7 and Table 8.
"""

from collections.abc import Sequence

from allpairs.db.progress import Progress, part_of
from allpairs.learner.backbones.beams import beginnings, continued
from allpairs.learner.backbones.generator import TextGenerator
from allpairs.learner.light.catalog.quip import QuestionGenerator
from allpairs.learner.metrics.text import token_f1
from allpairs.learner.pipelines.quip.questions import SEPARATOR, Question, parse_generated, question_of

SPARE = 2  # answers generated for each one kept (the paper generates 20 and keeps 10)


def two_stage(
    generator: TextGenerator, passages: Sequence[str], first: int, settings: QuestionGenerator, progress: Progress
) -> list[Question]:
    """Return the likeliest question for each of several diverse answers of every passage; none if none is written.

    first: the number of the first passage.
    """
    sign = SEPARATOR.strip()
    count = SPARE * settings.each
    answers = beginnings(generator, passages, sign, count, settings, part_of(progress, 0.0, 0.5))
    chosen = [(row, answer) for row, candidates in enumerate(answers) for answer in unlike(candidates, settings.each)]
    begun = [f"{answer}{SEPARATOR.rstrip()}" for _, answer in chosen]
    texts = continued(generator, [passages[row] for row, _ in chosen], begun, settings, part_of(progress, 0.5, 1.0))
    pairs = [(row, parse_generated(text)) for (row, _), text in zip(chosen, texts, strict=True)]
    return [question_of(first + row, passages[row], *pair) for row, pair in pairs if pair is not None]


def unlike(answers: Sequence[str], n: int) -> list[str]:
    """Return n diverse answers: the first, then each time the one least similar to any chosen one.

    Similarity is the F1 of words; ties go to the earlier answer.
    """
    left = list(answers)
    chosen = list[str]()
    while left and len(chosen) < n:
        best = min(left, key=lambda answer: max((token_f1(answer, [earlier]) for earlier in chosen), default=0.0))
        left.remove(best)
        chosen.append(best)
    return chosen
