"""The documents say what is true: commands, strategies, requirements, links."""

import re
import subprocess
import sys

import pytest

from learner.catalog import STRATEGIES
from tests.conftest import ROOT

README = (ROOT / "README.md").read_text()
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def test_every_strategy_is_in_the_readme_as_in_the_catalog() -> None:
    rows = re.findall(r"^\| `([\w-]+)` \| (.+?) \| (.+?) \|$", README, flags=re.MULTILINE)
    assert rows == [(name, entry.title, entry.description) for name, entry in STRATEGIES.items()]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_somewhere(document) -> None:  # type: ignore[no-untyped-def]
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", document.read_text()):
        assert (document.parent / target).exists(), f"{document.name}: {target} is missing"


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
        run = subprocess.run([sys.executable, "-m", module, *name, "--help"], capture_output=True, text=True, cwd=ROOT)
        assert run.returncode == 0, run.stderr
        assert all(option in run.stdout for option in named), (name, named, run.stdout)
        assert "Example:" in run.stdout
