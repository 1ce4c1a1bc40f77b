"""A model's most confident mistakes, and its precision corrected by people who checked a sample of them.

Source: Mussmann, Jia and Liang (2020), Figure 2, section 3.3 and appendix A.3.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from allpairs.db.corpus.cells import bad, label_of, shown
from allpairs.db.corpus.corpus import Corpus
from allpairs.db.corpus.csv_writer import csv_text
from allpairs.db.corpus.equal_texts import further_ids
from allpairs.db.corpus.files import read_rows
from allpairs.db.errors import InputError
from allpairs.db.estimate import Estimate
from allpairs.db.progress import Progress, no_progress
from allpairs.learner.data.dataset import Dataset
from allpairs.learner.evaluation.false_negatives import Checked, corrected_precision, threshold_at
from allpairs.learner.evaluation.importance_sampling import Stratum
from allpairs.learner.evaluation.sampling_designs import near_random
from allpairs.learner.files.evaluate import dataset_for, load_scorer, population_of, why_unmeasurable
from allpairs.learner.runtime.progress_output import write_text
from allpairs.learner.search.exact import Pairs

COLUMNS = ("id1", "id2", "text1", "text2", "score", "kind", "stratum", "size", "true", "label", "also1", "also2")
CONFIDENT = "confident"
SAMPLE = "sample"


@dataclass(frozen=True)
class Mistakes:
    """The pairs that a model calls positive at a threshold, and gold does not list, in one stratum.

    size: how many there are, estimated where only some pairs were scored; pairs: those that were scored, by row.
    """

    name: str
    size: int
    pairs: Pairs


def find_mistakes(
    model: str, corpus: Corpus, recall: float, sample: int, base: str, seed: int, progress: Progress = no_progress
) -> tuple[Dataset, int, list[Mistakes]]:
    """Return the dataset, the true positives at the highest threshold with that recall, and the mistakes there.

    Any model will do: near pairs are all scored, of the others a sample (A.2). Raises InputError without a positive.
    """
    dataset = dataset_for(model, corpus)
    if reason := why_unmeasurable(dataset):
        raise InputError(reason)
    scorer = load_scorer(model, dataset, progress)
    left = dataset.evaluation_left
    right = dataset.evaluation_right

    def score(rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        return scorer.score(left[rows], right[columns], progress)

    positives = score(*dataset.evaluation_positives.T)
    threshold = threshold_at(positives, recall)
    strata = near_random(population_of(dataset, base, progress), score, sample, np.random.default_rng(seed), progress)
    return dataset, int((positives >= threshold).sum()), [_above(stratum, dataset, threshold) for stratum in strata]


def _above(stratum: Stratum, dataset: Dataset, threshold: float) -> Mistakes:
    assert stratum.pairs is not None  # the design knows them
    mistaken = stratum.scores >= threshold
    rows = (
        dataset.evaluation_left[stratum.pairs.left[mistaken]],
        dataset.evaluation_right[stratum.pairs.right[mistaken]],
    )
    return Mistakes(stratum.name, round(stratum.weight * int(mistaken.sum())), Pairs(*rows, stratum.scores[mistaken]))


def write_mistakes(
    dataset: Dataset,
    corpus: Corpus,
    true: int,
    strata: Sequence[Mistakes],
    n: int,
    path: Path,
    rng: np.random.Generator,
) -> int:
    """Write the n most confident mistakes, and a random n of each stratum to check; return the number of rows.

    Raises InputError if the file cannot be written.
    """
    rows = []
    for kind, stratum, position in (*_confident(strata, n), *_sampled(strata, n, rng)):
        left = int(stratum.pairs.left[position])
        right = int(stratum.pairs.right[position])
        names = corpus.items[left].ids, corpus.items[right].ids
        ids = [ids[0] for ids in names]
        more = [further_ids(ids) for ids in names]
        texts = dataset.whole_texts[left], dataset.whole_texts[right]
        score = f"{stratum.pairs.score[position]:.6f}"
        rows.append([*ids, *texts, score, kind, stratum.name, stratum.size, true, "", *more])
    write_text(path, csv_text(COLUMNS, rows))
    return len(rows)


def _confident(strata: Sequence[Mistakes], n: int) -> Iterator[tuple[str, Mistakes, int]]:
    ranked = [
        (float(score), stratum, position) for stratum in strata for position, score in enumerate(stratum.pairs.score)
    ]
    for _, stratum, position in sorted(ranked, key=lambda row: -row[0])[:n]:
        yield CONFIDENT, stratum, position


def _sampled(strata: Sequence[Mistakes], n: int, rng: np.random.Generator) -> Iterator[tuple[str, Mistakes, int]]:
    for stratum in strata:
        for position in rng.permutation(len(stratum.pairs))[:n].tolist():
            yield SAMPLE, stratum, position


def corrected_by(path: Path, rng: np.random.Generator) -> dict[str, Estimate]:
    """Return the precision at the recall of a file of mistakes, corrected by the labels of its sample (`correct`).

    A label 1 says that the pair is a match all the same; without a label it was not checked. Raises InputError for a
    label that is neither, for a count that is none, and if nothing in the sample was checked.
    """
    sizes: dict[str, int] = {}
    labels: dict[str, list[bool]] = {}
    true = 0
    for number, (kind, stratum, size, positives, label) in read_rows(path, COLUMNS[5:10]):
        if kind != SAMPLE:
            continue
        sizes[stratum] = _count(size, path, number, "size")
        true = _count(positives, path, number, "true")
        if (positive := label_of(label, path, number)) is not None:
            labels.setdefault(stratum, []).append(positive)
    if not labels:
        raise InputError(f"{path.name}: no pair of the sample has a label: write 1 or 0 into the column label")
    strata = [
        Checked(size, len(labels.get(name, ())), labels.get(name, []).count(False)) for name, size in sizes.items()
    ]
    return corrected_precision(true, strata, rng)


def _count(value: str, path: Path, row: int, column: str) -> int:
    if not value.strip().isdecimal():
        raise bad(f"{shown(value)} is not a count; list the mistakes again", path, row, column)
    return int(value)
