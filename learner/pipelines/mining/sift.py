"""The stages that filter proposed pairs and re-rank them with a cross-encoder that reads both texts."""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from allpairs.db.errors import InputError
from allpairs.db.identity import identity
from allpairs.db.progress import Progress
from allpairs.learner.models.bi_encoder_training import load_retriever
from allpairs.learner.pipelines.mining.crossencoder import train_crossencoder
from allpairs.learner.pipelines.mining.filters import reasons, reasons_of_answers
from allpairs.learner.pipelines.mining.inputs import Texts, texts_of
from allpairs.learner.pipelines.mining.margin import Candidates
from allpairs.learner.pipelines.mining.propose import PAIRS, RETRIEVER, Vectors, wrong_of
from allpairs.learner.pipelines.mining.reading import ANSWER, PASSAGE
from allpairs.learner.pipelines.mining.shards import neighbours
from allpairs.learner.pipelines.mining.texts import ID
from allpairs.learner.pipelines.pipeline import Run
from allpairs.learner.scorers.scorer import TextScorer

CROSSENCODER, MINED, DROPPED, COUNTS = "model", "mined.jsonl", "dropped.jsonl", "counts.json"
TRAIN = 0.4  # share of the stage's work


def sift_pairs(run: Run, folder: Path, progress: Progress) -> None:
    """Write the pairs that pass all filters, and the reason for each dropped pair, to the folder."""
    texts, proposed = texts_of(run), Candidates.load(run.of("candidates") / PAIRS)
    pairs = list(zip(texts.x.take(proposed.x), texts.y.take(proposed.y), strict=True))
    why = reasons(pairs, run.config.filters, texts.seeds)
    if texts.asked:
        answers = zip((x for x, _ in pairs), texts.y.take(proposed.y, ANSWER), strict=True)
        why = [one or other for one, other in zip(why, reasons_of_answers(answers), strict=True)]
    kept = proposed.take(np.flatnonzero([reason is None for reason in why]))
    kept.save(folder / PAIRS)
    ids = zip(texts.x.take(proposed.x, ID), texts.y.take(proposed.y, ID), strict=True)
    with (folder / DROPPED).open("w", encoding="utf-8") as file:
        for (x, y), reason in zip(ids, why, strict=True):
            if reason is not None:
                file.write(json.dumps({"x_id": x, "y_id": y, "reason": reason}) + "\n")
    counted = Counter(reason for reason in why if reason is not None)
    (folder / COUNTS).write_text(
        json.dumps({"proposed": len(why), "kept": len(kept), "dropped": counted}), encoding="utf-8"
    )


def rank_again(run: Run, folder: Path, progress: Progress) -> None:
    """Write the mined pairs in their final order, and the cross-encoder if one is used, to the folder."""
    texts, kept = texts_of(run), Candidates.load(run.of("kept") / PAIRS)
    score = None
    if run.config.crossencoder.use and len(kept):
        score = _cross_scores(run, folder, kept, progress)
    order = np.arange(len(kept)) if score is None else np.argsort(-score, kind="stable")
    np.savez(folder / "order.npz", order=order, score=score if score is not None else np.empty(0, np.float32))
    write_pairs(folder / MINED, texts, kept, order[: run.config.wanted], score)


def _cross_scores(run: Run, folder: Path, kept: Candidates, progress: Progress) -> np.ndarray:
    """Return the cross-encoder's score of each kept pair, (n,) float32, and save the model."""
    texts, settings = texts_of(run), run.config.crossencoder
    rows, right, wrong = _contrasts(run, texts, settings.negatives)
    model = train_crossencoder(
        rows, right, wrong, settings, run.config.seed, lambda stage, done: progress(stage, TRAIN * done)
    )
    model.save_pretrained(str(folder / CROSSENCODER), create_model_card=False)
    both = [*texts.x.take(kept.x), *texts.y.take(kept.y)]
    left = np.arange(len(kept))
    scorer = TextScorer(model, both)
    return scorer.score(left, left + len(kept), lambda stage, done: progress(stage, TRAIN + (1 - TRAIN) * done))


def _contrasts(run: Run, texts: Texts, k: int) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Return texts, and right pairs (n, 2) and wrong second texts (n, k) as rows of them.

    Wrong texts are constructed if the task can, else they are the bi-encoder's finds for each seed pair's first text
    (Joshi et al. 2022, section 3.2).
    """
    wrong = wrong_of(run, texts, k, np.random.default_rng([run.config.seed, 4])) or _found(run, texts, k)
    rows: dict[str, int] = {}

    def numbered(lists: Iterable[Sequence[str]]) -> np.ndarray:
        return np.array([[rows.setdefault(text, len(rows)) for text in some] for some in lists], dtype=np.int64)

    right, others = numbered(texts.seeds.pairs), numbered(wrong)
    return list(rows), right, others


def _found(run: Run, texts: Texts, k: int) -> list[list[str]]:
    """Return, for each seed pair, k texts that the bi-encoder finds for its first text, without right ones."""
    right: dict[str, set[str]] = {}  # by first text, which counts as right for itself
    for x, y in texts.directed(texts.seeds.pairs):
        right.setdefault(identity(x), {identity(x)}).add(identity(y))
    queries = load_retriever(run.of("biencoder") / RETRIEVER).query.encode([x for x, _ in texts.seeds.pairs])
    found, _ = neighbours(queries, Vectors(run.of("vectors")).y, k + max(map(len, right.values())))
    near = np.array(texts.y.take(found.ravel()), dtype=object).reshape(found.shape).tolist()
    wrong = []
    for (x, _), texts_near in zip(texts.seeds.pairs, near, strict=True):
        others = [text for text in texts_near if identity(text) not in right[identity(x)]]
        if not others:
            raise InputError("the second list has no wrong text for a seed pair: add more texts")
        wrong.append([others[place % len(others)] for place in range(k)])
    return wrong


def write_pairs(path: Path, texts: Texts, pairs: Candidates, order: np.ndarray, score: np.ndarray | None) -> None:
    """Write the pairs at these positions as JSON Lines, ranked."""
    chosen = pairs.take(order)
    columns = {
        "x_id": texts.x.take(chosen.x, ID), "y_id": texts.y.take(chosen.y, ID), "x": texts.x.take(chosen.x),
        "y": texts.y.take(chosen.y), "cos": chosen.cos.tolist(), "margin": chosen.margin.tolist(),
        "rank_forward": chosen.rank_forward.tolist(), "rank_backward": chosen.rank_backward.tolist(),
        "cross_score": [None] * len(chosen) if score is None else score[order].tolist(),
        "rank": range(1, len(chosen) + 1),
    }  # fmt: skip
    if texts.asked:
        columns |= {"answer": texts.y.take(chosen.y, ANSWER), "passage": texts.y.take(chosen.y, PASSAGE)}
    with path.open("w", encoding="utf-8") as file:
        for values in zip(*columns.values(), strict=True):
            row = {**dict(zip(columns, values, strict=True)), "source": "mined"}
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
