"""Training of a re-ranker: rows of several views, with one mean over the rows or the target tokens of a step.

Source: Ju, Yang and Wang (2021), section 2: −log P(true | q, p⁺) − log P(false | q, p⁻) of the first token, and the sum
over a query's tokens; each row is of one view. Rows are an endless stream and read as they come, so memory does
not depend on their number.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from allpairs.db.progress import Progress, no_progress
from allpairs.learner.backbones.generator import TextGenerator, TokenPairs, losses_of
from allpairs.learner.backbones.length_batches import BUDGETS, POOL, SMALL_BUDGET, batches_by_length
from allpairs.learner.backbones.recomputation import recomputing
from allpairs.learner.backbones.reranking.reading import Reading
from allpairs.learner.backbones.reranking.reranker import Reranker, prefix_of, truth_tokens
from allpairs.learner.backbones.reranking.templates import QUERY, VIEWS, Template, Tokens, around, distinct_pieces
from allpairs.learner.light.catalog.multiview import RerankerSettings
from allpairs.learner.models.cross_encoder_input import length_blocks
from allpairs.learner.models.training_loop import adamw, take_steps
from allpairs.learner.runtime.device import fast_training, seeded
from allpairs.learner.runtime.training_group import Group, seed_of
from allpairs.learner.runtime.training_launcher import train_together


class Row(NamedTuple):
    """One example: a view of a query and a passage; right: whether the passage answers the query."""

    view: str
    query: str
    passage: str
    right: bool = True


def train_reranker(
    generator: TextGenerator,
    reading: Reading,
    streams: Sequence[tuple[Iterable[Row], int]],
    settings: RerankerSettings,
    seed: int,
    progress: Progress = no_progress,
) -> Reranker:
    """Train the generator in place; return the re-ranker. streams: endless rows in random order, each with its steps.

    A step's loss is the mean that `settings.loss` names (`token_weights`). A step combines rows of similar length, as
    far as the rows of the next 32 steps allow. As many processes train as the environment says: each gets the streams
    as a pickle, reads all of them, and computes the losses of its share.
    """
    train_together(_descend, (generator, streams, settings, seed), [generator.model], progress)
    return Reranker(generator, reading)


def _descend(
    generator: TextGenerator,
    streams: Sequence[tuple[Iterable[Row], int]],
    settings: RerankerSettings,
    seed: int,
    progress: Progress,
    group: Group,
) -> list[nn.Module]:
    """Train the network in place, and return it."""
    model = generator.model
    device = generator.device
    steps = sum(count for _, count in streams)
    optimizer, schedule = _optimizer(model, steps, settings)
    rng = np.random.default_rng([seed, 7])

    def losses(texts: TokenPairs) -> Iterator[Tensor]:
        weights = torch.tensor(token_weights(texts, settings.loss), dtype=torch.float32, device=device)
        share = group.share(np.arange(len(weights)))
        for part in length_blocks(texts.lengths[share], BUDGETS.get(device.type, SMALL_BUDGET)):
            with fast_training(device):
                loss = losses_of(generator, texts, share[part]).sum(1) @ weights[share[part]]
            yield loss * group.size

    with seeded(seed_of(seed, group), device), recomputing(model, settings.recompute):
        model.train()
        order = chain.from_iterable(islice(_batches(generator, rows, settings, rng), count) for rows, count in streams)
        take_steps(order, steps, losses, optimizer, schedule, [model.parameters()], progress, group)
    model.eval()
    return [model]


def token_weights(texts: TokenPairs, loss: str) -> np.ndarray:
    """Return the weight of each target token of each row in a step's loss, (n,) float64.

    `row`: the mean over rows of each row's mean, so that a view has the share of a step that it has of the rows.
    `token`: the mean over all tokens, as in the paper, so that a written query counts as often as it has tokens.
    """
    written = np.array([len(target) for target in texts.targets], dtype=np.int64)
    return 1 / (written * len(written)) if loss == "row" else np.full(len(written), 1 / written.sum())


def as_texts(generator: TextGenerator, rows: list[Row], settings: RerankerSettings) -> TokenPairs:
    """Tokenize the rows; the target of a ranking row is only the first token of `true` or `false`."""
    tokenizer = generator.tokenizer
    truth = dict(zip((True, False), truth_tokens(tokenizer), strict=True))
    begin = prefix_of(generator)[1:]
    _, end = around(tokenizer)
    templates = {view: Template(view, tokenizer, settings.source_length) for view in {row.view for row in rows}}
    read = distinct_pieces(tokenizer, (text for row in rows for text in (row.query, row.passage)))
    written = _written(tokenizer, rows, settings.target_length - len(end))
    sources = []
    targets = []
    for row in rows:
        sources.append(templates[row.view].tokens(read[row.query], read[row.passage]))
        text = written.get((row.view, row.query, row.passage))
        targets.append([*begin, truth[row.right]] if text is None else [*begin, *text, *end])
    return TokenPairs(sources, targets)


def _written(tokenizer: Any, rows: list[Row], limit: int) -> dict[tuple[str, str, str], Tokens]:
    """Return the tokens of the targets that are texts, each as the beginning of a text."""
    target_texts = {}
    for row in rows:
        target = VIEWS[row.view].target
        if target is not None and "{" in target:
            text = row.query if target == QUERY else row.passage
            target_texts[row.view, row.query, row.passage] = text.strip()
    if not target_texts:
        return {}
    tokens = tokenizer(list(target_texts.values()), add_special_tokens=False, verbose=False)["input_ids"]
    return {key: list(ids[:limit]) for key, ids in zip(target_texts, tokens, strict=True)}


def _batches(
    generator: TextGenerator, rows: Iterable[Row], settings: RerankerSettings, rng: np.random.Generator
) -> Iterator[TokenPairs]:
    """Yield the rows of each step, as tokens, in order of length."""
    size = settings.batch_size
    left = iter(rows)
    while pool := list(islice(left, POOL * size)):
        texts = as_texts(generator, pool, settings)
        order = batches_by_length(texts.lengths, size, rng)
        for batch in islice(order, -(-len(pool) // size)):
            yield TokenPairs([texts.sources[i] for i in batch], [texts.targets[i] for i in batch])


def _optimizer(
    model: Any, steps: int, settings: RerankerSettings
) -> tuple[torch.optim.Optimizer, torch.optim.lr_scheduler.LRScheduler]:
    """Return AdamW with a learning rate that rises and falls, or Adafactor (Shazeer and Stern 2018) with a fixed one.

    As in T5's training, Adafactor's step is relative to the size of each parameter.
    """
    factor = settings.decoder_rate if model.config.model_type == "encoder-decoder" else 1.0
    groups = [
        {"params": [p for name, p in model.named_parameters() if name.startswith("decoder.") is new], "lr": rate}
        for new, rate in ((False, settings.learning_rate), (True, settings.learning_rate * factor))
    ]
    groups = [group for group in groups if group["params"]]
    if settings.recipe == "adamw":
        return adamw(groups, settings.learning_rate, steps, settings.warm_up, settings.weight_decay)
    optimizer = torch.optim.Adafactor(groups, lr=settings.learning_rate, weight_decay=0.0)
    return optimizer, torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1.0)
