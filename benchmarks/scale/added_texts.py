"""Measure what it takes to add texts to a large project, besides encoding them.

    python -m benchmarks.scale.added_texts [--texts 1000000] [--new 10000]

The texts are made up and their stored vectors random, 384 numbers each; a static encoder stands for a real one. What it
takes is not counted. Prints the seconds of each step.
"""

import argparse
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

import numpy as np
import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import StaticEmbedding
from sqlalchemy import Engine

from allpairs.annotate.features.texts import change_texts
from allpairs.db.domain import Kind, Settings, Side
from allpairs.db.progress import no_progress
from allpairs.db.projects.items import add_rows
from allpairs.db.projects.projects import add_project
from allpairs.db.schema.engine import artifacts, make_engine, migrate, reading, writing
from allpairs.db.schema.tables import Identifier, Item, StoredModel
from allpairs.learner.jobs.data.project_data import ProjectData, read_project
from allpairs.learner.jobs.data.stored_vectors import FILE, pretrained_vectors, save_vectors, vectors_of
from allpairs.learner.models.encoder import Encoder, load_encoder
from allpairs.learner.models.output_layer import OutputLayer
from allpairs.learner.scoring.make_reference import make_reference
from allpairs.learner.scoring.matcher import PairModel, save_matcher
from allpairs.learner.scoring.score import Blend
from tests.helpers.services.installation import installation
from tests.helpers.tiny import tiny_tokenizer

NAME = "Large"
DIMENSION = 384
BLEND = Blend(0.25, {"ngrams": 0.2, "words": 0.2, "numbers": 0.1, "length": 0.05})


def text_of(place: int) -> str:
    """Return a made-up text of some words and numbers."""
    return f"reset {place % 97} of the {place % 1013} account number {place} on host{place % 31} in room {place % 577}"


def make_large(engine: Engine, texts: int, encoder: str) -> int:
    """Make a project of so many texts, three tenths of them for evaluation; return its id."""
    settings = Settings(encoder=encoder, hubness=BLEND.hubness).model_dump()
    with writing(engine) as session:
        project = add_project(session, NAME, Kind.SYMMETRIC, settings)
        splits = ("evaluation" if at % 10 < 3 else "train" for at in range(texts))
        common = {"project_id": project.id, "side": Side.LEFT, "field_lengths": None}
        add_rows(session, Item, (common | {"split": one, "text": text_of(at)} for at, one in enumerate(splits)))
        ids = (
            {"project_id": project.id, "side": Side.LEFT, "external_id": f"{at}", "item_id": at + 1}
            for at in range(texts)
        )
        add_rows(session, Identifier, ids)
        return project.id


def make_model(engine: Engine, project_id: int, data: ProjectData, encoder: str) -> StoredModel:
    """Store a trained model with its reference, and random vectors of all texts under it; return its row."""
    folder = artifacts() / f"project-{project_id}" / "job" / "model"
    rng = np.random.default_rng(0)
    random = rng.standard_normal((len(data.item_ids), DIMENSION), dtype=np.float32)
    vectors = BLEND.joined(random / np.linalg.norm(random, axis=1, keepdims=True), data.dataset.lexicon)
    vectors[:, -1] += rng.uniform(0.0, 0.1, len(vectors)).astype(np.float32)
    layer = OutputLayer(9.0, -8.0)
    reference = make_reference(data.dataset, vectors, BLEND, layer, rng)
    folder.mkdir(parents=True)
    save_matcher(PairModel(load_encoder(encoder), layer, BLEND, reference=reference), folder)
    save_vectors(folder.parent / FILE, vectors)
    with writing(engine) as session:
        row = StoredModel(
            project_id=project_id,
            number=1,
            folder=f"project-{project_id}/job/model",
            encoder=encoder,
            w=9.0,
            b=-8.0,
            details=BLEND.as_dict(),
        )
        session.add(row)
        session.flush()
        session.expunge(row)
        return row


class Watch:
    """The seconds of each step, without those of encoding, which are kept beside them."""

    def __init__(self) -> None:
        self.encoding = 0.0
        parts = Encoder.encode_parts

        def timed(encoder: Encoder, *arguments: object, **more: object) -> object:
            began = time.monotonic()
            made = list(parts(encoder, *arguments, **more))  # type: ignore[arg-type]
            self.encoding += time.monotonic() - began
            return iter(made)

        Encoder.encode_parts = timed  # type: ignore[assignment, method-assign]

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Print what the block takes."""
        began = time.monotonic()
        used = time.process_time()
        before = self.encoding
        yield
        seconds = time.monotonic() - began
        encoded = self.encoding - before
        cores = f"{time.process_time() - used:.1f} s of a core"
        print(f"{name}: {seconds - encoded:.1f} s and {encoded:.1f} s of encoding; {cores} in all", flush=True)


def static(folder: Path) -> str:
    """Write an encoder that adds up random vectors of words, and return its folder."""
    torch.manual_seed(0)
    words = tiny_tokenizer([text_of(at) for at in range(2000)]).backend_tokenizer
    embedding = StaticEmbedding(words, embedding_weights=torch.randn(words.get_vocab_size(), DIMENSION).numpy())
    SentenceTransformer(modules=[embedding], device="cpu").save(str(folder / "static"), create_model_card=False)
    return str(folder / "static")


def run(folder: Path, texts: int, new: int) -> None:
    """Make the project, add the new texts, and print what each step takes."""
    torch.set_num_threads(os.cpu_count() or 1)  # `installation` sets one, for processes that share the cores
    migrate()
    engine = make_engine()
    encoder = static(folder)
    project_id = make_large(engine, texts, encoder)
    with reading(engine) as session:
        data = read_project(session, project_id)
    watch = Watch()
    with watch.step("(before) a model with the reference of all texts"):
        matcher = make_model(engine, project_id, data, encoder)
    with watch.step("(before) the pre-trained encoder's vectors"):
        plain = Blend().joined(np.load(artifacts() / f"project-{project_id}" / "job" / FILE)[:, :DIMENSION], None)
        save_vectors(_pretrained_path(project_id, data), plain)
    del data, plain
    path = folder / "new.csv"
    path.write_text("id,text\n" + "".join(f"new-{at},{text_of(texts + at)} new\n" for at in range(new)))
    with watch.step("preview"):
        change_texts.preview_change(engine, NAME, change_texts.TextFile(path))
    with watch.step("apply"):
        print(change_texts.apply(engine, NAME, change_texts.TextFile(path)).counts)
    with watch.step("read the project"), reading(engine) as session:
        data = read_project(session, project_id)
    with watch.step("vectors of the model"):
        assert len(vectors_of(project_id, matcher, data, data.settings, no_progress)) == texts + new
    with watch.step("vectors of the pre-trained encoder"):
        assert len(pretrained_vectors(project_id, data, data.settings, no_progress)) == texts + new
    with watch.step("undo"):
        change_texts.undo_text_change(engine, project_id)


def _pretrained_path(project_id: int, data: ProjectData) -> Path:
    name = sha256(f"{data.settings.encoder} {data.settings.hubness}".encode()).hexdigest()[:8]
    return artifacts() / f"project-{project_id}" / f"base-{name}" / FILE


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", type=int, default=1_000_000)
    parser.add_argument("--new", type=int, default=10_000)
    options = parser.parse_args()
    with installation("sqlite") as place:
        run(place, options.texts, options.new)
