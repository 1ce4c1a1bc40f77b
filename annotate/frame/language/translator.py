"""The texts of one language, from its compiled catalogue. The English text is the key."""

import json
import re
from functools import cache
from gettext import GNUTranslations, NullTranslations
from pathlib import Path

from allpairs.annotate.frame.language.catalog import ENGLISH, LONGER, MIRRORED, OFFERED, Language
from allpairs.db.errors import InputError

FOLDER = Path(__file__).parent
BROWSER = FOLDER / "browser.json"  # by language: the texts of the pages' scripts, each with its plural forms
ACCENTS = str.maketrans("AEIOUYaeiouyncsz", "ÀÉÎÕÜÝàéîõüýñçšž")
PLACEHOLDER = re.compile(r"(\{[^}]*\})")  # in a text: a place for a value
FILLING = "~~~~~ "


def later(text: str) -> str:
    """Return the text as it is, to be translated when it is drawn: `make translations` finds it by this name."""
    return text


class Words:
    """The texts and numbers of one language."""

    def __init__(self, language: Language, translations: NullTranslations) -> None:
        self.language = language
        self._found = translations
        self._signs = str.maketrans({",": language.thousands, ".": language.decimal, "%": language.percent})

    def __call__(self, text: str, **values: object) -> str:
        """Return the text in this language, with these values at the places that it names in braces."""
        translated = self._found.gettext(text) if text else ""
        return translated.format_map(values) if values else translated

    def ngettext(self, singular: str, many: str, n: int, **values: object) -> str:
        """Return the text for this number, which it may name {n}: the singular, or the plural that the language has."""
        return self._found.ngettext(singular, many, n).format_map({"n": self.number(n), **values})

    def error(self, error: InputError) -> str:
        """Return the message of the error."""
        return self(error.text, **error.values)

    def sentence(self, error: InputError) -> str:
        """Return the message of the error as a sentence."""
        line = self.error(error)
        return f"{line[:1].upper()}{line[1:]}."

    def number(self, value: float, form: str = ",") -> str:
        """Return the number as the language writes it; form: as for Python."""
        return f"{value:{form}}".translate(self._signs)


ENGLISH_WORDS = Words(ENGLISH, NullTranslations())


@cache
def words_in(language: Language) -> Words:
    """Return the texts of the language."""
    if language in (ENGLISH, MIRRORED):
        return Words(language, NullTranslations())
    return Words(language, _Longer() if language == LONGER else _compiled(language))


@cache
def browser_words(language: Language) -> str:
    """Return the texts of the pages' scripts in this language, as JSON: the plural forms by the English text."""
    known: dict[str, dict[str, list[str]]] = json.loads(BROWSER.read_text("utf-8"))
    if language == LONGER:
        texts = {text: [longer(form) for form in forms] for text, forms in known[ENGLISH.code].items()}
    else:
        texts = {} if language in (ENGLISH, MIRRORED) else known[language.code]
    return json.dumps(texts, ensure_ascii=False)


def longer(text: str) -> str:
    """Return the text in brackets, with accents, and 40% longer: what is untranslated or cut off then shows."""
    parts = [part if PLACEHOLDER.fullmatch(part) else part.translate(ACCENTS) for part in PLACEHOLDER.split(text)]
    more = round(0.4 * len(text))
    filling = (FILLING * more)[:more].rstrip()
    return f"⟦{''.join(parts)}{' ' if len(text) > 12 else ''}{filling}⟧"


def _compiled(language: Language) -> GNUTranslations:
    with (FOLDER / f"{language.code}.mo").open("rb") as file:
        return GNUTranslations(file)


class _Unknown(NullTranslations):
    """Raises LookupError for a text that the catalogue before it lacks."""

    def gettext(self, message: str) -> str:
        raise LookupError(message)

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        raise LookupError(msgid1)


class _Longer(NullTranslations):
    """Makes the texts longer that the catalogues have; others stay as they are, so that a test finds them."""

    def __init__(self) -> None:
        super().__init__()
        self._known = _compiled(OFFERED[-1])
        self._known.add_fallback(_Unknown())

    def gettext(self, message: str) -> str:
        try:
            self._known.gettext(message)
        except LookupError:
            return message
        return longer(message)

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        message = msgid1 if n == 1 else msgid2
        try:
            self._known.ngettext(msgid1, msgid2, n)
        except LookupError:
            return message
        return longer(message)
