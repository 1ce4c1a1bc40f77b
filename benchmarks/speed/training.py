"""Compare one training round on actively collected pairs with the plain loop.

    python -m benchmarks.speed.training [--pairs 512] [--batch-size 16] [--group-pairs] [--plain-batch-size 16]

The pairs are the most similar ones of a corpus, so texts repeat as they do in real batches.
"""

import argparse

import numpy as np
import torch

from allpairs.db.domain import Settings
from allpairs.learner.models.cosine_bert import Head, Labelled, train
from allpairs.learner.models.encoder import Encoder, load_encoder
from allpairs.learner.search.top_pairs import best_pairs
from benchmarks.common import amount, compare, questions
from benchmarks.table import Row

TIMES = 5.0  # minimum multiple of the plain loop's rate


def plain_loop(encoder: Encoder, texts: list[str], labelled: Labelled, settings: Settings) -> None:
    """Train as most scripts do: both texts of every pair embedded again, one default AdamW."""
    head = Head(settings.initialization).to(encoder.model.device)
    groups = [
        {"params": encoder.model.parameters(), "lr": settings.learning_rate},
        {"params": head.parameters(), "lr": 1e4 * settings.learning_rate},
    ]
    optimizer = torch.optim.AdamW(groups, eps=1e-6, weight_decay=0.0)
    rng = np.random.default_rng(settings.seed)
    for _ in range(settings.epochs):
        order = rng.permutation(len(labelled))
        for start in range(0, len(order) - settings.batch_size + 1, settings.batch_size):
            batch = order[start : start + settings.batch_size]
            left = _embed(encoder, [texts[i] for i in labelled.left[batch]])
            right = _embed(encoder, [texts[i] for i in labelled.right[batch]])
            labels = torch.from_numpy(labelled.label[batch].astype(np.float32)).to(left.device)
            logits = head(torch.nn.functional.cosine_similarity(left, right))
            optimizer.zero_grad()
            torch.nn.functional.binary_cross_entropy_with_logits(logits, labels).backward()
            torch.nn.utils.clip_grad_norm_(encoder.model.parameters(), 1.0)
            optimizer.step()


def _embed(encoder: Encoder, texts: list[str]) -> torch.Tensor:
    features = encoder.model.tokenizer(
        texts, padding=True, truncation=True, max_length=Settings().max_length, return_tensors="pt"
    )
    vectors: torch.Tensor = encoder.model(dict(features.to(encoder.model.device)))["sentence_embedding"]
    return vectors


def compared(n: int, batch_size: int, group_pairs: bool, plain_batch_size: int = 16) -> tuple[float, float, float]:
    """Return and print pairs a second of the plain loop and of ours, and the share of distinct texts in a batch."""
    texts = questions(4000)
    encoder = load_encoder()
    vectors = encoder.encode(texts)
    pairs = best_pairs(vectors, vectors, True, top=n)
    labels = (pairs.score > np.median(pairs.score)).astype(np.int64)
    labelled = Labelled(pairs.left, pairs.right, labels)
    settings = Settings(epochs=1, batch_size=batch_size, group_pairs=group_pairs)
    plain = Settings(epochs=1, batch_size=plain_batch_size)
    distinct = len(np.unique(np.r_[pairs.left, pairs.right])) / (2 * len(pairs))
    calls = {
        f"plain loop, batch {plain.batch_size}": lambda: plain_loop(encoder, texts, labelled, plain),
        f"allpairs train, batch {settings.batch_size}": lambda: train(encoder, texts, labelled, settings),
    }
    title = f"train one epoch, {len(pairs)} pairs, {distinct:.0%} of the slots distinct"
    theirs, ours = (len(pairs) / median for median in compare(title, calls, len(pairs), "pairs").values())
    return theirs, ours, distinct


def measure(quick: bool) -> list[Row]:
    """Return our rate of training beside the plain loop's: with the default settings, and as fast as possible."""
    n = amount(quick, 64, 512, 4_096)
    rows = []
    for batch_size, grouped in ((16, False), (64, True)):
        plain, ours, distinct = compared(n, batch_size, grouped)
        rows.append(
            Row(
                what=f"train {n} pairs, batch {batch_size}{', pairs of one text in one step' if grouped else ''} "
                f"({distinct:.0%} of the texts distinct)",
                peer=f"plain loop, batch 16: {plain:.0f} pairs/s",
                ours=f"{ours:.0f} pairs/s",
                ratio=ours / plain,
                target=f"≥ {TIMES:g} × the plain loop's rate",
                met=ours >= TIMES * plain,
            )
        )
    return rows


def main() -> None:
    """Print pairs a second."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=512)
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--group-pairs", action="store_true", help="put pairs that share a text into one step")
    parser.add_argument("--plain-batch-size", type=int, default=16, help="batch size of the plain loop")
    options = parser.parse_args()
    compared(options.pairs, options.batch_size, options.group_pairs, options.plain_batch_size)


if __name__ == "__main__":
    main()
