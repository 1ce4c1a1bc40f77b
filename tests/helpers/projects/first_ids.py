"""One id of each text, for tests whose texts have one or that do not care which."""

from collections.abc import Iterable

from sqlalchemy.orm import Session

from allpairs.db.projects.items import known_identifiers


def first_ids(session: Session, items: Iterable[int]) -> dict[int, str]:
    """Return the first id of each of these texts."""
    return {item: names[0] for item, names in known_identifiers(session, items).items()}
