"""Write requirements.lock: the version and the SHA-256 of every file that pip may install.

python -m scripts.lock          (`make lock`)

Versions in the lock stay while they fit the requirements files. To renew one, delete its lines first.
"""

import re
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parent.parent
LOCK = ROOT / "requirements.lock"
FILES = ("requirements-dev.txt", "requirements-gpu.txt")  # between them they name all others
PYTHON = "3.11.5"  # the oldest that the packages for development allow
# Hashes of builds that PyPI does not have. This is the wheel of torch that HEADER names.
BUILDS = {"torch==2.13.0": "6746dbcbeb526eb61330b76b41ff1b4eb848951103a892eeb080dfa2b264667b"}
HEADER = """\
# Written by `make lock`: change the requirements files, not this one.
# Every package that those files bring on Linux (x86-64), macOS and Windows with Python 3.11 to 3.14, and the SHA-256 of
# each of its files on PyPI. Tested on Linux x86-64 with Python 3.11. For that platform there is also the build of torch
# without CUDA, from PyTorch's own index: torch-2.13.0+cpu-cp311-cp311-manylinux_2_28_x86_64.whl.
# These are constraints, and pip 26.1 is the first that checks the hashes of constraints:
# pip install --require-hashes -r requirements.txt -c requirements.lock --build-constraint requirements.lock
"""


def pinned(lock: str) -> dict[str, str]:
    """Return the version of each package in the text of a lock."""
    return dict(re.findall(r"^([\w.-]+)==([^\s;]+)", lock, re.MULTILINE))


def compiled(pins: dict[str, str], folder: Path) -> str:
    """Return the lock of what PyPI has, with these versions where they fit; its hashes are PyPI's of today."""
    new = folder / LOCK.name
    new.write_text("".join(f"{name}=={version}\n" for name, version in pins.items()), encoding="utf-8")
    command = [sys.executable, "-m", "uv", "pip", "compile", "--quiet", "--no-config", "--universal"]
    command += ["--python-version", PYTHON, "--default-index", "https://pypi.org/simple", "--generate-hashes"]
    command += ["--no-header", "--annotation-style", "line", "--output-file", str(new), *FILES]
    subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    return new.read_text(encoding="utf-8")


def with_builds(lock: str) -> str:
    """Return the lock with the hashes of builds that PyPI does not have.

    Raises:
        SystemExit: The lock has another version of such a package.
    """
    for pin, digest in BUILDS.items():
        if f"\n{pin} \\\n" not in lock:
            raise SystemExit(f"requirements.lock has no {pin}: bring BUILDS and HEADER in scripts/lock.py up to date")
        lock = lock.replace(f"\n{pin} \\\n", f"\n{pin} \\\n    --hash=sha256:{digest} \\\n")
    return lock


def main() -> None:
    """Write the lock."""
    with TemporaryDirectory() as folder:
        lock = compiled(pinned(LOCK.read_text(encoding="utf-8")), Path(folder))
    LOCK.write_text(HEADER + with_builds("\n" + lock), encoding="utf-8")


if __name__ == "__main__":
    main()
