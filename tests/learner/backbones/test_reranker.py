"""The re-ranker: its templates, truncation, its two logits, and training on rows of several views."""

import itertools
import math
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from allpairs.db.errors import InputError
from allpairs.learner.backbones.generator import (
    TextGenerator,
    TokenPairs,
    generate,
    load_generator,
    losses_of,
    token_losses,
)
from allpairs.learner.backbones.reranking import reranker as module
from allpairs.learner.backbones.reranking import training as training
from allpairs.learner.backbones.reranking.reading import Reading
from allpairs.learner.backbones.reranking.reranker import (
    Reranker,
    is_reranker,
    load_reranker,
    prefix_of,
    scores_of,
    truth_logits,
    truth_tokens,
)
from allpairs.learner.backbones.reranking.templates import PASSAGE, QUERY, VIEWS, Template, pieces, source_of
from allpairs.learner.backbones.reranking.training import Row, as_texts, token_weights, train_reranker
from allpairs.learner.light.catalog.backbones import GeneratorSettings
from allpairs.learner.light.catalog.multiview import RerankerSettings
from tests.helpers.tiny_backbones import WRITERS, tiny_backbone

THINGS = ("apples", "boats", "cars", "cats", "dogs", "trees")
QUERIES = [f"where are {thing} sold ?" for thing in THINGS]
PASSAGES = [f"many {thing} are sold in the town hall on monday" for thing in THINGS]
WORDS = [source_of(view, q, p) for view in VIEWS for q, p in zip(QUERIES, PASSAGES, strict=True)] + [
    "true false nothing about here"
]
FAST = RerankerSettings(batch_size=12, learning_rate=3e-3, decoder_rate=1, weight_decay=0, source_length=48,
                        target_length=12)  # fmt: skip


def fresh(tmp_path: Path, architecture: str = "t5") -> TextGenerator:
    return load_generator(str(tiny_backbone(tmp_path, architecture, WORDS)), 1, device="cpu")


def test_the_templates_are_the_papers() -> None:
    said = {view: (source_of(view, "Q {passage}", "P"), VIEWS[view].target) for view in VIEWS}
    assert said == {
        "rank": ("Query: Q {passage} Document: P Relevant:", None),
        "rank-swap": ("Relevant: Query: Q {passage} Document: P", None),
        "rank-positives": ("Query: Q {passage} Document: P Relevant:", "true"),
        "p2q": ("Document: P Translate Document to Query:", QUERY),
        "p2q-swap": ("Translate Document to Query: Document: P", QUERY),
        "q2p": ("Query: Q {passage} Translate Query to Document:", PASSAGE),
    }


def sentencepiece_like() -> PreTrainedTokenizerFast:
    """Return a tokenizer like T5's: word pieces, each word preceded by a mark."""
    letters = [(letter, -2.0) for letter in "▁abcdefghijklmnopqrstuvwxyzQDRT:?"]
    vocabulary = [
        ("<pad>", 0.0),
        ("</s>", 0.0),
        ("<unk>", 0.0),
        ("▁Query:", -1.0),
        ("▁sold", -1.0),
        ("sold", -1.5),
        *letters,
    ]
    words = Tokenizer(models.Unigram(vocabulary, 2))
    words.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()])  # type: ignore[assignment]
    return PreTrainedTokenizerFast(tokenizer_object=words, pad_token="<pad>", eos_token="</s>", unk_token="<unk>")


def byte_like() -> PreTrainedTokenizerFast:
    """Return a tokenizer like BART's: bytes, with a space belonging to the word after it."""
    words = Tokenizer(models.BPE({letter: at for at, letter in enumerate(pre_tokenizers.ByteLevel.alphabet())}, []))
    words.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)  # type: ignore[assignment]
    return PreTrainedTokenizerFast(tokenizer_object=words, pad_token="!")


@pytest.mark.parametrize("view", VIEWS)
def test_parts_read_apart_are_the_whole(tmp_path: Path, view: str) -> None:
    for tokenizer in (fresh(tmp_path).tokenizer, sentencepiece_like(), byte_like()):
        query, passage = pieces(tokenizer, [QUERIES[0], f" {PASSAGES[1]} "])
        whole = tokenizer(source_of(view, QUERIES[0], PASSAGES[1]))["input_ids"]
        assert Template(view, tokenizer, 1_000).tokens(query, passage) == whole


@pytest.mark.parametrize("view", ["rank", "rank-swap", "p2q"])
def test_only_the_passage_is_cut(tmp_path: Path, view: str) -> None:
    tokenizer = fresh(tmp_path).tokenizer
    query, passage = pieces(tokenizer, [QUERIES[0], PASSAGES[1]])
    whole = len(Template(view, tokenizer, 1_000).tokens(query, passage))
    for fewer in range(len(passage) + 1):
        cut = Template(view, tokenizer, whole - fewer).tokens(query, passage)
        kept = " ".join(PASSAGES[1].split()[: len(passage) - fewer])
        assert cut == tokenizer(source_of(view, QUERIES[0], kept))["input_ids"] and len(cut) == whole - fewer
    if view != "p2q":  # a query that is too long by itself is cut as well: the words around it stay
        cut = Template(view, tokenizer, whole - len(passage) - 2).tokens(query, passage)
        assert cut == tokenizer(source_of(view, "where are apples", ""))["input_ids"]


def test_probabilities_and_losses_of_the_paper() -> None:
    logits = np.array([[3.0, 1.0], [50.0, 5.0], [51.0, 5.0]], dtype=np.float32)
    difference = scores_of(logits)
    p = 1 / (1 + np.exp(-difference))
    assert p[0] == pytest.approx(0.8807970780) and math.log(p[0]) == pytest.approx(-0.1269280110)
    assert p[1] == p[2] == 1.0 and difference[2] > difference[1]  # ties of probabilities, and none of differences
    assert -math.log1p(math.exp(-45)) == pytest.approx(-2.86e-20, rel=1e-2)
    two = torch.tensor([[0.8, 0.2], [0.4, 0.6]]).log()[:, None, :]
    assert float(token_losses(two, torch.tensor([[0], [1]])).sum()) == pytest.approx(0.7339691751, abs=1e-6)


@pytest.mark.parametrize("architecture", WRITERS)
def test_a_ranking_row_is_the_first_token_and_no_mean_over_two(tmp_path: Path, architecture: str) -> None:
    generator = fresh(tmp_path, architecture)
    texts = as_texts(generator, [Row("rank", QUERIES[0], PASSAGES[0]), Row("p2q", QUERIES[0], PASSAGES[0])], FAST)
    true, _ = truth_tokens(generator.tokenizer)
    assert texts.targets[0][-1] == true and len(texts.targets[0]) == len(prefix_of(generator))
    assert generator.tokenizer.decode(texts.targets[1], skip_special_tokens=True) == QUERIES[0]
    assert texts.targets[1][-1] == generator.model.generation_config.eos_token_id
    with torch.inference_mode():
        together = losses_of(generator, texts, np.array([0, 1]))
        whole = generator.tokenizer(source_of("rank", QUERIES[0], PASSAGES[0]), return_tensors="pt").input_ids
        said = torch.tensor([prefix_of(generator)])
        wanted = generator.model(input_ids=whole, decoder_input_ids=said).logits[0, -1].log_softmax(-1)[true]
    first = len(texts.targets[0])
    assert -float(together[0, first - 1]) == pytest.approx(float(wanted), abs=1e-5)
    assert not together[0, first:].any() and together[1].all()  # what is padded beside a longer text has no loss


def test_the_score_of_a_saved_pointer_is_its_log_odds_of_true(tmp_path: Path) -> None:
    backbone = str(tiny_backbone(tmp_path, "bert", WORDS))
    load_generator(backbone, 1, device="cpu", copying=True).save(tmp_path / "pointer")
    generator = load_generator(str(tmp_path / "pointer"), device="cpu")
    reading = Reranker(generator, Reading(source_length=48))
    found = scores_of(truth_logits(reading, QUERIES, PASSAGES, np.array([[0, 0], [1, 2]])))
    rows = [Row("rank", QUERIES[0], PASSAGES[0], right) for right in (True, False)]
    with torch.inference_mode():
        losses = losses_of(generator, as_texts(generator, rows, FAST), np.array([0, 1])).sum(1)
    assert found[0] == pytest.approx(float(losses[1] - losses[0]), abs=1e-4)


@pytest.mark.parametrize("architecture", WRITERS)
def test_a_pair_has_the_same_logits_alone_and_among_others(
    tmp_path: Path, architecture: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    generator = fresh(tmp_path, architecture)
    reranker = Reranker(generator, Reading(source_length=48))
    passages = [*PASSAGES, f"{PASSAGES[0]} " * 8]
    pairs = np.array(list(itertools.product(range(6), range(7))))
    monkeypatch.setattr(module, "CHUNK", 10)
    seen: list[float] = []
    found = truth_logits(reranker, QUERIES, passages, pairs, lambda words, done: seen.append(done))
    assert found.shape == (42, 2) and seen == sorted(seen) and seen[-1] == 1
    for row in (0, 6, 41):
        alone = truth_logits(reranker, QUERIES, passages, pairs[row : row + 1])
        np.testing.assert_allclose(alone[0], found[row], atol=1e-4)
    with torch.inference_mode():
        ids = generator.tokenizer(source_of("rank", QUERIES[5], PASSAGES[5]), return_tensors="pt").input_ids
        plain = generator.model(input_ids=ids, decoder_input_ids=torch.tensor([prefix_of(generator)])).logits[0, -1]
    np.testing.assert_allclose(found[40], plain[list(truth_tokens(generator.tokenizer))], atol=1e-4)
    assert truth_logits(reranker, QUERIES, passages, pairs[:0]).shape == (0, 2)


def test_a_view_weighs_by_its_rows_or_by_its_tokens() -> None:
    """Two ranking rows with losses 2 and 4, and a query of three tokens with losses 1, 2 and 6."""
    texts = TokenPairs([[1]] * 3, [[7], [8], [1, 2, 3]])
    sums = np.array([2.0, 4.0, 9.0])
    assert token_weights(texts, "row") @ sums == pytest.approx((2 + 4 + 3) / 3)
    assert token_weights(texts, "token") @ sums == pytest.approx(15 / 5)
    shares = {loss: token_weights(texts, loss) * [1, 1, 3] for loss in ("row", "token")}
    np.testing.assert_allclose(shares["row"], [1 / 3] * 3)
    np.testing.assert_allclose(shares["token"], [1 / 5, 1 / 5, 3 / 5])


@pytest.mark.parametrize("loss", ["row", "token"])
def test_a_step_goes_down_the_gradient_of_its_mean(tmp_path: Path, loss: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The step's terms add up to the mean, though the step is computed in parts."""
    generator, seen = fresh(tmp_path), []
    rows = [Row("rank", QUERIES[0], PASSAGES[0]), Row("rank", QUERIES[0], PASSAGES[1], False),
            Row("p2q", QUERIES[2], PASSAGES[2])]  # fmt: skip
    settings = FAST.model_copy(update={"batch_size": 3, "loss": loss})
    texts = as_texts(generator, rows, settings)
    with torch.inference_mode():
        each = losses_of(generator, texts, np.arange(3)).sum(1).tolist()
    written = [len(target) for target in texts.targets]
    by_row = sum(one / n for one, n in zip(each, written, strict=True)) / 3
    wanted = by_row if loss == "row" else sum(each) / sum(written)

    def hear(
        order: Iterator[TokenPairs], steps: int, losses: Callable[[TokenPairs], Iterator[torch.Tensor]], *_: object
    ) -> None:
        generator.model.eval()  # without dropout
        seen.extend(float(term.detach()) for term in losses(next(iter(order))))

    monkeypatch.setattr(training, "POOL", 1)  # a step has these three rows, in some order
    monkeypatch.setattr(training, "SMALL_BUDGET", 32)
    monkeypatch.setattr(training, "fast_training", lambda device: nullcontext())
    monkeypatch.setattr(training, "take_steps", hear)
    train_reranker(generator, Reading("rank", "p2q", 48), [(itertools.cycle(rows), 1)], settings, 0)
    assert len(seen) > 1 and sum(seen) == pytest.approx(wanted, abs=1e-4)


@pytest.mark.parametrize("recipe", ["adamw", "adafactor"])
def test_it_learns_to_rank_and_write_and_its_folder_does_too(tmp_path: Path, recipe: str) -> None:
    wrong = [f"nothing about {thing} here" for thing in THINGS]
    examples = [Row("rank", q, p) for q, p in zip(QUERIES, PASSAGES, strict=True)] * 2
    examples += [Row("rank", q, p, False) for q, p in zip(QUERIES, wrong, strict=True)] * 2
    examples += [Row("p2q", q, p) for q, p in zip(QUERIES, PASSAGES, strict=True)] * 2

    def rows(rng: np.random.Generator) -> Iterator[Row]:
        while True:
            yield from (examples[i] for i in rng.permutation(len(examples)))

    settings = FAST.model_copy(update={"recipe": recipe, "learning_rate": {"adamw": 3e-3, "adafactor": 3e-2}[recipe]})
    before = torch.get_rng_state()
    found = train_reranker(
        fresh(tmp_path), Reading("rank", "p2q", 48), [(rows(np.random.default_rng(0)), 100)], settings, 0
    )
    assert torch.equal(before, torch.get_rng_state())
    pairs = np.array([(i, i + other) for i in range(6) for other in (0, 6)])
    scores = scores_of(truth_logits(found, QUERIES, [*PASSAGES, *wrong], pairs)).reshape(6, 2)
    assert (scores[:, 0] > 0).all() and (scores[:, 1] < 0).all()
    found.save(tmp_path / "saved")
    assert is_reranker(str(tmp_path / "saved")) and not is_reranker(str(tmp_path)) and found.writes_queries
    again = load_reranker(str(tmp_path / "saved"), "cpu")
    assert again.reading == found.reading
    alike = scores_of(truth_logits(again, QUERIES, [*PASSAGES, *wrong], pairs))
    np.testing.assert_allclose(alike.reshape(6, 2), scores, atol=1e-4)
    asked = [source_of("p2q", "", passage) for passage in PASSAGES]
    written = generate(again.generator, asked, GeneratorSettings(target_length=12, beams=2, no_repeat=0))
    assert set(written) <= set(QUERIES)  # it writes queries, and no `true`


def test_a_tokenizer_that_cannot_tell_true_from_false_is_refused(tmp_path: Path) -> None:
    generator = load_generator(str(tiny_backbone(tmp_path, "t5", PASSAGES)), device="cpu")
    with pytest.raises(InputError, match="'true' and 'false'"):
        truth_tokens(generator.tokenizer)
    with pytest.raises(InputError, match="no re-ranker in"):
        load_reranker(str(tmp_path))
