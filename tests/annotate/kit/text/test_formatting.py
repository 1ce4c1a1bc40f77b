"""Times and texts for people."""

import re
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from allpairs.annotate.kit.text.formatting import JOINER, ago, duration, literal, sentence
from allpairs.db.schema.tables import now


@pytest.mark.parametrize(
    ("seconds", "words"), [(-3, "0 s"), (8.4, "8 s"), (89, "89 s"), (95, "2 min"), (5399, "90 min"), (9000, "2.5 h")]
)
def test_a_duration_has_a_fitting_unit(seconds: float, words: str) -> None:
    assert duration(seconds) == words


def test_ago_is_counted_from_now() -> None:
    assert ago(now()) == "just now"
    assert ago(now() - timedelta(minutes=20)) == "20 min ago"


@given(st.text())
def test_a_literal_text_has_no_active_sign_and_loses_nothing(text: str) -> None:
    shown = literal(text)
    assert not re.search(r"(?<!\\)(?:\\\\)*[`*_{}\[\]()<>$|~&]|:\w", shown)
    folded = " ".join(text.replace(JOINER, "").split())
    assert re.sub(r"\\(.)", r"\1", literal(folded).replace(JOINER, "")) == folded


@pytest.mark.parametrize("sign", [":smile:", ":material/add:", ":red[x]", "->", "<-", "--", ">=", "~=", ":streamlit:"])
def test_signs_that_streamlit_replaces_are_parted(sign: str) -> None:
    assert sign not in re.sub(r"\\(.)", r"\1", literal(f"a {sign} b"))


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("the search text is empty", "The search text is empty."),
        ("items.csv, row 2: the id is empty", "items.csv, row 2: the id is empty."),
        ("'ann' is no member", "'ann' is no member."),
        ("Is this a file?", "Is this a file?"),
    ],
)
def test_bad_input_is_a_sentence_with_names_as_they_are(message: str, shown: str) -> None:
    assert sentence(message) == shown
