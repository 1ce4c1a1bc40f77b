"""Servers for tests and benchmarks on ports of their own: PostgreSQL, nginx and S3."""

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import psycopg

from tests.helpers.machine import ROOT, free_port


def postgres_program(name: str) -> str | None:
    """Return the path of a server program, which Debian keeps outside PATH."""
    found = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    return str(found[-1]) if found else shutil.which(name)


def is_postgres_missing() -> bool:
    """Return whether the server's programs are missing."""
    return postgres_program("initdb") is None or postgres_program("pg_ctl") is None


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
        command = [*self.user, str(postgres_program(name)), "-D", str(self.folder / "data"), *arguments]
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
    _execute(server, _dropped(name), f"CREATE DATABASE {name} TEMPLATE {template}")
    return f"{server.rsplit('/', 1)[0]}/{name}"


def drop_database(server: str, name: str) -> None:
    """Drop the database, whoever is connected to it."""
    _execute(server, _dropped(name))


def _dropped(name: str) -> str:
    return f"DROP DATABASE IF EXISTS {name} WITH (FORCE)"


def _execute(server: str, *statements: str) -> None:
    # Not through SQLAlchemy, whose first connection takes four times as long as all of this.
    with psycopg.connect(server.replace("+psycopg", ""), autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement.encode())


DOCUMENTED = ROOT / "deploy" / "nginx.conf"
SOCKETS = (
    "proxy_http_version 1.1;",
    "proxy_set_header Upgrade $http_upgrade;",
    'proxy_set_header Connection "upgrade";',
)
MAIN = """daemon off; user root; worker_processes 1; pid {folder}/nginx.pid; error_log {folder}/error.log;
events {{ }}
http {{
    access_log off;
    client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
    {servers}
}}
"""


def nginx_path() -> str | None:
    """Return the path of nginx, which Debian keeps out of people's PATH."""
    return shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")


def documented(port: int, app_port: int, folder: Path, changes: Mapping[str, str] | None = None) -> str:
    """Return the documented server on this port, in front of the app on that one. changes: texts in place of others."""
    server = DOCUMENTED.read_text()
    required = {
        "listen 443 ssl": f"listen 127.0.0.1:{port} ssl",
        "/etc/ssl/pairs.example.org": str(folder / "certificate"),
        "http://127.0.0.1:8501": f"http://127.0.0.1:{app_port}",
    }
    for old, new in [*required.items(), *(changes or {}).items()]:
        assert old in server, f"{DOCUMENTED.name} has no {old!r}"
        server = server.replace(old, new)
    return server


def make_certificate(folder: Path, host: str = "localhost") -> None:
    """Write a certificate of the host that no browser trusts, and its key."""
    command = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:P-256",
        "-nodes",
        "-days",
        "2",
    ]
    names = [
        "-subj",
        f"/CN={host}",
        "-addext",
        f"subjectAltName=DNS:{host}",
        "-keyout",
        f"{folder}/certificate.key",
        "-out",
        f"{folder}/certificate.pem",
    ]
    subprocess.run([*command, *names], check=True, capture_output=True)


@contextmanager
def running_nginx(folder: Path, port: int, servers: str) -> Iterator[None]:
    """Run nginx with these servers, one of which listens on this port."""
    configuration = folder / "nginx.conf"
    configuration.write_text(MAIN.format(folder=folder, servers=servers))
    program = nginx_path()
    assert program is not None
    with subprocess.Popen([program, "-p", str(folder), "-c", str(configuration)], stderr=subprocess.DEVNULL) as process:
        try:
            _wait_for_nginx(process, port, folder / "error.log")
            yield
        finally:
            process.terminate()


def _wait_for_nginx(process: "subprocess.Popen[bytes]", port: int, log: Path) -> None:
    for _ in range(200):
        assert process.poll() is None, log.read_text(encoding="utf-8")
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.05)
    raise AssertionError(log.read_text(encoding="utf-8"))


KEY, SECRET, BUCKET = "key", "secret", "bucket"


def rclone_path() -> str | None:
    """Return the path of rclone, which its package installs beside Python, or None if it is missing."""
    return shutil.which("rclone", path=str(Path(sys.executable).parent)) or shutil.which("rclone")


@contextmanager
def running_s3(folder: Path) -> Iterator[dict[str, str]]:
    """Yield the environment in which `s3://bucket` is a new bucket of a server that runs until the block ends."""
    (folder / BUCKET).mkdir()
    port = free_port()
    command = [
        str(rclone_path()),
        "serve",
        "s3",
        "--addr",
        f"127.0.0.1:{port}",
        "--auth-key",
        f"{KEY},{SECRET}",
        folder,
    ]
    with subprocess.Popen(command, env={"RCLONE_CONFIG": "/dev/null", "HOME": str(folder)}, stderr=-3) as server:
        try:
            _wait_for_s3(port)
            yield {
                "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
                "AWS_ALLOW_HTTP": "true",
                "AWS_REGION": "us-east-1",
                "AWS_ACCESS_KEY_ID": KEY,
                "AWS_SECRET_ACCESS_KEY": SECRET,
            }
        finally:
            server.kill()


def _wait_for_s3(port: int) -> None:
    end = time.monotonic() + 30
    while time.monotonic() < end:
        with socket.socket() as attempt:
            if attempt.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise RuntimeError("rclone does not answer")
