"""The OpenAPI document as a page to read: plain HTML without scripts."""

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from allpairs.annotate.frame.web.base_path import DESCRIPTION
from allpairs.annotate.frame.web.login_forms import COLOURS

POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'"
STYLE = f"""{COLOURS}
* {{ box-sizing: border-box; }}
body {{ margin: 0; padding: 1.5rem 1rem 4rem; background: var(--ground); color: var(--text);
  font: 1rem/1.5 "Source Sans", system-ui, sans-serif; overflow-wrap: anywhere; }}
main {{ max-width: 52rem; margin: 0 auto; }}
h1, h2, h3 {{ line-height: 1.25; font-weight: 650; }}
h2 {{ margin: 2.5rem 0 .5rem; font-size: 1.3rem; }}
h3 {{ margin: 0 0 .25rem; font-size: 1.05rem; }}
h3 code {{ font-weight: 650; }}
section {{ margin: 1rem 0; padding: 1rem; background: var(--card); border: 1px solid var(--line);
  border-radius: .75rem; }}
p {{ margin: .25rem 0 .75rem; }}
a {{ color: var(--main); }}
a:focus-visible {{ outline: 2px solid var(--main); outline-offset: 2px; }}
code {{ font: .9em ui-monospace, monospace; }}
nav ul {{ padding-left: 1.2rem; }}
table {{ width: 100%; border-collapse: collapse; margin: .5rem 0; }}
caption {{ padding: .25rem 0; text-align: left; font-weight: 600; }}
th, td {{ padding: .35rem .5rem .35rem 0; border-top: 1px solid var(--line); text-align: left; vertical-align: top;
  font-weight: 400; }}
thead th {{ color: var(--quiet); border: 0; }}
@media (max-width: 40rem) {{
  thead {{ position: absolute; clip-path: inset(50%); }}
  tbody tr {{ display: block; padding: .35rem 0; border-top: 1px solid var(--line); }}
  tbody th, tbody td {{ display: block; padding: 0; border: 0; }}
}}"""
LIMITS = {
    "minimum": "at least {}",
    "maximum": "at most {}",
    "minLength": "{} or more characters",
    "maxLength": "at most {} characters",
    "minItems": "{} or more",
    "maxItems": "at most {}",
    "pattern": "matches {}",
}
Part = Mapping[str, Any]  # of the document


def reference_page(document: Part) -> str:
    """Return the page: how to ask, every address with what it takes and returns, and the bodies."""
    operations = [
        (method.upper(), path, one) for path, methods in document["paths"].items() for method, one in methods.items()
    ]
    common = _common([one["responses"] for _, _, one in operations])
    server = document["servers"][0]["url"]
    bodies = document["components"]["schemas"]
    parts = [
        f"<h1>{escape(document['info']['title'])} REST API</h1>",
        f"<p>{_prose(document['info']['description'])} For programs: "
        f'<a href="openapi.json">{DESCRIPTION}</a> (OpenAPI {escape(document["openapi"])}).</p>',
        f"<p>All addresses begin with <code>{escape(server)}</code>. Send the token as "
        "<code>Authorization: Bearer TOKEN</code>. Where nobody signs in, this machine needs no token.</p>",
        _contents(operations),
        "<h2>Addresses</h2>",
        *(_operation(method, path, one, common) for method, path, one in operations),
        '<h2 id="errors">Errors of every address</h2>',
        _table("", ("status", "when", "body"), [_response(*each) for each in common.items()]),
        "<h2>Bodies</h2>",
        *(_body(name, schema) for name, schema in bodies.items()),
    ]
    head = '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
    title = f"<title>REST API · {escape(document['info']['title'])}</title><style>{STYLE}</style>"
    return f'<!doctype html><html lang="en"><head>{head}{title}</head><body><main>{"".join(parts)}</main></body></html>'


def _common(responses: list[Part]) -> dict[str, Part]:
    """Return the responses that every operation has alike, by status."""
    return {status: one for status, one in responses[0].items() if all(of.get(status) == one for of in responses)}


def _contents(operations: Iterable[tuple[str, str, Part]]) -> str:
    lines = (
        f'<li><a href="#{escape(one["operationId"])}"><code>{method} {escape(path)}</code></a></li>'
        for method, path, one in operations
    )
    return f'<nav aria-label="Addresses"><ul>{"".join(lines)}</ul></nav>'


def _operation(method: str, path: str, one: Part, common: Part) -> str:
    name = escape(one["operationId"])
    scopes = ", ".join(scope for way in one["security"] for scope in way["token"])
    own = {status: response for status, response in one["responses"].items() if status not in common}
    taken = f"<p>Body: {_type(_schema(one['requestBody']))}</p>" if "requestBody" in one else ""
    return (
        f'<section aria-labelledby="{name}"><h3 id="{name}"><code>{method} {escape(path)}</code></h3>'
        f"<p>{_prose(one['description'])} Scope of the token: <code>{escape(scopes)}</code>.</p>"
        f"{_table('Parameters', ('name', 'type', 'meaning'), [_parameter(each) for each in one['parameters']])}{taken}"
        f"{_table('Responses', ('status', 'when', 'body'), [_response(*each) for each in own.items()])}"
        '<p>And the <a href="#errors">errors of every address</a>.</p></section>'
    )


def _parameter(one: Part) -> tuple[str, str, str]:
    schema = one["schema"]
    needed = "" if one["required"] else f", {_default(schema)}"
    about = _prose(schema.get("description", ""))
    return f"<code>{escape(one['name'])}</code>", _type(schema), f"in the {escape(one['in'])}{needed}. {about}"


def _response(status: str, one: Part) -> tuple[str, str, str]:
    return f"<code>{escape(status)}</code>", _prose(one["description"]), _type(_schema(one))


def _schema(one: Part) -> Part:
    """Return the schema of a body, which has one media type."""
    (content,) = one["content"].values()
    return dict(content["schema"])


def _body(name: str, schema: Part) -> str:
    about = f"<p>{_prose(schema['description'])}</p>" if "description" in schema else ""
    fields = schema.get("properties")
    what = f"<p>{_type(schema)}</p>"
    if fields is not None:
        needed = schema.get("required", ())
        rows = [
            (
                f"<code>{escape(field)}</code>",
                _type(of) + ("" if field in needed else f", {_default(of)}"),
                _prose(of.get("description", "")),
            )
            for field, of in fields.items()
        ]
        what = _table("Fields", ("name", "type", "meaning"), rows)
    where = f"body-{escape(name)}"
    return f'<section aria-labelledby="{where}"><h3 id="{where}">{escape(name)}</h3>{about}{what}</section>'


def _default(schema: Part) -> str:
    default = schema.get("default")
    return "optional" if default in (None, "") else f"{escape(str(default))} if left out"


def _type(schema: Part) -> str:
    """Return the type in words, as HTML; a body is a link."""
    if "$ref" in schema:
        name = escape(schema["$ref"].rpartition("/")[2])
        return f'<a href="#body-{name}">{name}</a>'
    if "anyOf" in schema:
        return " or ".join(map(_type, schema["anyOf"]))
    if values := schema.get("enum", [schema["const"]] if "const" in schema else []):
        return " or ".join(f"<code>{escape(str(value))}</code>" for value in values)
    limits = [form.format(_value(schema[name])) for name, form in LIMITS.items() if name in schema]
    return ", ".join([_named(schema), *limits])


def _value(value: object) -> str:
    return f"<code>{escape(f'{value:,}' if isinstance(value, int) else str(value))}</code>"


def _named(schema: Part) -> str:
    kind = str(schema.get("type", "anything"))
    if kind == "array":
        return f"list of {_type(schema['items'])}"
    if kind == "object" and isinstance(schema.get("additionalProperties"), dict):
        return f"object of {_type(schema['additionalProperties'])} by name"
    return escape(schema.get("format", kind))


def _table(caption: str, names: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    """Return the table of these cells, which are HTML; empty without rows."""
    if not rows:
        return ""
    cells = (
        f'<tr><th scope="row">{first}</th>{"".join(map("<td>{}</td>".format, rest))}</tr>' for first, *rest in rows
    )
    heads = "".join(map('<th scope="col">{}</th>'.format, names))
    said = f"<caption>{escape(caption)}</caption>" if caption else ""
    return f"<table>{said}<thead><tr>{heads}</tr></thead><tbody>{''.join(cells)}</tbody></table>"


def _prose(text: str) -> str:
    """Return the text as HTML, with what stands between backticks as code."""
    parts = escape(text).split("`")
    return "".join(f"<code>{part}</code>" if at % 2 else part for at, part in enumerate(parts))
