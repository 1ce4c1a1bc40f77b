"""Signatures, as the documents tell a receiver to check them."""

import json
import re
import time
from base64 import b64decode
from collections.abc import Callable

import pytest

from allpairs.db.domain import NoticeKind
from allpairs.db.projects.webhooks import SECRET_BYTES, new_secret
from allpairs.learner.jobs.webhooks.sender import as_bytes, headers, signature
from tests.helpers.machine import ROOT

PAGE = (ROOT / "docs" / "webhooks.md").read_text(encoding="utf-8")
BODY = {"type": "test", "data": {"text": "ä"}}


@pytest.fixture
def verified() -> Callable[..., bool]:
    """Return the function of the example."""
    code = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    names: dict[str, Callable[..., bool]] = {}
    exec(code[0], names)
    return names["verified"]


def test_the_example_takes_what_is_sent_and_nothing_else(verified: Callable[..., bool]) -> None:
    secret, payload, at = new_secret(), as_bytes(BODY), int(time.time())
    sent = headers(secret, "key", at, payload)
    assert verified(secret, sent, payload)
    assert not verified(new_secret(), sent, payload)
    assert not verified(secret, sent, payload + b" ")
    for name in ("webhook-id", "webhook-timestamp"):
        assert not verified(secret, sent | {name: f"1{sent[name]}"}, payload)
    assert not verified(secret, headers(secret, "key", at - 1000, payload), payload)


def test_the_signature_is_that_of_the_standard() -> None:
    # A test vector of the Standard Webhooks libraries (https://github.com/standard-webhooks/standard-webhooks).
    secret, payload = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", b'{"test": 2432232314}'
    found = signature(secret, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, payload)
    assert found == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_secrets_are_long_and_differ() -> None:
    one, other = new_secret(), new_secret()
    assert one != other and len(b64decode(one.removeprefix("whsec_"))) == SECRET_BYTES


def test_the_page_shows_the_data_of_every_kind() -> None:
    rows = dict(re.findall(r"^\| `([a-z.]+)` \| .*? \| `({.*?})`(?:;.*)? \|$", PAGE, re.MULTILINE))
    assert set(rows) == set(NoticeKind)
    for example in rows.values():
        json.loads(example)
