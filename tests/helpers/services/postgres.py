"""A PostgreSQL server of one's own, for tests and benchmarks."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import create_engine, text

from tests.helpers.services.ports import free_port


def program(name: str) -> str | None:
    """The path of a program of the server: Debian keeps them out of the search path."""
    found = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    return str(found[-1]) if found else shutil.which(name)


def missing() -> bool:
    """Whether the server's programs are missing."""
    return program("initdb") is None or program("pg_ctl") is None


class Server:
    """A server whose data lie in the folder; it can be stopped and started again. options: of the server."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.folder, self.port = folder, free_port()
        self.user = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []  # it refuses to run as root
        self.options = " ".join([f"-p {self.port} -k {folder} -c listen_addresses=localhost", *options])
        if self.user:
            shutil.chown(folder, "postgres")
            for parent in folder.parents[:3]:
                parent.chmod(parent.stat().st_mode | 0o055)
        self._call("initdb", "-A", "trust", "-U", "allpairs")

    @property
    def url(self) -> str:
        """The address of an empty database."""
        return f"postgresql+psycopg://allpairs@localhost:{self.port}/postgres"

    def start(self) -> None:
        self._call("pg_ctl", "-o", self.options, "-l", str(self.folder / "log"), "-w", "start")

    def stop(self) -> None:
        """Nothing; the server is gone, as at a crash."""
        self._call("pg_ctl", "-m", "immediate", "stop")

    def _call(self, name: str, *arguments: str) -> None:
        command = [*self.user, str(program(name)), "-D", str(self.folder / "data"), *arguments]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd="/")


@contextmanager
def running_postgres(folder: Path, *options: str) -> Iterator[str]:
    """The address of an empty database; its server lives in the folder and stops at the end. options: of the server."""
    server = Server(folder, *options)
    server.start()
    try:
        yield server.url
    finally:
        server.stop()


def new_database(server: str, name: str, like: str | None = None) -> str:
    """The address of a new database of this name: a copy of the database `like`, else empty. One of that name goes."""
    drop_database(server, name)
    template = like.rsplit("/", 1)[1] if like else "template1"
    _run(server, f"CREATE DATABASE {name} TEMPLATE {template}")
    return f"{server.rsplit('/', 1)[0]}/{name}"


def drop_database(server: str, name: str) -> None:
    """Nothing; the server has no such database, whoever was connected to it."""
    _run(server, f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")


def _run(server: str, statement: str) -> None:
    engine = create_engine(server, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text(statement))
    engine.dispose()
