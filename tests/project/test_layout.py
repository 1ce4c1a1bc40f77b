"""The layout of files: folders of manageable size, and tests mirroring the packages."""

import re
from pathlib import Path

from tests.helpers.machine import ROOT

IMPORT = re.compile(r"^\s*(?:from|import) (tests\.(?:\w+\.)*(?:test_\w+|conftest))\b", re.MULTILINE)
TREES = ("annotate", "learner", "db", "benchmarks")
TEST = re.compile(r"^ *(?:async )?def (test_\w+)", re.MULTILINE)
MOST = 20  # modules in a folder
LONGEST = 60  # characters of a test's name
LONG = ("annotate/pages", "db/migrations/versions")  # the framework wants all of these in one folder


def folders(tree: str) -> list[Path]:
    """Return the folders of a tree that contain source."""
    return sorted({path.parent for path in (ROOT / tree).rglob("*.py")})


def test_no_folder_has_too_many_modules() -> None:
    counts = {
        str(folder.relative_to(ROOT)): sum(path.stem != "__init__" for path in folder.glob("*.py"))
        for tree in (*TREES, "scripts", "tests")
        for folder in folders(tree)
    }
    assert len(counts) > 50
    assert {name: n for name, n in counts.items() if n > MOST and name not in LONG} == {}


def test_tests_lie_as_the_packages_do() -> None:
    mirrored = [folder for tree in TREES for folder in folders(f"tests/{tree}")]
    assert len(mirrored) > 30
    assert [str(folder) for folder in mirrored if not (ROOT / folder.relative_to(ROOT / "tests")).is_dir()] == []


def test_no_test_module_imports_another() -> None:
    modules = sorted((ROOT / "tests").rglob("*.py"))
    assert len(modules) > 200
    found = {str(path.relative_to(ROOT)): others for path in modules if (others := others_in(path))}
    assert found == {}, "put what both need into tests/helpers"


def test_names_of_tests_are_short() -> None:
    names = [name for path in (ROOT / "tests").rglob("test_*.py") for name in TEST.findall(path.read_text("utf-8"))]
    assert len(names) > 1000
    assert [name for name in names if len(name) > LONGEST] == []


def others_in(path: Path) -> list[str]:
    """Return the test modules that this file imports, except itself, which a page under test may have to name."""
    own = ".".join(path.relative_to(ROOT).with_suffix("").parts)
    return [module for module in IMPORT.findall(path.read_text(encoding="utf-8")) if module != own]


def test_each_step_of_a_job_has_a_name_of_its_own() -> None:
    """A job that is resumed finds its steps by their names alone."""
    step = re.compile(r"^@job_step\ndef (\w+)", re.MULTILINE)
    names = [name for path in (ROOT / "learner").rglob("*.py") for name in step.findall(path.read_text("utf-8"))]
    assert len(names) > 20 and len(names) == len(set(names))
