"""A PostgreSQL server for tests and benchmarks."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

from tests.helpers.services.ports import free_port


def program(name: str) -> str | None:
    """Return the path of a server program, which Debian keeps outside PATH."""
    found = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    return str(found[-1]) if found else shutil.which(name)


def missing() -> bool:
    """Return whether the server's programs are missing."""
    return program("initdb") is None or program("pg_ctl") is None


class Server:
    """A server with its data in the folder; it can be stopped and started again. options: of the server."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.folder, self.port = folder, free_port()
        self.user = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []  # it refuses to run as root
        self.options = " ".join([f"-p {self.port} -k {folder} -c listen_addresses=localhost", *options])
        if self.user:
            shutil.chown(folder, "postgres")
            for parent in folder.parents[:3]:
                parent.chmod(parent.stat().st_mode | 0o055)
        self._call("initdb", "--no-sync", "-A", "trust", "-U", "allpairs")

    @property
    def url(self) -> str:
        """The address of an empty database."""
        return f"postgresql+psycopg://allpairs@localhost:{self.port}/postgres"

    def start(self) -> None:
        self._call("pg_ctl", "-o", self.options, "-l", str(self.folder / "log"), "-w", "start")

    def stop(self) -> None:
        """Stop the server as in a crash."""
        self._call("pg_ctl", "-m", "immediate", "stop")

    def _call(self, name: str, *arguments: str) -> None:
        command = [*self.user, str(program(name)), "-D", str(self.folder / "data"), *arguments]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd="/")


@contextmanager
def running_postgres(folder: Path, *options: str) -> Iterator[str]:
    """Yield the address of an empty database on a server that runs until the block ends. options: of the server."""
    server = Server(folder, *options)
    server.start()
    try:
        yield server.url
    finally:
        server.stop()


def new_database(server: str, name: str, like: str | None = None) -> str:
    """Make a database of this name, replacing any: a copy of `like`, else empty. Return its address."""
    template = like.rsplit("/", 1)[1] if like else "template1"
    _run(server, _dropped(name), f"CREATE DATABASE {name} TEMPLATE {template}")
    return f"{server.rsplit('/', 1)[0]}/{name}"


def drop_database(server: str, name: str) -> None:
    """Drop the database, whoever is connected to it."""
    _run(server, _dropped(name))


def _dropped(name: str) -> str:
    return f"DROP DATABASE IF EXISTS {name} WITH (FORCE)"


def _run(server: str, *statements: str) -> None:
    # Not through SQLAlchemy, whose first connection takes four times as long as all of this.
    with psycopg.connect(server.replace("+psycopg", ""), autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement.encode())
