"""Write docs/reference.md from the code: commands, settings, strategies, environment variables.

python -m scripts.reference          (`make reference`)
"""

import inspect
import re
from collections.abc import Iterable, Iterator
from dataclasses import is_dataclass
from enum import Enum
from pathlib import Path
from typing import Any, get_args

import typer
from pydantic.fields import FieldInfo

import allpairs
from allpairs.__main__ import everything
from allpairs.annotate.features.settings.ui.form import GROUPS
from allpairs.db.domain import PAPER_SETTINGS, SIMULATED, Settings
from allpairs.learner.light.catalog import STRATEGIES

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "reference.md"
COMMAND = "make reference"
TYPES = {"str": "text", "Path": "file", "int": "whole number", "float": "number"}
BOUNDS = {"ge": "at least", "gt": "more than", "le": "at most", "lt": "less than"}
ENVIRONMENT = {
    "ALLPAIRS_ENGINE": "Where large computations run: `local` (default) in the worker, `ray` on a "
    "[cluster](cluster.md).",
    "ALLPAIRS_PROCESSES": "How many processes train a model (on GPUs, one each). Default: 1. See "
    "[A cluster](cluster.md#training-on-several-processors).",
    "ALLPAIRS_RAY_ADDRESS": "The Ray cluster, as `host:6379`; without it Ray starts one on this machine.",
    "ALLPAIRS_HOME": "Folder of the database, the job queue, models and vectors. Default: `.allpairs` in the working "
    "folder. Several machines share one folder and one database, or keep artifacts in an object store.",
    "ALLPAIRS_ARTIFACTS": "Where models, vectors and results are stored: a folder (default: `artifacts` in "
    "`ALLPAIRS_HOME`), or the address of an object store, `s3://bucket/prefix`; see "
    "[A cluster](cluster.md#files-in-a-store).",
    "ALLPAIRS_CACHE_BYTES": "Size of this machine's cache of the object store, in `ALLPAIRS_HOME`. Default: "
    "53687091200, which is 50 GiB.",
    "ALLPAIRS_DATABASE_URL": "A PostgreSQL database instead of the SQLite file, for the job queue too: "
    "`postgresql://user:password@host/name` (or `postgres://…`).",
    "ALLPAIRS_LOGIN": "`required`: everybody must sign in, even if the app only listens on its own machine. For an "
    "app behind a reverse proxy; see [People](people.md#behind-a-reverse-proxy).",
    "ALLPAIRS_PUBLIC_URL": "Where people reach the app, such as `https://pairs.example.org`. Links in invitations "
    "begin with it, and pages opened there work even if a proxy changes `Host`. Separate several addresses by spaces; "
    "links begin with the first. If your proxy runs on another machine, name it in `FORWARDED_ALLOW_IPS`; see "
    "[People](people.md#behind-a-reverse-proxy).",
    "ALLPAIRS_WEBHOOK_NETWORKS": "Private networks to which webhooks may send, such as `10.1.0.0/16,127.0.0.1`, for "
    "app and workers. Default: none; see [Webhooks](webhooks.md#private-addresses).",
    "ALLPAIRS_RATER_FUNCTIONS": "Python functions that machine raters may use, as `module:function`, separated by "
    "commas, for app and workers. Default: none; see [Machine raters](raters.md#what-the-operator-allows).",
    "ALLPAIRS_RATER_KEYS": "Keys that machine raters may use, each as the name of its variable and the host that it is "
    "for, such as `OPENAI_API_KEY@api.openai.com`, separated by commas, for app and workers. Default: none; see "
    "[Machine raters](raters.md#what-the-operator-allows).",
    "ALLPAIRS_MATCH": "`1`: the app starts a process that answers `match` requests, as with `serve --match`.",
    "ALLPAIRS_WORKER": "`0`: the app never starts a worker.",
    "ALLPAIRS_LOG": "Log format of app and worker, on stderr: `text` (default) or `json` (one object a line); see "
    "[Operations](operations.md#logs).",
    "ALLPAIRS_DEMO": "`0`: no demo project in an empty database.",
    "ALLPAIRS_DATA": "Folder of the real data that slow tests and benchmarks read. Default: `../shared/data`.",
}


def page() -> str:
    """Return the text of docs/reference.md."""
    commands = _commands(typer.main.get_command(everything()), "allpairs")
    parts = [_head(), _settings(), _strategies(), _environment(), "## Commands", *commands, "## Python", *_python()]
    return "\n\n".join(parts) + "\n"


def _head() -> str:
    return (
        "# Reference\n\n"
        f"Generated from the code by `{COMMAND}`: change the code, not this page. Every command prints its own part "
        "with `--help`.\n\n"
        "- [Settings of a project](#settings-of-a-project)\n- [Strategies](#strategies)\n"
        "- [Environment variables](#environment-variables)\n- [Commands](#commands)\n- [Python](#python)"
    )


def _settings() -> str:
    rows = [_setting(name, label) for fields in GROUPS.values() for name, label in fields.items()]
    shown = {name for fields in GROUPS.values() for name in fields}
    rows += [_setting(name, "–") for name in Settings.model_fields if name not in shown]
    paper = ", ".join(f"`{name}` {value}" for name, value in PAPER_SETTINGS.items())
    return (
        "## Settings of a project\n\n"
        "The pages *New project* and *Settings* show the names of the second column; experiment files use "
        f"those of the first.\n\n{_table(('setting', 'on the page', 'value', 'default', 'what it does'), rows)}\n\n"
        f"“Use the paper's values” sets {paper}."
    )


def _setting(name: str, label: str) -> tuple[str, ...]:
    field = Settings.model_fields[name]
    about = field.description or ""
    only = " For simulations only." if name in SIMULATED else ""
    return f"`{name}`", label, _value(name, field), _shown(field.default), about + only


def _shown(default: Any) -> str:
    if isinstance(default, bool):
        return "on" if default else "off"
    return "(empty)" if default == "" else f"`{default}`"


def _value(name: str, field: FieldInfo) -> str:
    if name == "strategy":
        return "one of the [strategies](#strategies)"
    if options := get_args(field.annotation):
        return ", ".join(f"`{option}`" for option in options)
    if field.annotation is bool:
        return "on, off"
    bounds = (
        f"{sign} {getattr(bound, kind):,}"
        for bound in field.metadata
        for kind, sign in BOUNDS.items()
        if hasattr(bound, kind)
    )
    return ", ".join([TYPES[getattr(field.annotation, "__name__", "")], *bounds])


def _strategies() -> str:
    rows = [
        (f"`{name}`", entry.title, entry.description, "projects and simulations" if entry.live else "simulations")
        for name, entry in STRATEGIES.items()
    ]
    return f"## Strategies\n\n{_table(('name', 'title', 'what it chooses', 'for'), rows)}"


def _environment() -> str:
    rows = [(f"`{name}`", about) for name, about in ENVIRONMENT.items()]
    return f"## Environment variables\n\n{_table(('variable', 'what it does'), rows)}"


def variables() -> set[str]:
    """Return the project's environment variables that the code reads."""
    sources = (
        path.read_text(encoding="utf-8")
        for folder in ("annotate", "benchmarks", "db", "learner")
        for path in _files(folder)
    )
    return {name for source in sources for name in re.findall(r"environ\S*?[\[(]\s*\"(ALLPAIRS_\w+)", source)}


def _files(folder: str) -> Iterator[Path]:
    return (ROOT / folder).rglob("*.py")


def _python() -> Iterator[str]:
    """Yield a section for each public name of the package, from its signature and docstring."""
    for name in allpairs.__all__:
        public = getattr(allpairs, name)
        yield _entry(name, public)
        if inspect.isclass(public) and not issubclass(public, Exception) and not is_dataclass(public):
            for part, member in vars(public).items():
                if not part.startswith("_") and not isinstance(member, property):
                    yield _entry(f"{name}.{part}", getattr(public, part))


def _entry(name: str, public: Any) -> str:
    exception = inspect.isclass(public) and issubclass(public, Exception)
    shown = f"{name}{'' if exception else _signature(public)}"
    about = inspect.cleandoc(public.__doc__ or "")
    return f"### {name}\n\n```\n{shown}\n```\n\n{about}"


def _signature(public: Any) -> str:
    return re.sub(r"(: |-> )'([^']*)'", r"\1\2", str(inspect.signature(public)))  # annotations are kept as strings


def _commands(command: Any, name: str) -> Iterator[str]:
    """Yield a section for each command, the commands of a group one after another."""
    if children := getattr(command, "commands", None):
        for child in children:
            yield from _commands(children[child], f"{name} {child}")
        return
    about, *more = [" ".join(part.split()) for part in (command.help or "").split("\n\n")]
    yield f"### {name}\n\n{about}"
    for part in more:
        yield f"```\n{part.removeprefix('Example: ')}\n```" if part.startswith("Example: ") else part
    if rows := [_parameter(parameter) for parameter in command.params if not parameter.hidden]:
        yield _table(("argument or option", "value", "default", "what it does"), rows)


def _parameter(parameter: Any) -> tuple[str, ...]:
    argument = isinstance(parameter, typer.core.TyperArgument)
    names = [parameter.name.upper()] if argument else [*parameter.opts, *parameter.secondary_opts]
    about, default = _apart(parameter.help or "")
    return ", ".join(f"`{name}`" for name in names), _kind(parameter), default or _default(parameter), about


def _apart(about: str) -> tuple[str, str]:
    """Split a help text into the text and the default at its end, for options without a default of their own."""
    found = re.fullmatch(r"(.*) \[default: (.*)\]", about)
    return (found[1], f"`{found[2]}`") if found else (about, "")


def _kind(parameter: Any) -> str:
    annotation = parameter.type_descriptor.annotation
    kind = (get_args(annotation) or (annotation,))[0]
    if getattr(parameter, "is_flag", False):
        return ""
    if issubclass(kind, Enum):
        return ", ".join(f"`{member.value}`" for member in kind)
    return TYPES[kind.__name__] + (", repeatable" if parameter.multiple else "")


def _default(parameter: Any) -> str:
    if parameter.required:
        return "required"
    return "" if parameter.default is None else _shown(parameter.default)


def _table(header: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    lines = [tuple(header)]
    lines += [tuple("---" for _ in lines[0]), *(tuple(cell.replace("|", "\\|") for cell in row) for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main() -> None:
    """Write the page."""
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
