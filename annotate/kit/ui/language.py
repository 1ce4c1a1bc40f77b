"""The texts of pages, in the language of the person who looks at them."""

import streamlit as st

from allpairs.annotate.frame.language.catalog import COOKIE, chosen
from allpairs.annotate.frame.language.translator import Words, words_in


def words() -> Words:
    """Return the texts in the language of this session's person."""
    return words_in(chosen(st.context.cookies.get(COOKIE), st.context.headers.get("Accept-Language", "")))


def _(text: str, **values: object) -> str:
    """Return the text in that language, with these values at the places that it names in braces."""
    return words()(text, **values)


def ngettext(singular: str, many: str, n: int, **values: object) -> str:
    """Return the text for this number in that language."""
    return words().ngettext(singular, many, n, **values)


def localized_number(value: float, form: str = ",") -> str:
    """Return the number as that language writes it; form: as for Python."""
    return words().number(value, form)
