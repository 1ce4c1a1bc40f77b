"""Questions for the benchmark at QQP scale: real ones if available, else generated ones with planted duplicates."""

import os
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from allpairs.db.corpus.graph import closure, components, joined_groups

ROOT = Path(__file__).parents[2]
# questions of the paper's QQP split
TRAIN = 277_000
TEST = 132_000
SIZES = (
    0.70,
    0.20,
    0.07,
    0.03,
)  # share of generated groups of 1, 2, 3, 4 duplicates: 0.41 positives per question, QQP 0.45
WORDS = (6, 15)  # words of a generated question: minimum, and maximum plus one; 12 tokens with the special ones
FREQUENT = 100  # frequent words, in which duplicates differ
CHANGED = 0.5  # share of a generated duplicate's frequent words
UNMARKED = 0.15  # share of unmarked duplicates, as in QQP: without them the most similar pairs would all be positive


@dataclass(frozen=True)
class Questions:
    """Texts, and the group of each (n,) int64: two questions match if they are in one group."""

    texts: list[str]
    group: np.ndarray

    def positives(self) -> np.ndarray:
        """Return (k, 2) rows of all matching pairs, the lower first."""
        return np.array(list(closure(joined_groups(self.group))), dtype=np.int64).reshape(-1, 2)

    def part(self, n: int, rng: np.random.Generator) -> "Questions":
        """Return about n of the questions, in whole groups as far as possible, groups in random order."""
        place = rng.permutation(self.group.max(initial=0) + 1)[self.group]
        rows = np.argsort(place, kind="stable")[:n]
        return Questions([self.texts[row] for row in rows], self.group[rows])


def load_questions(scale: float, made_up: bool, rng: np.random.Generator) -> tuple[str, Questions, Questions]:
    """Return their origin, train and test questions: real ones unless absent or `made_up`."""
    folder = Path(os.environ.get("ALLPAIRS_DATA", ROOT.parent / "shared" / "data")) / "qqp"
    if made_up or not folder.is_dir():
        train, test = (make_up(round(n * scale), common_words(), rng) for n in (TRAIN, TEST))
        return "made-up questions", train, test
    parts = {split: _read(folder, split) for split in ("train", "dev")}
    train, test = (part.part(round(len(part.texts) * scale), rng) for part in parts.values())
    return "Quora questions (train and dev)", train, test


def _read(folder: Path, split: str) -> Questions:
    import pyarrow.parquet as parquet  # not needed for generated questions

    table = parquet.read_table(folder / "questions.parquet", filters=[("split", "=", split)])
    row_of = {id_: row for row, id_ in enumerate(table["id"].to_pylist())}
    pairs = parquet.read_table(folder / "duplicates.parquet", filters=[("split", "=", split)])
    ids = zip(pairs["id1"].to_pylist(), pairs["id2"].to_pylist(), strict=True)
    group = components(len(row_of), ((row_of[one], row_of[other]) for one, other in ids))
    return Questions(table["text"].to_pylist(), group)


def common_words() -> list[str]:
    """Return the words of the demo's questions, most frequent first: about 1,100, mostly one token each."""
    text = (ROOT / "annotate" / "demo" / "questions.csv").read_text(encoding="utf-8").lower()
    return [word for word, _ in Counter(re.findall(r"[a-z]+", text)).most_common()]


def make_up(n: int, words: list[str], rng: np.random.Generator) -> Questions:
    """Generate n questions of these words.

    A group's duplicates are its first question with some frequent words exchanged. Every second group differs from the
    one before by a single rare word.
    """
    sizes = rng.choice(np.arange(1, len(SIZES) + 1), size=n, p=SIZES)
    group = np.repeat(np.arange(n), sizes)[:n]
    base = _draw((group[-1] + 2, WORDS[1] - 1), len(words), rng)
    lengths = rng.integers(*WORDS, size=len(base))
    twins = np.arange(1, len(base), 2)
    base[twins], lengths[twins] = base[twins - 1], lengths[twins - 1]
    base[twins, rng.integers(lengths[twins])] = rng.integers(FREQUENT, len(words), len(twins))
    rows = base[group]
    length = lengths[group]
    first = np.r_[True, group[1:] != group[:-1]]
    exchanged = (rows < FREQUENT) & (rng.random(rows.shape) < CHANGED) & ~first[:, None]
    rows[exchanged] = rng.integers(FREQUENT, size=exchanged.sum())
    texts = [" ".join(words[at] for at in row[:end]) for row, end in zip(rows.tolist(), length.tolist(), strict=True)]
    alone = ~first & (rng.random(n) < UNMARKED)
    return Questions(texts, np.where(alone, n + np.arange(n), group))


def _draw(shape: tuple[int, int], words: int, rng: np.random.Generator) -> np.ndarray:
    """Draw positions of words, frequent ones more often."""
    share = 1 / (np.arange(words) + 50)
    return rng.choice(words, size=shape, p=share / share.sum())
