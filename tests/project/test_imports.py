"""Who may import whom: read from the source, so that the rule holds for every file there is."""

import ast
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.helpers.paths import ROOT

PACKAGES = ("app", "annotate", "learner", "db")
HEAVY = ("torch", "transformers", "sentence_transformers", "sklearn", "faiss")
WORDS = ("db.domain", "db.errors", "db.progress")
STREAMLIT = ("app", "annotate.shell", "annotate.pages", "annotate.ui")


@dataclass(frozen=True)
class Rule:
    """What a part may import of the project, and of others (None: anything that is not heavy); what to do instead."""

    project: tuple[str, ...]
    instead: str
    others: tuple[str, ...] | None = None
    heavy: bool = False


# The rule of the longest prefix holds.
RULES = {
    "app": Rule(("annotate",), "put logic into annotate/"),
    "annotate": Rule(
        ("annotate", "db", "learner.catalog"),
        "ask for a job (annotate/jobs/requests.py), or put words that both sides need into db/domain.py",
    ),
    "learner": Rule(
        ("learner", *WORDS, "db.corpus", "db.files"),
        "hand arrays in; rows are read and written in learner/jobs/",
        heavy=True,
    ),
    "learner.cli": Rule(("learner", *WORDS, "db.corpus"), "put database work into learner/jobs/", heavy=True),
    "learner.jobs": Rule(("learner", "db"), "the learner knows nothing of the app", heavy=True),
    "learner.worker": Rule(("learner", "db"), "the learner knows nothing of the app", heavy=True),
    "learner.catalog": Rule(
        ("learner.catalog",), "the app reads the catalog: name a function as 'module:name'", ("pydantic",)
    ),
    "db": Rule(("db",), "move what computes to learner/ and what people do to annotate/", ("sqlalchemy", "alembic")),
    **dict.fromkeys(WORDS, Rule((), "the words of the product stand on nothing", ("pydantic",))),
    "db.files": Rule((*WORDS, "db.files"), "files alone: rows are read elsewhere", ("fsspec", "obstore")),
    "db.corpus": Rule(
        (*WORDS, "db.corpus"), "read files without SQL; rows are made in db/", ("numpy", "pyarrow", "scipy")
    ),
}  # fmt: skip
ROWS = ("learner.jobs", "learner.worker")  # where rows meet tensors
MAY_IMPORT_ROWS = {"learner.cli": ("learner.worker",), "learner.worker": ROWS, "learner.jobs": ROWS}


def within(module: str, parts: tuple[str, ...]) -> bool:
    """Whether the module is one of these or lies in one of them."""
    return any(module == part or module.startswith(part + ".") for part in parts)


def part_of(module: str, parts: Mapping[str, object]) -> str:
    """The longest of the parts that the module lies in."""
    return max((part for part in parts if within(module, (part,))), key=len, default="")


def imports_of(source: str) -> Iterator[str]:
    """Every module that the source imports, wherever in the file."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = "." * node.level + (node.module or "")
            yield from (f"{base}.{alias.name}" if is_module(f"{base}.{alias.name}") else base for alias in node.names)


def is_module(name: str) -> bool:
    path = ROOT / name.replace(".", "/")
    return path.is_dir() or path.with_suffix(".py").is_file()


def fault(module: str, imported: str) -> str | None:
    """Why the module may not import this, and what to do instead; nothing if it may."""
    rule, top = RULES[part_of(module, RULES)], imported.split(".")[0]
    if imported.startswith("."):
        return f"{module} imports {imported}: write the whole name"
    if top in PACKAGES:
        allowed: tuple[str, ...] | None = rule.project
        if within(imported, ROWS) and not within(module, ("annotate", "db", "app")):
            allowed = MAY_IMPORT_ROWS.get(part_of(module, MAY_IMPORT_ROWS), ())
    elif top in sys.stdlib_module_names:
        return None
    else:
        allowed = rule.others
    if top == "streamlit" and not within(module, STREAMLIT):
        return f"{module} imports streamlit: return data, and show it in annotate/pages or annotate/ui"
    if top == "app" or (allowed is not None and not within(imported, allowed)):
        return f"{module} may import {', '.join(allowed or ()) or 'nothing of it'}, not {imported}: {rule.instead}"
    if top in HEAVY and not rule.heavy:
        return f"{module} imports {imported}, which takes seconds to load: {rule.instead}"
    return None


def module_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def sources() -> list[Path]:
    return [ROOT / "app.py", *(path for package in PACKAGES[1:] for path in sorted((ROOT / package).rglob("*.py")))]


@pytest.mark.parametrize("path", sources(), ids=lambda path: str(path.relative_to(ROOT)))
def test_a_file_imports_only_what_it_may(path: Path) -> None:
    module = module_of(path)
    faults = [why for imported in imports_of(path.read_text()) if (why := fault(module, imported))]
    assert not faults, "\n".join(faults)


@pytest.mark.parametrize(
    ("module", "imported", "why"),
    [
        ("annotate.labels.export", "learner.models.encoder", "ask for a job"),
        ("annotate.labels.export", "learner.jobs", "ask for a job"),
        ("annotate.monitor.charts", "torch", "takes seconds to load"),
        ("annotate.monitor.charts", "streamlit", "return data"),
        ("annotate.pages.label", "streamlit", None),
        ("annotate.projects.projects", "learner.catalog", None),
        ("annotate.projects.projects", "app", "may import"),
        ("learner.loop.round", "db.schema.tables", "hand arrays in"),
        ("learner.loop.round", "learner.jobs.data.project_data", "hand arrays in"),
        ("learner.loop.round", "db.corpus.corpus", None),
        ("learner.cli", "learner.worker", None),
        ("learner.cli", "db.schema.engine", "learner/jobs"),
        ("learner.jobs.data.project_data", "db.schema.tables", None),
        ("learner.jobs.data.project_data", "annotate.jobs.requests", "knows nothing of the app"),
        ("learner.catalog", "numpy", "module:name"),
        ("db.labels.tasks", "numpy", "move what computes"),
        ("db.labels.tasks", "learner.catalog", "move what computes"),
        ("db.domain", "db.schema.tables", "stand on nothing"),
        ("db.corpus.files", "sqlalchemy", "without SQL"),
        ("db.corpus.files", "pyarrow.parquet", None),
        ("db.corpus.files", "db.schema.tables", "without SQL"),
    ],
)
def test_the_rule_itself(module: str, imported: str, why: str | None) -> None:
    found = fault(module, imported)
    assert found is None if why is None else why in str(found)


def test_imports_are_found_wherever_they_stand() -> None:
    source = "import a.b\nfrom db import corpus, files\ndef f():\n    from db.domain import A\n    from . import x\n"
    assert set(imports_of(source)) == {"a.b", "db.corpus", "db.files", "db.domain", "."}


def test_the_app_never_loads_a_model_library() -> None:
    files = [path for path in (ROOT / "annotate").rglob("*.py") if "pages" not in path.parts]
    names = [module_of(path) for path in files if path.stem not in ("__main__", "app")]
    assert len(names) > 100
    code = f"import sys, {', '.join(names)}\nprint(sorted(set(sys.modules) & set({HEAVY!r})))"
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert run.stdout.strip().splitlines()[-1:] == ["[]"], run.stderr
