"""A language model behind an OpenAI-compatible address: Ollama, vLLM, llama.cpp, or a service on the internet."""

import json
import random
from collections.abc import Mapping
from http.client import HTTPException
from ipaddress import ip_address
from time import sleep
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from allpairs.db.raters.prompt import MALFORMED, MOST_ANSWER, Message, Prompt
from allpairs.learner.raters.patience import Later, patiently
from allpairs.learner.raters.rating import RaterError, Rating
from allpairs.learner.raters.reading import SCHEMA, Said, read_choice, together

LONGEST = 1_000_000  # bytes of an answer
OVERLOADED = (408, 425, 429, 500, 502, 503, 504)
TOP = 5  # likeliest tokens whose probabilities are asked for
EXTRAS = ("response_format", "logprobs", "top_logprobs")  # not every endpoint knows these


class _NoRedirects(HTTPRedirectHandler):
    """Follow nothing: the key and the texts are for the address that a person wrote."""

    def redirect_request(self, *_: Any) -> None:
        return None


class Endpoint:
    """A model at an address. samples: answers for each pair; with several, p is the share that says yes.

    Raises RaterError for an address to which a key must not travel.
    """

    def __init__(
        self, url: str, model: str, key: str | None = None, samples: int = 1, timeout: float = 60.0,
        rng: random.Random | None = None, wait: Any = sleep,
    ) -> None:  # fmt: skip
        self.url, self.host = f"{url.rstrip('/')}/chat/completions", _host(url, key)
        self.model, self.samples, self.timeout = model, samples, timeout
        self._key, self._rng, self._wait = key, rng or random.Random(0), wait
        self._plain = False  # whether the endpoint refused what only some know
        self._open = build_opener(_NoRedirects)

    def rate(self, prompt: Prompt, left: str, right: str) -> Rating:
        """Return the verdict on the pair; a model that gives no answer in three tries abstains.

        Raises RaterError if the endpoint refuses, or fails six times.
        """
        messages, said, used = prompt.messages(left, right), list[Said](), [0, 0]
        most_used = {"prompt_tokens": prompt.tokens(left, right), "completion_tokens": MOST_ANSWER}
        wrong = 0
        while len(said) < self.samples and wrong < MALFORMED:
            answer = self._ask(messages)
            # What an endpoint does not count is taken for as much as it may be, so that a budget holds.
            for place, (name, most) in enumerate(most_used.items()):
                used[place] += _count(answer.get("usage"), name) or most
            found = _first(answer)
            if found is None:
                wrong += 1
            else:
                said.append(found)
        if not said:
            return Rating(together([]).verdict, None, *used)
        verdict, p = together(said)
        return Rating(verdict, p, *used)

    def _ask(self, messages: list[Message]) -> Mapping[str, Any]:
        try:
            return patiently(lambda: self._post(messages), self._rng, self._wait)
        except Later as error:
            raise RaterError(f"{self.host} does not answer: {error}; what was rated so far is kept") from None

    def _post(self, messages: list[Message]) -> Mapping[str, Any]:
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        request = Request(self.url, json.dumps(self._body(messages)).encode(), headers, method="POST")
        try:
            with self._open.open(request, timeout=self.timeout) as answer:
                return _read(answer.read(LONGEST + 1))
        except HTTPError as error:
            return self._refused(error, messages)
        except (URLError, HTTPException, OSError) as error:
            raise Later(f"{getattr(error, 'reason', error) or type(error).__name__}") from None

    def _refused(self, error: HTTPError, messages: list[Message]) -> Mapping[str, Any]:
        """Ask again without the extras if the endpoint may not know them; else raise why not."""
        with error:
            if error.code in OVERLOADED:
                raise Later(f"status {error.code}", _after(error.headers.get("Retry-After"))) from None
            if error.code in (400, 422) and not self._plain:
                self._plain = True
                return self._post(messages)
        advice = {
            401: "check the key", 403: "check the key", 404: "check the address and the model's name",
        }.get(error.code, "enter the address itself" if error.code < 400 else "see the endpoint's log")  # fmt: skip
        raise RaterError(f"{self.host} refuses with status {error.code}: {advice}") from None

    def _body(self, messages: list[Message]) -> dict[str, Any]:
        several = self.samples > 1
        body: dict[str, Any] = {
            "model": self.model, "messages": messages, "max_tokens": MOST_ANSWER, "temperature": float(several),
            "response_format": {"type": "json_schema",
                                "json_schema": {"name": "verdict", "strict": True, "schema": SCHEMA}},
        }  # fmt: skip
        if not several:
            body |= {"logprobs": True, "top_logprobs": TOP}
        return {name: value for name, value in body.items() if not (self._plain and name in EXTRAS)}


def _read(body: bytes) -> Mapping[str, Any]:
    try:
        found = json.loads(body)
    except ValueError:
        found = None
    if not isinstance(found, dict) or len(body) > LONGEST:
        raise Later("its answer is no JSON object")
    return found


def _first(answer: Mapping[str, Any]) -> Said | None:
    choices = answer.get("choices")
    one = choices[0] if isinstance(choices, list) and choices else None
    return read_choice(one) if isinstance(one, dict) else None


def _count(usage: Any, name: str) -> int:
    found = usage.get(name) if isinstance(usage, dict) else None
    return found if isinstance(found, int) and found > 0 else 0


def _after(asked: str | None) -> float | None:
    return float(asked) if asked and asked.replace(".", "", 1).isdigit() else None


def _host(url: str, key: str | None) -> str:
    """Return the host of the address. Raises RaterError for none, and for a key that would travel in the clear."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise RaterError(f"{url!r} is no endpoint: give its address up to /v1, such as http://localhost:11434/v1")
    if parts.username or parts.password:
        raise RaterError(f"the address of {parts.hostname} has a password in it: use a key from the environment")
    if key and parts.scheme == "http" and not _is_here(parts.hostname):
        raise RaterError(f"the key would travel to {parts.hostname} unencrypted: use https")
    return parts.hostname


def _is_here(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
