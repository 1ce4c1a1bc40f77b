"""A running app where people sign in, with a project that has something to show on every page."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect
from sqlalchemy import Engine

from tests.helpers.browser import DESKTOP, App, workless_database
from tests.helpers.every_page import WHO, fill_every_page
from tests.helpers.machine import free_port
from tests.helpers.people import PASSWORD


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """Yield the database."""
    home = tmp_path_factory.mktemp("site")
    engine = workless_database(home)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ALLPAIRS_HOME", str(home))
        fill_every_page(engine, home)
    yield engine
    engine.dispose()


@pytest.fixture(scope="module")
def site(engine: Engine) -> Iterator[App]:
    app = App(Path(str(engine.url.database)).parent, free_port())
    app.start()
    yield app
    app.stop()


@pytest.fixture(scope="module")
def signed_in(site: App, chromium: Browser) -> Iterator[Page]:
    """Yield a page of the administrator."""
    with chromium.new_context(viewport=DESKTOP, reduced_motion="reduce") as context:  # type: ignore[arg-type]
        page = context.new_page()
        page.goto(f"{site.url}/login")
        page.get_by_label("Name").fill(WHO)
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_role("button", name="Sign in").click()
        expect(page).not_to_have_url(re.compile("/login"))
        yield page
