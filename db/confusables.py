"""Names that look alike: the skeletons of Unicode Technical Standard 39, section 4, from Unicode's own table."""

import re
import unicodedata
from functools import cache

# Printable characters that show nothing: variation selectors, fillers and joiners.
UNSEEN = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]")
MARK = "\u200e"  # which the library leaves around letters that are written from right to left


def skeleton(name: str) -> str:
    """Return what a name has in common with all that look like it, in whatever script: to compare, not to show."""
    stand_ins = _stand_ins()
    visible = UNSEEN.sub("", unicodedata.normalize("NFD", " ".join(name.split())))  # pages show one space for several
    for _ in range(2):  # what stands for a character may be several, for which others stand
        visible = unicodedata.normalize("NFD", "".join(stand_ins.get(character, character) for character in visible))
    return visible


@cache
def _stand_ins() -> dict[str, str]:
    """Return what stands for each character that has look-alikes: `rn` for m, and one letter for A, А and Α."""
    from confusable_homoglyphs.confusables import confusables_data  # reads a megabyte

    groups: dict[str, set[str]] = {}
    for character, confusable_forms in confusables_data.items():
        names = [character.strip(MARK), *(form["c"].strip(MARK) for form in confusable_forms)]
        group = set[str]().union(*(groups.get(name, {name}) for name in names))
        groups.update(dict.fromkeys(group, group))
    return {
        character: max(group, key=lambda name: (len(name), name))
        for character, group in groups.items()
        if len(character) == 1
    }
