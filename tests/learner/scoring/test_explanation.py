"""Explanations of scores: the parts add up, and name the words they rest on."""

import numpy as np
import pytest

from allpairs.learner.data.lexical_features import lexicon_of
from allpairs.learner.models.output_layer import OutputLayer
from allpairs.learner.scoring.explanation import Part, in_log_odds, rescored_parts, score_parts
from allpairs.learner.scoring.score import Blend
from allpairs.learner.second_stage.second_stage import FEATURES, SecondStage

TEXTS = ["Acme printer XJ-900", "printer by Acme XJ-900", "Acme printer XJ-750", "garden chair", "printer stand"]
BLEND = Blend(0.25, {"ngrams": 0.4, "words": 0.5, "numbers": 0.1})


def parts(left: int, right: int, blend: Blend = BLEND, score: float = 0.3) -> dict[str, Part]:
    return {part.title: part for part in between(left, right, blend, score)}


def between(left: int, right: int, blend: Blend = BLEND, score: float = 0.3) -> list[Part]:
    lexicon = lexicon_of(TEXTS)
    similarities = lexicon.values(np.array([left]), np.array([right]))[0]
    return score_parts(blend, lexicon, score, 0.4, similarities, left, right)


def test_the_parts_add_up_to_the_score_the_weightiest_first() -> None:
    found = between(0, 1)
    assert sum(part.amount for part in found) == pytest.approx(0.3)
    amounts = [abs(part.amount) for part in found]
    assert amounts == sorted(amounts, reverse=True)
    assert {part.title for part in found} == {"meaning", "letters", "words", "numbers", "hubness"}


def test_each_part_is_its_weight_times_its_value() -> None:
    found = parts(0, 2)
    values = lexicon_of(TEXTS).values(np.array([0]), np.array([2]))[0] / 2.0
    assert found["meaning"].amount == pytest.approx(0.4)
    assert found["letters"].amount == pytest.approx(0.4 * values[0])
    assert found["numbers"].amount == pytest.approx(-0.05)  # 900 against 750, of a weight of 0.1 in 2


def test_words_that_both_share_are_named_the_rarest_first() -> None:
    assert parts(0, 1)["words"].words == ("xj-900", "acme", "printer")
    assert set(parts(0, 2)["numbers"].words) == {"xj-900", "xj-750"}
    assert parts(0, 3)["words"].words == ()


def test_a_plain_cosine_has_one_part() -> None:
    found = score_parts(Blend(), None, 0.8, 0.8, np.empty(0), 0, 1)
    assert [str(part) for part in found] == ["meaning +0.80"]


def test_log_odds_add_up_to_the_logit_the_constant_last() -> None:
    layer, whole = OutputLayer(20.0, -9.0), [Part("meaning", 0.5, ("a",)), Part("constant", 0.1), Part("price", -0.2)]
    found = in_log_odds(whole, layer)
    assert found == [Part("meaning", 10.0, ("a",)), Part("price", -4.0), Part("constant", -7.0)]
    assert sum(part.amount for part in found) == pytest.approx(layer.logit(np.array([0.4]))[0])


def test_a_part_is_written_with_its_words() -> None:
    assert str(Part("words", 0.183, ("acme", "900"))) == "words +0.18 (acme, 900)"


def test_the_parts_of_a_rescored_pair_add_up_each_named_once() -> None:
    rng = np.random.default_rng(0)
    second = SecondStage(0.0, 0.5, 0.1, *rng.uniform(0.1, 1, (3, len(FEATURES))))
    values = rng.random(len(FEATURES)).astype(np.float32)
    found = rescored_parts(between(0, 1), second, values)
    wanted = 0.5 * 0.3 + 0.1 + second.added(values[None]).sum()
    assert sum(part.amount for part in found) == pytest.approx(wanted)
    titles = [part.title for part in found]
    assert len(titles) == len(set(titles)) and {"competition", "price", "constant", "numbers"} <= set(titles)
    assert next(part for part in found if part.title == "numbers").words
