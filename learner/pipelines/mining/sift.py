"""The stages that filter proposed pairs and re-rank them with a cross-encoder that reads both texts."""

import json
from collections import Counter
from pathlib import Path

import numpy as np
from sentence_transformers import CrossEncoder

from allpairs.db.progress import Progress, part_of
from allpairs.learner.light.catalog.mining import Crossencoder
from allpairs.learner.models.best_weights import BestWeights
from allpairs.learner.pipelines.mining.answers.reading import ANSWER, PASSAGE
from allpairs.learner.pipelines.mining.contrasts import contrasts, with_first_scores
from allpairs.learner.pipelines.mining.crossencoder import train_crossencoder
from allpairs.learner.pipelines.mining.development import best_model, write_looks
from allpairs.learner.pipelines.mining.filters import drop_reasons, reasons_of_answers
from allpairs.learner.pipelines.mining.inputs import MiningTexts, mining_texts
from allpairs.learner.pipelines.mining.margin import Candidates
from allpairs.learner.pipelines.mining.propose import PAIRS
from allpairs.learner.pipelines.mining.texts import ID
from allpairs.learner.pipelines.pipeline import Run
from allpairs.learner.scorers.scorer import TextScorer

CROSSENCODER = "model"
MINED = "mined.jsonl"
DROPPED = "dropped.jsonl"
COUNTS = "counts.json"
TRAIN = 0.4  # share of the stage's work


def sift_pairs(run: Run, folder: Path, progress: Progress) -> None:
    """Write the pairs that pass all filters, and the reason for each dropped pair, to the folder."""
    texts = mining_texts(run)
    proposed = Candidates.load(run.of("candidates") / PAIRS)
    pairs = list(zip(texts.x.take(proposed.x), texts.y.take(proposed.y), strict=True))
    verdicts = drop_reasons(pairs, run.config.filters, texts.seeds)
    if texts.asked:
        answers = zip((x for x, _ in pairs), texts.y.take(proposed.y, ANSWER), strict=True)
        verdicts = [first or second for first, second in zip(verdicts, reasons_of_answers(answers), strict=True)]
    passed = proposed.take(np.flatnonzero([reason is None for reason in verdicts]))
    passed.save(folder / PAIRS)
    ids = zip(texts.x.take(proposed.x, ID), texts.y.take(proposed.y, ID), strict=True)
    with (folder / DROPPED).open("w", encoding="utf-8") as file:
        for (x, y), reason in zip(ids, verdicts, strict=True):
            if reason is not None:
                file.write(json.dumps({"x_id": x, "y_id": y, "reason": reason}) + "\n")
    counted = Counter(reason for reason in verdicts if reason is not None)
    (folder / COUNTS).write_text(
        json.dumps({"proposed": len(verdicts), "kept": len(passed), "dropped": counted}), encoding="utf-8"
    )


def rank_again(run: Run, folder: Path, progress: Progress) -> None:
    """Write the mined pairs in their final order, and the cross-encoder if one is used, to the folder."""
    texts = mining_texts(run)
    filtered = Candidates.load(run.of("kept") / PAIRS)
    score = None
    if run.config.crossencoder.use and len(filtered):
        score = _cross_scores(run, folder, filtered, progress)
    order = np.arange(len(filtered)) if score is None else np.argsort(-score, kind="stable")
    np.savez(folder / "order.npz", order=order, score=score if score is not None else np.empty(0, np.float32))
    write_pairs(folder / MINED, texts, filtered, order[: run.config.wanted], score)


def _cross_scores(run: Run, folder: Path, filtered: Candidates, progress: Progress) -> np.ndarray:
    """Return the cross-encoder's score of each kept pair, (n,) float32, and save the model."""
    texts = mining_texts(run)
    config = run.config
    seeds = contrasts(run, texts, texts.seeds.pairs, texts.asked, 4)
    development = contrasts(run, texts, texts.dev, texts.dev_asked, 6) if texts.dev else None
    first = np.zeros(len(filtered), dtype=np.float32)
    if config.crossencoder.keep_score:
        seeds, development, first = with_first_scores(run, texts, seeds, development, filtered)

    def train(settings: Crossencoder, part: Progress) -> tuple[CrossEncoder, BestWeights | None]:
        return train_crossencoder(seeds, settings, config.seed, part, development, config.development)

    model, looks = best_model(config.crossencoder, config.development, train, part_of(progress, 0.0, TRAIN))
    write_looks(folder, looks)
    model.save_pretrained(str(folder / CROSSENCODER), create_model_card=False)
    sides = [*texts.x.take(filtered.x), *texts.y.take(filtered.y)]
    left = np.arange(len(filtered))
    read = TextScorer(model, sides).score(left, left + len(filtered), part_of(progress, TRAIN, 1.0))
    return read + first


def write_pairs(path: Path, texts: MiningTexts, pairs: Candidates, order: np.ndarray, score: np.ndarray | None) -> None:
    """Write the pairs at these positions as JSON Lines, ranked."""
    chosen = pairs.take(order)
    columns = {
        "x_id": texts.x.take(chosen.x, ID),
        "y_id": texts.y.take(chosen.y, ID),
        "x": texts.x.take(chosen.x),
        "y": texts.y.take(chosen.y),
        "cos": chosen.cos.tolist(),
        "margin": chosen.margin.tolist(),
        "rank_forward": chosen.rank_forward.tolist(),
        "rank_backward": chosen.rank_backward.tolist(),
        "cross_score": [None] * len(chosen) if score is None else score[order].tolist(),
        "rank": range(1, len(chosen) + 1),
    }
    if texts.asked:
        columns |= {"answer": texts.y.take(chosen.y, ANSWER), "passage": texts.y.take(chosen.y, PASSAGE)}
    with path.open("w", encoding="utf-8") as file:
        for values in zip(*columns.values(), strict=True):
            row = {**dict(zip(columns, values, strict=True)), "source": "mined"}
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
