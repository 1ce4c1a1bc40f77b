"""Find the texts of pages, bring the catalogues up to date with them, and compile them.

python -m scripts.translations          (`make translations`)

A text that is new has no translation in annotate/frame/language/*.po; a text that is gone leaves them. The test
tests/annotate/frame/language/test_catalogues.py says what is left to translate.
"""

import ast
import io
import json
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.extract import extract
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

from allpairs.annotate.frame.language.catalog import ENGLISH, OFFERED
from allpairs.annotate.frame.language.translator import BROWSER, FOLDER
from allpairs.learner.light.catalog import BEFORE_TRAINING, STRATEGIES

ROOT = Path(__file__).parent.parent
TRANSLATED = [language.code for language in OFFERED if language != ENGLISH]
PYTHON = {"_": 1, "later": 1, "ngettext": 2}  # functions, and how many of their arguments are texts
ERRORS = {"InputError": 1, "TooMany": 1}  # whose texts sign-in shows, of these files
SIGN_IN = ("annotate/frame/access/logins.py", "annotate/frame/access/passwords.py", "db/people/people.py")
SCRIPT = {"t": None, "tn": (1, 2)}
WHOLE = {"parse_template_string": True}  # also what stands in a template string
SCRIPTS = ("annotate/frame/web/*.js", "annotate/features/label/ui/card_js/*.js")
CARD = ROOT / "annotate/features/label/ui/card.html"
ATTRIBUTES = ("aria-label", "data-label", "title", "placeholder")  # as in annotate/frame/web/language.js
Text = tuple[str, str | tuple[str, ...]]  # the file and the text, or its singular and plural


class Html(HTMLParser):
    """Finds the texts that annotate/frame/web/language.js translates."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.texts += [value for name, value in attrs if name in ATTRIBUTES and value]

    def handle_data(self, data: str) -> None:
        if any(letter.isalpha() for letter in data):
            self.texts.append(" ".join(data.split()))


def browser_texts() -> Iterator[Text]:
    """Yield the texts of the pages' scripts and of the labelling card."""
    for pattern in SCRIPTS:
        for path in sorted(ROOT.glob(pattern)):
            with path.open("rb") as file:
                yield from (
                    (name_of(path), text) for _, text, _, _ in extract("javascript", file, SCRIPT, options=WHOLE)
                )
    page = Html()
    page.feed(CARD.read_text("utf-8"))
    yield from ((name_of(CARD), text) for text in page.texts)


def python_texts() -> Iterator[Text]:
    """Yield the texts that Python draws."""
    for path in sorted((ROOT / "annotate").rglob("*.py")):
        yield from ((name_of(path), text) for text in texts_in(path.read_text("utf-8"), PYTHON))
    for name in SIGN_IN:
        yield from ((name, text) for text in texts_in((ROOT / name).read_text("utf-8"), ERRORS))
    chosen = [*(strategy.description for strategy in STRATEGIES.values()), *BEFORE_TRAINING.values()]
    yield from (("learner/light/catalog/strategies.py", description) for description in chosen)


def texts_in(source: str, functions: dict[str, int]) -> Iterator[str | tuple[str, ...]]:
    """Yield the texts that the source gives these functions, also within f-strings, where Babel finds none."""
    for node in ast.walk(ast.parse(source)):
        if (
            isinstance(node, ast.Call)
            and (name := getattr(node.func, "id", getattr(node.func, "attr", ""))) in functions
        ):
            given = [each.value for each in node.args[: functions[name]] if isinstance(each, ast.Constant)]
            if len(given) == functions[name]:
                yield given[0] if len(given) == 1 else tuple(given)


def name_of(path: Path) -> str:
    """Return the file's path in the repository."""
    return path.relative_to(ROOT).as_posix()


def template() -> Catalog:
    """Return the catalogue of all texts, without translations."""
    found = Catalog(fuzzy=False)
    for name, text in (*python_texts(), *browser_texts()):
        found.add(text, locations=[(name, 0)])
    return found


def read(code: str) -> Catalog:
    """Return the language's catalogue."""
    path = FOLDER / f"{code}.po"
    if not path.exists():
        return Catalog(code, project="Allpairs", version="", header_comment="# Translations of Allpairs.", fuzzy=False)
    with path.open("rb") as file:
        return read_po(file, code)


def compiled(catalog: Catalog) -> bytes:
    """Return the catalogue as gettext reads it."""
    file = io.BytesIO()
    write_mo(file, catalog)
    return file.getvalue()


def browser_file() -> str:
    """Return the texts for the pages' scripts in every language, as JSON: the plural forms by the English text."""
    texts = sorted({text for _, text in browser_texts()}, key=str)
    forms: dict[str, dict[str, list[str]]] = {
        ENGLISH.code: {key_of(text): [text] if isinstance(text, str) else list(text) for text in texts}
    }
    for code in TRANSLATED:
        found = {key_of(text): read(code).get(key_of(text)) for text in texts}
        said = {key: message.string for key, message in found.items() if message is not None and message.string}
        forms[code] = {key: [each] if isinstance(each, str) else list(each) for key, each in said.items()}
    return json.dumps(forms, ensure_ascii=False, indent=1, sort_keys=True) + "\n"


def key_of(text: str | tuple[str, ...]) -> str:
    return text if isinstance(text, str) else text[0]


def main() -> None:
    """Bring the catalogues up to date, and compile them."""
    new = template()
    for code in TRANSLATED:
        catalog = read(code)
        catalog.update(new, no_fuzzy_matching=True, update_creation_date=False)
        catalog.obsolete.clear()
        for message in catalog:
            message.flags &= {"fuzzy"}  # without what Babel guesses from braces and percent signs
        with (FOLDER / f"{code}.po").open("wb") as file:
            write_po(file, catalog, sort_output=True, include_lineno=False, width=120)
        (FOLDER / f"{code}.mo").write_bytes(compiled(catalog))
    BROWSER.write_text(browser_file(), "utf-8")


if __name__ == "__main__":
    main()
