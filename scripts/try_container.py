"""Do what deploy/Containerfile says in an empty root, without a container engine, and wait until the app answers.

`python -m scripts.try_container` (as root, on Debian with debootstrap) makes a root of the image's Debian release with
its Python, runs COPY, RUN, ENV and WORKDIR there by chroot, starts CMD as USER, and asks /readyz. What an engine adds
is not tried: layers, the image's own Python build, networks and volumes, limits, and compose.yaml.
"""

import argparse
import os
import re
import shlex
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from benchmarks.scale.app_process import wait_for

ROOT = Path(__file__).parent.parent
FILE = ROOT / "deploy" / "Containerfile"
IGNORED = FILE.with_name("Containerfile.dockerignore")
PYTHON = "python3 python3-venv ca-certificates"  # the image has a Python of its own, in /usr/local
PORT = 8501
LONGEST = 180.0


def instructions(text: str) -> list[tuple[str, str]]:
    """Return each instruction's name and argument, without comments and with its lines joined."""
    lines = re.sub(r"\\\n", " ", re.sub(r"^#.*\n", "", text, flags=re.MULTILINE)).splitlines()
    return [(name, rest) for name, _, rest in (line.partition(" ") for line in lines if line.strip())]


@contextmanager
def empty_root(release: str, binds: list[str]) -> Iterator[Path]:
    """Yield a root with this Debian release and Python, with the host's devices; remove it afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="root"))
    folder.chmod(0o755)  # other users enter it too
    with ExitStack() as mounts:
        mounts.callback(shutil.rmtree, folder)
        _run(["debootstrap", "--variant=minbase", f"--include={PYTHON.replace(' ', ',')}", release, folder])
        for path in ("/dev", "/proc", *binds):
            place = folder / path.lstrip("/")
            place.mkdir(parents=True, exist_ok=True)
            _run(["mount", "--bind", path, place])
            mounts.callback(_run, ["umount", place])
        for name in ("/etc/resolv.conf", "/etc/ssl/certs/ca-certificates.crt"):
            shutil.copy(name, folder / name.lstrip("/"))
        yield folder


class Build:
    """The steps of a container file, done in a root."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.folder = "/"
        self.user = "root"
        self.command = [""]
        passed = {name: value for name, value in os.environ.items() if name.startswith("PIP_")}
        self.variables = {"PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "HOME": "/root", **passed}

    def do(self, name: str, rest: str) -> None:
        """Do one instruction."""
        print(f"{name} {rest}", flush=True)
        if name == "RUN":
            _run(self.inside(["sh", "-c", rest]))
        elif name == "WORKDIR":
            self.folder = rest
            (self.root / rest.lstrip("/")).mkdir(parents=True, exist_ok=True)
        elif name == "COPY":
            self.copy(*shlex.split(rest)[:-1])
        elif name == "ENV" or name == "ARG":
            for one in shlex.split(rest):
                variable, _, value = one.partition("=")
                self.variables[variable] = value.replace("$PATH", self.variables["PATH"])
        elif name == "USER":
            self.user = rest
            self.variables["HOME"] = f"/home/{rest}"
        elif name == "CMD":
            self.command = [part.strip(' "') for part in rest.strip("[]").split(",")]
        elif name not in ("FROM", "VOLUME", "EXPOSE"):
            raise SystemExit(f"{FILE.name}: {name} is not known here: add it to scripts/try_container.py")

    def copy(self, *patterns: str) -> None:
        """Copy files of the repository, as git lists them, less what the ignore file names."""
        left_out = [line for line in IGNORED.read_text(encoding="utf-8").splitlines() if line.strip()]
        for name in _run(["git", "ls-files"]).splitlines():
            path = Path(name)
            wanted = "." in patterns or any(path.match(pattern) and path.parent == Path() for pattern in patterns)
            if wanted and not any(name == one or name.startswith(f"{one}/") for one in left_out):
                to = self.root / self.folder.lstrip("/") / path
                to.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / path, to)

    def inside(self, command: list[str]) -> list[str]:
        """Return the command as one of the root's user, folder and variables."""
        given = [f"{name}={value}" for name, value in self.variables.items()]
        step = f"cd {self.folder} && exec {shlex.join(command)}"
        return ["chroot", f"--userspec={self.user}", str(self.root), "env", "-i", *given, "sh", "-c", step]


def try_container(binds: list[str]) -> float:
    """Do all steps and start the command; return the seconds until the app answered."""
    steps = instructions(FILE.read_text(encoding="utf-8"))
    release = steps[0][1].split("-")[-1]
    with empty_root(release, binds) as root:
        build = Build(root)
        for step in steps:
            build.do(*step)
        add = [build.command[0], "people", "add", "Anna", "--administrator"]  # the app starts with an account only
        subprocess.run(build.inside(add), input="a long password\n", text=True, check=True)
        began = time.perf_counter()
        process = subprocess.Popen(build.inside(build.command))
        try:
            wait_for(f"http://localhost:{PORT}/readyz", LONGEST)
            return time.perf_counter() - began
        finally:
            process.terminate()
            process.wait(60)


def _run(command: list[object] | list[str]) -> str:
    done = subprocess.run([str(part) for part in command], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        raise SystemExit(f"failed with {done.returncode}: {' '.join(map(str, command))}\n{done.stdout[-2000:]}")
    return done.stdout


def main() -> None:
    """Print the steps and how long the app took to answer."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bind", action="append", default=[], help="a folder of this machine that pip reads")
    print(f"the app answered after {try_container(parser.parse_args().bind):.0f} s")


if __name__ == "__main__":
    main()
