"""The pages before signing in: plain forms without scripts."""

from dataclasses import dataclass
from html import escape

from starlette.responses import HTMLResponse

from allpairs.annotate.frame.access.addresses import base_path
from allpairs.annotate.frame.language.links import language_links
from allpairs.annotate.frame.language.translator import Words

POLICY = "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
COLOURS = """
:root { color-scheme: light dark; --ground: #f1eee7; --card: #fbfaf7; --text: #23292b; --quiet: #5c6466;
  --line: #d5d0c4; --main: #1a656e; --on-main: #fff; --bad: #9b2c1f; --bad-ground: #f7e4df; }
@media (prefers-color-scheme: dark) { :root { --ground: #171c1e; --card: #21282b; --text: #e8e6df; --quiet: #a9b0ae;
  --line: #3d474b; --main: #63b8bd; --on-main: #12181a; --bad: #f0a699; --bad-ground: #3a2523; } }"""
STYLE = """
* { box-sizing: border-box; }
body { margin: 0; min-height: 100vh; display: grid; grid-template: 1fr auto 1fr / minmax(0, 25rem); gap: 1rem;
  justify-content: center; padding: 1rem; background: var(--ground); color: var(--text);
  font: 1rem/1.5 "Source Sans", system-ui, sans-serif; }
main { grid-row: 2; padding: 2rem; background: var(--card); border: 1px solid var(--line); border-radius: .75rem; }
h1 { margin: 0 0 .25rem; font-size: 1.5rem; font-weight: 650; }
p { margin: .25rem 0 1rem; color: var(--quiet); overflow-wrap: anywhere; }
p b { color: var(--text); }
label { display: block; margin: 1rem 0 .3rem; }
input { width: 100%; padding: .6rem .7rem; font: inherit; color: inherit; background: var(--ground);
  border: 1px solid var(--line); border-radius: .5rem; }
input:focus-visible, button:focus-visible, a:focus-visible { outline: 2px solid var(--main); outline-offset: 2px; }
button, a.button { display: block; width: 100%; margin-top: 1.25rem; padding: .65rem; font: inherit; font-weight: 600;
  text-align: center; text-decoration: none; color: var(--on-main); background: var(--main);
  border: 1px solid var(--main); border-radius: .5rem; cursor: pointer; }
button.second, a.button.second { margin-top: .75rem; color: var(--text); background: none; border-color: var(--line); }
a { color: var(--main); }
p.last { margin: 1.25rem 0 0; }
nav { grid-row: 3; align-self: start; text-align: center; color: var(--quiet); }
.wrong { margin: 1rem 0 0; padding: .6rem .8rem; color: var(--bad); background: var(--bad-ground);
  border-radius: .5rem; }
"""


@dataclass(frozen=True)
class Reader:
    """Who looks at a page: their language, and the address of the page for when they choose another one."""

    words: Words
    address: str


def page(reader: Reader, title: str, body: str, status: int = 200) -> HTMLResponse:
    """Return a page; body: HTML in which all outside text is escaped."""
    head = '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
    style = f"<title>{escape(title)} · Allpairs</title><style>{COLOURS}{STYLE}</style>"
    language = reader.words.language
    opening = f'<!doctype html><html lang="{language.code}" dir="{language.direction}">'
    content = f"<main>{body}</main>{language_links(reader.words, reader.address, base_path())}"
    document = f"{opening}<head>{head}{style}</head><body>{content}</body></html>"
    return HTMLResponse(document, status_code=status, headers={"Content-Security-Policy": POLICY})


def login_page(
    reader: Reader, next_: str, ways: dict[str, str], name: str = "", wrong: str = "", status: int = 200
) -> HTMLResponse:
    """Return the form for name and password, with links to sign in through providers (titles by address)."""
    _ = reader.words
    title = _("Sign in")
    hint = _("No account yet? Ask an administrator for an invitation link.")
    fields = text("name", _("Name"), name, "username")
    fields += text("password", _("Password"), "", "current-password", "password")
    head = f"<h1>{escape(title)}</h1><p>{escape(hint)}</p>"
    return page(reader, title, f"{head}{form(fields, title, next_, wrong)}{buttons(ways)}", status)


def notice(reader: Reader, title: str, line: str, status: int = 200, link: str = "/", to: str = "") -> HTMLResponse:
    """Return a page with one sentence and a link, by default to the app."""
    _ = reader.words
    way = main_link(link, to or _("Open the app"))
    return page(reader, title, f"<h1>{escape(title)}</h1><p>{escape(line)}</p>{way}", status)


def main_link(address: str, title: str) -> str:
    """Return a link that looks like the button of a form."""
    return f'<a class="button" href="{link_to(address)}">{escape(title)}</a>'


def link_to(address: str) -> str:
    """Return what a link to this address of the app holds, wherever the page is."""
    return escape(base_path() + address)


def buttons(ways: dict[str, str]) -> str:
    """Return a link for each provider (titles by address)."""
    return "".join(f'<a class="button second" href="{link_to(to)}">{escape(title)}</a>' for to, title in ways.items())


def form(fields: str, button: str, next_: str = "", wrong: str = "", second: bool = False) -> str:
    """Return a form that is sent by POST; wrong: a sentence; second: its button is not what most people want."""
    error = f'<p class="wrong" role="alert">{escape(wrong)}</p>' if wrong else ""
    kind = ' class="second"' if second else ""
    before = hidden("next", next_) if next_ else ""
    return f'<form method="post">{before}{fields}{error}<button{kind}>{escape(button)}</button></form>'


def hidden(name: str, value: str) -> str:
    """Return a field that nobody sees."""
    return f'<input type="hidden" name="{name}" value="{escape(value)}">'


def text(name: str, label: str, value: str, complete: str, kind: str = "text") -> str:
    """Return a required field; complete: what the browser may fill in."""
    attribute = f'value="{escape(value)}" ' if value else "autofocus " if kind == "text" else ""
    attributes = f'type="{kind}" {attribute}autocomplete="{complete}" maxlength="1000" required'
    return f'<label for="{name}">{escape(label)}</label><input id="{name}" name="{name}" {attributes}>'
