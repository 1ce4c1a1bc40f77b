"""What a machine rater of known quality is worth at equal numbers of people's labels.

    python -m benchmarks.quality.raters [--data out/data] [--sets NAME …] [--seeds 0 1 2] [--out out/raters]

Each set: half of the left texts (or of the groups of one list) to measure. `uncertainty` chooses 64, 96 and 144
pairs, which gold labels in people's place. The rater reads these and four times as many next ones, and is right as
often as its sensitivity and specificity say. Its verdicts train with the product's weight, and, where it routes, the
product's order says which pairs people are asked about. Prints exact average precision over all evaluation pairs after
each round, with the weight of a verdict, one line for each arm and seed; finished arms are in --out and are not
computed again.
"""

import argparse
import json
import random
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from allpairs.db.corpus.corpus import load_corpus
from allpairs.db.corpus.split import split_corpus
from allpairs.db.domain import Settings, Verdict
from allpairs.db.rating import Judged
from allpairs.learner.data.dataset import Dataset
from allpairs.learner.light.rating.agreement import verdict_weight
from allpairs.learner.light.rating.routing import route_pairs
from allpairs.learner.loop.corpus_dataset import dataset_of
from allpairs.learner.loop.round import choose, evaluate_dataset, refit
from allpairs.learner.models.cosine_bert import Labelled, Weighted, train
from allpairs.learner.models.encoder import load_encoder
from allpairs.learner.models.output_layer import OutputLayer
from allpairs.learner.scoring.lexical_weights import fit_lexical
from allpairs.learner.scoring.score import Blend, blended
from allpairs.learner.search.exact import Pairs
from allpairs.learner.search.inner_product import BLENDED
from allpairs.learner.second_stage.make import make_staged
from allpairs.learner.strategies.pool import Background, no_labels

SETS = {
    "Amazon–Google": ("amazon_google_left", "amazon_google_right", "amazon_google_gold"),
    "WikiQA": ("wikiqa_small_questions", "wikiqa_small_sentences", "wikiqa_small_gold"),
}
SIZES = (64, 96, 144)
SHARE = 0.5
READ = 4
EVEN = 0.5


@dataclass(frozen=True)
class Arm:
    """A rater's sensitivity and specificity, None without one; routes: whether it also says whom to ask."""

    sensitivity: float | None = None
    specificity: float = 0.0
    routes: bool = False

    def __str__(self) -> str:
        if self.sensitivity is None:
            return "people alone"
        return f"({self.sensitivity}, {self.specificity}) {'trains and routes' if self.routes else 'trains'}"


QUALITIES = ((0.95, 0.99), (0.9, 0.9), (0.5, 0.5))
ARMS = [Arm(), *(Arm(*quality, routes) for quality in QUALITIES for routes in (False, True))]
Learned = tuple[np.ndarray, OutputLayer, float]


class Trial:
    """The rounds of one data set and seed; what two arms have in common is learned once."""

    def __init__(self, dataset: Dataset, encoded: np.ndarray, seed: int) -> None:
        self.dataset = dataset
        self.settings = Settings(seed=seed, first=SIZES[0])
        self.pretrained = blended(dataset, encoded, Blend(self.settings.hubness))
        self.gold = dataset.keys(*dataset.positives.T)
        self.known: dict[bytes, Learned] = {}

    def run(self, arm: Arm) -> list[dict[str, Any]]:
        """Return what each round had: labels, verdicts, their weight, and average precision."""
        people = no_labels()
        said = dict[int, Verdict]()
        rows = list[dict[str, Any]]()
        checked = list[Judged]()
        read = no_labels()
        learned: Learned = (self.pretrained, None, 0.0)  # type: ignore[assignment]
        for number, size in enumerate(SIZES):
            rng = np.random.default_rng([self.settings.seed, number])
            batch = self.choose(people, size * (1 + READ), learned, rng)
            weight = verdict_weight(checked)
            asked = np.arange(size)
            checks = np.arange(size)
            if arm.sensitivity is not None:
                said = self.ask(arm, batch, rng) | said  # it is asked about a pair once
                keys = self.dataset.keys(batch.left, batch.right).tolist()
                if arm.routes and weight > 0:
                    likely = learned[1].probability(batch.score) > EVEN
                    verdicts = [said[key] for key in keys]
                    routes = route_pairs(likely.tolist(), verdicts, size, random.Random(number))
                    asked = np.array(routes.order[:size])
                    checks = np.array(sorted(routes.checks))
                read = read.with_pairs(self.labelled(batch))
                checked += [
                    Judged((keys[at], 0), said[keys[at]], None, keys[at] in self.gold, None) for at in checks.tolist()
                ]
                weight = verdict_weight(checked)
            people = people.with_pairs(self.labelled(batch.take(asked)))
            learned = self.learn(people, self.verdicts(read, people, said), weight)
            counts = {"labels": len(people), "positives": people.positives, "verdicts": len(said)}
            rows.append(counts | {"weight": weight, "ap": learned[2]})
        return rows

    def choose(self, people: Labelled, n: int, learned: Learned, rng: np.random.Generator) -> Pairs:
        known = self.dataset.keys(people.left, people.right)
        seen = Background(people, self.pretrained)
        vectors, layer, _ = learned
        return choose(self.dataset, vectors, layer, known, n, self.settings, rng, background=seen, space=BLENDED).pairs

    def labelled(self, pairs: Pairs) -> Labelled:
        """Return the pairs with what people say."""
        keys = self.dataset.keys(pairs.left, pairs.right)
        return Labelled(pairs.left, pairs.right, np.isin(keys, self.gold).astype(np.int64))

    def ask(self, arm: Arm, pairs: Pairs, rng: np.random.Generator) -> dict[int, Verdict]:
        """Return the rater's verdict by the key of each pair."""
        assert arm.sensitivity is not None
        label = self.labelled(pairs).label == 1
        yes = rng.random(len(label)) < np.where(label, arm.sensitivity, 1 - arm.specificity)
        keys = self.dataset.keys(pairs.left, pairs.right).tolist()
        return {key: Verdict.YES if one else Verdict.NO for key, one in zip(keys, yes.tolist(), strict=True)}

    def verdicts(self, read: Labelled, people: Labelled, said: dict[int, Verdict]) -> Labelled:
        """Return the pairs that the rater has read and nobody labelled, with its verdicts."""
        keys, known = (self.dataset.keys(each.left, each.right) for each in (read, people))
        first = np.unique(keys, return_index=True)[1]
        own = read.take(first[~np.isin(keys[first], known)])
        labels = [said[key] == Verdict.YES for key in self.dataset.keys(own.left, own.right).tolist()]
        return replace(own, label=np.array(labels, dtype=np.int64))

    def learn(self, people: Labelled, verdicts: Labelled, weight: float) -> Learned:
        """Return vectors, first output layer and average precision of a new model."""
        also = Weighted(verdicts, weight) if weight else Weighted(no_labels(), 0.0)
        own = also.pairs
        columns = (people.left, people.right, own.left, own.right, own.label, np.array([also.weight]))
        name = b"".join(column.tobytes() for column in columns)
        if name not in self.known:
            self.known[name] = self._learn(people, also)
        return self.known[name]

    def _learn(self, people: Labelled, also: Weighted) -> Learned:
        encoder = load_encoder()
        train(encoder, self.dataset.texts, people, self.settings, also=also, offset=self.pretrained[:, -1])
        blend = Blend(self.settings.hubness, fit_lexical(self.dataset, people, self.pretrained))
        vectors = blended(self.dataset, encoder.encode(self.dataset.texts), blend)
        layer = refit(vectors, people, BLENDED)
        rng = np.random.default_rng(self.settings.seed)
        staged = make_staged(self.dataset, vectors, people, layer, "auto", rng, BLENDED)
        found = evaluate_dataset(self.dataset, vectors, layer=staged.layer, space=BLENDED, rescored=staged.rescored)
        assert found is not None
        return vectors, layer, float(found.estimates["average_precision"].value or 0.0)


def main() -> None:
    """Print a table in Markdown, one line for each set, arm and seed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("out/data"))
    parser.add_argument("--sets", nargs="+", choices=list(SETS), default=list(SETS))
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--arms", type=int, nargs="+", default=list(range(len(ARMS))))
    parser.add_argument("--out", type=Path, default=Path("out/raters"))
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    print("| set | seed | rater | " + " | ".join(f"{sum(SIZES[: n + 1])} labels" for n in range(len(SIZES))) + " |")
    print("| --- | ---: | --- |" + " ---: |" * len(SIZES))
    for name in arguments.sets:
        left, right, gold = (arguments.data / f"{file}.csv" if file else None for file in SETS[name])
        assert left is not None
        dataset = dataset_of(split_corpus(load_corpus(left, right, gold), SHARE, np.random.default_rng(0)))
        encoded = load_encoder().encode(dataset.texts)
        for seed in arguments.seeds:
            trial = Trial(dataset, encoded, seed)
            for arm in (ARMS[at] for at in arguments.arms):
                path = arguments.out / f"{name}-{seed}-{arm}.json"
                if not path.exists():
                    path.write_text(json.dumps(trial.run(arm)), encoding="utf-8")
                rows = json.loads(path.read_text(encoding="utf-8"))
                figures = " | ".join(f"{row['ap']:.3f} ({row['weight']:.2f})" for row in rows)
                print(f"| {name} | {seed} | {arm} | {figures} |", flush=True)


if __name__ == "__main__":
    main()
