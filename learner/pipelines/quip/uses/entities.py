"""Entity tagging from a few sentences or from all, with a last layer that is random or initialised from questions.

Source: Jia, Lewis and Zettlemoyer (2022), Tables 4 and 10.
"""

from collections.abc import Iterator
from typing import Any

from allpairs.db.errors import InputError
from allpairs.db.progress import Progress, part_of
from allpairs.learner.backbones.span_biencoder import load_biencoder
from allpairs.learner.backbones.token_encoder import load_token_encoder
from allpairs.learner.light.catalog.quip import Entities
from allpairs.learner.pipelines.pipeline import Run
from allpairs.learner.pipelines.quip.student import Model
from allpairs.learner.pipelines.quip.tagging import (
    OUTSIDE,
    Sentences,
    few_sentences,
    few_shot_f1,
    question_rows,
    tags_of,
)
from allpairs.learner.pipelines.quip.uses.rows import Rows, by_dataset, sample_rows

# how the last layer is initialised
STANDARD = "standard"
QUESTIONS = "question"
FULL = "all sentences"  # after the former: trained on every sentence


def measure_entities(run: Run, model: Model, rows: Rows, progress: Progress) -> Iterator[dict[str, Any]]:
    """Yield the F1 of each data set, split and initialisation, loading the encoder again each time."""
    settings = run.config.entities
    parts = sentences_of(rows, settings, run.config.seed)
    begins = (STANDARD, QUESTIONS) if model.kind == "bi-encoder" else (STANDARD,)
    todo = [(name, seed, begin, False) for name in parts for seed in settings.seeds for begin in begins]
    if settings.full_epochs:
        todo += [(name, settings.seeds[0], begin, True) for name in parts for begin in begins]
    for place, (name, seed, begin, full) in enumerate(todo):
        part = part_of(progress, place / len(todo), (place + 1) / len(todo), f"{name}, ")
        train, tested = parts[name]
        taught = train if full else train.take(few_sentences(train, settings.shots, seed))
        tags = tags_of(train)
        first = None
        if begin == QUESTIONS:
            first = question_rows(load_biencoder(model.source), tags, settings.prompts_of(name))
        training = settings.model_copy(update={"epochs": settings.full_epochs}) if full else settings
        f1 = few_shot_f1(load_token_encoder(model.source), taught, tested, training, seed, first, tags, part)
        use = f"{begin}, {FULL}" if full else begin
        yield {"dataset": name, "use": use, "seed": seed, "f1": f1, "sentences": len(taught)}


def sentences_of(rows: Rows, settings: Entities, seed: int) -> dict[str, tuple[Sentences, Sentences]]:
    """Return each data set's training and test sentences. Raises InputError for a missing part or a wrong tag."""
    sentences = {}
    for name, dataset_rows in by_dataset(rows).items():
        train, test = ([row for row in dataset_rows if row["split"] == split] for split in ("train", "test"))
        sentences[name] = _sentences(train, name), _sentences(sample_rows(test, settings.most, seed), name)
    return sentences


def _sentences(rows: Rows, name: str) -> Sentences:
    """Return the rows' sentences. Raises InputError if there are none, or tags are not IOB2 or not one per word."""
    if not rows:
        raise InputError(f"inputs.entities: {name} lacks a split: it needs rows of the splits train and test")
    words = [row["tokens"].split() for row in rows]
    tags = [row["tags"].split() for row in rows]
    for sentence, labels in zip(words, tags, strict=True):
        if len(sentence) != len(labels):
            raise InputError(
                f"inputs.entities: {name}: {len(sentence)} words but {len(labels)} tags "
                f"({' '.join(sentence)[:60]!r}): give each word one tag"
            )
        strange = next((tag for tag in labels if tag != OUTSIDE and tag[:2] not in ("B-", "I-")), None)
        if strange is not None:
            raise InputError(f"inputs.entities: {name}: the tag {strange!r} is none of O, B-KIND, I-KIND: rename it")
    return Sentences(words, tags)
