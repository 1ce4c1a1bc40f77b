"""Questions for the benchmark at QQP scale: the real ones where they are, else made-up ones with planted duplicates."""

import os
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from db.corpus.graph import closure, components, groups

ROOT = Path(__file__).parents[2]
TRAIN, TEST = 277_000, 132_000  # questions of the paper's QQP split
SIZES = (
    0.70,
    0.20,
    0.07,
    0.03,
)  # share of made-up groups of 1, 2, 3, 4 duplicates: 0.41 positives a question, QQP 0.45
WORDS = (6, 15)  # a made-up question has at least so many words and fewer than so many; 12 tokens with the special ones
FREQUENT = 100  # words that say little: duplicates differ in them
CHANGED = 0.5  # of the frequent words of a made-up duplicate
UNMARKED = 0.15  # of the made-up duplicates, as in QQP: without them the most similar pairs would have no negative


@dataclass(frozen=True)
class Questions:
    """Texts, and the group of each (n,) int64: two questions match if they are of one group."""

    texts: list[str]
    group: np.ndarray

    def positives(self) -> np.ndarray:
        """(k, 2) rows of all matching pairs, the lower first."""
        return np.array(list(closure(groups(self.group))), dtype=np.int64).reshape(-1, 2)

    def part(self, n: int, rng: np.random.Generator) -> "Questions":
        """About n of the questions, whole groups as far as possible, in random order of the groups."""
        place = rng.permutation(self.group.max(initial=0) + 1)[self.group]
        rows = np.argsort(place, kind="stable")[:n]
        return Questions([self.texts[row] for row in rows], self.group[rows])


def load_questions(scale: float, made_up: bool, rng: np.random.Generator) -> tuple[str, Questions, Questions]:
    """Where they come from, train and test questions: the real ones unless they are absent or `made_up` ones wanted."""
    folder = Path(os.environ.get("ALLPAIRS_DATA", ROOT.parent / "shared" / "data")) / "qqp"
    if made_up or not folder.is_dir():
        train, test = (make_up(round(n * scale), common_words(), rng) for n in (TRAIN, TEST))
        return "made-up questions", train, test
    parts = {split: _read(folder, split) for split in ("train", "dev")}
    train, test = (part.part(round(len(part.texts) * scale), rng) for part in parts.values())
    return "Quora questions (train and dev)", train, test


def _read(folder: Path, split: str) -> Questions:
    import pyarrow.parquet as parquet  # not needed where questions are made up

    table = parquet.read_table(folder / "questions.parquet", filters=[("split", "=", split)])
    row_of = {id_: row for row, id_ in enumerate(table["id"].to_pylist())}
    pairs = parquet.read_table(folder / "duplicates.parquet", filters=[("split", "=", split)])
    ids = zip(pairs["id1"].to_pylist(), pairs["id2"].to_pylist(), strict=True)
    group = components(len(row_of), ((row_of[one], row_of[other]) for one, other in ids))
    return Questions(table["text"].to_pylist(), group)


def common_words() -> list[str]:
    """The words of the demo's questions, the most frequent first: about 1,100, mostly one token each."""
    text = (ROOT / "annotate" / "demo" / "questions.csv").read_text().lower()
    return [word for word, _ in Counter(re.findall(r"[a-z]+", text)).most_common()]


def make_up(n: int, words: list[str], rng: np.random.Generator) -> Questions:
    """n questions of these words.

    The duplicates of a group are its first question with some frequent words exchanged. Every second group is about
    something else than the one before by one rare word alone.
    """
    sizes = rng.choice(np.arange(1, len(SIZES) + 1), size=n, p=SIZES)
    group = np.repeat(np.arange(n), sizes)[:n]
    base = _draw((group[-1] + 2, WORDS[1] - 1), len(words), rng)
    lengths = rng.integers(*WORDS, size=len(base))
    twins = np.arange(1, len(base), 2)
    base[twins], lengths[twins] = base[twins - 1], lengths[twins - 1]
    base[twins, rng.integers(lengths[twins])] = rng.integers(FREQUENT, len(words), len(twins))
    rows, length = base[group], lengths[group]
    first = np.r_[True, group[1:] != group[:-1]]
    exchanged = (rows < FREQUENT) & (rng.random(rows.shape) < CHANGED) & ~first[:, None]
    rows[exchanged] = rng.integers(FREQUENT, size=exchanged.sum())
    texts = [" ".join(words[at] for at in row[:end]) for row, end in zip(rows.tolist(), length.tolist(), strict=True)]
    alone = ~first & (rng.random(n) < UNMARKED)
    return Questions(texts, np.where(alone, n + np.arange(n), group))


def _draw(shape: tuple[int, int], words: int, rng: np.random.Generator) -> np.ndarray:
    """Places of words, the frequent ones more often."""
    share = 1 / (np.arange(words) + 50)
    return rng.choice(words, size=shape, p=share / share.sum())
