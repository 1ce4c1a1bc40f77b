"""Machine raters for tests: stand-ins that are asked in this process, and rows of setups and verdicts."""

import json
import random
import socket
import ssl
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, select, update

from allpairs.db.domain import AnswerKind, Verdict
from allpairs.db.labels.pairs import Pair
from allpairs.db.rating import RaterKind, RaterSetup
from allpairs.db.schema.engine import reading, writing
from allpairs.db.schema.tables import Answer, MachineRater, PairVerdict, now
from allpairs.learner.light.rating.prompt import Prompt, PromptExample
from allpairs.learner.outside.waiting import Poll, no_poll
from allpairs.learner.raters.endpoint import Endpoint
from allpairs.learner.raters.opening import open_rater
from allpairs.learner.raters.rating import PairRating, Rater

Said = Callable[[str, str], Verdict]
FUNCTION = {"kind": RaterKind.FUNCTION, "function": "judges:judge"}


def setup(**more: Any) -> RaterSetup:
    """Return the setup of a rater named `judge`, with these values replaced."""
    return RaterSetup.model_validate({"name": "judge", "url": "http://localhost:11434/v1", "model": "m"} | more)


def allow(patch: pytest.MonkeyPatch, functions: str = "", keys: str = "") -> None:
    """Name functions and keys as the operator does."""
    patch.setenv("ALLPAIRS_RATER_FUNCTIONS", functions)
    patch.setenv("ALLPAIRS_RATER_KEYS", keys)


def add_rater(engine: Engine, project_id: int, number: int = 1, **more: Any) -> int:
    """Add a rater to the project, which ends the one before it, and return its id."""
    with writing(engine) as session:
        before = update(MachineRater).where(MachineRater.project_id == project_id, MachineRater.ended_at.is_(None))
        session.execute(before.values(ended_at=now()))
        row = MachineRater(project_id=project_id, number=number, who="", setup=setup(**more).model_dump(mode="json"))
        session.add(row)
        session.flush()
        return row.id


def add_verdicts(engine: Engine, rater_id: int, said: Iterable[tuple[Pair, Verdict, float | None]]) -> None:
    """Add what the rater says of these pairs, at a cost of 0.01 each."""
    with writing(engine) as session:
        project_id = session.get_one(MachineRater, rater_id).project_id
        session.add_all(
            PairVerdict(project_id=project_id, rater_id=rater_id, left_id=left, right_id=right, verdict=verdict, p=p,
                        tokens_in=100, tokens_out=10, cost=0.01, prompt="0a1b2c3d")
            for (left, right), verdict, p in said
        )  # fmt: skip


def verdicts(engine: Engine) -> dict[Pair, Verdict]:
    """Return what has been said of each pair."""
    with reading(engine) as session:
        rows = session.scalars(select(PairVerdict).order_by(PairVerdict.id)).all()
    return {(row.left_id, row.right_id): row.verdict for row in rows}


def answer_pairs(engine: Engine, project_id: int, said: Iterable[tuple[Pair, AnswerKind]], who: str = "ann") -> None:
    """Answer these pairs, which need no task."""
    with writing(engine) as session:
        session.add_all(
            Answer(project_id=project_id, left_id=left, right_id=right, annotator=who, answer=answer,
                   key=f"{who} {project_id} {left} {right}")
            for (left, right), answer in said
        )  # fmt: skip


class Judge:
    """A rater that says of two texts what a function says, and keeps what it was asked."""

    def __init__(self, say: Said, tokens: tuple[int, int] = (100, 10)) -> None:
        self.say, self.tokens = say, tokens
        self.answers = 0
        self.asked: list[tuple[Prompt, str, str]] = []

    def rate(self, prompt: Prompt, left: str, right: str, poll: Poll = no_poll) -> PairRating:
        """Return the verdict."""
        self.asked.append((prompt, left, right))
        return PairRating(self.say(left, right), None, *self.tokens)


Reply = tuple[int, Mapping[str, str], bytes]  # status, headers, body
Play = Callable[[dict[str, Any], Mapping[str, str]], Reply]  # body and headers of a request


def completion(content: str, logprobs: Any = None, tokens: tuple[int, int] = (100, 10)) -> Reply:
    """Return a chat completion."""
    choice = {"message": {"role": "assistant", "content": content}, "logprobs": logprobs}
    usage = {"prompt_tokens": tokens[0], "completion_tokens": tokens[1]}
    return 200, {}, json.dumps({"choices": [choice], "usage": usage}).encode()


def said(verdict: Verdict, p: float) -> Reply:
    """Return the answer of a model that does as it is told."""
    return completion(json.dumps({"answer": verdict, "p": p}))


def judge(matches: Collection[tuple[str, str]], sensitivity: float, specificity: float, abstains: float = 0.0) -> Play:
    """Return a judge who is right so often, always in the same way on the same pair."""

    def play(body: dict[str, Any], _: Mapping[str, str]) -> Reply:
        asked = json.loads(body["messages"][-1]["content"])
        left, right = asked["first"], asked["second"]
        luck = random.Random(f"{left}\n{right}")
        if luck.random() < abstains:
            return said(Verdict.ABSTAIN, 0.5)
        is_match = (left, right) in matches or (right, left) in matches
        is_right = luck.random() < (sensitivity if is_match else specificity)
        yes = is_match == is_right
        return said(Verdict.YES if yes else Verdict.NO, 0.9 if yes else 0.1)

    return play


class Judged:
    """A running judge: its address, and the bodies and headers of the requests so far."""

    def __init__(self, url: str) -> None:
        self.url, self.bodies, self.headers = url, list[dict[str, Any]](), list[dict[str, str]]()


@contextmanager
def judging(play: Play, certificate: Path | None = None) -> Iterator[Judged]:
    """Run the judge on a free port; certificate: its folder, for a judge behind TLS."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            found.bodies.append(body)
            found.headers.append(dict(self.headers))
            status, headers, answer = play(body, self.headers)
            self.send_response(status)
            for name, value in {"Content-Length": str(len(answer)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    if certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate / "certificate.pem", certificate / "certificate.key")
        server.socket = context.wrap_socket(server.socket, server_side=True)
    found = Judged(f"http://127.0.0.1:{server.server_address[1]}/v1")
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield found
    finally:
        server.shutdown()
        server.server_close()


@contextmanager
def dripping(piece: bytes = b"H", seconds: float = 0.05) -> Iterator[str]:
    """Yield the address of a server that sends one byte after another, and never a whole answer."""
    stop = threading.Event()

    def drip(listener: socket.socket) -> None:
        while not stop.is_set():
            with suppress(OSError):
                connection, _ = listener.accept()
                with connection:
                    while not stop.wait(seconds):
                        connection.sendall(piece)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0.1)
        thread = threading.Thread(target=drip, args=(listener,))
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
        stop.set()
        thread.join()


PROMPT = Prompt(
    "Do both ask the same?",
    "Same: one answer serves both.",
    (PromptExample("a", "b", Verdict.YES), PromptExample("c", "d", Verdict.NO)),
)
SECRET = "sk-secret-0815"


def rate(play: Play, left: str = "x", right: str = "y", waits: list[float] | None = None, **options: Any) -> PairRating:
    """Return what the judge says, which is asked again without waiting; waits: gets the seconds."""
    with judging(play) as found:
        waits = [] if waits is None else waits
        return Endpoint(found.url, "tiny", rng=random.Random(0), wait=waits.append, **options).rate(PROMPT, left, right)


def by_function(name: str) -> Rater:
    """Return the rater of a function that the operator has named."""
    setup = RaterSetup(name="x", kind=RaterKind.FUNCTION, function=name)
    return open_rater(setup, {"ALLPAIRS_RATER_FUNCTIONS": name}, random.Random(0))
