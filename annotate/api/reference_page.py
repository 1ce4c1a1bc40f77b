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
    """Return the page: how to ask, every operation with what it takes and returns, and the bodies."""
    operations = [
        (method.upper(), path, operation)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    ]
    common = _common_responses([operation["responses"] for _, _, operation in operations])
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
        *(_operation(method, path, operation, common) for method, path, operation in operations),
        '<h2 id="errors">Errors of every address</h2>',
        _table("", ("status", "when", "body"), [_response(*response) for response in common.items()]),
        "<h2>Bodies</h2>",
        *(_body(name, schema) for name, schema in bodies.items()),
    ]
    head = '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
    title = f"<title>REST API · {escape(document['info']['title'])}</title><style>{STYLE}</style>"
    return f'<!doctype html><html lang="en"><head>{head}{title}</head><body><main>{"".join(parts)}</main></body></html>'


def _common_responses(responses: list[Part]) -> dict[str, Part]:
    """Return the responses that all operations share, by status."""
    return {
        status: response
        for status, response in responses[0].items()
        if all(by_status.get(status) == response for by_status in responses)
    }


def _contents(operations: Iterable[tuple[str, str, Part]]) -> str:
    lines = (
        f'<li><a href="#{escape(operation["operationId"])}"><code>{method} {escape(path)}</code></a></li>'
        for method, path, operation in operations
    )
    return f'<nav aria-label="Addresses"><ul>{"".join(lines)}</ul></nav>'


def _operation(method: str, path: str, operation: Part, common: Part) -> str:
    name = escape(operation["operationId"])
    scopes = ", ".join(scope for security in operation["security"] for scope in security["token"])
    parameters = [_parameter(parameter) for parameter in operation["parameters"]]
    body = f"<p>Body: {_type(_schema(operation['requestBody']))}</p>" if "requestBody" in operation else ""
    responses = [
        _response(status, response) for status, response in operation["responses"].items() if status not in common
    ]
    return (
        f'<section aria-labelledby="{name}"><h3 id="{name}"><code>{method} {escape(path)}</code></h3>'
        f"<p>{_prose(operation['description'])} Scope of the token: <code>{escape(scopes)}</code>.</p>"
        f"{_table('Parameters', ('name', 'type', 'meaning'), parameters)}{body}"
        f"{_table('Responses', ('status', 'when', 'body'), responses)}"
        '<p>And the <a href="#errors">errors of every address</a>.</p></section>'
    )


def _parameter(parameter: Part) -> tuple[str, str, str]:
    schema = parameter["schema"]
    default = "" if parameter["required"] else f", {_default(schema)}"
    meaning = f"in the {escape(parameter['in'])}{default}. {_prose(schema.get('description', ''))}"
    return f"<code>{escape(parameter['name'])}</code>", _type(schema), meaning


def _response(status: str, response: Part) -> tuple[str, str, str]:
    return f"<code>{escape(status)}</code>", _prose(response["description"]), _type(_schema(response))


def _schema(body: Part) -> Part:
    """Return the schema of a body, which has one media type."""
    (content,) = body["content"].values()
    return dict(content["schema"])


def _body(name: str, schema: Part) -> str:
    description = f"<p>{_prose(schema['description'])}</p>" if "description" in schema else ""
    required = schema.get("required", ())
    rows = [
        (
            f"<code>{escape(field)}</code>",
            _type(part) + ("" if field in required else f", {_default(part)}"),
            _prose(part.get("description", "")),
        )
        for field, part in schema.get("properties", {}).items()
    ]
    fields = (
        _table("Fields", ("name", "type", "meaning"), rows) if "properties" in schema else f"<p>{_type(schema)}</p>"
    )
    label = f"body-{escape(name)}"
    return f'<section aria-labelledby="{label}"><h3 id="{label}">{escape(name)}</h3>{description}{fields}</section>'


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


def _table(title: str, names: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    """Return the table of these cells, which are HTML; empty without rows."""
    if not rows:
        return ""
    cells = (
        f'<tr><th scope="row">{first}</th>{"".join(map("<td>{}</td>".format, rest))}</tr>' for first, *rest in rows
    )
    header = "".join(map('<th scope="col">{}</th>'.format, names))
    caption = f"<caption>{escape(title)}</caption>" if title else ""
    return f"<table>{caption}<thead><tr>{header}</tr></thead><tbody>{''.join(cells)}</tbody></table>"


def _prose(text: str) -> str:
    """Return the text as HTML, with what stands between backticks as code."""
    parts = escape(text).split("`")
    return "".join(f"<code>{part}</code>" if number % 2 else part for number, part in enumerate(parts))
