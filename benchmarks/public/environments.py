"""An environment for each peer, made from its pinned requirements."""

import subprocess
import sys
from pathlib import Path

REQUIREMENTS = Path(__file__).parent / "environments"


def python_of(name: str, folder: Path) -> Path:
    """Return the Python of a peer's environment below the folder, made anew if its requirements changed.

    Raises CalledProcessError if a package cannot be had.
    """
    if not name:
        return Path(sys.executable)
    wanted = REQUIREMENTS / f"{name}.txt"
    place = folder / name
    python = place / "bin" / "python"
    made = place / "requirements.txt"
    if not made.is_file() or made.read_text(encoding="utf-8") != wanted.read_text(encoding="utf-8"):
        subprocess.run([sys.executable, "-m", "venv", "--clear", place], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "--no-deps", "-r", wanted], check=True)
        made.write_text(wanted.read_text(encoding="utf-8"), encoding="utf-8")
    return python.absolute()
