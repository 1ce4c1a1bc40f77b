"""When two texts are the same."""

import unicodedata


def identity(text: str) -> str:
    """Return what identical texts have in common: the text in Unicode NFKC with white space collapsed."""
    return " ".join(unicodedata.normalize("NFKC", text).split())
