"""A real nginx on ports of its own, with servers made from the documented file."""

import shutil
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tests.helpers.paths import ROOT

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
            _wait_for(process, port, folder / "error.log")
            yield
        finally:
            process.terminate()


def _wait_for(process: "subprocess.Popen[bytes]", port: int, log: Path) -> None:
    for _ in range(200):
        assert process.poll() is None, log.read_text(encoding="utf-8")
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.05)
    raise AssertionError(log.read_text(encoding="utf-8"))
