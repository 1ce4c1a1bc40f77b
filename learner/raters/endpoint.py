"""A language model behind an OpenAI-compatible address: Ollama, vLLM, llama.cpp, or a service on the internet."""

import json
import random
import re
import socket
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any
from urllib.parse import SplitResult, urlsplit
from urllib.request import getproxies, proxy_bypass

from pydantic import ValidationError

from allpairs.db.loopback import is_loopback
from allpairs.learner.light.rating.prompt import MALFORMED, MOST_ANSWER, Message, Prompt
from allpairs.learner.outside.exchange import PORTS, Incoming, Outgoing, Unanswered, exchange
from allpairs.learner.outside.waiting import Poll, no_poll, rest
from allpairs.learner.raters.rating import PairRating, RaterError
from allpairs.learner.raters.reading import SCHEMA, Completion, ModelAnswer, TokenCounts, combine_answers, read_choice

LONGEST = 1_000_000  # bytes of an answer
OVERLOADED = (408, 425, 429, 500, 502, 503, 504)
TOP = 5  # likeliest tokens whose probabilities are asked for
EXTRAS = ("response_format", "logprobs", "top_logprobs")  # not every endpoint knows these
SECONDS = re.compile(r"[0-9]+(\.[0-9]+)?")
ADVICE = {401: "check the key", 403: "check the key", 404: "check the address and the model's name"}
TRIES = 6
LONGEST_WAIT = 120.0  # seconds: an endpoint that asks for more is as good as down


class RetryLater(Exception):
    """It failed, but may succeed later. after: seconds that it asks to wait for, if it says so."""

    def __init__(self, reason: str, after: float | None = None) -> None:
        super().__init__(reason)
        self.after = after


class Endpoint:
    """A model at an address. samples: answers for each pair; with several, p is the share that says yes.

    timeout: seconds for one whole answer. wait: called with the seconds to wait, in place of `rest`.
    """

    def __init__(
        self,
        url: str,
        model: str,
        key: str | None = None,
        samples: int = 1,
        timeout: float = 60.0,
        rng: random.Random | None = None,
        wait: Callable[[float], object] | None = None,
    ) -> None:
        self.parts = urlsplit(f"{url.rstrip('/')}/chat/completions")
        self.host = str(self.parts.hostname)
        self.model = model
        self.samples = samples
        self.timeout = timeout
        self._key = key
        self._rng = rng or random.Random(0)
        self._wait = wait
        self.answers = 0
        self._plain = False  # whether the endpoint refused what only some know

    def rate(self, prompt: Prompt, left: str, right: str, poll: Poll = no_poll) -> PairRating:
        """Return the verdict on the pair; a model that gives no answer in three tries abstains.

        Raises RaterError if the endpoint refuses, or fails six times, and what `poll` raises.
        """
        messages = prompt.messages(left, right)
        answers = list[ModelAnswer]()
        most_in = prompt.tokens(left, right)
        tokens_in = tokens_out = malformed = 0
        while len(answers) < self.samples and malformed < MALFORMED:
            answer = self._ask(messages, poll)
            self.answers += 1
            # What an endpoint does not count is taken for as much as it may be, so that a budget holds.
            usage = answer.usage or TokenCounts()
            tokens_in += usage.prompt_tokens or most_in
            tokens_out += usage.completion_tokens or MOST_ANSWER
            choice = read_choice(answer.choices[0]) if answer.choices else None
            if choice is None:
                malformed += 1
            else:
                answers.append(choice)
        verdict, p = combine_answers(answers)
        return PairRating(verdict, p, tokens_in, tokens_out)

    def _ask(self, messages: list[Message], poll: Poll) -> Completion:
        """Return the completion, asked for six times while that may help: after about 1, 2, 4, 8 and 16 seconds.

        It waits as long as the endpoint asks, up to two minutes.
        """
        wait = self._wait or partial(rest, poll=poll)
        for attempt in range(TRIES):
            try:
                return self._post(messages, poll)
            except RetryLater as error:
                delay = 2**attempt * (0.5 + self._rng.random()) if error.after is None else error.after
                if attempt + 1 == TRIES or delay > LONGEST_WAIT:
                    raise RaterError(f"{self.host} does not answer: {error}; what was rated so far is kept") from None
            wait(delay)
        raise AssertionError("the last attempt returns or raises")

    def _post(self, messages: list[Message], poll: Poll) -> Completion:
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        payload = json.dumps(self._body(messages)).encode()
        outgoing = Outgoing(self.parts, payload, headers, self._find_addresses, LONGEST + 1, proxy_to(self.parts))
        try:
            answer = exchange(outgoing, self.timeout, poll)
        except Unanswered as error:
            raise RetryLater(str(error)) from None
        return read_completion(answer.body) if 200 <= answer.status < 300 else self._refused(answer, messages, poll)

    def _find_addresses(self) -> Sequence[str]:
        """Return the addresses of the host. Raises RaterError if a key would leave this machine unencrypted."""
        port = self.parts.port or PORTS[self.parts.scheme]
        resolved = socket.getaddrinfo(self.host, port, type=socket.SOCK_STREAM)
        addresses = [str(address[0]) for *_, address in resolved]
        if self._key and self.parts.scheme == "http" and not all(map(is_loopback, addresses)):
            raise RaterError(f"the key would travel to {self.host} unencrypted: use https")
        return addresses

    def _refused(self, answer: Incoming, messages: list[Message], poll: Poll) -> Completion:
        """Ask again without the extras if the endpoint may not know them; else raise why not."""
        status = answer.status
        if status in OVERLOADED:
            raise RetryLater(f"status {status}", _after(answer.headers.get("Retry-After", "")))
        if status in (400, 422) and not self._plain:
            self._plain = True
            return self._post(messages, poll)
        advice = ADVICE.get(status, "enter the address itself" if status < 400 else "see the endpoint's log")
        raise RaterError(f"{self.host} refuses with status {status}: {advice}")

    def _body(self, messages: list[Message]) -> dict[str, Any]:
        several = self.samples > 1
        body: dict[str, Any] = {
            "model": self.model,
            "messages": messages,
            "max_tokens": MOST_ANSWER,
            "temperature": float(several),
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": "verdict", "strict": True, "schema": SCHEMA},
            },
        }
        if not several:
            body |= {"logprobs": True, "top_logprobs": TOP}
        return {name: value for name, value in body.items() if not (self._plain and name in EXTRAS)}


def proxy_to(parts: SplitResult) -> SplitResult | None:
    """Return the environment's proxy for an address: only https has one, which sees a tunnel and the host's name.

    What stays on this machine has none. Raises RaterError for a proxy that is not spoken to by http.
    """
    host = str(parts.hostname)
    if parts.scheme != "https" or is_loopback(host) or proxy_bypass(host):
        return None
    address = getproxies().get("https", "")
    proxy = urlsplit(address if "://" in address else f"http://{address}")
    if address and (proxy.scheme != "http" or not proxy.hostname):
        raise RaterError(f"the proxy of the environment for {host} is no http://… address: change HTTPS_PROXY")
    return proxy if address else None


def read_completion(body: bytes) -> Completion:
    """Return the completion, without a choice if it is malformed. Raises RetryLater unless it is a JSON object."""
    if not body.lstrip().startswith(b"{") or len(body) > LONGEST:
        raise RetryLater("its answer is no JSON object")
    try:
        return Completion.model_validate_json(body)
    except ValidationError:
        return Completion()


def _after(header: str) -> float | None:
    return float(header) if SECONDS.fullmatch(header) else None
