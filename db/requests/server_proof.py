"""How the app and a process that answers `match` show each other that they know its secret, which neither ever sends.

The app sends a challenge; the process answers with one of its own and its proof; the app's request carries the app's.
"""

import hmac
import secrets
from hashlib import sha256

# the addresses of the process
CHALLENGE = "/challenge"
MATCH = "/match"
SCHEME = "Proof"  # Authorization: Proof CHALLENGE:PROOF


def new_challenge() -> str:
    """Return 256 random bits."""
    return secrets.token_urlsafe(32)


def process_proof(secret: str, app_challenge: str, challenge: str) -> str:
    """Return what the process shows, having been sent the app's challenge and having made one itself."""
    return _proof(secret, "process", app_challenge, challenge)


def app_proof(secret: str, app_challenge: str, challenge: str, body: bytes) -> str:
    """Return what the app shows with the body of its request."""
    return _proof(secret, "app", app_challenge, challenge, sha256(body).hexdigest())


def is_proof(proof: object, expected: str) -> bool:
    """Return whether the right proof is shown, in a time that does not tell where it differs."""
    return isinstance(proof, str) and hmac.compare_digest(proof.encode(), expected.encode())


def _proof(secret: str, *parts: str) -> str:
    return hmac.new(secret.encode(), "\n".join(parts).encode(), sha256).hexdigest()
