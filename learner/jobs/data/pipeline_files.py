"""Write a project's data as the input files of a pipeline, and describe them. One function for each pipeline."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sqlalchemy import select
from sqlalchemy.orm import Session

from allpairs.db.domain import AnswerKind, Kind, Side, Split
from allpairs.db.errors import InputError
from allpairs.db.files.artifacts import is_there
from allpairs.db.labels.pipeline_seeds import (
    labelled_positives,
    measuring_positives,
    training_gold_rows,
    training_label_rows,
)
from allpairs.db.projects.items import item_texts, present
from allpairs.db.projects.matchers import newest_matcher
from allpairs.db.projects.projects import project_named, project_of
from allpairs.db.schema.engine import artifacts
from allpairs.db.schema.tables import Gold, Item, Project
from allpairs.learner.jobs.data.experiment_files import write_parquet
from allpairs.learner.light.catalog.from_project import FEWEST, FROM_PROJECT, NamedSource, SeedPairs
from allpairs.learner.scoring.matcher import FILE as MATCHER

Pairs = list[tuple[int, int]]
AS_ASKED = {"back-training": NamedSource}  # inputs that the job has in another form than the catalog


@dataclass(frozen=True)
class PipelineFiles:
    """The files by the names of the pipeline's inputs, and a description."""

    files: dict[str, str | None]
    words: str


def write_data(
    session: Session, project_id: int, name: str, chosen: dict[str, Any], seed: int, folder: Path
) -> PipelineFiles:
    """Write the pipeline's inputs. chosen: as the catalog has it. Raises InputError if the project lacks any."""
    if name not in WRITERS:
        raise InputError(f"the pipeline {name} cannot run on a project: run it on files with `allpairs pipeline`")
    folder.mkdir(parents=True, exist_ok=True)
    model = AS_ASKED.get(name, FROM_PROJECT[name])
    return WRITERS[name](session, project_id, model.model_validate(chosen), seed, folder)


def _mining(session: Session, project_id: int, chosen: Any, seed: int, folder: Path) -> PipelineFiles:
    """Write the inputs of few-shot mining. Ids are item ids; neither seed nor gold has pairs of evaluation items."""
    seeds, words = _seeds(session, project_id, chosen, np.random.default_rng(seed))
    known = [tuple(row) for row in session.execute(training_gold_rows(project_id))]
    test = [(left, right) for left, right, _ in session.execute(measuring_positives(project_id))]
    two_lists = project_of(session, project_id).kind == Kind.BIPARTITE
    corpora = {"corpus_x": _items(session, project_id, Side.LEFT)}
    if two_lists:
        corpora["corpus_y"] = _items(session, project_id, Side.RIGHT)
    files = {name: write_parquet(folder / f"{name}.parquet", ("id", "text"), rows) for name, rows in corpora.items()}
    files["seed_pairs"] = write_parquet(folder / "seed_pairs.parquet", ("x", "y"), _texts(session, seeds))
    if known:
        rows = [(str(left), str(right), int(positive)) for left, right, positive in known]
        files["gold"] = write_parquet(folder / "gold.parquet", ("id1", "id2", "label"), rows)
    if test:
        files["test_pairs"] = write_parquet(folder / "test_pairs.parquet", ("x", "y"), _texts(session, test))
    counts = " and ".join(f"{len(rows):,}" for rows in corpora.values())
    measured = f"{len(known):,} known pairs measure the mined pairs, {len(test):,} measure retrieval."
    return PipelineFiles({name: str(path) for name, path in files.items()}, f"{words} {counts} texts. {measured}")


def _backtraining(session: Session, project_id: int, chosen: Any, seed: int, folder: Path) -> PipelineFiles:
    """Write the inputs of back-training: questions on the left, passages on the right; ids are item ids.

    Raises InputError if this project or the source project has one list.
    """
    source = _source(session, project_id, chosen)
    seeds, words = _seeds(session, source.id, chosen, np.random.default_rng(seed))
    lists = {"questions": Side.LEFT, "passages": Side.RIGHT}
    texts = {name: _items(session, project_id, side) for name, side in lists.items()}
    files = {name: write_parquet(folder / f"{name}.parquet", ("id", "text"), rows) for name, rows in texts.items()}
    pairs = {
        "source_pairs": seeds,
        "dev_pairs": _known_positives(session, project_id) if source.id != project_id else [],
    }
    pairs["test_pairs"] = [(left, right) for left, right, _ in session.execute(measuring_positives(project_id))]
    for name, name_pairs in pairs.items():
        if name_pairs:
            files[name] = write_parquet(folder / f"{name}.parquet", ("x", "y"), _texts(session, name_pairs))
    if source.id != project_id:
        words = f"From the project {source.name!r}: {words}"
    dev = f"{len(pairs['dev_pairs']):,} pairs" if pairs["dev_pairs"] else "A fifth of them"
    counts = f"{len(texts['questions']):,} questions, {len(texts['passages']):,} passages."
    chosen_by = f"{dev} set thresholds and choose models; {len(pairs['test_pairs']):,} measure the result."
    return PipelineFiles({name: str(path) for name, path in files.items()}, f"{words} {counts} {chosen_by}")


def _source(session: Session, project_id: int, chosen: NamedSource) -> Project:
    """Return the project that the source pairs come from: that of the number, whatever has its name by now."""
    project = project_of(session, project_id)
    source = project
    if chosen.source_id is not None:
        source = project_named(session, project_of(session, chosen.source_id).name)  # refuses one in the bin
    for checked in (project, source):
        if checked.kind != Kind.BIPARTITE:
            raise InputError(
                f"{checked.name!r} has one list, and back-training needs questions and passages: two lists"
            )
    return source


def _known_positives(session: Session, project_id: int) -> Pairs:
    """Return the known or labelled positive pairs of the project's own training items, each once."""
    known = session.execute(training_gold_rows(project_id).where(Gold.positive))
    labelled = session.execute(labelled_positives(project_id))
    return sorted({(row[0], row[1]) for row in (*known, *labelled)})


def _reranking(session: Session, project_id: int, chosen: Any, seed: int, folder: Path) -> PipelineFiles:
    """Write the inputs of multi-view re-ranking. Ids are item ids; only evaluation items are in the test set."""
    judged: dict[tuple[int, int], bool] = {}
    if chosen.source != "labels":
        judged |= {
            (left, right): bool(positive) for left, right, positive in session.execute(training_gold_rows(project_id))
        }
    if chosen.source != "known pairs":
        labels = session.execute(training_label_rows(project_id))
        judged |= {(left, right): answer == AnswerKind.POSITIVE for left, right, answer in labels}
    _enough([pair for pair, positive in judged.items() if positive], "positive labels or known pairs")
    test = {(left, right): True for left, right, _ in session.execute(measuring_positives(project_id))}
    two_lists = project_of(session, project_id).kind == Kind.BIPARTITE
    passage_side = Side.RIGHT if two_lists else Side.LEFT
    tables = {"queries": _items(session, project_id, Side.LEFT), "passages": _items(session, project_id, passage_side)}
    if test:
        tables["test_queries"] = _items(session, project_id, Side.LEFT, excluded=Split.TRAIN)
        tables["test_passages"] = _items(session, project_id, passage_side, excluded=Split.TRAIN)
    files = {name: write_parquet(folder / f"{name}.parquet", ("id", "text"), rows) for name, rows in tables.items()}
    for name, pairs in {"qrels": judged, "test_qrels": test}.items():
        rows = [
            (str(query), str(passage), int(positive))
            for (left, right), positive in pairs.items()
            for query, passage in ((left, right), *([] if two_lists else [(right, left)]))
        ]
        if rows:
            files[name] = write_parquet(folder / f"{name}.parquet", ("id1", "id2", "label"), rows)
    files |= _matcher(session, project_id)
    right = sum(judged.values())
    measured = f"{len(test):,} known pairs of evaluation texts measure" if test else "A share of their queries measures"
    words = (
        f"{right:,} right and {len(judged) - right:,} wrong pairs to learn from, {len(tables['passages']):,} passages."
    )
    return PipelineFiles({name: str(path) for name, path in files.items()}, f"{words} {measured} the result.")


def _matcher(session: Session, project_id: int) -> dict[str, Path]:
    """Return the file of the project's newest matcher; empty until a round has trained one."""
    newest = newest_matcher(session, project_id)
    if newest is None or not newest.folder:
        return {}
    path = artifacts() / newest.folder / MATCHER
    return {"matcher": path.resolve()} if is_there(path) else {}


def _seeds(session: Session, project_id: int, chosen: SeedPairs, rng: np.random.Generator) -> tuple[Pairs, str]:
    """Return the seed pairs and a description. Raises InputError for fewer than two."""
    labelled: Pairs = [(left, right) for left, right in session.execute(labelled_positives(project_id))]
    if chosen.source == "labels" or (chosen.source == "labels first" and len(labelled) >= FEWEST):
        return _enough(labelled, "positive labels"), f"{len(labelled):,} positive labels are the seed."
    positives = training_gold_rows(project_id).where(Gold.positive)
    known: Pairs = [(left, right) for left, right, _ in session.execute(positives)]
    drawn = rng.permutation(len(known))[: chosen.known]
    words = f"{len(drawn):,} of {len(known):,} known pairs, drawn at random, are the seed."
    return _enough([known[at] for at in sorted(drawn)], "known positive pairs"), words


def _enough(pairs: Pairs, kind: str) -> Pairs:
    if len(pairs) < FEWEST:
        raise InputError(
            f"{len(pairs)} {kind} of training items, but at least {FEWEST} are needed: label more pairs, or choose "
            "other seed pairs"
        )
    return pairs


def _items(session: Session, project_id: int, side: Side, excluded: Split = Split.EVALUATION) -> list[tuple[str, str]]:
    """Return id and text of one side's items: the training items, or all items outside the split `excluded`."""
    side_items = (*present(project_id), Item.side == side, Item.split != excluded)
    rows = session.execute(select(Item.id, Item.text).where(*side_items).order_by(Item.id))
    return [(str(id_), text) for id_, text in rows]


def _texts(session: Session, pairs: Sequence[tuple[int, int]]) -> list[tuple[str, str]]:
    texts = item_texts(session, {item for pair in pairs for item in pair})
    return [(texts[left], texts[right]) for left, right in pairs]


def _passages(session: Session, project_id: int, chosen: Any, seed: int, folder: Path) -> PipelineFiles:
    """Write the inputs of QuIP: training texts; the user chooses the source of questions and what measures them."""
    sides = {"first list": [Side.LEFT], "second list": [Side.RIGHT], "both": list(Side)}[chosen.texts]
    texts = [row for side in sides for row in _items(session, project_id, side)]
    if not texts:
        raise InputError(f"the project has no training texts in its {chosen.texts}: choose other texts")
    passages = str(write_parquet(folder / "passages.parquet", ("id", "text"), texts))
    files: dict[str, str | None] = {"passages": passages, **chosen.measured_with}
    words = "questions are their sentences with noise added."
    if chosen.questions is not None:
        files["questions"] = chosen.questions
        words = f"questions are learned from {Path(chosen.questions).name}."
    return PipelineFiles(files, f"{len(texts):,} texts; {words}")


WRITERS: dict[str, Callable[[Session, int, Any, int, Path], PipelineFiles]] = {
    "few-shot-mining": _mining,
    "back-training": _backtraining,
    "multi-view-reranking": _reranking,
    "quip": _passages,
}
