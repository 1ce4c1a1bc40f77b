"""Measure how long `POST /match` takes at a million texts while answers are being labelled.

    python -m benchmarks.scale.match_latency [--items 1000000] [--requests 300] [--home FOLDER [--port PORT]] [--first]

Everything is real but the texts and their vectors: app, serving process, HTTP, SQLite, the MiniLM encoder for each
query, lexical features by the terms of all texts, hubness correction. The texts are made up: one of 20,000 base texts
with three more words. A text's vector is its base text's, by MiniLM, turned by a random direction to a cosine of about
0.8: encoding a million texts would take an hour. The model is not trained; that changes no time. A thread answers four
pairs a second by the API meanwhile. With --home the folder is kept, and used again if it is there. On a machine that
others use, --first lets the app and the serving process go before them.
"""

import argparse
import os
import tempfile
import threading
import time
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import psutil
from sqlalchemy import Engine, func, select

from allpairs.annotate.features.publish.publications import publish_round
from allpairs.client import ApiError, Client, RemoteProject
from allpairs.db.corpus.corpus import Corpus, CorpusItem
from allpairs.db.domain import DEFAULT_ENCODER, Kind, Settings, Side, Split
from allpairs.db.files.checksums import seal
from allpairs.db.labels.tasks import add_tasks
from allpairs.db.projects.items import add_corpus
from allpairs.db.projects.projects import add_project
from allpairs.db.schema.engine import artifacts, make_engine, migrate, reading, writing
from allpairs.db.schema.tables import Item as StoredItem
from allpairs.db.schema.tables import MatchServer, Project, Round, StoredModel
from allpairs.learner.data.corpus_terms import CorpusTerms, terms_of
from allpairs.learner.data.lexical_features import lexicon_by
from allpairs.learner.models.encoder import load_encoder
from allpairs.learner.models.output_layer import OutputLayer
from allpairs.learner.scoring.matcher import PairModel, save_matcher
from allpairs.learner.scoring.reference import ListReference, Reference, digests_of
from allpairs.learner.scoring.score import Blend
from benchmarks.common import questions
from benchmarks.scale.app_process import running_app

NAME = "Million"
BASES = 20_000
CHUNK = 50_000
COSINE = 0.8  # of a text's vector with its base text's
TARGET = 0.1  # seconds, 95 % of the requests for one text
BLEND = Blend(0.25, {"ngrams": 0.4, "words": 0.3, "numbers": 0.1, "length": 0.05})
TASKS = 5_000  # pairs to label
FIRST = -15  # niceness
PAUSE = 0.25  # seconds between two answers


def made_texts(n: int, rng: np.random.Generator) -> list[str]:
    """Return n texts: base texts with three more words, of 50,000."""
    bases = questions(min(BASES, n))
    words = rng.integers(50_000, size=(n, 3)).tolist()
    return [f"{bases[at % len(bases)]} w{one} v{other} model {number}" for at, (one, other, number) in enumerate(words)]


def make(engine: Engine, items: int) -> None:
    """Make the project with its model, publish it, and add pairs to label."""
    rng = np.random.default_rng(0)
    texts = made_texts(items, rng)
    with writing(engine) as session:
        project_id = add_project(session, NAME, Kind.SYMMETRIC, Settings(auto_train=False).model_dump()).id
        corpus = Corpus(
            Kind.SYMMETRIC,
            [CorpusItem((f"row-{at}",), Side.LEFT, text, Split.TRAIN) for at, text in enumerate(texts)],
            [],
        )
        add_corpus(session, project_id, corpus)
    folder = f"project-{project_id}/job-1"
    (artifacts() / folder).mkdir(parents=True)
    terms = terms_of(texts)
    vectors = write_vectors(artifacts() / folder / "vectors.npy", texts, terms, rng)
    write_model(artifacts() / folder / "model", texts, vectors, terms, rng)
    with writing(engine) as session:
        batch = Round(project_id=project_id, number=1, strategy="uncertainty", size=TASKS)
        session.add(batch)
        session.flush()
        first = session.scalar(select(func.min(StoredItem.id)).where(StoredItem.project_id == project_id)) or 0
        add_tasks(
            session,
            (
                {
                    "project_id": project_id,
                    "round_id": batch.id,
                    "position": at,
                    "strategy": "uncertainty",
                    "score": 0.5,
                    "p": 0.5,
                    "left_id": first + 2 * at,
                    "right_id": first + 2 * at + 1,
                }
                for at in range(TASKS)
            ),
        )
        row = StoredModel(
            project_id=project_id, number=1, folder=f"{folder}/model", encoder=DEFAULT_ENCODER, w=20.0, b=-12.0
        )
        session.add(row)
    publish_round(engine, project_id, 1)


def write_vectors(path: Path, texts: list[str], terms: CorpusTerms, rng: np.random.Generator) -> np.ndarray:
    """Write the blended vectors of the texts part by part, and return them, memory-mapped."""
    bases = load_encoder().encode(questions(min(BASES, len(texts))))
    width = bases.shape[1] + BLEND.extra
    whole = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(len(texts), width))
    for at in range(0, len(texts), CHUNK):
        some = texts[at : at + CHUNK]
        own = bases[np.arange(at, at + len(some)) % len(bases)]
        away = rng.normal(size=own.shape).astype(np.float32)
        away /= np.linalg.norm(away, axis=1, keepdims=True)
        encoded = COSINE * own + (1 - COSINE**2) ** 0.5 * away
        encoded /= np.linalg.norm(encoded, axis=1, keepdims=True)
        part = BLEND.joined(encoded, lexicon_by(terms, some))
        part[:, -1] += rng.uniform(0.02, 0.06, len(some))  # the hubness correction
        whole[at : at + len(some)] = part
    whole.flush()
    seal(path.parent, [path])
    return np.load(path, mmap_mode="r")


def write_model(
    folder: Path, texts: list[str], vectors: np.ndarray, terms: CorpusTerms, rng: np.random.Generator
) -> None:
    """Write the model's folder with the reference of its corpus."""
    known = np.unique(digests_of(texts))
    sample = np.sort(rng.choice(len(texts), min(10_000, len(texts)), replace=False))
    one = ListReference(known, np.full(len(known), 0.04, np.float32), vectors[sample].astype(np.float16), BLEND.hubness)
    reference = Reference(one, one, terms, {})
    save_matcher(PairModel(load_encoder(), OutputLayer(20.0, -12.0), BLEND, None, reference), folder)


class Labelling(threading.Thread):
    """Somebody who answers four pairs a second by the API, until stopped."""

    def __init__(self, project: RemoteProject) -> None:
        super().__init__(daemon=True)
        self.project = project
        self.stopping = threading.Event()
        self.seconds = list[float]()

    def run(self) -> None:
        """Answer the next pair, and ask for more when there are none."""
        waiting: list[int] = []
        while not self.stopping.wait(PAUSE):
            waiting = waiting or [task["id"] for task in self.project.tasks(40)]
            began = time.perf_counter()
            self.project.answer({waiting.pop(): "negative"})
            self.seconds.append(time.perf_counter() - began)


def ready(project: RemoteProject, texts: list[str]) -> float:
    """Wait until the model is loaded; return the seconds."""
    began = time.monotonic()
    while True:
        try:
            project.match(texts[:1])
            return time.monotonic() - began
        except ApiError as error:
            if error.status != 503:
                raise
            time.sleep(1)


@dataclass(frozen=True)
class Timed:
    """The seconds of each request, and the CPU seconds of the serving process for one of them."""

    seconds: np.ndarray
    cpu: float


def timed(project: RemoteProject, parts: list[list[str]], why: bool, server: psutil.Process) -> Timed:
    """Send the requests one after the other."""
    found = []
    before = sum(server.cpu_times()[:2])
    for texts in parts:
        began = time.perf_counter()
        project.match(texts, why=why)
        found.append(time.perf_counter() - began)
    return Timed(np.array(found), (sum(server.cpu_times()[:2]) - before) / len(parts))


def line(what: str, found: Timed) -> str:
    """Return a row of the table in docs/scale.md, in milliseconds."""
    values = [*np.quantile(found.seconds, [0.5, 0.95, 0.99]), found.cpu]
    return f"| {what} | {len(found.seconds)} | " + " | ".join(f"{1000 * value:.0f}" for value in values) + " |"


def go_first(*processes: psutil.Process) -> None:
    """Let these processes have the processor before others; takes the rights of root."""
    for one in processes:
        for thread in one.threads():
            os.setpriority(os.PRIO_PROCESS, thread.id, FIRST)


def measure(engine: Engine, port: int, requests: int, first: bool) -> None:
    """Print the table."""
    with reading(engine) as session:
        project_id = session.scalars(select(Project.id).where(Project.name == NAME)).one()
    asked = [f"{text} please" for text in made_texts(100 * requests, np.random.default_rng(1))]
    project = RemoteProject(Client(f"http://localhost:{port}"), project_id, NAME)
    print(f"ready after {ready(project, asked):.0f} s", flush=True)
    with reading(engine) as session:
        server = psutil.Process(session.scalars(select(MatchServer.pid)).one())
    if first and (app := server.parent()) is not None:
        go_first(server, app, psutil.Process())
    labelling = Labelling(project)
    labelling.start()
    print("| request | number | p50 ms | p95 ms | p99 ms | CPU ms |\n| --- | ---: | ---: | ---: | ---: | ---: |")
    ones = [[text] for text in asked[:requests]]
    timed(project, ones[:5], True, server)
    one = timed(project, ones, False, server)
    print(line("one text", one), flush=True)
    print(line("one text, with why", timed(project, ones, True, server)), flush=True)
    hundred = [asked[100 * at : 100 * (at + 1)] for at in range(max(5, requests // 10))]
    print(line("100 texts", timed(project, hundred, False, server)))
    labelling.stopping.set()
    print(line("an answer stored meanwhile", Timed(np.array(labelling.seconds), 0.0)))
    print(memory(server))
    recall = project.client.call("POST", f"/projects/{project_id}/match", {"texts": asked[:1]})["recall"]
    print(f"recall of the ten nearest: {recall}")
    met = "met" if np.quantile(one.seconds, 0.95) <= TARGET else "missed"
    print(f"target p95 ≤ {1000 * TARGET:.0f} ms for one text: {met}")


def memory(server: psutil.Process) -> str:
    """Return the memory of the serving process: its own, and the pages of files that it has read."""
    found = server.memory_info()
    own, mapped = (f"{size / 2**20:,.0f} MiB" for size in (found.rss - found.shared, found.shared))
    return f"serving process: {own} of its own, {mapped} of files"


def main() -> None:
    """Make the project, unless it is there, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=1_000_000)
    parser.add_argument("--requests", type=int, default=300)
    parser.add_argument("--home", type=Path)
    parser.add_argument("--port", type=int, help="of an app on that folder that is running with ALLPAIRS_MATCH=1")
    parser.add_argument("--first", action="store_true", help="let the processes go before others (as root)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home = (options.home or Path(folder)).resolve()
        os.environ |= {"ALLPAIRS_HOME": str(home), "ALLPAIRS_MATCH": "1", "ALLPAIRS_WORKER": "0"}
        is_made = (home / "allpairs.db").exists()
        migrate()
        engine = make_engine()
        if not is_made:
            began = time.monotonic()
            make(engine, options.items)
            print(f"made in {time.monotonic() - began:.0f} s", flush=True)
        with running_app(home) if options.port is None else nullcontext(options.port) as port:
            measure(engine, port, options.requests, options.first)
        engine.dispose()


if __name__ == "__main__":
    main()
