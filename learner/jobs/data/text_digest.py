"""Which texts a stored file is about: rows with the same numbers may have other texts after a restore."""

from collections.abc import Sequence
from hashlib import sha256


def digest_of_texts(texts: Sequence[str]) -> str:
    """Return the SHA-256 of the texts, each after its length."""
    digest = sha256()
    for text in texts:
        read = text.encode("utf-8", "surrogatepass")
        digest.update(len(read).to_bytes(8, "big"))
        digest.update(read)
    return digest.hexdigest()
