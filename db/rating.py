"""What a machine rater is: its setup, what it has cost, and its verdicts beside labels.

The app checks a setup when it is stored, and the worker again before it uses one: a row of the database is no
permission.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field

from allpairs.db.domain import Verdict
from allpairs.db.errors import InputError
from allpairs.db.loopback import is_loopback

_WORD = re.compile(r"\w+")
FUNCTION = r"[A-Za-z_][\w.]*:[A-Za-z_]\w*"  # module:function
LINE = r"^[^\x00-\x1f\x7f]*$"  # text without control characters
_Line = Annotated[str, Field(pattern=LINE)]
_Price = Annotated[float, Field(ge=0, le=1_000_000)]


class RaterKind(StrEnum):
    """Where a machine rater's verdicts come from."""

    ENDPOINT = "endpoint"  # a language model behind an OpenAI-compatible address
    FUNCTION = "function"  # a Python function that the worker can import


class RatedFor(StrEnum):
    """What a machine rater is asked about pairs for: to compare it with labels and help with the batch, or an audit."""

    LABELS = "labels"
    AUDIT = "audit"


class RaterSetup(BaseModel):
    """A project's machine rater. The key is not among it: the worker's environment has it, under `key_name`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: _Line = Field(min_length=1, max_length=60, description="Its name in exports and figures.")
    kind: RaterKind = Field(RaterKind.ENDPOINT, description="A language model's endpoint, or a Python function.")
    url: str = Field(
        "", max_length=500, title="Address", description="The endpoint's address up to /v1, as of Ollama or vLLM."
    )
    model: _Line = Field("", max_length=200, description="The model's name at the endpoint.")
    key_name: _Line = Field(
        "",
        max_length=100,
        title="Environment variable of the key",
        description="The worker's environment variable that holds the key, if the operator allows it.",
    )
    function: _Line = Field(
        "",
        max_length=200,
        title="Python function",
        description="In place of an endpoint: module:function, if the operator allows it.",
    )
    samples: int = Field(
        1, ge=1, le=20, title="Answers per pair", description="Answers for each pair; p is the share that says yes."
    )
    examples: int = Field(
        6,
        ge=0,
        le=40,
        title="Examples in the prompt",
        description="Labelled pairs in the prompt, as many positive as negative.",
    )
    price_in: _Price = Field(
        0.0, title="Price of prompt tokens", description="For a million tokens of prompts; 0: free."
    )
    price_out: _Price = Field(
        0.0, title="Price of answer tokens", description="For a million tokens of answers; 0: free."
    )
    budget: float = Field(0.0, ge=0, le=1_000_000_000, description="What it may cost in all; 0: no limit.")
    pairs_a_minute: int = Field(
        0, ge=0, le=100_000, title="Maximum pairs per minute", description="Maximum pairs per minute; 0: no limit."
    )
    least_accuracy: float = Field(
        0.8,
        ge=0,
        le=1,
        title="Minimum accuracy",
        description="Pause the rater once its accuracy is certainly below this.",
    )


@dataclass(frozen=True)
class LabelledPair:
    """A pair with its texts and whether people call it a match."""

    left_id: int
    right_id: int
    left: str
    right: str
    match: bool

    @cached_property
    def words(self) -> frozenset[str]:
        """The words of both texts."""
        return words_of_pair(self.left, self.right)


def words_of_pair(left: str, right: str) -> frozenset[str]:
    """Return the words of both texts, in lower case."""
    return frozenset(_WORD.findall(f"{left} {right}".casefold()))


@dataclass(frozen=True)
class Judged:
    """A verdict on a pair that people answered. match: their label; score: the matcher's when they were asked."""

    pair: tuple[int, int]
    verdict: Verdict
    p: float | None
    match: bool
    score: float | None


@dataclass(frozen=True)
class Spent:
    """What a rater has rated and cost so far."""

    pairs: int
    tokens_in: int
    tokens_out: int
    cost: float


def require_usable(setup: RaterSetup, environment: Mapping[str, str]) -> None:
    """Raise InputError unless the setup is complete and names no function or key that the operator has not named.

    environment: of this process, where the operator names them.
    """
    if setup.kind == RaterKind.FUNCTION:
        if not re.fullmatch(FUNCTION, setup.function):
            raise InputError("machine rater: name the function as module:function")
        if setup.function not in _names(environment.get("ALLPAIRS_RATER_FUNCTIONS", "")):
            raise InputError(_not_allowed("function", setup.function, "ALLPAIRS_RATER_FUNCTIONS"))
        return
    host = _host_of_endpoint(setup.url)
    if not setup.model:
        raise InputError("machine rater: name the model, as its endpoint calls it")
    if setup.key_name:
        _require_key(setup, host, environment)


def _require_key(setup: RaterSetup, host: str, environment: Mapping[str, str]) -> None:
    if urlsplit(setup.url).scheme == "http" and not is_loopback(host):
        raise InputError(f"machine rater: the key would travel to {host} unencrypted: use https")
    key = f"{setup.key_name}@{host}"
    if key not in _names(environment.get("ALLPAIRS_RATER_KEYS", "")):
        raise InputError(_not_allowed("key", key, "ALLPAIRS_RATER_KEYS"))


def _not_allowed(kind: str, name: str, variable: str) -> str:
    return (
        f"machine rater: the operator has not allowed the {kind} {name}: add {name} to the environment variable "
        f"{variable} of the app and of its workers, and start them again"
    )


def _names(listed: str) -> set[str]:
    return {name.strip() for name in listed.split(",")}


def _host_of_endpoint(url: str) -> str:
    """Return the host of an endpoint. Raises InputError unless this is an address without anything secret."""
    try:
        parts = urlsplit(url)
        is_address = parts.scheme in ("http", "https") and parts.port != 0 and url.isprintable() and " " not in url
    except ValueError:  # a port beyond 65535, or an address of IPv6 that is none
        is_address = False
    if not is_address or not parts.hostname:
        raise InputError("machine rater: give the endpoint's address up to /v1, such as http://localhost:11434/v1")
    if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
        raise InputError("machine rater: the address may hold no user name, password or key: name the variable with it")
    return parts.hostname
