"""The documented nginx in front of the running app, and the same file with one thing wrong."""

import re
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import httpx2 as httpx
import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from allpairs import ApiError, Client
from allpairs.annotate.frame.web.uploads import NO_PAGE
from tests.helpers.browser import App, workless_database
from tests.helpers.machine import ROOT, Require, free_ports
from tests.helpers.people import PASSWORD, make_person
from tests.helpers.services.servers import DOCUMENTED, SOCKETS, documented, make_certificate, nginx_path, running_nginx

BELOW = {"location / {": "location /pairs/ {"}
FAULTS = {
    "sockets": SOCKETS,
    "host": ("proxy_set_header Host $http_host;",),
    "length": ("client_max_body_size 250m;",),
    "tls": ("proxy_set_header X-Forwarded-Proto $scheme;",),
}
UNCHECKED = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
UNCHECKED.check_hostname = False
UNCHECKED.verify_mode = ssl.CERT_NONE


@dataclass
class Site:
    """The app as a browser reaches it: url ends without a slash."""

    url: str
    home: Path
    certificate: Path

    @property
    def log(self) -> str:
        return (self.home / "app.log").read_text()

    @property
    def origin(self) -> str:
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc}"

    def browser(self) -> httpx.Client:
        return httpx.Client(verify=UNCHECKED, headers={"Origin": self.origin, "Accept": "text/html"}, timeout=30)

    @contextmanager
    def signed_in(self) -> Iterator[httpx.Client]:
        with self.browser() as browser:
            answer = browser.post(f"{self.url}/login", data={"name": "Anna", "password": PASSWORD})
            assert (answer.status_code, answer.headers["location"]) == (303, f"{urlsplit(self.url).path}/")
            yield browser

    def open_socket(self, browser: httpx.Client) -> str:
        cookies = "; ".join(f"{name}={value}" for name, value in browser.cookies.items())
        address = f"{self.url.replace('https', 'wss')}/_stcore/stream"
        with connect(
            address, ssl=UNCHECKED, origin=self.origin, subprotocols=["streamlit"],
            additional_headers={"Cookie": cookies},
        ) as socket:  # fmt: skip
            return str(socket.subprotocol)


@pytest.fixture(scope="module")
def sites(tmp_path_factory: pytest.TempPathFactory, require: Require) -> Iterator[dict[str, Site]]:
    """Yield two running apps, the second below a path, as one nginx shows them: set up as documented, and wrong."""
    require(nginx_path() is not None, "nginx is missing: install the package nginx-light")
    folder, homes = tmp_path_factory.mktemp("nginx"), [tmp_path_factory.mktemp("home") for _ in range(2)]
    for home in homes:
        make_person(workless_database(home), "Anna", administrator=True)
    own, below, *ports = free_ports(2 + 3 + len(FAULTS))
    cut = BELOW | {f"http://127.0.0.1:{below};": f"http://127.0.0.1:{below}/;"}
    changes = {"documented": (own, {}), "below a path": (below, BELOW), "path cut off": (below, cut)}
    changes |= {name: (own, dict.fromkeys(lines, "")) for name, lines in FAULTS.items()}
    make_certificate(folder)
    shown = dict(zip(changes, ports, strict=True))
    servers = [documented(shown[name], app, folder, change) for name, (app, change) in changes.items()]
    public = f"https://localhost:{shown['below a path']}/pairs https://localhost:{shown['path cut off']}/pairs"
    with (
        running_app(homes[0], own),
        running_app(homes[1], below, ALLPAIRS_PUBLIC_URL=public),
        running_nginx(folder, ports[0], "".join(servers)),
    ):
        yield {
            name: Site(
                f"https://localhost:{shown[name]}" + "/pairs" * (app == below),
                homes[app == below],
                folder / "certificate.pem",
            )
            for name, (app, _) in changes.items()
        }


@contextmanager
def running_app(home: Path, port: int, **more: str) -> Iterator[None]:
    """Run the app of this folder, which asks everybody to sign in."""
    app = App(home, port)
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {"ALLPAIRS_LOGIN": "required", **more}.items():
            patch.setenv(name, value)
        app.start()
    yield
    app.stop()


@pytest.mark.parametrize("name", ["documented", "below a path", "path cut off"])
def test_the_documented_nginx_lets_everything_through(sites: dict[str, Site], name: str) -> None:
    site = sites[name]
    with site.signed_in() as browser:
        (cookie,) = [cookie for cookie in browser.cookies.jar if "allpairs" in cookie.name]
        assert (cookie.name, cookie.secure) == ("__Host-allpairs", True)
        frame = browser.get(f"{site.url}/label")
        for script in re.findall(r'src="(\./[^"]+)"', frame.text):
            assert browser.get(f"{site.url}/{script}").status_code == 200
        assert site.open_socket(browser) == "streamlit"
        upload = browser.put(f"{site.url}/_stcore/upload_file/x/y", content=bytes(5_000_000))
        assert (upload.status_code, upload.text) == (403, NO_PAGE)
        assert browser.get(f"{site.url}/healthz").status_code == 200
    assert "proxies" not in site.log


@pytest.mark.parametrize("name", ["below a path", "path cut off"])
def test_below_a_path_every_address_has_it(sites: dict[str, Site], name: str) -> None:
    site, first = sites[name], sites["below a path"].url
    with site.browser() as browser:
        for wanted in ("", "/"):
            start = browser.get(f"{site.url}{wanted}", follow_redirects=True)
            assert str(start.url) == f"{site.url}/login" and 'href="/pairs/language/de' in start.text
        asked = browser.get(f"{site.url}/monitor?project=A")
        assert asked.headers["location"] == "/pairs/login?next=%2Fmonitor%3Fproject%3DA"
        form = {"name": "Anna", "password": PASSWORD, "next": "/monitor?project=A"}
        assert browser.post(f"{site.url}/login", data=form).headers["location"] == "/pairs/monitor?project=A"
        assert browser.get(f"{site.url}/language/de?next=/login").headers["location"] == "/pairs/login"
        described = browser.get(f"{site.url}/api/v1/openapi.json").json()
        assert described["servers"] == [{"url": f"{first}/api/v1"}]
        assert f"<code>{first}/api/v1</code>" in browser.get(f"{site.url}/api/v1/docs").text


def test_the_page_shows_the_lines_of_the_documented_file() -> None:
    (shown,) = re.findall(r"```\n(location / .*?)```", (ROOT / "docs" / "people.md").read_text(), re.DOTALL)
    lines = [line.strip() for line in DOCUMENTED.read_text().partition("location / {")[2].splitlines()]
    assert [line.strip() for line in shown.splitlines()[1:-1]] == [line for line in lines if line.endswith(";")]


def test_a_proxy_without_websockets_is_named(sites: dict[str, Site]) -> None:
    site = sites["sockets"]
    with site.signed_in() as browser:
        with pytest.raises(InvalidStatus):
            site.open_socket(browser)
        assert "127.0.0.1 as a plain" in site.log and "proxy_set_header Upgrade" in site.log
        said = browser.post(f"{site.url}/proxy-report/socket").text
    assert "proxy_set_header Upgrade" in said and f"a browser reports: {said}" in site.log


def test_a_proxy_that_changes_the_host_is_named(sites: dict[str, Site]) -> None:
    site = sites["host"]
    with site.browser() as browser:
        refused = browser.post(f"{site.url}/login", data={"name": "Anna", "password": PASSWORD})
        said = browser.post(f"{site.url}/proxy-report/socket", headers={"Accept-Language": "de"}).text
        strange = {"Origin": "https://evil.example.org", "Sec-Fetch-Site": "cross-site"}
        foreign = browser.post(f"{site.url}/proxy-report/socket", headers=strange).text
    assert refused.status_code == 403 and "proxy_set_header Host $http_host;" in refused.text
    assert f"ALLPAIRS_PUBLIC_URL={site.url}" in refused.text and f"ALLPAIRS_PUBLIC_URL={site.url}" in site.log
    assert f"ALLPAIRS_PUBLIC_URL={site.url}" in said and "Proxy" in said
    assert "evil" not in foreign + site.log


def test_a_proxy_that_refuses_long_bodies_is_named(sites: dict[str, Site]) -> None:
    site = sites["length"]
    with site.signed_in() as browser:
        assert browser.put(f"{site.url}/_stcore/upload_file/x/y", content=bytes(2_000_000)).status_code == 413
        said = browser.post(f"{site.url}/proxy-report/upload").text
    assert "client_max_body_size" in said and f"a browser reports: {said}" in site.log


def test_a_program_is_told_who_refused_it(sites: dict[str, Site], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(sites["length"].certificate))
    with pytest.raises(ApiError, match=r"413: .*proxy"):
        Client(sites["length"].url).call("POST", "/projects", {"name": "x" * 2_000_000})
    with pytest.raises(ApiError, match="401: send a token"):
        Client(sites["below a path"].url).projects()


def test_a_proxy_that_hides_tls_is_named(sites: dict[str, Site]) -> None:
    site = sites["tls"]
    with site.browser() as browser:
        browser.post(f"{site.url}/login", data={"name": "Anna", "password": "wrong"})
    assert "proxy_set_header X-Forwarded-Proto $scheme;" in site.log
