"""The links by which people choose their language."""

from html import escape
from urllib.parse import quote

from allpairs.annotate.frame.language.catalog import OFFERED, Language
from allpairs.annotate.frame.language.translator import Words

PATH = "/language"  # followed by the code


def language_links(_: Words, back: str, start: str = ".") -> str:
    """Return the links as HTML, each in its own language.

    back: the local address that they return to. start: the start page, without its slash, as the page can name it.
    """
    links = " · ".join(_link(language, _, back, start) for language in OFFERED)
    return f'<nav aria-label="{escape(_("Language"))}">{links}</nav>'


def _link(language: Language, _: Words, back: str, start: str) -> str:
    code = language.code
    name = escape(language.name)
    if language == _.language:
        return f'<span lang="{code}" aria-current="true">{name}</span>'
    to = escape(f"{start}{PATH}/{code}?next={quote(back, safe='')}")
    return f'<a href="{to}" target="_self" lang="{code}" hreflang="{code}">{name}</a>'
