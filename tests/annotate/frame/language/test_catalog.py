"""Which language a person reads, and its texts and numbers."""

import json

import pytest

from allpairs.annotate.frame.language.catalog import ENGLISH, LANGUAGES, LONGER, MIRRORED, OFFERED, chosen
from allpairs.annotate.frame.language.links import language_links
from allpairs.annotate.frame.language.translator import ENGLISH_WORDS, browser_words, longer, words_in
from allpairs.db.errors import InputError

GERMAN, FRENCH = words_in(LANGUAGES["de"]), words_in(LANGUAGES["fr"])


@pytest.mark.parametrize(
    ("cookie", "accepted", "code"),
    [
        ("de", "fr", "de"),  # what somebody has chosen comes first
        (None, "fr-CA,fr;q=0.9,en;q=0.8", "fr"),
        (None, "nl,de;q=0.4,fr;q=0.7", "fr"),
        (None, "en-GB,de", "en"),
        (None, "de;q=0,fr;q=0.1", "fr"),
        (None, "nl, *;q=0.5", "en"),
        (None, "", "en"),
        (None, "de;q=many", "en"),
        ("tlh", "de", "de"),
        (None, "en-XA", "en"),  # for tests only, by the cookie
        ("en-XA", "de", "en-XA"),
    ],
)
def test_the_language_is_the_chosen_one_or_the_browsers(cookie: str | None, accepted: str, code: str) -> None:
    assert chosen(cookie, accepted).code == code


def test_numbers_and_plurals_are_those_of_the_language() -> None:
    assert [words.number(1234.5, ",.1f") for words in (ENGLISH_WORDS, GERMAN, FRENCH)] == [
        "1,234.5", "1.234,5", "1\u202f234,5"
    ]  # fmt: skip
    assert (ENGLISH_WORDS.number(0.25, ".0%"), GERMAN.number(0.25, ".0%")) == ("25%", "25\u202f%")
    counts = [GERMAN.ngettext("{n} answer", "{n} answers", n) for n in (0, 1, 2000)]
    assert counts == ["0 Antworten", "1 Antwort", "2.000 Antworten"]
    assert FRENCH.ngettext("{n} answer", "{n} answers", 0) == "0 réponse"  # where English has a plural


def test_values_stay_as_they_are() -> None:
    said = GERMAN("There is no project named {name}. It may have been removed.", name="{n} % \\_")
    assert said == "Es gibt kein Projekt namens {n} % \\_. Vielleicht wurde es entfernt."
    assert GERMAN("") == "" and GERMAN("Nobody has translated {this}.") == "Nobody has translated {this}."


def test_an_error_is_in_the_language_and_in_english_elsewhere() -> None:
    error = InputError("the name {name!r} has unprintable characters; remove them", name="A\0")
    assert r"'A\x00' has unprintable" in str(error)
    assert GERMAN.error(error).startswith("der Name 'A\\x00'")
    assert GERMAN.error(InputError("{a} was not translated")) == "{a} was not translated"


def test_what_is_longer_keeps_its_places_and_is_marked() -> None:
    text = longer("Batch {number} is complete.")
    assert text[0] == "⟦" and text[-1] == "⟧" and "{number}" in text
    assert len(text) >= 1.4 * len("Batch {number} is complete.")
    words = words_in(LONGER)
    assert words("Sign in") == longer("Sign in") and words("No catalogue has this.") == "No catalogue has this."
    assert words.ngettext("{n} answer", "{n} answers", 2).endswith("⟧")
    assert words_in(MIRRORED)("Sign in") == "Sign in" and MIRRORED.direction == "rtl"


def test_scripts_get_the_texts_of_the_page_s_language() -> None:
    assert json.loads(browser_words(ENGLISH)) == json.loads(browser_words(MIRRORED)) == {}
    german, long = json.loads(browser_words(LANGUAGES["de"])), json.loads(browser_words(LONGER))
    assert german["Yes"] == ["Ja"] and long["Yes"] == [longer("Yes")] and german.keys() == long.keys()


def test_the_links_name_each_language_in_itself_and_lead_back() -> None:
    links = language_links(GERMAN, "/label?project=A&B")
    assert [f'lang="{language.code}"' in links for language in OFFERED] == [True] * 3
    assert 'href="./language/fr?next=%2Flabel%3Fproject%3DA%26B"' in links and "/language/de" not in links
    assert "en-XA" not in links and 'aria-label="Sprache"' in links
