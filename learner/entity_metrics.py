"""F1 of named entities: right are those whose words and kind are (Tjong Kim Sang and De Meulder 2003)."""

from collections.abc import Sequence

Entity = tuple[int, int, str]  # the first word, the one after the last, and the kind
OUTSIDE = "O"


def entities_of(tags: Sequence[str], strict: bool = False) -> set[Entity]:
    """The entities that the tags of a sentence's words name.

    As CoNLL's own evaluation reads them an I of a kind that has not begun begins one; strict: it is none.
    """
    found: set[Entity] = set()
    start, kind = 0, ""
    for at, tag in enumerate([*tags, OUTSIDE]):
        mark, _, this = tag.partition("-")
        if kind and (mark != "I" or this != kind):
            found.add((start, at, kind))
            kind = ""
        if mark == "B" or (mark == "I" and not kind and not strict):
            start, kind = at, this
    return found


def entity_f1(found: Sequence[Sequence[str]], right: Sequence[Sequence[str]], strict: bool = False) -> float:
    """F1 over the entities of all sentences; 0 where none is right."""
    pairs = [(entities_of(a, strict), entities_of(b, strict)) for a, b in zip(found, right, strict=True)]
    hits = sum(len(a & b) for a, b in pairs)
    return 2 * hits / sum(len(a) + len(b) for a, b in pairs) if hits else 0.0
