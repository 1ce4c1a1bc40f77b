"""Does few-shot mining pay? 100 labels, the same with 500 mined pairs, and 200 labels by active learning.

    python -m benchmarks.quality.mining_pays [--data out/data] [--sets NAME …] [--seeds 0 1 2] [--out out/mining-pays]

Each set: half of the left texts (or of the groups of one list) to measure. `uncertainty` chooses the labels. Their
positives are the seed pairs of few-shot mining among the training texts, without labelled pairs. The mined pairs train
as positives, and with their measured precision in place of 1. Prints exact average precision over all evaluation pairs
under the default settings, one line a seed; finished lines are in --out and are not computed again.
"""

import argparse
import json
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from allpairs.db.corpus.corpus import load_corpus
from allpairs.db.corpus.split import split_corpus
from allpairs.db.domain import Settings
from allpairs.learner.data.dataset import Dataset
from allpairs.learner.loop.corpus_dataset import dataset_of
from allpairs.learner.loop.round import choose, evaluate_dataset, refit
from allpairs.learner.models.cosine_bert import Labelled, train
from allpairs.learner.models.encoder import Encoder, load_encoder
from allpairs.learner.models.output_layer import OutputLayer
from allpairs.learner.pipelines.pipeline import begin, run_pipeline
from allpairs.learner.pipelines.spec import make_spec
from allpairs.learner.scoring.lexical_weights import fit_lexical
from allpairs.learner.scoring.score import Blend, blended
from allpairs.learner.search.inner_product import BLENDED
from allpairs.learner.second_stage.make import make_staged
from allpairs.learner.strategies.pool import Background

SETS = {
    "Amazon–Google": ("amazon_google_left", "amazon_google_right", "amazon_google_gold"),
    "QQP, 5,000 questions": ("qqp_small_questions", None, "qqp_small_gold"),
    "MLQuestions, judged passages": ("mlquestions_test_queries", "mlquestions_passages", "mlquestions_test_gold"),
}
JUDGED = ("mlquestions_train_gold", "mlquestions_test_gold")  # whose passages are the list
LABELS = 100
MINED = 500
SHARE = 0.5
MINING = {"wanted": 700, "biencoder": {"steps": 60}, "crossencoder": {"steps": 60}}
NAME = "few-shot-mining"


class Trial:
    """The labels and models of one data set and seed."""

    def __init__(self, dataset: Dataset, encoded: np.ndarray, seed: int) -> None:
        self.dataset = dataset
        self.seed = seed
        self.settings = Settings(seed=seed)
        self.pretrained = blended(dataset, encoded, Blend(self.settings.hubness))
        self.rng = np.random.default_rng(seed)
        self.gold = dataset.keys(*dataset.positives.T)

    def figures(self) -> dict[str, float]:
        """Return every average precision, and what was mined."""
        few = self.label(None, self.pretrained, None)
        vectors, layer, first = self.learn(few)
        more = self.label(few, vectors, layer)
        mined = self.mine(few)
        precision = float(mined.label.mean())
        added = {share: replace(mined, label=np.full(len(mined), share)) for share in (1.0, precision)}
        ap = {share: self.learn(few.with_pairs(some))[2] for share, some in added.items()}
        return {
            "positives": few.positives,
            "labels": first,
            "mined": len(mined),
            "precision": precision,
            "labels and mined": ap[1.0],
            "weighted": ap[precision],
            "more labels": self.learn(more)[2],
        }

    def label(self, before: Labelled | None, vectors: np.ndarray, layer: OutputLayer | None) -> Labelled:
        """Return the labels so far, and as many more that `uncertainty` chooses."""
        known = np.empty(0, np.int64) if before is None else self.dataset.keys(before.left, before.right)
        seen = Background(pretrained=self.pretrained) if before is None else Background(before, self.pretrained)
        settings = self.settings
        pairs = choose(
            self.dataset, vectors, layer, known, LABELS, settings, self.rng, background=seen, space=BLENDED
        ).pairs
        label = np.isin(self.dataset.keys(pairs.left, pairs.right), self.gold).astype(np.int64)
        new = Labelled(pairs.left, pairs.right, label)
        return new if before is None else before.with_pairs(new)

    def learn(self, labelled: Labelled) -> tuple[np.ndarray, OutputLayer, float]:
        """Return vectors, output layer and average precision of a new model trained on the labels."""
        encoder: Encoder = load_encoder()
        train(encoder, self.dataset.texts, labelled, self.settings, offset=self.pretrained[:, -1])
        hard = replace(labelled, label=(labelled.label > 0).astype(np.int64))
        blend = Blend(self.settings.hubness, fit_lexical(self.dataset, hard, self.pretrained))
        vectors = blended(self.dataset, encoder.encode(self.dataset.texts), blend)
        layer = refit(vectors, labelled, BLENDED)
        staged = make_staged(self.dataset, vectors, hard, layer, "auto", np.random.default_rng(self.seed), BLENDED)
        found = evaluate_dataset(self.dataset, vectors, layer=staged.layer, space=BLENDED, rescored=staged.rescored)
        assert found is not None
        return vectors, layer, float(found.estimates["average_precision"].value or 0.0)

    def mine(self, few: Labelled) -> Labelled:
        """Return mined pairs of training texts that are not labelled, best first, with their gold labels."""
        dataset = self.dataset
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            right = few.take(few.label == 1)
            pairs = {"x": [dataset.texts[row] for row in right.left], "y": [dataset.texts[row] for row in right.right]}
            pd.DataFrame(pairs).to_csv(folder / "seeds.csv", index=False)
            inputs = {"seed_pairs": "seeds.csv", "corpus_x": "x.csv"}
            sides = {"x": dataset.train_left} | ({} if dataset.symmetric else {"y": dataset.train_right})
            for side, rows in sides.items():
                texts = {"id": rows, "text": [dataset.texts[row] for row in rows]}
                pd.DataFrame(texts).to_csv(folder / f"{side}.csv", index=False)
                inputs[f"corpus_{side}"] = f"{side}.csv"
            content = MINING | {"seed": self.seed, "inputs": inputs}
            run = begin(NAME, folder / "run", *make_spec(NAME, content, folder / "mining.toml"))
            run_pipeline(NAME, run)
            lines = (run.of("mined") / "mined.jsonl").read_text(encoding="utf-8").splitlines()
        left, right_ = np.array([[int(json.loads(line)[f"{side}_id"]) for side in "xy"] for line in lines]).T
        keys = dataset.keys(left, right_)
        new = np.flatnonzero(~np.isin(keys, dataset.keys(few.left, few.right)))[:MINED]
        return Labelled(left[new], right_[new], np.isin(keys[new], self.gold).astype(np.float64))


def _judged(texts: Path, gold: Sequence[Path], folder: Path) -> Path:
    """Return a file with the texts that known pairs name; the others would only cost time to encode."""
    named = pd.concat([pd.read_csv(file, dtype=str) for file in gold])["id2"]
    table = pd.read_csv(texts, dtype=str)
    path = folder / "judged.csv"
    table[table["id"].isin(named)].to_csv(path, index=False)
    return path


def main() -> None:
    """Print a table in Markdown, one line for each set and seed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("out/data"))
    parser.add_argument("--sets", nargs="+", choices=list(SETS), default=list(SETS))
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--out", type=Path, default=Path("out/mining-pays"))
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    header: list[str] = []
    for name in arguments.sets:
        left, right, gold = (arguments.data / f"{file}.csv" if file else None for file in SETS[name])
        assert left is not None
        if name.endswith("judged passages"):
            assert right is not None
            right = _judged(right, [arguments.data / f"{file}.csv" for file in JUDGED], arguments.out)
        dataset = dataset_of(split_corpus(load_corpus(left, right, gold), SHARE, np.random.default_rng(0)))
        encoded = load_encoder().encode(dataset.texts)
        for seed in arguments.seeds:
            path = arguments.out / f"{name}-{seed}.json"
            if not path.exists():
                path.write_text(json.dumps(Trial(dataset, encoded, seed).figures()), encoding="utf-8")
            row = json.loads(path.read_text(encoding="utf-8"))
            if not header:
                header = list(row)
                print(f"| set | seed | {' | '.join(header)} |\n| --- | ---: |{' ---: |' * len(header)}")
            print(f"| {name} | {seed} | {' | '.join(f'{row[key]:.4g}' for key in header)} |", flush=True)


if __name__ == "__main__":
    main()
