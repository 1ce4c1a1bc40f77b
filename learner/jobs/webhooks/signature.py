"""Messages to webhooks: their bytes, and the headers that say who sent them (Standard Webhooks 1.0)."""

import hmac
import json
from base64 import b64decode, b64encode
from hashlib import sha256
from typing import Any

from allpairs.db.projects.webhooks import PREFIX
from allpairs.db.version import VERSION


def as_bytes(body: dict[str, Any]) -> bytes:
    """Return the message as JSON, the same bytes for the same body."""
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()


def headers(secret: str, key: str, seconds: int, payload: bytes) -> dict[str, str]:
    """Return the headers of a message: its id, when it is sent (Unix time), and its signature by the secret."""
    return {
        "content-type": "application/json",
        "user-agent": f"Allpairs/{VERSION}",
        "webhook-id": key,
        "webhook-timestamp": str(seconds),
        "webhook-signature": signature(secret, key, seconds, payload),
    }


def signature(secret: str, key: str, seconds: int, payload: bytes) -> str:
    """Return `v1,` and HMAC-SHA-256 of `id.timestamp.body` in base64."""
    shared = b64decode(secret.removeprefix(PREFIX))
    signed = hmac.digest(shared, f"{key}.{seconds}.".encode() + payload, sha256)
    return f"v1,{b64encode(signed).decode()}"
