"""A PostgreSQL server of one's own, for tests and benchmarks."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.browser.conftest import free_port


def program(name: str) -> str | None:
    """The path of a program of the server: Debian keeps them out of the search path."""
    found = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    return str(found[-1]) if found else shutil.which(name)


def missing() -> bool:
    """Whether the server's programs are missing."""
    return program("initdb") is None or program("pg_ctl") is None


@contextmanager
def running_postgres(folder: Path, *options: str) -> Iterator[str]:
    """The address of an empty database; its server lives in the folder and stops at the end. options: of the server."""
    initdb, pg_ctl, port = str(program("initdb")), str(program("pg_ctl")), free_port()
    user = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []  # the server refuses to run as root
    if user:
        shutil.chown(folder, "postgres")
        for parent in folder.parents[:3]:
            parent.chmod(parent.stat().st_mode | 0o055)
    data, quiet = str(folder / "data"), subprocess.DEVNULL
    subprocess.run([*user, initdb, "-D", data, "-A", "trust", "-U", "allpairs"], check=True, stdout=quiet, cwd="/")
    said = " ".join([f"-p {port} -k {folder} -c listen_addresses=localhost", *options])
    start = [*user, pg_ctl, "-D", data, "-o", said, "-l", str(folder / "log"), "-w", "start"]
    subprocess.run(start, check=True, stdout=quiet, cwd="/")
    try:
        yield f"postgresql+psycopg://allpairs@localhost:{port}/postgres"
    finally:
        subprocess.run([*user, pg_ctl, "-D", data, "-m", "immediate", "stop"], check=True, stdout=quiet, cwd="/")
