"""CosineBERT: repeatable, each text embedded once, and it learns what the pre-trained encoder does not know."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from allpairs.db.domain import Distance, Settings
from allpairs.learner.models import cosine_bert
from allpairs.learner.models.cosine_bert import Head, Labelled, Weighted, cosines, train
from allpairs.learner.models.cosine_bert_step import Step
from allpairs.learner.models.encoder import Encoder, load_encoder
from allpairs.learner.models.output_layer import OutputLayer, fit_output_layer
from allpairs.learner.models.tokens import Tokens
from tests.helpers.tiny import tiny_encoder

# Every text is one topic word among words that say nothing; texts of one topic match.
TOPICS, NOISE = [f"topic{i}" for i in range(6)], [f"noise{i}" for i in range(12)]
FAST = {"learning_rate": 2e-3, "epochs": 15, "batch_size": 16}


def toy_texts(rng: np.random.Generator, n: int = 60) -> tuple[list[str], np.ndarray]:
    """Return n texts and their topics."""
    topics = rng.integers(0, len(TOPICS), n)
    return [" ".join([TOPICS[topic], *rng.choice(NOISE, 4)]) for topic in topics], topics


def toy_pairs(rng: np.random.Generator, topics: np.ndarray, n: int = 150) -> Labelled:
    left, right = rng.integers(0, len(topics), (2, n))
    same = rng.random(n) < 0.4  # half of all pairs would be too rare a match
    right = np.where(same, [rng.choice(np.flatnonzero(topics == topics[row])) for row in left], right)
    return Labelled(left, right, (topics[left] == topics[right]).astype(np.int64))


@pytest.fixture(scope="module")
def toy() -> tuple[list[str], Labelled, Labelled]:
    """Return texts, pairs to train on and pairs to test on."""
    rng = np.random.default_rng(0)
    texts, topics = toy_texts(rng)
    return texts, toy_pairs(rng, topics), toy_pairs(rng, topics)


@pytest.fixture(scope="module")
def folder(toy: tuple[list[str], Labelled, Labelled], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_encoder(tmp_path_factory.mktemp("training"), toy[0])


@pytest.fixture
def encoder(folder: Path) -> Encoder:
    return load_encoder(str(folder), device="cpu")


Toy = tuple[list[str], Labelled, Labelled]


def accuracy(layer: OutputLayer, encoder: Encoder, texts: list[str], pairs: Labelled) -> float:
    return float(((layer.probability(cosines(encoder, texts, pairs)) >= 0.5) == pairs.label).mean())


def trained(folder: Path, toy: Toy, **settings: object) -> tuple[OutputLayer, np.ndarray]:
    encoder = load_encoder(str(folder), device="cpu")
    layer = train(encoder, toy[0], toy[1], Settings.model_validate(FAST | {"epochs": 1} | settings))
    return layer, encoder.encode(toy[0])


def test_the_same_seed_gives_the_same_matcher_bit_for_bit(folder: Path, toy: Toy) -> None:
    (first, vectors), (second, again) = trained(folder, toy, seed=3), trained(folder, toy, seed=3)
    assert first == second
    assert np.array_equal(vectors, again)


def test_another_seed_gives_another_matcher(folder: Path, toy: Toy) -> None:
    (first, vectors), (second, others) = trained(folder, toy, seed=3), trained(folder, toy, seed=4)
    assert first != second
    assert not np.array_equal(vectors, others)


def test_it_learns_what_the_pre_trained_encoder_does_not_know(encoder: Encoder, toy: Toy) -> None:
    texts, pairs, unseen = toy
    base = fit_output_layer(cosines(encoder, texts, pairs), pairs.label)
    assert accuracy(base, encoder, texts, unseen) < 0.75
    layer = train(encoder, texts, pairs, Settings.model_validate(FAST))
    assert layer.loss < 0.2
    assert accuracy(layer, encoder, texts, unseen) > 0.95


def test_further_pairs_teach_as_much_as_they_weigh(folder: Path, toy: Toy) -> None:
    texts, pairs, unseen = toy
    half = len(pairs) // 2
    few, rest = pairs.take(np.arange(half)), pairs.take(np.arange(half, len(pairs)))
    wrong = replace(rest, label=1 - rest.label)

    def learned(also: Weighted | None) -> tuple[float, np.ndarray]:
        encoder = load_encoder(str(folder), device="cpu")
        layer = train(encoder, texts, few, Settings.model_validate(FAST), also=also)
        return accuracy(layer, encoder, texts, unseen), encoder.encode(texts)

    alone, vectors = learned(None)
    assert np.array_equal(learned(Weighted(wrong, 0.0))[1], vectors)
    assert learned(Weighted(rest, 1.0))[0] > alone
    assert learned(Weighted(wrong, 1.0))[0] < 0.7 < learned(Weighted(wrong, 0.01))[0]


def test_it_does_not_learn_what_the_offset_says(folder: Path, toy: Toy) -> None:
    texts, pairs, _ = toy
    offset = np.random.default_rng(0).choice([0, 0.5], len(texts)).astype(np.float32)
    pairs = replace(pairs, label=(offset[pairs.left] + offset[pairs.right] < 0.5).astype(np.int64))

    def learned(offset: np.ndarray | None) -> tuple[float, float]:
        encoder = load_encoder(str(folder), device="cpu")
        before = encoder.encode(texts)
        layer = train(encoder, texts, pairs, Settings.model_validate(FAST | {"epochs": 4}), offset=offset)
        return layer.loss, float(np.abs(encoder.encode(texts) - before).mean())

    (loss, moved), (alone, farther) = learned(offset), learned(None)
    assert loss < 0.01 < 0.1 < alone
    assert moved < farther


def test_each_distinct_text_is_embedded_once(encoder: Encoder, toy: Toy, monkeypatch: pytest.MonkeyPatch) -> None:
    texts, pairs, _ = toy
    embedded: list[int] = []
    embed = Encoder.embed

    def watched(self: Encoder, tokens: Tokens) -> torch.Tensor:
        embedded.append(len(tokens))
        return embed(self, tokens)

    monkeypatch.setattr(Encoder, "embed", watched)
    left, right = pairs.left[:40], pairs.right[:40]
    rows, inverse = np.unique(np.r_[left, right], return_inverse=True)
    tokens = encoder.tokenize([texts[row] for row in rows])
    scores: list[torch.Tensor] = []

    def head(found: torch.Tensor) -> torch.Tensor:
        scores.append(found)
        return found

    every, offset = np.arange(40), np.linspace(0, 0.5, 40, dtype=np.float32)
    step = Step(encoder, tokens, inverse[:40], inverse[40:], *np.ones((2, 40), dtype=np.float32), offset, head)
    loss, inputs = next(step.losses(every)), step.inputs(every)
    assert len(inputs["input_ids"]) % 20 == 0 and inputs["input_ids"].shape[1] % 16 == 0
    assert step.loss(inputs).item() == pytest.approx(loss.item(), abs=2e-3)
    together = scores[0] + torch.from_numpy(offset)
    assert embedded == [len(rows)]
    assert len(rows) < 80
    each = [embed(encoder, encoder.tokenize([texts[i], texts[j]])) for i, j in zip(left, right, strict=True)]
    apart = [torch.dot(one, other).item() for one, other in each]
    assert together.detach().numpy() == pytest.approx(apart, abs=2e-3)  # bfloat16 where the processor has it
    assert cosines(encoder, texts, Labelled(left, right, pairs.label[:40])) == pytest.approx(apart, abs=1e-5)


@pytest.mark.parametrize(("initialization", "w", "b"), [("balanced", 1, 0), ("reference", 10, -50)])
def test_both_initialisations(folder: Path, toy: Toy, initialization: str, w: float, b: float) -> None:
    head = Head(initialization)
    assert (head.w.item(), head.b.item()) == (w, b)
    layer, vectors = trained(folder, toy, initialization=initialization)
    assert layer.w > 0
    assert np.isfinite(vectors).all()


def test_fewer_pairs_than_a_batch(encoder: Encoder, toy: Toy) -> None:
    start = encoder.encode(toy[0])
    pairs = Labelled(np.array([0, 1, 2]), np.array([3, 4, 5]), np.array([1, 0, 1]))
    layer = train(encoder, toy[0], pairs, Settings.model_validate(FAST | {"batch_size": 64}))
    assert np.isfinite([layer.w, layer.b, layer.loss]).all()
    assert not np.array_equal(encoder.encode(toy[0]), start)


def test_two_pairs_are_enough(encoder: Encoder, toy: Toy) -> None:
    layer = train(encoder, toy[0], Labelled(np.array([0, 0]), np.array([1, 2]), np.array([1, 0])), Settings())
    assert np.isfinite([layer.w, layer.b, layer.loss]).all()


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize(("pairs", "steps"), [(50, 3), (16, 1), (7, 1)])
def test_an_incomplete_batch_is_dropped(pairs: int, steps: int, grouped: bool) -> None:
    settings = Settings(epochs=2, batch_size=16, group_pairs=grouped)
    left, right = np.random.default_rng(1).integers(0, 9, (2, pairs))
    batches = list(cosine_bert.cosine_batches(left, right, settings, np.random.default_rng(0)))
    assert [len(batch) for batch in batches] == [min(16, pairs)] * 2 * steps
    for epoch in (batches[:steps], batches[steps:]):
        assert len(np.unique(np.concatenate(epoch))) == min(16, pairs) * steps


def test_grouped_pairs_share_their_texts_within_a_step() -> None:
    left, right = np.repeat(np.arange(20), 8), 20 + np.arange(160)  # each left text in eight pairs
    settings = Settings(epochs=1, batch_size=16, group_pairs=True)
    batches = list(cosine_bert.cosine_batches(left, right, settings, np.random.default_rng(0)))
    assert [len(np.unique(left[batch])) for batch in batches] == [2] * 10
    assert sorted(np.concatenate(batches)) == list(range(160))
    other = list(cosine_bert.cosine_batches(right, left, settings, np.random.default_rng(0)))  # whichever side repeats
    assert [len(np.unique(left[batch])) for batch in other] == [2] * 10
    assert np.concatenate(other).tolist() != list(range(160))


def test_the_heads_norm_is_a_plain_mean_over_batches() -> None:
    head = Head("balanced").train()
    for batch in ([0.9, 1.0], [0.8, 0.8]):
        head(torch.tensor(batch))
    assert head.norm.running_mean is not None and head.norm.running_var is not None
    assert head.norm.running_mean.item() == pytest.approx(0.875)
    assert head.norm.running_var.item() == pytest.approx(0.0025)


def test_the_head_folds_into_a_layer_on_raw_cosines() -> None:
    head = Head("reference").eval()
    assert head.norm.running_mean is not None and head.norm.running_var is not None
    head.norm.running_mean.fill_(0.95)
    head.norm.running_var.fill_(4e-4)
    folded = OutputLayer(499.99375, -524.99406)
    assert folded.threshold == pytest.approx(1.05, abs=1e-5)
    cosines = np.linspace(0.8, 1.1, 7)
    logits = head(torch.from_numpy(cosines).float()).detach().numpy()
    assert logits == pytest.approx(folded.logit(cosines), abs=2e-3)


def test_without_batch_norm_the_head_takes_raw_scores() -> None:
    head = Head("balanced", batch_norm=False).train()
    with torch.no_grad():
        head.w.fill_(-3.0)
        head.b.fill_(0.5)
        logits = head(torch.tensor([-2.0, 0.0, 1.5]))
    assert logits.tolist() == [-5.5, 0.5, 5.0]


@pytest.mark.parametrize(
    ("distance", "settings"),
    [("cosine", {"batch_norm": False}), ("dot", {}), ("l2", {}), ("l2", {"batch_norm": False})],
)
def test_other_scores_and_heads_learn_too(
    encoder: Encoder, toy: Toy, distance: Distance, settings: dict[str, object]
) -> None:
    texts, pairs, unseen = toy
    other = encoder.variant(distance=distance)
    layer = train(other, texts, pairs, Settings.model_validate(FAST | settings | {"distance": distance}))
    assert accuracy(layer, other, texts, unseen) > 0.9
    assert layer.threshold is not None
    assert (layer.threshold < 0) == (distance == "l2")


def test_the_head_standardises_and_never_turns_the_order_round() -> None:
    head = Head("balanced").train()
    with torch.no_grad():
        head.w.fill_(-2.0)
        logits = head(torch.tensor([0.2, 0.4, 0.6, 0.8]))
    assert logits.mean().item() == pytest.approx(0, abs=1e-6)
    assert (logits.diff() > 0).all()
    assert logits.std(correction=0).item() == pytest.approx(2, rel=1e-4)


def test_training_that_fails_is_repeated_from_the_start(
    encoder: Encoder, toy: Toy, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = {name: value.clone() for name, value in encoder.model.state_dict().items()}
    starts: list[bool] = []
    descend = cosine_bert.descend_cosine

    def watched(encoder: Encoder, *rest: object) -> None:
        state = encoder.model.state_dict()
        starts.append(all(torch.equal(state[name], value) for name, value in base.items()))
        descend(encoder, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(cosine_bert, "descend_cosine", watched)
    monkeypatch.setattr(cosine_bert, "WORST_LOSS", 0.0)
    train(encoder, toy[0], toy[1], Settings.model_validate(FAST | {"epochs": 1}))
    assert starts == [True] * 3


def test_a_cancel_is_looked_for_to_the_end(encoder: Encoder, toy: Toy) -> None:
    seen: list[float] = []
    train(encoder, toy[0], toy[1], Settings.model_validate(FAST), lambda stage, done: seen.append(done))
    assert seen == sorted(seen)
    assert seen.count(1.0) > 1  # after the last step the texts are encoded once more


def test_the_head_learns_faster_and_nothing_decays(encoder: Encoder) -> None:
    optimizer, schedule = cosine_bert.cosine_optimizer(encoder, Head("balanced"), 2e-5, 100)
    rates = []
    for _ in range(100):
        rates.append([group["lr"] for group in optimizer.param_groups])
        optimizer.step()
        schedule.step()
    encoder_rate, head_rate = np.array(rates).T
    assert head_rate == pytest.approx(1e4 * encoder_rate)
    assert encoder_rate.argmax() in (9, 10)
    assert encoder_rate.max() == pytest.approx(2e-5)
    assert (np.diff(encoder_rate[10:]) < 0).all()
    assert {(group["weight_decay"], group["eps"]) for group in optimizer.param_groups} == {(0.0, 1e-6)}
