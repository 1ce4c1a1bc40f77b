"""requirements.lock: all packages that the requirements files bring, at one version, with hashes that pip checks."""

import hashlib
import re
import subprocess
import sys
import zipfile
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from scripts import lock
from tests.helpers.machine import ROOT

TEXT = lock.LOCK.read_text(encoding="utf-8")
PINS = lock.pinned(TEXT)
RENEW = "run `make lock` and commit the lock"
VIA = re.compile(r"^([\w.-]+)==.*?^    # via (.+?)$", re.MULTILINE | re.DOTALL)


def requirements(name: str) -> list[Requirement]:
    """Return what a requirements file names itself."""
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    return [Requirement(line) for line in lines if line and not line.startswith(("#", "-r"))]


FILES = {file.name: requirements(file.name) for file in ROOT.glob("requirements*.txt")}


def satisfied(requirement: Requirement) -> bool:
    """Tell whether the lock has a version that the requirement allows."""
    return requirement.specifier.contains(PINS.get(canonicalize_name(requirement.name), "0.dev0"), prereleases=True)


def test_every_package_has_hashes_and_one_version() -> None:
    entries = re.sub(r"\\\n", "", re.sub(r"^ *#.*\n", "", TEXT, flags=re.MULTILINE)).split("\n")
    wrong = [
        entry[:60]
        for entry in entries
        if entry and not re.fullmatch(r"[a-z0-9-]+==[\w.]+( ;[^#]+?)? +(--hash=sha256:[0-9a-f]{64} *)+", entry)
    ]
    assert wrong == []
    assert len(PINS) == sum(map(bool, entries)) > 150


@pytest.mark.parametrize("name", FILES)
def test_the_lock_has_what_a_file_names(name: str) -> None:
    assert [str(one) for one in FILES[name] if not satisfied(one)] == [], RENEW


def test_the_lock_has_what_these_bring() -> None:
    missing, seen = [], set()
    waiting = [one for named in FILES.values() for one in named]
    while waiting:
        one = waiting.pop()
        if str(one) not in seen:
            seen.add(str(one))
            waiting += brought(one)
            missing += [] if satisfied(one) else [str(one)]
    assert len(seen) > 150
    assert missing == [], RENEW


def brought(requirement: Requirement) -> list[Requirement]:
    """Return what the package asks for here, if it is installed at the lock's version."""
    try:
        found = distribution(requirement.name)
    except PackageNotFoundError:  # another platform's, or faiss-gpu
        return []
    if Version(found.version).public != PINS.get(canonicalize_name(requirement.name)):
        return []
    asked = [Requirement(line) for line in found.requires or ()]
    extras = {"", *requirement.extras}
    return [one for one in asked if not one.marker or any(one.marker.evaluate({"extra": extra}) for extra in extras)]


def test_the_lock_has_nothing_else() -> None:
    brings = dict(VIA.findall(TEXT))
    assert brings.keys() == PINS.keys()
    for name, parents in brings.items():
        for parent in parents.split(", "):
            file = parent.removeprefix("-r ")
            named = {canonicalize_name(one.name) for one in FILES.get(file, ())}
            assert parent in PINS or name in named, f"{parent} does not bring {name}: {RENEW}"


def test_builds_that_pypi_lacks_are_of_the_locked_version() -> None:
    bare = re.sub(rf"\n +--hash=sha256:({'|'.join(lock.BUILDS.values())}) \\", "", TEXT)
    assert bare != TEXT
    assert lock.with_builds(bare) == TEXT
    with pytest.raises(SystemExit, match="torch"):
        lock.with_builds(bare.replace("\ntorch==", "\ntorch==9"))


def test_make_installs_nothing_without_a_hash() -> None:
    told = subprocess.run(
        ["make", "--always-make", "--dry-run", ".venv/app", ".venv/dev", ".venv/bin/allpairs", "PIP_FIND_LINKS=x"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    first, *others = [line for line in told.splitlines() if "pip install" in line]
    assert len(others) == 4
    assert all("--build-constraint requirements.lock" in line for line in others)
    assert all("--require-hashes -c requirements.lock" in line for line in others if "--editable ." not in line)
    extract, install = first.split(" | ")
    assert "--require-hashes" in install
    given = subprocess.run(["sh", "-c", extract], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert lock.pinned(given) == {"pip": PINS["pip"]}
    assert given.count("--hash=") == given.count("\n") - 1
    assert not given.endswith("\\\n")


@pytest.mark.parametrize("wrong", ["", "first", "second"])
def test_a_wrong_hash_in_the_lock_stops_pip(wrong: str, tmp_path: Path) -> None:
    pytest.importorskip("pip", minversion="26.1")
    hashes = {"first": wheel(tmp_path, "first", "second"), "second": wheel(tmp_path, "second")}
    lines = [f"{name}==1 --hash=sha256:{'0' * 64 if name == wrong else hashes[name]}\n" for name in hashes]
    (tmp_path / "lock").write_text("".join(lines))
    (tmp_path / "asked").write_text("first==1\n")
    pip = [sys.executable, "-m", "pip", "install", "--dry-run", "--ignore-installed", "--no-index", "--isolated"]
    pip += ["--require-hashes", "--find-links", ".", "-r", "asked", "-c", "lock"]
    done = subprocess.run(pip, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode == 0) == (not wrong), done.stderr
    assert "DO NOT MATCH THE HASHES" in done.stderr or not wrong


def wheel(folder: Path, name: str, needs: str = "") -> str:
    """Write an empty wheel; return its SHA-256."""
    file = folder / f"{name}-1-py3-none-any.whl"
    about = f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n" + (f"Requires-Dist: {needs}\n" if needs else "")
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(f"{name}-1.dist-info/METADATA", about)
        archive.writestr(f"{name}-1.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{name}-1.dist-info/RECORD", "")
    return hashlib.sha256(file.read_bytes()).hexdigest()
