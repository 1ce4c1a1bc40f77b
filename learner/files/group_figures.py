"""How good the groups in a file are beside the true entities, and what both look like."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from allpairs.db.corpus import graph
from allpairs.db.corpus.files import column_names, read_rows
from allpairs.db.domain import Side
from allpairs.db.errors import InputError
from allpairs.db.groups import measures

Text = tuple[str, str]  # side, empty if there is one list, and id
Membership = dict[Text, str]


def group_figures(found: Path, true: Path, lists: Sequence[Path] = (), name: str = "") -> dict[str, Any]:
    """Return the measures of the groups in `found` beside the entities in `true`, and what both look like.

    Either file has the columns id and group, and side (left or right) for two lists; or id1 and id2, pairs of one
    entity, and perhaps label. Texts that a file leaves out are alone. lists: files of all texts, the left one first; by
    default the texts are those of both files. name: a column of `found`, whose variation within groups and repetition
    between them are measured. Raises InputError.
    """
    two = len(lists) > 1 or any(_has_two_lists(path) for path in (found, true))
    names: dict[Text, str] = {}
    parts = [_membership(found, two, name, names), _membership(true, two, "", {})]
    texts = sorted({*parts[0], *parts[1], *_of_lists(lists)})
    vectors = [_vector(part, texts) for part in parts]
    second = np.array([side == Side.RIGHT for side, _ in texts]) if two else None
    result: dict[str, Any] = {"texts": len(texts)}
    qualities = {
        "pairs": measures.pairwise(vectors[0], vectors[1], second),
        "clusters": measures.clusters(vectors[0], vectors[1]),
        "b_cubed": measures.b_cubed(vectors[0], vectors[1]),
    }
    for title, quality in qualities.items():
        result[title] = asdict(quality) | {"f1": quality.f1}
    for title, vector in zip(("found", "true"), vectors, strict=True):
        result[title] = _summary(vector)
    if name:
        named = np.array([names.get(text, "") for text in texts])
        group, known = vectors[0][named != ""], named[named != ""]
        more = {"name_variation": measures.name_variation(group, known), "homonymy": measures.homonymy(group, known)}
        result["found"] |= more
    return result


def _summary(group: np.ndarray) -> dict[str, Any]:
    return {
        "groups": len(np.unique(group)),
        "matching_rate": measures.matching_rate(group),
        "hill_numbers": [measures.hill_number(group, order) for order in (0, 1, 2)],
        "sizes": measures.sizes(group),
    }


def _has_two_lists(path: Path) -> bool:
    return "side" in column_names(path) and len({side for _, (side,) in read_rows(path, ("side",))}) > 1


def _membership(path: Path, two: bool, name: str, names: dict[Text, str]) -> Membership:
    """Return the group of each text in the file; adds to names the value of that column."""
    columns = set(column_names(path))
    if {"id1", "id2"} <= columns and not name:
        return _of_pairs(path, two)
    wanted = ("id", "group", *(["side"] if two else []), *([name] if name else []))
    if missing := [column for column in wanted if column not in columns]:
        what = f"{path.name} has no column {', '.join(missing)}"
        raise InputError(f"{what}: name a file with id and group (and side for two lists), or with id1 and id2")
    found: Membership = {}
    for number, values in read_rows(path, wanted):
        row = dict(zip(wanted, map(str.strip, values), strict=True))
        text = row.get("side", ""), row["id"]
        if found.setdefault(text, row["group"]) != row["group"]:
            raise InputError(f"{path.name}, row {number}: {row['id']} is in two groups: give each text one")
        names[text] = row.get(name, "")
    return found


def _of_pairs(path: Path, two: bool) -> Membership:
    """Return the groups that the pairs of a file connect; a pair with label 0 connects nothing."""
    pairs = list(_pairs(path, two))
    texts = sorted({text for pair in pairs for text in pair})
    at = {text: place for place, text in enumerate(texts)}
    of = graph.components(len(texts), ((at[left], at[right]) for left, right in pairs))
    return {text: str(group) for text, group in zip(texts, of.tolist(), strict=True)}


def _pairs(path: Path, two: bool) -> Iterator[tuple[Text, Text]]:
    sides = (Side.LEFT, Side.RIGHT) if two else ("", "")
    wanted = ("id1", "id2", *(["label"] if "label" in column_names(path) else []))
    for _, values in read_rows(path, wanted):
        one, other, *label = map(str.strip, values)
        if label != ["0"]:
            yield (sides[0], one), (sides[1], other)


def _of_lists(lists: Sequence[Path]) -> Iterator[Text]:
    sides = (Side.LEFT, Side.RIGHT) if len(lists) > 1 else ("",)
    for side, path in zip(sides, lists, strict=False):
        yield from ((side, id_.strip()) for _, (id_,) in read_rows(path, ("id",)))


def _vector(group: Membership, texts: Sequence[Text]) -> np.ndarray:
    """Return the group of each text, (n,) int64; a text without one is alone."""
    codes: dict[tuple[str, ...], int] = {}
    own = [(group[text],) if text in group else text for text in texts]
    return np.array([codes.setdefault(one, len(codes)) for one in own], dtype=np.int64)
