"""Wrong answers and wrong passages: never the right one, sampled uniformly, repeatable for the same seed."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from allpairs.learner.pipelines.mining.answers.entities import PatternTagger
from allpairs.learner.pipelines.mining.answers.negatives import PassageAnswer, wrong_answers, wrong_passages

PASSAGE = "In 1999 Kofi Annan met Mary Robinson in New York. Annan left York on 5 May with $20. Annan spoke."
ASKED = PassageAnswer("Who met Mary Robinson?", PASSAGE, "Kofi Annan")
OTHERS = {"1999", "Mary Robinson", "New York", "York", "5 May", "$20"}


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("Kofi Annan", OTHERS),  # not Annan
        ("the York", (OTHERS | {"Kofi Annan", "Annan"}) - {"York", "New York"}),
        ("on 5 May", (OTHERS | {"Kofi Annan", "Annan"}) - {"5 May"}),
    ],
)
def test_the_spans_that_are_wrong(answer: str, expected: set[str]) -> None:
    [found] = wrong_answers([ASKED._replace(answer=answer)], PatternTagger(), 99, rng())
    assert {one.answer for one in found} == expected
    assert len(found) == len(expected)
    assert {(one.question, one.passage) for one in found} == {(ASKED.question, PASSAGE)}


def test_a_right_answer_is_not_wrong_beside_another_right_one() -> None:
    other = ASKED._replace(question="Where?", answer="$20")
    *same, far = wrong_answers([ASKED, ASKED._replace(answer="the York"), other], PatternTagger(), 99, rng())
    assert [{one.answer for one in some} for some in same] == [OTHERS - {"York", "New York"}] * 2
    assert {one.answer for one in far} == (OTHERS | {"Kofi Annan", "Annan"}) - {"$20"}


def test_wrong_answers_are_drawn_anew_for_each_question() -> None:
    found = wrong_answers([ASKED, ASKED._replace(passage="nothing"), ASKED], PatternTagger(), 3, rng())
    assert [len(one) for one in found] == [3, 0, 3]
    assert found[0] != found[2]
    assert found == wrong_answers([ASKED, ASKED._replace(passage="nothing"), ASKED], PatternTagger(), 3, rng())


def test_every_wrong_answer_is_as_likely() -> None:
    drawn = Counter(one.answer for [one] in wrong_answers([ASKED] * 3000, PatternTagger(), 1, rng()))
    assert set(drawn) == OTHERS
    assert all(abs(count - 500) < 100 for count in drawn.values())  # 5 standard deviations


@given(st.lists(st.sampled_from(["p", "p  ", "q", "r", "s"]), max_size=8), st.integers(0, 6), st.integers(0, 99))
def test_the_passages_that_are_wrong(passages: list[str], n: int, seed: int) -> None:
    asked = [PassageAnswer("x", "p", "a"), PassageAnswer("y", " q", "b"), PassageAnswer("y ", "r", "c")]
    right = {"x": {"p"}, "y": {"q", "r"}}
    found = wrong_passages(asked, passages, n, rng(seed))
    assert found == wrong_passages(asked, passages, n, rng(seed))
    for one, wrong in zip(asked, found, strict=True):
        others = [passage for passage in passages if passage.strip() not in right[one.question.strip()]]
        assert len(wrong) == min(n, len(others))
        assert not Counter(other.passage for other in wrong) - Counter(others)
        assert all((other.question, other.answer) == (one.question, one.answer) for other in wrong)


def test_every_other_passage_is_as_likely() -> None:
    asked = [PassageAnswer("x", "p", "a")] * 3000
    drawn = Counter(one.passage for [one] in wrong_passages(asked, ["p", "p ", "q", "r", "s"], 1, rng()))
    assert set(drawn) == {"q", "r", "s"}
    assert all(abs(count - 1000) < 130 for count in drawn.values())  # 5 standard deviations
