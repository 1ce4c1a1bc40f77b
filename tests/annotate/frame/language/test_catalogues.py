"""The catalogues are complete: every text of the code is translated, with its placeholders, and compiled."""

import ast
import json
from string import Formatter

import pytest
from babel.messages.catalog import Catalog, Message

from allpairs.annotate.frame.language.translator import BROWSER, FOLDER
from scripts import translations
from tests.helpers.machine import ROOT

RENEW = "run `make translations`, translate what is new in annotate/frame/language/*.po, run it again and commit"
CODES = pytest.mark.parametrize("code", translations.TRANSLATED)


@pytest.fixture(scope="module")
def template() -> Catalog:
    return translations.template()


def texts(catalog: Catalog) -> dict[str, Message]:
    return {translations.key_of(message.id): message for message in catalog if message.id}


def forms(message: Message) -> list[str]:
    return [message.string] if isinstance(message.string, str) else list(message.string)


def places(text: str) -> set[str]:
    """Return the names of the values that the text needs, and how each is written."""
    return {f"{name}!{how}" for _, name, _, how in Formatter().parse(text) if name is not None}


@CODES
def test_a_catalogue_has_every_text_of_the_code_and_no_other(code: str, template: Catalog) -> None:
    found, wanted = texts(translations.read(code)), texts(template)
    assert len(wanted) > 250
    assert found.keys() ^ wanted.keys() == set(), RENEW
    assert [key for key in wanted if found[key].id != wanted[key].id] == [], RENEW


@CODES
def test_every_text_is_translated(code: str) -> None:
    catalog = translations.read(code)
    left = [key for key, message in texts(catalog).items() if message.fuzzy or not all(forms(message))]
    assert left == [], f"translate these in {code}.po, and remove “fuzzy” from what you have read"
    counts = {len(forms(message)) for message in texts(catalog).values() if not isinstance(message.id, str)}
    assert counts == {catalog.num_plurals}


@CODES
def test_a_translation_names_the_values_of_its_text(code: str) -> None:
    wrong = []
    for key, message in texts(translations.read(code)).items():
        wanted = places(key if isinstance(message.id, str) else message.id[1])
        own = [places(form) for form in forms(message)]
        # The singular may say “one” in place of the number.
        if any(each not in (wanted, wanted - {"n!None"}) for each in own[:-1]) or own[-1] != wanted:
            wrong.append(key)
    assert wrong == []


@CODES
def test_what_the_app_reads_is_made_from_the_catalogue(code: str) -> None:
    catalog = translations.read(code)
    assert (FOLDER / f"{code}.mo").read_bytes() == translations.compiled(catalog), RENEW
    assert BROWSER.read_text("utf-8") == translations.browser_file(), RENEW


def test_texts_of_scripts_are_complete() -> None:
    known = json.loads(BROWSER.read_text("utf-8"))
    assert known.keys() == {"en", *translations.TRANSLATED}
    assert len(known["en"]) > 50 and all(known[code].keys() == known["en"].keys() for code in known)


def test_no_text_with_its_values_in_it_is_asked_for() -> None:
    found = []
    for path in sorted((ROOT / "annotate").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in translations.PYTHON:
                found += [path.name for each in node.args[:1] if isinstance(each, ast.JoinedStr | ast.BinOp)]
    assert found == [], "name the values in braces and hand them over, or no catalogue has the text"


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ('_("a")', ["a"]),
        ("x(f'{_(\"a\") if y else ngettext(\"b\", \"c\", n)}')", ["a", ("b", "c")]),
        ('_("a", b=_("c"))', ["a", "c"]),
        ('words.ngettext("a", "b", 2, c=1)', [("a", "b")]),
        ('_(TITLE), x("a"), _(f"{a}")', []),
    ],
)  # fmt: skip
def test_texts_are_found_wherever_they_stand(source: str, found: list[str | tuple[str, str]]) -> None:
    assert sorted(translations.texts_in(source, translations.PYTHON), key=str) == sorted(found, key=str)
