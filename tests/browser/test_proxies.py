"""What people see when nginx in front of the app is set up wrong."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.helpers.browser import App, drawn
from tests.helpers.machine import Require, free_ports
from tests.helpers.services.servers import SOCKETS, documented, make_certificate, nginx_path, running_nginx

# Nobody signs in here, so the app must not learn of the proxy.
HIDDEN = ("proxy_set_header X-Forwarded-For $remote_addr;", "proxy_set_header X-Forwarded-Proto $scheme;")


@dataclass
class Sites:
    """The addresses of the app behind one nginx without websockets, and one that takes short bodies only."""

    no_sockets: str
    short_bodies: str


@pytest.fixture
def sites(app: App, tmp_path: Path, require: Require) -> Iterator[Sites]:
    require(nginx_path() is not None, "nginx is missing: install the package nginx-light")
    first, second = free_ports(2)
    make_certificate(tmp_path)
    servers = [
        documented(first, app.port, tmp_path, dict.fromkeys((*HIDDEN, *SOCKETS), "")),
        documented(second, app.port, tmp_path, dict.fromkeys((*HIDDEN, "client_max_body_size 250m;"), "")),
    ]
    with running_nginx(tmp_path, first, "".join(servers)):
        yield Sites(f"https://localhost:{first}", f"https://localhost:{second}")


@pytest.fixture
def page(chromium: Browser) -> Iterator[Page]:
    context = chromium.new_context(ignore_https_errors=True, reduced_motion="reduce")
    yield context.new_page()
    context.close()


def test_pages_name_what_the_proxy_keeps_from_them(sites: Sites, page: Page, app: App, tmp_path: Path) -> None:
    long_file = tmp_path / "long.csv"
    long_file.write_text("text\n" + "one more text\n" * 100_000)
    page.goto(f"{sites.short_bodies}/new_project")
    drawn(page)
    page.locator("input[type=file]").first.set_input_files(long_file)
    expect(page.locator(".allpairs-upload")).to_contain_text("client_max_body_size 250m;")
    page.clock.install()
    page.goto(f"{sites.no_sockets}/label")
    expect(page.get_by_test_id("stApp")).to_be_attached()
    page.clock.run_for(9_000)
    expect(page.locator("#allpairs-strip")).to_be_hidden()
    page.clock.run_for(3_000)
    expect(page.locator("#allpairs-strip")).to_contain_text("proxy_set_header Upgrade $http_upgrade;")
    log = (app.home / "app.log").read_text()
    assert "The proxy in front" in log and "a browser reports: This page has not opened" in log
