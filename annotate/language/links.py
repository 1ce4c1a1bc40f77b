"""The links by which people choose their language."""

from html import escape
from urllib.parse import quote

from allpairs.annotate.language.catalog import OFFERED, Language
from allpairs.annotate.language.translator import Words

PATH = "/language"  # followed by the code


def language_links(_: Words, back: str) -> str:
    """Return the links as HTML, each in its own language. back: the local address that they return to."""
    links = " · ".join(_link(language, _, back) for language in OFFERED)
    return f'<nav aria-label="{escape(_("Language"))}">{links}</nav>'


def _link(language: Language, _: Words, back: str) -> str:
    code, name = language.code, escape(language.name)
    if language == _.language:
        return f'<span lang="{code}" aria-current="true">{name}</span>'
    to = escape(f"{PATH}/{code}?next={quote(back, safe='')}")
    return f'<a href="{to}" target="_self" lang="{code}" hreflang="{code}">{name}</a>'
