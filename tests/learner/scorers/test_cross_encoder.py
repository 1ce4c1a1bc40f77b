"""ConcatBERT: all four architectures train, save and load; batches; what is refused."""

import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score
from transformers import AutoModelForSequenceClassification, AutoTokenizer

from allpairs.db.errors import InputError
from allpairs.learner.backbones.length_batches import batches_by_length
from allpairs.learner.models.cosine_bert import Labelled
from allpairs.learner.models.cross_encoder_input import PairTokens, read_pairs
from allpairs.learner.scorers import cross_encoder
from allpairs.learner.scorers.cross_encoder import ConcatSettings, load_backbone, save_concat, train_concat
from allpairs.learner.scorers.scorer import is_cross_encoder, load_cross_encoder
from tests.helpers.tiny_backbones import BACKBONES, tiny_backbone

TEXTS = [f"{('red', 'blue')[i % 2]} word{i % 7}" + " more" * (i % 5) for i in range(32)]
FAST = ConcatSettings(epochs=15, learning_rate=3e-3, batch_size=16, max_length=32, seed=1)


def pairs_of(rows: range) -> Labelled:
    """Return all pairs of these rows; a pair matches if both texts are red, which neither text alone tells."""
    left, right = np.triu_indices(len(rows), 1)
    left, right = left + rows.start, right + rows.start
    return Labelled(left, right, ((left % 2 == 0) & (right % 2 == 0)).astype(np.int64))


def backbone(tmp_path: Path, architecture: str = "bert") -> str:
    return str(tiny_backbone(tmp_path, architecture, TEXTS))


@pytest.mark.parametrize("name", ["torch.distributed.run.main", "torch.nn.modules.activation.os.abort", "run.main"])
@pytest.mark.parametrize("values", [
    lambda name: {"sentence_transformers": {"activation_fn": name}},
    lambda name: {"sbert_ce_default_activation_function": name},
])  # fmt: skip
def test_no_function_of_a_folder_runs(tmp_path: Path, name: str, values: Callable[[str], dict[str, Any]]) -> None:
    folder = tiny_backbone(tmp_path, "bert", TEXTS)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | values(name)))
    with pytest.raises(InputError, match="names code"):
        load_cross_encoder(str(folder), TEXTS)


@pytest.mark.parametrize("architecture", BACKBONES)
def test_every_architecture_learns_and_its_folder_scores_alike(tmp_path: Path, architecture: str) -> None:
    labelled = pairs_of(range(0, 24))
    seen: list[tuple[str, float]] = []
    scorer = train_concat(
        backbone(tmp_path, architecture), TEXTS, labelled, FAST, lambda stage, done: seen.append((stage, done))
    )
    scores = scorer.score(labelled.left, labelled.right)
    assert average_precision_score(labelled.label, scores) > 0.9  # one text alone: 0.5
    assert {stage for stage, _ in seen} == {"train"}
    assert seen[-1][1] == 1.0
    folder = tmp_path / "saved"
    save_concat(scorer, folder, labels=len(labelled))
    assert is_cross_encoder(str(folder))
    assert json.loads((folder / "concat.json").read_text()) == {"labels": len(labelled)}
    again = load_cross_encoder(str(folder), TEXTS)
    np.testing.assert_allclose(again.score(labelled.left, labelled.right), scores, atol=1e-4)


@pytest.mark.parametrize("architecture", BACKBONES)
def test_scores_do_not_depend_on_the_neighbours_in_a_block(tmp_path: Path, architecture: str) -> None:
    scorer = train_concat(backbone(tmp_path, architecture), TEXTS, pairs_of(range(0, 8)), FAST)
    labelled = pairs_of(range(8, 20))
    together = scorer.score(labelled.left, labelled.right)
    alone = [float(scorer.score(labelled.left[i : i + 1], labelled.right[i : i + 1])[0]) for i in range(len(labelled))]
    np.testing.assert_allclose(together, alone, atol=1e-4)


def test_the_saved_folder_is_a_plain_transformers_model(tmp_path: Path) -> None:
    scorer = train_concat(backbone(tmp_path), TEXTS, pairs_of(range(0, 8)), FAST)
    save_concat(scorer, tmp_path / "saved")
    network = AutoModelForSequenceClassification.from_pretrained(tmp_path / "saved")
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "saved")
    with torch.inference_mode():
        logit = float(network.eval()(**tokenizer(TEXTS[3], TEXTS[4], return_tensors="pt")).logits[0, 0])
    assert float(scorer.score(np.array([3]), np.array([4]))[0]) == pytest.approx(logit, abs=1e-4)
    assert tokenizer.model_max_length == FAST.max_length


def test_a_seed_fixes_the_training_and_no_other_randomness(tmp_path: Path) -> None:
    folder, labelled = backbone(tmp_path), pairs_of(range(0, 8))
    torch.manual_seed(7)
    expected = torch.rand(1)
    torch.manual_seed(7)
    first, second, other = (
        train_concat(folder, TEXTS, labelled, FAST.model_copy(update={"seed": seed})).score(
            labelled.left, labelled.right
        )
        for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(first, second)
    assert not np.allclose(first, other)
    assert torch.equal(torch.rand(1), expected)


def test_dropout_is_a_choice(tmp_path: Path) -> None:
    folder, labelled = backbone(tmp_path), pairs_of(range(0, 8))
    first, second = (
        train_concat(folder, TEXTS, labelled, FAST.model_copy(update={"dropout": dropout})).score(
            labelled.left, labelled.right
        )
        for dropout in (False, True)
    )
    assert not np.allclose(first, second)


def test_a_long_pair_is_cut_at_the_length_of_training(tmp_path: Path) -> None:
    texts = ["word1 " * 60, "word2 " * 60]
    torch.manual_seed(0)
    model = load_backbone(backbone(tmp_path), 32)
    tokens = read_pairs(model, texts, np.array([0]), np.array([1]))
    assert tokens.lengths.tolist() == [32]


@given(
    st.lists(st.integers(1, 60), min_size=1, max_size=300), st.integers(1, 20), st.integers(1, 3), st.integers(0, 99)
)
def test_every_pair_is_in_one_batch_an_epoch(lengths: list[int], size: int, epochs: int, seed: int) -> None:
    steps = epochs * -(-len(lengths) // size)
    found = list(itertools.islice(batches_by_length(np.array(lengths), size, np.random.default_rng(seed)), steps))
    assert max(map(len, found)) <= size
    assert np.bincount(np.concatenate(found), minlength=len(lengths)).tolist() == [epochs] * len(lengths)


def test_pairs_of_like_length_share_a_batch() -> None:
    lengths = np.random.default_rng(0).integers(5, 100, size=2_000)
    found = itertools.islice(batches_by_length(lengths, 32, np.random.default_rng(0)), -(-len(lengths) // 32))
    padded = sum(lengths[batch].max() * len(batch) for batch in found)
    assert padded < 1.1 * lengths.sum()  # batches drawn at random: 1.9 times


@given(st.lists(st.integers(1, 90), min_size=1, max_size=200), st.integers(1, 400))
def test_blocks_hold_every_pair_once_and_keep_to_their_budget(lengths: list[int], budget: int) -> None:
    tokens = PairTokens({"input_ids": [[0] * length for length in lengths]})
    blocks = list(tokens.blocks(budget))
    assert sorted(np.concatenate(blocks).tolist()) == list(range(len(lengths)))
    assert all(len(block) == 1 or max(lengths[i] for i in block) * len(block) <= budget for block in blocks)


def test_labels_of_one_class_are_refused(tmp_path: Path) -> None:
    labelled = Labelled(np.array([0]), np.array([4]), np.array([1]))
    with pytest.raises(InputError, match="all 1 labels are positive"):
        train_concat(backbone(tmp_path), TEXTS, labelled, FAST)


def test_a_backbone_that_is_not_there_is_refused_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no folder"):
        load_backbone(str(tmp_path / "none"), 32)
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(InputError, match="cannot be loaded") as refused:
        load_backbone(str(tmp_path), 32)
    assert "\n" not in str(refused.value)


def test_without_a_hub_a_name_is_refused_with_the_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def offline(*_: object, **__: object) -> None:
        raise OSError("We couldn't connect to 'https://huggingface.co' to load the files.\nCheck your connection.")

    monkeypatch.setattr(cross_encoder, "CrossEncoder", offline)
    message = (
        "backbone 'xlnet-base-cased' cannot be loaded: no model hub can be reached, .* name a folder, or all-MiniLM"
    )
    with pytest.raises(InputError, match=message):
        load_backbone("xlnet-base-cased", 128)
