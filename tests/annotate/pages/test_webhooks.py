"""The webhooks on the page Settings, without a browser."""

from pathlib import Path

import pytest
from sqlalchemy import Engine, select
from streamlit.testing.v1 import AppTest

from allpairs.annotate.features.webhooks import webhooks as services
from allpairs.annotate.features.webhooks.ui import TITLES
from allpairs.annotate.features.webhooks.webhooks import OFFERED
from allpairs.db.domain import DeliveryState, NoticeKind
from allpairs.db.schema.engine import reading, writing
from allpairs.db.schema.tables import Delivery, Webhook
from tests.helpers.factories import make_project
from tests.helpers.machine import ROOT
from tests.helpers.pages import open_page
from tests.helpers.services.webhooks import URL, add_webhook

PAGE = ROOT / "annotate" / "pages" / "settings.py"


@pytest.fixture
def project(engine: Engine, home: Path) -> int:
    return make_project(engine, ["a", "b"])


def press(page: AppTest, key: str) -> AppTest:
    page.get_by_key(key).click().run()
    assert not page.exception
    return page


def add(page: AppTest, project: int, url: str) -> AppTest:
    page.get_by_key(f"webhook_url_{project}").set_value(url)
    next(button for button in page.button if button.label == "Add webhook").click().run()
    assert not page.exception
    return page


def stored_secret(engine: Engine) -> str:
    with reading(engine) as session:
        return session.scalars(select(Webhook.secret)).one()


def test_every_kind_has_a_title() -> None:
    assert set(TITLES) == set(NoticeKind)


def test_a_webhook_is_added_and_its_secret_is_shown_once(engine: Engine, project: int) -> None:
    page = add(open_page(PAGE), project, URL)
    (row,) = services.webhooks_of_project(engine, project)
    secret = stored_secret(engine)
    assert (row.url, row.kinds) == (URL, list(OFFERED)) and [code.value for code in page.code] == [secret]
    assert list(press(page, f"test_{row.id}").code) == []
    page = press(page, f"secret_{row.id}")
    assert [code.value for code in page.code] == [stored_secret(engine)] != [secret]


def test_an_address_that_cannot_be_is_refused(engine: Engine, project: int) -> None:
    page = add(open_page(PAGE), project, "http://127.0.0.1/")
    assert "private" in page.error[0].value and services.webhooks_of_project(engine, project) == []


def test_a_webhook_is_tested_switched_off_and_deleted(engine: Engine, project: int) -> None:
    webhook = add_webhook(engine, project, NoticeKind.TARGET_REACHED)
    page = press(open_page(PAGE), f"test_{webhook}")
    shown = [text.value for text in page.markdown]
    assert "**Test**" in shown and any("waiting" in text for text in shown)
    press(page, f"switch_{webhook}")
    assert page.get_by_key(f"test_{webhook}").disabled
    with reading(engine) as session:
        assert not session.get_one(Webhook, webhook).active
    press(page, f"remove_{webhook}")
    assert services.webhooks_of_project(engine, project) == []


def test_what_was_given_up_says_why_and_is_sent_again(engine: Engine, project: int) -> None:
    webhook = add_webhook(engine, project)
    services.send_test(engine, project, webhook)
    with writing(engine) as session:
        row = session.scalars(select(Delivery)).one()
        row.state, row.attempts, row.error, number = DeliveryState.GIVEN_UP, 9, "HTTP 500: *no*", row.id
    page = open_page(PAGE)
    assert any("HTTP 500: \\*no\\*" in caption.value for caption in page.caption)
    press(page, f"again_{number}")
    (logged,) = services.deliveries(engine, project, webhook)
    assert logged.state == DeliveryState.WAITING
