"""Settings that were removed: a project that stores them opens; a person who writes one is told."""

import pytest
from pydantic import ValidationError

from allpairs.db.domain import Settings


def test_stored_settings_open_without_what_was_removed() -> None:
    stored = Settings(per_text=3).model_dump() | {
        "per_neighbourhood": 6, "strategy": "committee", "reranker": "/a", "batch_order": "likely first",
    }  # fmt: skip
    assert Settings.model_validate(stored) == Settings(per_text=3)


def test_a_removed_setting_cannot_be_written() -> None:
    with pytest.raises(ValidationError, match="per_neighbourhood"):
        Settings.model_validate({"per_neighbourhood": 6})
