"""The commands `webhooks …`."""

import json

import pytest
from sqlalchemy import Engine

from tests.helpers.factories import make_project
from tests.helpers.services.commands import annotate, failure
from tests.helpers.services.webhooks import URL


def test_webhooks_are_added_listed_and_deleted(engine: Engine, capsys: pytest.CaptureFixture[str]) -> None:
    make_project(engine, ["a", "b"], name="Q")
    assert annotate("webhooks", "add", "Q", URL, "--kind", "batch.ready", "--kind", "target.reached") == 0
    number, secret = capsys.readouterr().out.split()
    assert secret.startswith("whsec_")
    assert annotate("webhooks", "list", "Q", "--json") == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["id"], row["url"], row["kinds"]) == (int(number), URL, ["batch.ready", "target.reached"])
    assert annotate("webhooks", "list", "Q") == 0
    shown = capsys.readouterr().out
    assert URL in shown and secret not in shown
    assert "private" in failure(capsys, "webhooks", "add", "Q", "http://10.0.0.1/")
    assert "'no'" in failure(capsys, "webhooks", "add", "Q", URL, "--kind", "no")
    assert annotate("webhooks", "delete", "Q", number) == 0
    assert f"no webhook {number}" in failure(capsys, "webhooks", "delete", "Q", number)
