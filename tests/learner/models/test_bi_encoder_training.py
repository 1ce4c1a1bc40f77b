"""A bi-encoder learns which passage belongs to which query; known pairs are not negatives; one or two towers."""

from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import AutoModel, DPRConfig, DPRContextEncoder

from allpairs.db.errors import InputError
from allpairs.learner.light.catalog.retrieval import RetrieverSettings
from allpairs.learner.metrics.retrieval import mean_reciprocal_rank, recall_at
from allpairs.learner.models.bi_encoder_training import (
    RetrieverStep,
    lesson_of,
    load_retriever,
    new_retriever,
    retrieval_loss,
    train_retriever,
)
from allpairs.learner.search.gold_ranks import ranks_of_gold
from tests.helpers.tiny import tiny_encoder, tiny_tokenizer
from tests.helpers.tiny_backbones import tiny_backbone

ANIMALS = ("cat", "dog", "cow", "pig", "hen", "fox", "owl", "bee")
PAIRS = [(f"what is a {name}", f"the {name} {name} lives here") for name in ANIMALS]
TEXTS = [text for pair in PAIRS for text in pair]


@pytest.fixture(scope="module")
def backbone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_encoder(tmp_path_factory.mktemp("backbone"), TEXTS)


def settings(backbone: Path, **values: object) -> RetrieverSettings:
    defaults = {"steps": 40, "batch_size": 8, "negatives": 0, "learning_rate": 1e-2}
    return RetrieverSettings.model_validate(defaults | values | {"backbone": str(backbone)})


def test_two_towers_may_begin_differently_but_not_in_dprs_form(backbone: Path, tmp_path: Path) -> None:
    other = tiny_encoder(tmp_path, ["a cat"], seed=1)
    made = new_retriever(settings(backbone, towers=2, passage_backbone=str(other)), "cpu")
    assert (made.query.name, made.passage.name) == (str(backbone), str(other))
    DPRContextEncoder(
        DPRConfig(vocab_size=9, hidden_size=8, num_hidden_layers=1, num_attention_heads=1)
    ).save_pretrained(tmp_path / "dpr")
    tiny_tokenizer(["a cat"]).save_pretrained(tmp_path / "dpr")
    with pytest.raises(InputError, match="in DPR's own format"):
        new_retriever(settings(backbone, towers=2, passage_backbone=str(tmp_path / "dpr")), "cpu")


def test_the_loss_is_that_of_the_paper() -> None:
    one = torch.tensor([[2.0, 1.0, 0.0, -1.0]])
    assert retrieval_loss(one, torch.tensor([0])).item() == pytest.approx(0.4401896986, abs=1e-6)
    dpr = torch.tensor([[2.0, 1.0, 0.0, 0.0], [0.0, 1.0, 3.0, 2.0]])
    rows = [retrieval_loss(dpr[[i]], torch.tensor([gold])).item() for i, gold in enumerate((0, 2))]
    assert rows == pytest.approx([0.493812, 0.440190], abs=1e-6)
    assert retrieval_loss(dpr, torch.tensor([0, 2])).item() == pytest.approx(0.467001, abs=1e-6)


@pytest.mark.parametrize("n", [1, 7, 31, 127])
def test_a_cosine_without_a_scale_cannot_be_fitted(n: int) -> None:
    best = torch.tensor([[1.0] + [-1.0] * n])
    floor = {1: 0.1269, 7: 0.6665, 31: 1.6478, 127: 2.9007}[n]
    assert retrieval_loss(best, torch.tensor([0])).item() == pytest.approx(floor, abs=1e-4)
    assert retrieval_loss(20 * best, torch.tensor([0])).item() < 1e-6


@pytest.mark.parametrize("towers", [1, 2])
@pytest.mark.parametrize("similarity", ["cosine", "dot"])
def test_it_learns_the_pairs_and_is_stored(backbone: Path, tmp_path: Path, towers: int, similarity: str) -> None:
    wanted = settings(backbone, towers=towers, similarity=similarity, negatives=1)
    retriever, lesson = new_retriever(wanted), lesson_of(PAIRS, ["nothing of the kind"])
    assert len(retriever.towers) == towers
    train_retriever(retriever, lesson, wanted, 0)
    retriever.save(tmp_path)
    again = load_retriever(tmp_path)
    passages = again.passage.encode(lesson.passages)
    ranks = ranks_of_gold(again.query.encode(lesson.queries), passages, lesson.pairs[:, 1])
    assert recall_at(ranks, 1) == 1
    assert np.allclose(passages, retriever.passage.encode(lesson.passages), atol=1e-6)
    assert np.allclose(np.linalg.norm(passages, axis=1), 1) == (similarity == "cosine")


def test_the_same_seed_gives_the_same_encoder(backbone: Path) -> None:
    lesson = lesson_of(PAIRS, [])

    def vectors(seed: int) -> np.ndarray:
        wanted = settings(backbone, steps=3, batch_size=4)
        retriever = new_retriever(wanted)
        train_retriever(retriever, lesson, wanted, seed)
        return retriever.query.encode(lesson.queries)

    assert np.array_equal(vectors(1), vectors(1))
    assert not np.array_equal(vectors(1), vectors(2))


@pytest.mark.parametrize("pooling", ["mean", "cls"])
def test_two_towers_pool_as_chosen_and_keep_it_in_their_folders(backbone: Path, tmp_path: Path, pooling: str) -> None:
    made = new_retriever(settings(backbone, towers=2, similarity="dot", pooling=pooling), "cpu")
    made.save(tmp_path)
    again, bare = load_retriever(tmp_path), made.query.model[0].auto_model
    tokens = made.query.model.tokenizer(TEXTS[:1], return_tensors="pt")
    with torch.inference_mode():
        states = bare(**tokens).last_hidden_state[0]
    expected = (states[0] if pooling == "cls" else states.mean(dim=0)).numpy()
    for encoder in (*made.towers, *again.towers):
        assert np.allclose(encoder.encode(TEXTS[:1])[0], expected, atol=1e-5)


def test_dropout_follows_its_seed_and_changes_nothing_after_it(backbone: Path) -> None:
    lesson = lesson_of(PAIRS, [])

    def vectors(dropout: bool) -> np.ndarray:
        wanted = settings(backbone, steps=2, batch_size=8, towers=2, dropout=dropout)
        retriever = new_retriever(wanted, "cpu")
        before = torch.random.get_rng_state()
        train_retriever(retriever, lesson, wanted, 0)
        assert torch.equal(torch.random.get_rng_state(), before)
        found = retriever.query.encode(lesson.queries)
        assert np.array_equal(found, retriever.query.encode(lesson.queries))
        return found

    assert np.array_equal(vectors(dropout=True), vectors(dropout=True))
    assert not np.allclose(vectors(dropout=True), vectors(dropout=False), atol=1e-4)


def test_what_is_known_as_right_is_no_negative(backbone: Path) -> None:
    """Two right passages of one query in one step: if each were the other's negative, the loss could not vanish."""
    pairs = [(x, y) for x, _ in PAIRS[:2] for y in (f"{x} first", f"{x} second")]
    wanted = settings(backbone, steps=60, batch_size=4)
    losses: list[float] = []
    retriever, lesson = new_retriever(wanted), lesson_of(pairs, [])
    train_retriever(retriever, lesson, wanted, 0)
    scores = 20 * retriever.query.encode(lesson.queries) @ retriever.passage.encode(lesson.passages).T
    wrong = np.array([[2, 3], [0, 1]])
    for query in (0, 1):
        for passage in {0, 1, 2, 3} - set(wrong[query].tolist()):
            kept = np.r_[passage, wrong[query]]
            losses.append(float(retrieval_loss(torch.from_numpy(scores[[query]][:, kept]), torch.tensor([0]))))
    assert max(losses) < 0.1


def test_wrong_passages_are_pushed_away(backbone: Path) -> None:
    """The wrong passages are in no pair: only as sampled negatives can they be separated from the right ones."""
    pairs = [(x, y) for x, y in PAIRS[:2]]
    wrong = [[x.replace("what is", "lives")] for x, _ in pairs]
    wanted = settings(backbone, steps=60, batch_size=2, negatives=1)
    retriever, lesson = new_retriever(wanted), lesson_of(pairs, [], wrong)
    assert lesson.wrong.shape == (2, 1)
    train_retriever(retriever, lesson, wanted, 0)
    scores = retriever.query.encode(lesson.queries) @ retriever.passage.encode(lesson.passages).T
    rows = np.arange(2)
    assert (scores[rows, lesson.pairs[:, 1]] > scores[rows, lesson.wrong[:, 0]] + 0.1).all()


def test_a_text_is_not_its_own_negative(backbone: Path) -> None:
    """With pairs in both directions, as of one list, each query is a passage of the step too."""
    pairs = [*PAIRS[:4], *((y, x) for x, y in PAIRS[:4])]
    wanted = settings(backbone, steps=60, batch_size=8)
    retriever, lesson = new_retriever(wanted), lesson_of(pairs, [])
    train_retriever(retriever, lesson, wanted, 0)
    loss = RetrieverStep(retriever, lesson, wanted, np.random.default_rng(0)).loss(np.arange(8))
    assert loss.item() < 0.1  # with itself as a negative at least log 2


SCORES = np.array([[3, 1, 2, 0], [1, 1, 1, 0], [0, 5, 1, 2]], dtype=np.float32)
RANKS = {"optimistic": [1, 1, 2], "average": [1, 2, 2], "pessimistic": [1, 3, 2]}


@pytest.mark.parametrize("ties", RANKS)
def test_ranks_with_ties(ties: str) -> None:
    ranks = ranks_of_gold(SCORES, np.eye(4, dtype=np.float32), np.array([0, 1, 3]), ties)  # type: ignore[arg-type]
    assert ranks.tolist() == RANKS[ties]
    assert recall_at(ranks, 1) == pytest.approx({"optimistic": 2 / 3}.get(ties, 1 / 3))
    assert mean_reciprocal_rank(np.array([1.0, 2.0, 4.0])) == pytest.approx(7 / 12)


def test_ranks_are_those_of_a_sort_whatever_the_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    queries, passages = rng.normal(size=(70, 8)).astype(np.float32), rng.normal(size=(90, 8)).astype(np.float32)
    gold = rng.integers(90, size=70)
    monkeypatch.setattr("allpairs.learner.search.gold_ranks.ROWS", 16)
    monkeypatch.setattr("allpairs.learner.search.gold_ranks.COLUMNS", 32)
    order = np.argsort(-(queries @ passages.T), axis=1)
    expected = [int(np.flatnonzero(order[i] == gold[i])[0]) + 1 for i in range(70)]
    assert ranks_of_gold(queries, passages, gold).tolist() == expected


@pytest.mark.parametrize("states", ["encoder", "decoder"])
def test_encoder_decoder_vectors_come_from_the_chosen_states(tmp_path: Path, states: str) -> None:
    folder = tiny_backbone(tmp_path, "bart", TEXTS)
    settings = RetrieverSettings.model_validate({"backbone": str(folder), "states": states})
    retriever = new_retriever(settings, "cpu")
    whole = AutoModel.from_pretrained(folder).eval()
    tokens = retriever.query.model.tokenizer(TEXTS[:1], return_tensors="pt")
    with torch.inference_mode():
        found = whole(input_ids=tokens["input_ids"], attention_mask=tokens["attention_mask"])
    state = found.encoder_last_hidden_state if states == "encoder" else found.last_hidden_state
    mean = state[0].mean(dim=0).numpy()
    assert np.allclose(retriever.query.encode(TEXTS[:1])[0], mean / np.linalg.norm(mean), atol=1e-5)
    retriever.save(tmp_path / "saved")
    again = new_retriever(RetrieverSettings(backbone=str(tmp_path / "saved" / "query"), states="encoder"), "cpu")
    assert np.allclose(again.query.encode(TEXTS[:1]), retriever.query.encode(TEXTS[:1]), atol=1e-5)
