"""The documents say what is true: commands, strategies, requirements, links."""

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from annotate.__main__ import app as annotate_app
from db.domain import Settings
from learner.catalog import STRATEGIES
from learner.cli import app as learner_app
from scripts import reference
from tests.helpers.paths import ROOT

APPS = {"annotate": annotate_app, "learner": learner_app}
README = (ROOT / "README.md").read_text()
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


LINK = re.compile(r"\]\((?!https?:)([^)\s]*)\)")


def prose(document: Path) -> str:
    """The text of a page without its code."""
    return re.sub(r"^```.*?^```$", "", document.read_text(), flags=re.DOTALL | re.MULTILINE)


def anchors(document: Path) -> set[str]:
    """The anchors of a page's headings, as a Markdown site makes them."""
    headings = re.findall(r"^#+ (.+)$", prose(document), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def links(document: Path) -> list[tuple[Path, str]]:
    """The file and the anchor of each local link and image of a page."""
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
    listed = [target for target, _ in links(index)]
    assert sorted(listed) == sorted(page for page in (ROOT / "docs").glob("*.md") if page != index)
    assert index in [target for target, _ in links(ROOT / "README.md")]


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


@pytest.mark.parametrize("module", ["annotate", "learner"])
def test_every_command_of_the_readme_exists(module: str) -> None:
    options = {}
    for line in (
        README.split("## Command line")[1].split("```")[1].replace("\n                           ", " ").splitlines()
    ):
        if not line.startswith(f"python -m {module} "):
            continue
        words = line.split("#")[0].split()[3:]
        command = [word for word in words if re.fullmatch(r"[a-z]+", word)][: 2 if module == "annotate" else 1]
        options[tuple(command)] = re.findall(r"--[a-z-]+", line.split("#")[0])
    assert options
    for command, named in options.items():
        name = [word for word in command if word != "FILE"]
        run = CliRunner().invoke(APPS[module], [*name, "--help"])
        assert run.exit_code == 0, run.output
        assert all(option in run.output for option in named), (name, named, run.output)
        assert "Example:" in run.output
