"""Bad input as a sentence on a page."""

import pytest

from allpairs.annotate.ui.common.errors import sentence
from allpairs.db.errors import InputError


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("the search text is empty", "The search text is empty."),
        ("items.csv, row 2: the id is empty", "items.csv, row 2: the id is empty."),
        ("'ann' is no member", "'ann' is no member."),
        ("Is this a file?", "Is this a file?"),
    ],
)
def test_bad_input_is_a_sentence_that_names_files_and_people_as_they_are(message: str, shown: str) -> None:
    assert sentence(InputError(message)) == shown
