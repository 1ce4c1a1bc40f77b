"""How good the groups in a file are beside the true entities, and what both look like."""

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from allpairs.db.corpus import graph
from allpairs.db.corpus.cells import are_whole, bad, label_of, plain_id, present_columns, shown
from allpairs.db.corpus.files import column_names, read_rows
from allpairs.db.domain import Side
from allpairs.db.errors import InputError
from allpairs.db.identity import same_id
from allpairs.learner.light.groups import measures

Value = TypeVar("Value")
Text = tuple[str, str]  # side, empty if there is one list, and id
Membership = dict[Text, str | None]  # without a group a text is alone
# what figures can be by, besides a column; the source: which of two lists
SIZE = "size"
SOURCE = "source"
MOST = 20  # values with figures of their own
OTHER_VALUES = "(other values)"


def group_figures(
    groups_file: Path, entities_file: Path, lists: Sequence[Path] = (), name: str = "", split_by: str = ""
) -> dict[str, Any]:
    """Return the measures of the groups in one file beside the entities in the other, and what both look like.

    Either file has the columns id and group, and side (left or right) for two lists; or id1 and id2, pairs of one
    entity, and perhaps label, of which those that are negative or unsure connect nothing. Texts that a file leaves out,
    or gives no group, are alone. lists: files of all texts, the left one first; by
    default the texts are those of both files. name: a column of `groups_file`, whose variation within groups and
    repetition between them are measured. split_by: `size`, `source` of two lists, or a column of the lists, for whose
    values `by` of the result has B³. Raises InputError.
    """
    two = len(lists) > 1 or any(_has_two_lists(path) for path in (groups_file, entities_file))
    by_column = split_by not in ("", SIZE) and not (two and split_by == SOURCE)  # of one list `source` may be a column
    if by_column and not lists:
        raise InputError(f"--by {split_by} needs the file of texts that has this column: give --left")
    names: dict[Text, str] = {}
    parts = [_membership(groups_file, two, name, names), _membership(entities_file, two, "", {})]
    values = _column(lists, split_by) if by_column else {}
    listed = dict.fromkeys(_of_lists(lists), "")
    if are_whole(id_ for _, id_ in (*parts[0], *parts[1], *listed)):
        parts = [_plain(part) for part in parts]
        names = _plain(names)
        values = _plain(values)
        listed = _plain(listed)
    texts = sorted({*parts[0], *parts[1], *listed})
    groups, entities = (codes([part.get(text) for text in texts]) for part in parts)
    second = np.array([side == Side.RIGHT for side, _ in texts]) if two else None
    parted = [values.get(text, "") for text in texts] if by_column else split_by
    return compare_with_entities(
        groups, entities, second, parted, [names.get(text, "") for text in texts] if name else ()
    )


def compare_with_entities(
    group_ids: np.ndarray,
    entity_ids: np.ndarray,
    second: np.ndarray | None = None,
    split_by: str | Sequence[Any] = "",
    names: Sequence[str | None] = (),
) -> dict[str, Any]:
    """Return the measures of groups beside entities: (n,) int64 of each text.

    second: (n,) bool, which texts are of the second of two lists; split_by: `size`, `source`, or a value of each text;
    names: of each text, empty where there is none. Raises InputError for the source of one list.
    """
    qualities = {
        "pairs": measures.pairwise(group_ids, entity_ids, second),
        "clusters": measures.clusters(group_ids, entity_ids),
        "b_cubed": measures.b_cubed(group_ids, entity_ids),
    }
    result: dict[str, Any] = {"texts": len(group_ids)}
    for title, quality in qualities.items():
        result[title] = _as_dict(quality)
    result |= {"found": _summary(group_ids), "true": _summary(entity_ids)}
    if len(names):
        result["found"] |= _of_names(group_ids, names)
    if len(split_by):
        result["by"] = (
            _by_size(group_ids, entity_ids)
            if split_by == SIZE
            else _by_value(group_ids, entity_ids, _sources(second, split_by))
        )
    return result


def _of_names(group: np.ndarray, names: Sequence[str | None]) -> dict[str, float | None]:
    """Return how often the names of groups differ and repeat, over the texts that have one."""
    has_name = np.array([bool(name) for name in names])
    group = group[has_name]
    known = np.array([name for name in names if name], dtype=str)
    return {"name_variation": measures.name_variation(group, known), "homonymy": measures.homonymy(group, known)}


def _sources(second: np.ndarray | None, split_by: str | Sequence[Any]) -> Sequence[Any]:
    """Return the value of each text: its list's, if by is `source`."""
    if not isinstance(split_by, str):
        return split_by
    if second is None:
        raise InputError(f"figures by {split_by} need two lists, and this is one")
    return [(Side.RIGHT if is_second else Side.LEFT).value for is_second in second.tolist()]


def codes(groups: Sequence[Hashable]) -> np.ndarray:
    """Return a number for each text's group, (n,) int64; a text whose group is None is alone."""
    numbers: dict[Hashable, int] = {}
    named = [("alone", i) if group is None else ("group", group) for i, group in enumerate(groups)]
    return np.array([numbers.setdefault(key, len(numbers)) for key in named], dtype=np.int64)


def _by_size(group_ids: np.ndarray, entity_ids: np.ndarray) -> list[dict[str, Any]]:
    """Return B³ of the texts of true groups of each size, in bands that end at the powers of two."""
    size = np.bincount(entity_ids)[entity_ids]
    bands, part = np.unique(np.ceil(np.log2(size)).astype(np.int64), return_inverse=True)
    names = [str(2**band) if band < 2 else f"{2 ** (band - 1) + 1}-{2**band}" for band in bands.tolist()]
    return _of_parts(group_ids, entity_ids, part, names)


def _by_value(group_ids: np.ndarray, entity_ids: np.ndarray, values: Sequence[Any]) -> list[dict[str, Any]]:
    """Return B³ of the texts of each of the most frequent values, and of all others together."""
    counts = Counter(values).most_common()
    names = [value for value, _ in counts[:MOST]] + [OTHER_VALUES] * (len(counts) > MOST)
    number = {value: min(rank, MOST) for rank, (value, _) in enumerate(counts)}
    return _of_parts(group_ids, entity_ids, np.array([number[value] for value in values], dtype=np.int64), names)


def _of_parts(
    group_ids: np.ndarray, entity_ids: np.ndarray, part: np.ndarray, names: Sequence[Any]
) -> list[dict[str, Any]]:
    texts = np.bincount(part).tolist()
    qualities = measures.b_cubed_by(group_ids, entity_ids, part)
    return [
        {"value": name, "texts": count} | _as_dict(quality)
        for name, count, quality in zip(names, texts, qualities, strict=True)
    ]


def _as_dict(quality: measures.PrecisionRecall) -> dict[str, float | None]:
    return asdict(quality) | {"f1": quality.f1}


def _summary(group: np.ndarray) -> dict[str, Any]:
    return {
        "groups": len(np.unique(group)),
        "matching_rate": measures.matching_rate(group),
        "hill_numbers": [measures.hill_number(group, order) for order in (0, 1, 2)],
        "sizes": measures.sizes(group),
    }


def _has_two_lists(path: Path) -> bool:
    side = present_columns(["side"], column_names(path), path.name)
    return len({values for _, values in read_rows(path, side)}) > 1 if side else False


def _membership(path: Path, two: bool, name: str, names: dict[Text, str]) -> Membership:
    """Return the group of each text in the file; adds to names the value of that column."""
    columns = set(column_names(path))
    if {"id1", "id2"} <= columns and not name:
        return _of_pairs(path, two)
    needed = ("id", "group", *(["side"] if two else []), *([name] if name else []))
    if missing := [column for column in needed if column not in columns]:
        problem = f"{path.name} has no column {', '.join(missing)}"
        raise InputError(f"{problem}: name a file with id and group (and side for two lists), or with id1 and id2")
    groups: Membership = {}
    for number, values in read_rows(path, needed):
        row = dict(zip(needed, map(str.strip, values), strict=True))
        text = row.get("side", ""), same_id(row["id"])
        if two and text[0] not in tuple(Side):
            raise bad(f"the side is {shown(text[0])}; write {' or '.join(Side)}", path, number, "side")
        group = row["group"] or None
        if groups.setdefault(text, group) != group:
            raise InputError(f"{path.name}, row {number}: {row['id']} is in two groups: give each text one")
        names[text] = row.get(name, "")
    return groups


def _plain(part: Mapping[Text, Value]) -> dict[Text, Value]:
    """Return the values of texts by their ids as whole numbers, of which some files write 7 as 7.0."""
    return {(side, plain_id(id_)): value for (side, id_), value in part.items()}


def _of_pairs(path: Path, two: bool) -> Membership:
    """Return the groups that the matches of a file connect."""
    pairs = list(_pairs(path, two))
    texts = sorted({text for pair in pairs for text in pair})
    places = {text: place for place, text in enumerate(texts)}
    components = graph.components(len(texts), ((places[left], places[right]) for left, right in pairs))
    return {text: str(group) for text, group in zip(texts, components.tolist(), strict=True)}


def _pairs(path: Path, two: bool) -> Iterator[tuple[Text, Text]]:
    sides = (Side.LEFT, Side.RIGHT) if two else ("", "")
    needed = ("id1", "id2", *present_columns(["label"], column_names(path), path.name))
    for number, values in read_rows(path, needed):
        first, second, *label = map(str.strip, values)
        if not label or label_of(label[0], path, number):
            yield (sides[0], same_id(first)), (sides[1], same_id(second))


def _of_lists(lists: Sequence[Path]) -> Iterator[Text]:
    for side, path in _sided(lists):
        yield from ((side, same_id(id_.strip())) for _, (id_,) in read_rows(path, ("id",)))


def _column(lists: Sequence[Path], column: str) -> Mapping[Text, str]:
    """Return the value of each text in this column of the lists that have it; raises InputError if none has it."""
    having = [(side, path) for side, path in _sided(lists) if column in column_names(path)]
    if not having:
        raise InputError(
            f"{lists[0].name} has no column {column}: choose {SIZE}, {SOURCE} for two lists, or one of its columns"
        )
    return {
        (side, same_id(id_.strip())): value.strip()
        for side, path in having
        for _, (id_, value) in read_rows(path, ("id", column))
    }


def _sided(lists: Sequence[Path]) -> Iterator[tuple[str, Path]]:
    return zip((Side.LEFT, Side.RIGHT) if len(lists) > 1 else ("",), lists, strict=False)
