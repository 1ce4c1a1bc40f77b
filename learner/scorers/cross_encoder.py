"""ConcatBERT: a cross-encoder that reads both texts of a pair as one, trained to tell whether they match.

Source: Mussmann, Jia and Liang (2020), section 3.2; learning rate, batch and length are those of the released code. It
ranks well among pairs like those it was trained on, but reads every pair alone: it is measured by sampling
(`learner.files.evaluate`).
"""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from pydantic import BaseModel, ConfigDict, Field
from sentence_transformers import CrossEncoder
from torch import Tensor, nn

from allpairs.db.errors import InputError
from allpairs.db.progress import Progress, no_progress
from allpairs.learner.backbones.length_batches import batches_by_length
from allpairs.learner.models.cosine_bert import Labelled
from allpairs.learner.models.cross_encoder_input import PairTokens, pair_logits, read_pairs
from allpairs.learner.models.loading import NO_CODE, SAFETENSORS, loading, require_numbers
from allpairs.learner.models.model_folder import forget_code
from allpairs.learner.models.training_loop import adamw, take_steps
from allpairs.learner.runtime.device import default_device, fast_training, seeded
from allpairs.learner.scorers.scorer import TextScorer

FILE = "concat.json"


class ConcatSettings(BaseModel):
    """How a ConcatBERT is trained; the defaults are the paper's for QQP (WikiQA: 3 epochs)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    epochs: int = Field(2, ge=1, le=100, description="Passes over the labels.")
    learning_rate: float = Field(2e-5, gt=0, lt=1, description="Learning rate.")
    batch_size: int = Field(32, ge=1, le=4096, description="Pairs in one training step.")
    max_length: int = Field(128, ge=8, le=8192, description="Tokens of a pair, both texts together.")
    dropout: bool = Field(True, description="Train with the dropout of the backbone's configuration.")
    seed: int = Field(0, ge=0, le=2**31 - 1, description="Seed of the output layer, order and dropout.")


def train_concat(
    backbone: str,
    texts: Sequence[str],
    labelled: Labelled,
    settings: ConcatSettings,
    progress: Progress = no_progress,
    device: str | None = None,
) -> TextScorer:
    """Train and return the scorer of pairs of these texts, by row; backbone: a hub name, or a folder.

    Raises InputError if the labels are of one class only, and if the backbone cannot be loaded.
    """
    if not labelled.has_both_classes:
        kind = "positive" if labelled.positives else "negative"
        raise InputError(f"all {len(labelled):,} labels are {kind}, and training needs both kinds: label more pairs")
    target = torch.device(device or default_device())
    with seeded(settings.seed, target):
        model = load_backbone(backbone, settings.max_length, str(target))
        _descend(model, texts, labelled, settings, progress)
    return TextScorer(model.eval(), texts)


def load_backbone(name: str, max_length: int, device: str | None = None) -> CrossEncoder:
    """Load the encoder of that name or folder with a new output layer of one logit. Raises InputError.

    The new layer is drawn from torch's generator.
    """
    with loading(name) as source:
        model = CrossEncoder(
            source, num_labels=1, max_length=max_length, device=device, **NO_CODE, model_kwargs={**SAFETENSORS}
        )
        require_numbers(model)
        return model


def save_concat(scorer: TextScorer, folder: Path, **details: Any) -> None:
    """Save the cross-encoder, for `allpairs evaluate --model`, and the details to the folder."""
    scorer.model.save_pretrained(str(folder), create_model_card=False)
    forget_code(folder)
    (folder / FILE).write_text(json.dumps(details, indent=2), encoding="utf-8")


def _descend(
    model: CrossEncoder, texts: Sequence[str], labelled: Labelled, settings: ConcatSettings, progress: Progress
) -> None:
    tokens = read_pairs(model, texts, labelled.left, labelled.right)
    steps = settings.epochs * -(-len(labelled) // settings.batch_size)
    order = batches_by_length(tokens.lengths, settings.batch_size, np.random.default_rng(settings.seed))
    optimizer, schedule = adamw(model.parameters(), settings.learning_rate, steps)
    model.train(settings.dropout)

    def losses(batch: np.ndarray) -> Iterator[Tensor]:
        yield _loss(model, tokens, batch, labelled.label[batch])

    take_steps(order, steps, losses, optimizer, schedule, [model.parameters()], progress)


def _loss(model: CrossEncoder, tokens: PairTokens, batch: np.ndarray, label: np.ndarray) -> Tensor:
    device = torch.device(model.device)
    target = torch.from_numpy(label.astype(np.float32)).to(device)
    with fast_training(device):
        logits = pair_logits(model, tokens, batch).float()
    return nn.functional.binary_cross_entropy_with_logits(logits, target)
