"""The documents are true: commands, names in the code, strategies, requirements, sources, links."""

import ast
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
import typer

from allpairs.__main__ import everything
from allpairs.db.domain import Settings
from allpairs.db.version import VERSION
from allpairs.learner.light.catalog import STRATEGIES
from scripts import reference
from tests.helpers.machine import ROOT

COMMANDS = typer.main.get_command(everything())
DECISIONS = ROOT / "docs" / "decisions"
CONTRIBUTING = ROOT / "CONTRIBUTING.md"
REFERENCES = ROOT / "docs" / "references.md"
LOG = ROOT / "docs" / "log.md"  # tells of what was: old files, old words
DOCUMENTS = [ROOT / "README.md", ROOT / "SECURITY.md", CONTRIBUTING, *sorted((ROOT / "docs").rglob("*.md"))]
TREES = ("annotate", "learner", "db", "tests", "benchmarks", "scripts", "deploy", "docs")


LINK = re.compile(r"\]\((?!https?:)([^)\s]*)\)")


def prose(document: Path) -> str:
    """Return the text of a page without its code."""
    return re.sub(r"^```.*?^```$", "", document.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)


def anchors(document: Path) -> set[str]:
    """Return the anchors of a page's headings, as a Markdown site makes them."""
    headings = re.findall(r"^#+ (.+)$", prose(document), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def links(document: Path) -> list[tuple[Path, str]]:
    """Return the file and the anchor of each local link and image of a page."""
    found = [target.partition("#") for target in LINK.findall(prose(document))]
    return [((document.parent / path).resolve() if path else document, anchor) for path, _, anchor in found]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_somewhere(document: Path) -> None:
    for target, anchor in links(document):
        assert target.exists(), f"{document.name}: {target} is missing"
        if anchor:
            assert anchor in anchors(target), f"{document.name}: {target.name} has no heading #{anchor}"


def test_the_index_lists_every_page_and_the_readme_leads_to_it() -> None:
    index = ROOT / "docs" / "index.md"
    listed = {target for target, _ in links(index)}
    pages = {page for page in (ROOT / "docs").glob("*.md") if page != index}
    assert listed == pages | {CONTRIBUTING, DECISIONS / "index.md"}
    assert index in [target for target, _ in links(ROOT / "README.md")]


def test_the_index_of_decisions_lists_every_record() -> None:
    listed = [target for target, _ in links(DECISIONS / "index.md") if target.parent == DECISIONS]
    assert sorted(listed) == sorted(DECISIONS.glob("0*.md"))


def named(document: Path) -> Iterator[tuple[str, str]]:
    """Yield every file of the repository that a page names in backticks, and the name in it after a colon."""
    yield from re.findall(rf"`((?:{'|'.join(TREES)})/[\w./-]*)(?::([\w.]+))?`", prose(document))


@cache
def definitions(path: Path) -> set[str]:
    """Return what a file defines at its top level; of a script of the browser, its functions."""
    source = path.read_text(encoding="utf-8")
    if path.suffix == ".js":
        return set(re.findall(r"^(?:export default )?function (\w+)", source, flags=re.MULTILINE))
    body = ast.parse(source).body
    found = {one.name for one in body if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)}
    names = [one.targets if isinstance(one, ast.Assign) else [one.target]
             for one in body if isinstance(one, ast.Assign | ast.AnnAssign)]  # fmt: skip
    return found | {
        each.id for targets in names for one in targets for each in ast.walk(one) if isinstance(each, ast.Name)
    }


@pytest.mark.parametrize("document", [page for page in DOCUMENTS if page != LOG], ids=lambda path: path.name)
def test_files_and_functions_that_a_page_names_exist(document: Path) -> None:
    for path, name in named(document):
        if "my_" in path or "NN" in path:  # an example
            continue
        assert (ROOT / path).exists(), f"{document.name} names {path}"
        assert not name or name in definitions(ROOT / path), f"{document.name}: {path} has no {name}"


def commands(document: Path) -> Iterator[list[str]]:
    """Yield the words of each of our commands in a page's blocks of code."""
    for block in re.findall(
        r"^```\w*\n(.*?)^```$", document.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE
    ):
        for line in block.replace("\\\n", " ").splitlines():
            found = re.search(r"^(?:\S+/)?allpairs (.+)", line.split(" #")[0])
            if found:
                yield found[1].split()


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_command_of_a_page_exists(document: Path) -> None:
    for words in commands(document):
        command = COMMANDS
        while hasattr(command, "commands"):
            assert words and words[0] in command.commands, f"{document.name}: allpairs has no {words[:1]}"
            command = command.commands[words.pop(0)]
        options = {option for parameter in command.params for option in parameter.opts} | {"--help"}
        unknown = [word for word in words if word.startswith("--") and word.rstrip("]") not in options]
        assert not unknown, f"{document.name}: allpairs {command.name} has no {unknown}"


@pytest.mark.parametrize("document", [page for page in DOCUMENTS if page != LOG], ids=lambda path: path.name)
def test_every_benchmark_of_a_page_exists(document: Path) -> None:
    for module in re.findall(
        r"(?:python -m |`)((?:benchmarks|scripts|tests\.system)(?:\.\w+)*)[ `]", document.read_text(encoding="utf-8")
    ):
        path = ROOT / module.replace(".", "/")
        assert path.with_suffix(".py").exists() or (path / "__main__.py").exists(), f"{document.name} names {module}"


# Surname (2020); Surname and Surname (2020); Surname, Surname and Surname (2020); Surname et al. (2020); or 2020 within
# the parentheses of the whole.
CITED = re.compile(r"\b([A-Z][\w’-]+)(?:(?:, [A-Z]\w+)* and [A-Z]\w+| et al\.)?,? \(?((?:19|20)\d\d)\)")


@pytest.mark.parametrize(
    "document", [page for page in DOCUMENTS if page not in (LOG, REFERENCES)], ids=lambda path: path.name
)
def test_every_paper_that_a_page_cites_is_among_the_references(document: Path) -> None:
    listed = REFERENCES.read_text()
    for author, year in CITED.findall(" ".join(prose(document).split())):
        assert re.search(rf"\| {author}.*\({year}\)", listed), f"{document.name} cites {author} ({year})"
    assert not re.search(r"[Pp]aper 00\d", document.read_text(encoding="utf-8")), (
        f"{document.name}: cite by author and year"
    )


def test_the_reference_is_as_the_code_is() -> None:
    drifted = f"docs/reference.md is not as the code is: run `{reference.COMMAND}` and commit the page"
    assert reference.PAGE.read_text() == reference.page(), drifted


def test_the_reference_names_everything_there_is() -> None:
    text = reference.PAGE.read_text()
    assert [name for name in (*Settings.model_fields, *STRATEGIES) if f"| `{name}` |" not in text] == []
    assert set(reference.ENVIRONMENT) == reference.variables()


def test_the_requirements_for_a_gpu_differ_in_faiss_alone() -> None:
    def pins(name: str) -> list[str]:
        return [line for line in (ROOT / name).read_text().splitlines() if line and not line.startswith("#")]

    cpu, gpu = pins("requirements.txt"), pins("requirements-gpu.txt")
    assert [line.replace("faiss-cpu", "faiss-gpu") for line in cpu] == gpu
    assert all("==" in line for line in cpu)


def test_the_version_is_the_same_everywhere() -> None:
    assert f"version: {VERSION}" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert VERSION in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_the_package_asks_for_what_is_tested() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for extra, wanted in {"": project["dependencies"], **project["optional-dependencies"]}.items():
        file = ROOT / (f"requirements-{extra}.txt" if extra else "requirements.txt")
        pins = pins_of(file) if extra != "dev" else pins_of(file) | pins_of(ROOT / "requirements.lock")
        asked = dict(one.lower().split(">=") for one in wanted if ">=" in one)
        assert {name: pins[name].split(".")[:2] for name in asked} == {n: v.split(".") for n, v in asked.items()}
        assert extra in ("dev", "gpu") or asked.keys() == pins.keys()  # those files have other files' pins too


def pins_of(file: Path) -> dict[str, str]:
    return dict(re.findall(r"^(\S+)==(\S+)", file.read_text(encoding="utf-8").lower(), re.MULTILINE))
