"""Quora question pairs: closure of the duplicates, and a split that no given pair crosses.

Source: Mussmann, Jia and Liang (2020), section 3.1 and table 1. Pairs connected by duplicates are positive, all others
negative; the parts are drawn by components of duplicates and given negatives together.
"""

from pathlib import Path

import numpy as np

from allpairs.db.corpus.cells import bad, with_noun
from allpairs.db.corpus.files import read_rows
from allpairs.db.errors import InputError
from allpairs.learner.published.quora import COLUMNS, QuestionPair, read_quora
from allpairs.learner.published.released import GivenPair, Options, Released, Text, draw_parts, without_conflicts

RELEASED_NAMES = ("quora_duplicate_questions.tsv", "quora_duplicate_questions.tsv.gz")
RELEASED_DUPLICATES = 149_263  # before closure


def read_qqp(path: Path, options: Options) -> Released:
    """Read the data set from `quora_duplicate_questions.tsv`, or from questions.parquet and duplicates.parquet.

    path: the file, or the folder of either. Raises InputError.
    """
    if (path / "questions.parquet").is_file():
        return _parquet(path)
    if path.is_dir():
        files = [path / name for name in RELEASED_NAMES if (path / name).is_file()]
        if not files:
            raise InputError(f"{path}: this folder has neither {RELEASED_NAMES[0]} nor questions.parquet")
        path = files[0]
    if not path.exists():
        raise InputError(f"{path}: there is no such file or folder; check the path")
    rows, broken = _csv(path) if ".csv" in path.suffixes else read_quora(path)
    return _drawn(path, rows, broken, np.random.default_rng(options.seed))


def _parquet(folder: Path) -> Released:
    """Read questions and duplicates with their published parts; no negatives are given."""
    left = []
    parts = {}
    for _, (name, text, part) in read_rows(folder / "questions.parquet", ("id", "text", "split")):
        left.append(Text(name, text))
        parts[name] = part
    rows = read_rows(folder / "duplicates.parquet", ("id1", "id2"))
    gold = [GivenPair(id1, id2, 1) for _, (id1, id2) in rows]
    lone = len(parts) - len({name for pair in gold for name in (pair.id1, pair.id2)})
    counts = (
        f"The files list {len(gold):,} duplicates and no negatives, and {lone:,} of their questions have no duplicate"
    )
    note = f"{counts}; the released file lists {RELEASED_DUPLICATES:,}: some true duplicates are unmarked here."
    return Released("qqp", left, None, gold, parts, notes=[note])


def _csv(path: Path) -> tuple[list[QuestionPair], int]:
    """Read the same rows separated by commas (the format of the later competition)."""
    return [QuestionPair(*values) for _, values in read_rows(path, COLUMNS[1:])], 0


def _drawn(path: Path, rows: list[QuestionPair], broken: int, rng: np.random.Generator) -> Released:
    positions: dict[str, int] = {}
    texts: list[str] = []
    pairs: dict[tuple[int, int], int] = {}
    empty = 0
    for number, row in enumerate(rows, 2):
        if not (row.question1.strip() and row.question2.strip()):
            empty += 1
            continue
        ends = []
        for name, text in ((row.qid1, row.question1), (row.qid2, row.question2)):
            if positions.setdefault(name, len(texts)) == len(texts):
                texts.append(text)
            ends.append(positions[name])
        pair = min(ends), max(ends)
        pairs[pair] = max(pairs.get(pair, 0), duplicate_label(row.label, path, number))
    parts = draw_parts(texts, pairs, rng)
    consistent, conflicts = without_conflicts(texts, pairs)
    names = list(positions)
    return Released(
        "qqp",
        [Text(name, text) for name, text in zip(names, texts, strict=True)],
        None,
        [GivenPair(names[i], names[j], label) for (i, j), label in consistent.items()],
        dict(zip(names, parts, strict=True)),
        conflicts,
        _odd(broken, empty, conflicts),
    )


def duplicate_label(value: str, path: Path, row: int) -> int:
    """Return the label of a row, 1 or 0. Raises InputError for anything else."""
    if value not in ("0", "1"):
        raise bad(f"the label is {value!r}, not 0 or 1; fetch the file again", path, row, "is_duplicate")
    return int(value)


def _odd(broken: int, empty: int, conflicts: int) -> list[str]:
    """Return notes on what was left out."""
    texts = (
        (broken, "line", "without six cells"),
        (empty, "pair", "with an empty question"),
        (conflicts, "given negative", "between questions that duplicates connect (closure wins)"),
    )
    return [f"Left out: {with_noun(n, noun)} {reason}." for n, noun, reason in texts if n]
