"""Who may import whom, read from the source, so that the rule covers every file."""

import ast
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from tests.helpers.machine import ROOT

# Everything may import the words.
WORDS = (
    "db.confusables",
    "db.domain",
    "db.errors",
    "db.estimate",
    "db.identity",
    "db.loopback",
    "db.progress",
    "db.version",
)
# What the packages of a tree may import besides their rows in PACKAGES.
SHARED = {
    "annotate.frame": "db",
    "annotate.kit": "annotate.frame db learner.light",
    "annotate.features": "annotate.frame annotate.kit allpairs.program db learner.light",
}
# What each package may import: of its own tree by the short name, of others by the whole one.
PACKAGES = {
    "allpairs.arguments": "db.corpus",
    "allpairs.client": "arguments",
    "allpairs.records": "arguments db.corpus learner.data",
    "allpairs.tables": "arguments db.corpus",
    "allpairs.program": "db.maintenance",
    "allpairs.cleaning": "arguments matcher learner.files learner.light.clean",
    "allpairs.matcher": "arguments records learner.data learner.files learner.scoring learner.search",
    "allpairs.figures": "arguments matcher tables learner.files",
    "allpairs": "cleaning client figures matcher",
    "db.corpus": "",
    "db.files": "",
    "db.requests": "",
    "db.schema": "files",
    "db.migrations": "schema",
    "db.people": "schema",
    "db.results": "files schema",
    "db.projects": "corpus results schema",
    "db.groups": "corpus projects schema",
    "db.labels": "groups projects schema",
    "db.texts": "corpus groups projects schema",
    "db.maintenance": "corpus files groups labels projects rating results schema",
    "db.rating": "",
    "db.raters": "labels projects rating schema",
    "learner.light.catalog": "",
    "learner.light.groups": "db.corpus",
    "learner.light.clean": "light.groups db.corpus",
    "learner.light.rating": "db.rating",
    "learner.light.stats": "",
    "learner.metrics": "",
    "learner.outside": "",
    "learner.data": "db.corpus db.files",
    "learner.reports": "db.corpus",
    "learner.runtime": "db.files",
    "learner.search": "runtime",
    "learner.models": "light.catalog runtime search db.files",
    "learner.backbones": "light.catalog models runtime search db.files",
    "learner.second_stage": "data metrics models search db.corpus",
    "learner.strategies": "data light.catalog models search",
    "learner.scorers": "backbones metrics models runtime search",
    "learner.scoring": "data models search second_stage db.corpus db.files",
    "learner.evaluation": "data metrics models runtime scorers search db.corpus",
    "learner.raters": "light.rating outside db.rating",
    "learner.loop": (
        "data evaluation light.catalog models runtime scorers scoring search second_stage strategies db.corpus"
    ),
    "learner.files": (
        "backbones data evaluation light.catalog light.clean light.groups loop models runtime scorers scoring search "
        "db.corpus"
    ),
    "learner.experiment": (
        "data files light.catalog loop metrics models reports runtime scorers search db.corpus db.files"
    ),
    "learner.pipelines": (
        "backbones data evaluation files light.catalog metrics models reports runtime scorers scoring search "
        "db.corpus db.files"
    ),
    "learner.jobs": (
        "backbones data evaluation experiment light.catalog light.groups light.rating loop models outside pipelines "
        "raters runtime scorers scoring search second_stage strategies db"
    ),
    "learner.published": "evaluation experiment models pipelines search db.corpus",
    "learner.serving": "data jobs scoring search db",
    "learner.worker": "jobs runtime db",
    "learner.cli": (
        "experiment files light.catalog light.clean light.groups loop models pipelines published runtime scorers "
        "serving worker allpairs.program db.corpus db.files"
    ),
    "annotate.frame.language": "",
    "annotate.frame.access": "frame.language",
    "annotate.frame.web": "frame.access frame.language",
    "annotate.kit.charts": "",
    "annotate.kit.uploads": "",
    "annotate.kit.text": "",
    "annotate.kit.command_output": "",
    "annotate.kit.api": "",
    "annotate.kit.jobs": "",
    "annotate.kit.ui": "kit.charts kit.jobs kit.text kit.uploads",
    "annotate.features.archives": "features.projects",
    "annotate.features.clean": "features.groups features.projects features.texts",
    "annotate.features.clean.ui": "features.download features.texts",
    "annotate.features.download": (
        "features.archives features.clean features.labels features.papers features.publish features.quality "
        "features.studies"
    ),
    "annotate.features.download.ui": "features.archives features.labels features.quality features.texts.ui",
    "annotate.features.experiments": "features.papers features.projects features.settings",
    "annotate.features.experiments.ui": "features.papers.ui",
    "annotate.features.explore": "features.groups features.labels features.quality",
    "annotate.features.explore.ui": "features.groups features.label features.label.ui features.quality",
    "annotate.features.groups": "",
    "annotate.features.groups.ui": "features.explore.ui features.label.ui features.quality",
    "annotate.features.jobs": "",
    "annotate.features.label": "",
    "annotate.features.label.ui": "",
    "annotate.features.labels": "features.label",
    "annotate.features.new_project": "",
    "annotate.features.new_project.ui": "features.projects features.settings.ui",
    "annotate.features.papers": "features.label",
    "annotate.features.papers.ui": ("features.download features.experiments features.studies features.studies.ui"),
    "annotate.features.projects": "",
    "annotate.features.projects.ui": "",
    "annotate.features.publish": "features.projects features.quality",
    "annotate.features.publish.ui": "features.labels features.quality",
    "annotate.features.quality": "",
    "annotate.features.quality.ui": "features.label features.projects features.raters.ui",
    "annotate.features.raters": "features.labels features.projects",
    "annotate.features.raters.ui": "features.quality",
    "annotate.features.review": "features.label",
    "annotate.features.review.ui": "features.explore.ui features.label features.label.ui",
    "annotate.features.settings": "features.projects",
    "annotate.features.settings.ui": "",
    "annotate.features.studies": "features.papers",
    "annotate.features.studies.ui": "features.download features.papers",
    "annotate.features.team": "",
    "annotate.features.team.ui": "",
    "annotate.features.texts": "features.projects",
    "annotate.features.texts.ui": "features.projects",
    "annotate.features.webhooks": "features.projects",
    "annotate.features.webhooks.ui": "",
    "annotate.demo": "features.projects kit.jobs db",
    "annotate.api": (
        "features.clean features.groups features.jobs features.label features.labels features.projects "
        "features.publish features.quality features.raters features.texts features.webhooks frame.access frame.web "
        "kit.api db"
    ),
    "annotate.cli": (
        "demo features.archives features.clean features.groups features.labels features.projects features.publish "
        "features.raters features.team features.texts features.webhooks frame.access kit.command_output kit.jobs "
        "kit.text allpairs.program db"
    ),
    "annotate.shell": (
        "features.label features.projects features.projects.ui features.review.ui frame.access frame.language "
        "frame.web kit.jobs kit.text kit.ui db"
    ),
    "annotate.pages": (
        "features.clean.ui features.download.ui features.experiments features.experiments.ui features.explore.ui "
        "features.groups.ui features.label features.label.ui features.new_project.ui features.papers "
        "features.papers.ui features.projects features.projects.ui features.publish.ui features.quality "
        "features.quality.ui features.raters.ui features.review features.review.ui features.settings "
        "features.settings.ui features.studies features.studies.ui features.team.ui features.webhooks.ui "
        "frame.access frame.language kit.jobs kit.text kit.ui learner.light.catalog db"
    ),
    "annotate.__main__": "cli allpairs.program",
    "learner.__main__": "cli allpairs.program",
    "allpairs.__main__": "program annotate.cli learner.cli",
    "app": "annotate.api annotate.cli annotate.features.download annotate.frame.web annotate.kit.ui annotate.shell",
}
INSTEAD = {
    "app": "put logic into annotate/",
    "annotate": "ask for a job (annotate/kit/jobs/requests.py), or put words that both sides need into db/domain.py",
    "learner": "hand arrays in; rows are read and written in learner/jobs/",
    "allpairs": "keep it a thin layer; what computes belongs to learner/",
    "db": "move what computes to learner/ and what people do to annotate/",
}
# Libraries that only these may import: others would load them for nothing, or know what is not theirs.
HEAVY = ("torch", "transformers", "sentence_transformers", "sklearn", "faiss")
LIBRARIES = {
    **dict.fromkeys(HEAVY, ("learner",)),
    "streamlit": ("app", "annotate.shell", "annotate.pages", "annotate.frame.web"),
    "sqlalchemy": ("annotate", "db", "learner.jobs", "learner.serving", "learner.worker"),
}
LIGHT = {  # what packages that everything stands on may import beside the standard library
    **dict.fromkeys(WORDS, ("pydantic",)),
    "db.rating": ("pydantic",),
    "db.confusables": ("confusable_homoglyphs",),
    "learner.light.catalog": ("pydantic",),
    "db.files": ("fsspec", "numpy", "obstore", "portalocker"),
    "db.corpus": ("numpy", "pyarrow", "python_calamine", "scipy", "xlsxwriter"),
    "db.groups": ("numpy", "sqlalchemy"),
    **dict.fromkeys(
        ("db.schema", "db.labels", "db.people", "db.projects", "db.texts", "db.raters", "db.maintenance"),
        ("sqlalchemy", "alembic"),
    ),
    "db.results": ("pydantic",),
}
ROOMS = ("learner.light",)  # whose packages are rows of their own, too
TREES = ("allpairs", "annotate", "learner", "db")


def module_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def imports_of(source: str) -> Iterator[str]:
    """Yield every module that the source imports, anywhere in the file."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (short(alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = "." * node.level + (node.module or "")
            names = (short(f"{base}.{alias.name}") for alias in node.names)
            yield from (name if is_module(name) else short(base) for name in names)


def short(name: str) -> str:
    """Return a module of ours without the `allpairs.` before it; a dot first, where that was forgotten."""
    bare = name.removeprefix("allpairs.")
    return name if bare.split(".")[0] not in TREES[1:] else bare if bare != name else f".{name}"


def is_module(name: str) -> bool:
    path = ROOT / name.replace(".", "/")
    return path.is_dir() or path.with_suffix(".py").is_file()


def package_of(module: str) -> str:
    """Return the package of the table that the module lies in; a word is a package of its own."""
    parts = module.split(".")
    if ".".join(parts[:2]) not in (*SHARED, *ROOMS):
        return ".".join(parts[:2])
    return ".".join(parts[: 4 if parts[3:4] == ["ui"] else 3])


def allowed_imports(package: str) -> list[str]:
    """Return the packages that this one may import."""
    tree, *rest = package.split(".")
    row = [name if name.split(".")[0] in TREES else f"{tree}.{name}" for name in PACKAGES.get(package, "").split()]
    own = [package.removesuffix(".ui")] if package.endswith(".ui") else []
    return row + own + SHARED.get(f"{tree}.{rest[0]}" if rest else tree, "").split()


def fault(module: str, imported: str) -> str | None:
    """Return why the module may not import this, and what to do instead; None if it may."""
    here = package_of(module)
    top = imported.split(".")[0]
    tree = here.split(".")[0]
    if imported.startswith("."):
        return f"{module} imports {imported}: write the whole name, from allpairs on"
    if top in (*TREES, "app"):
        if (imported in WORDS and here not in WORDS) or package_of(imported) == here or imported in TREES:
            return None
        allowed = allowed_imports(here)
        if any(imported == name or imported.startswith(name + ".") for name in allowed):
            return None
        return f"{module} may import {', '.join(allowed) or 'nothing of it'}, not {imported}: {INSTEAD[tree]}"
    owners = LIBRARIES.get(top)
    if top == "streamlit" and here.endswith(".ui"):
        owners = None
    if owners and not any(here == owner or here.startswith(owner + ".") for owner in owners):
        return f"{module} imports {imported}, which only {', '.join(owners)} may: {INSTEAD[tree]}"
    if here in LIGHT and top not in sys.stdlib_module_names and top not in LIGHT[here]:
        return f"{module} imports {imported}: {here} is light, so that everything can stand on it: {INSTEAD[tree]}"
    return None


@cache
def sources() -> dict[str, list[str]]:
    """Return what each module of the product imports."""
    files = [ROOT / "app.py", *(path for tree in TREES for path in sorted((ROOT / tree).rglob("*.py")))]
    return {module_of(path): list(imports_of(path.read_text())) for path in files}


def test_a_package_imports_only_what_it_may() -> None:
    packages = {package_of(module) for module in sources()}
    assert packages <= {*PACKAGES, *WORDS, *TREES, *SHARED, *ROOMS}, "give the new package a row in PACKAGES"
    faults = [why for module, imported in sources().items() for one in imported if (why := fault(module, one))]
    assert not faults, "\n".join(faults)


def test_the_table_has_no_more_than_there_is() -> None:
    used: dict[str, set[str]] = defaultdict(set)
    for module, imported in sources().items():
        names = {part for name in imported for part in (name.split(".")[0], package_of(name))}
        used[package_of(module)] |= names
    unused = {}
    for package, row in PACKAGES.items():
        tree = package.split(".")[0]
        unneeded = [name for name in row.split() if not {name, f"{tree}.{name}"} & used[package]]
        if unneeded:
            unused[package] = unneeded
    assert unused == {}, "nobody needs these arrows: take them out of PACKAGES"


def test_the_design_page_shows_the_table() -> None:
    page = (ROOT / "docs" / "design.md").read_text()
    rows = re.findall(r"^\| `((?:annotate|learner|db|allpairs)(?:\.\w+)*)` \| .* \| (.*) \|$", page, re.MULTILINE)
    shown = {package: row.replace(", ", " ").strip("–") for package, row in rows}
    assert shown == {name: row for name, row in PACKAGES.items() if name != "app" and "__main__" not in name}


def test_no_import_runs_in_a_circle() -> None:
    for graph in (sources(), by_package(sources())):
        try:
            list(TopologicalSorter(graph).static_order())
        except CycleError as error:
            pytest.fail(" -> ".join(error.args[1]))


def by_package(imports: Mapping[str, list[str]]) -> dict[str, set[str]]:
    graph: dict[str, set[str]] = defaultdict(set)
    for module, imported in imports.items():
        graph[package_of(module)] |= {package_of(one) for one in imported} - {package_of(module)}
    return graph


@pytest.mark.parametrize(
    ("module", "imported", "why"),
    [
        ("annotate.features.labels.export", "learner.models.encoder", "ask for a job"),
        ("annotate.features.labels.export", "annotate.features.labels.ui.state", "may import"),
        ("annotate.features.quality.calibration_chart", "torch", "only learner may"),
        ("annotate.features.quality.calibration_chart", "streamlit", "annotate.pages"),
        ("annotate.pages.label", "streamlit", None),
        ("annotate.features.projects.projects", "learner.light.catalog", None),
        ("annotate.features.projects.projects", "app", "may import"),
        ("learner.loop.round", "db.schema.tables", "hand arrays in"),
        ("learner.loop.round", "learner.jobs.data.project_data", "hand arrays in"),
        ("learner.loop.round", "db.corpus.corpus", None),
        ("learner.cli", "learner.worker", None),
        ("learner.cli", "db.schema.engine", "learner/jobs"),
        ("learner.jobs.data.project_data", "db.schema.tables", None),
        ("learner.jobs.data.project_data", "annotate.kit.jobs.requests", "hand arrays in"),
        ("learner.light.catalog.strategies", "numpy", "is light"),
        ("learner.metrics.text", "learner.search.exact", "nothing of it"),
        ("db.labels.tasks", "numpy", "move what computes"),
        ("db.labels.tasks", "learner.light.catalog", "move what computes"),
        ("db.domain", "db.errors", "nothing of it"),
        ("db.corpus.files", "sqlalchemy", "is light"),
        ("db.corpus.files", "pyarrow.parquet", None),
    ],
)
def test_the_rule_itself(module: str, imported: str, why: str | None) -> None:
    found = fault(module, imported)
    assert found is None if why is None else why in str(found)


def test_imports_are_found_wherever_they_stand() -> None:
    source = (
        "import a.b\nfrom allpairs.db import corpus, files\nfrom db import errors\n"
        "def f():\n    from allpairs.db.domain import A\n    from . import x\n"
    )
    assert set(imports_of(source)) == {"a.b", "db.corpus", "db.files", ".db", "db.domain", "."}


def test_a_circle_is_found() -> None:
    assert by_package({"a.b.c": ["a.d.e"], "a.d.e": ["a.b.f"]}) == {"a.b": {"a.d"}, "a.d": {"a.b"}}


def test_the_app_never_loads_a_model_library() -> None:
    names = [name for name in sources() if name.startswith("annotate.") and ".pages" not in name
             and not name.endswith(("__main__", ".shell.app"))]  # fmt: skip
    assert len(names) > 100
    wanted = ", ".join(f"allpairs.{name}" for name in names)
    code = f"import sys, {wanted}\nprint(sorted(set(sys.modules) & set({HEAVY!r})))"
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert run.stdout.strip().splitlines()[-1:] == ["[]"], run.stderr
