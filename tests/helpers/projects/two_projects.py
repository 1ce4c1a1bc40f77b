"""Whole projects, with something of everything, for acts in one that name something of another."""

import json
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
from sqlalchemy import Engine, select

from allpairs.annotate.features.studies.rating_studies import BEGUN
from allpairs.db.domain import AnswerKind, NoticeKind, PublicationKind, Role
from allpairs.db.labels.pairs import Pair
from allpairs.db.people.logins import add_invitation
from allpairs.db.projects.jobs import EXPERIMENT, PIPELINE, SEARCH
from allpairs.db.projects.notices import add_notice
from allpairs.db.results.experiments import STATE, experiment_folder
from allpairs.db.results.matches import GROUPS, folder_of_matches
from allpairs.db.results.matches import PAIRS as PAIRS_FILE
from allpairs.db.results.pipelines import ARTIFACTS, RERANKER, results_folder
from allpairs.db.schema.engine import artifacts, writing
from allpairs.db.schema.tables import (
    Answer,
    Delivery,
    Invitation,
    Item,
    MachineRater,
    Publication,
    StoredModel,
    StudyUnit,
    Task,
    TextChange,
)  # fmt: skip
from tests.helpers.factories import keep_row, make_groups, make_project, make_round
from tests.helpers.figures.measured import add_job, write_model_folder
from tests.helpers.people import START
from tests.helpers.projects.pipelines import make_study, write_began
from tests.helpers.raters import setup
from tests.helpers.services.webhooks import add_webhook

WHO = "somebody"  # who gave the answers
TEXTS = 6  # of each list
PAIRS, BIENCODER, RERANKS, GENERATOR, QUESTIONS = range(5)  # the run's outputs


@dataclass(frozen=True)
class Whole:
    """What a project has, by its ids. free: a pair with neither label nor task."""

    id: int
    name: str
    items: list[int]
    task: int
    answer: int  # a match, of `somebody`
    matched: Pair
    free: Pair
    matcher: int
    study: int
    unit: int
    invitation: int
    webhook: int
    delivery: int  # to the webhook, still on its way

    @property
    def run(self) -> str:
        """The run, with an output of each kind."""
        return f"run-{self.id}"

    @property
    def experiment(self) -> str:
        return f"experiment-{self.id}"

    @property
    def open_job(self) -> str:
        return f"search-{self.id}"

    @property
    def trained(self) -> str:
        """The folder of the project's matcher."""
        return str(artifacts() / f"project-{self.id}" / "round" / "model")

    def made(self, name: str) -> str:
        """Return the folder of a model that the run made."""
        return str(results_folder(self.run) / name)


class NoQueue:
    """In place of a client of the job queue."""

    def __enter__(self) -> "NoQueue":
        return self

    def __exit__(self, *error: object) -> None:
        return

    def cancel_workflow(self, job_id: str) -> None:
        return

    def delete_workflows(self, job_ids: list[str]) -> None:
        return


def make_whole(engine: Engine, home: Path, name: str) -> Whole:
    """Make a project of two lists with a batch, answers, a matcher, a run, a study, jobs, matches, an invitation."""
    questions, passages = ([f"{side} {at} of {name}" for at in range(TEXTS)] for side in ("question", "passage"))
    project_id = make_project(engine, questions, right=passages, name=name, auto_train=False)
    make_round(engine, project_id, TEXTS)
    keep_row(engine, project_id)
    study, webhook = make_study(engine, project_id, 1, BEGUN[:1]), add_webhook(engine, project_id)
    with writing(engine) as session:
        items = list(session.scalars(select(Item.id).where(Item.project_id == project_id).order_by(Item.id)))
        left, right = items[:TEXTS], items[TEXTS:]
        answers = [
            Answer(project_id=project_id, left_id=left[at], right_id=right[at], annotator=WHO,
                   answer=AnswerKind.POSITIVE, key=f"{name}-{at}") for at in (1, 2)
        ]  # fmt: skip
        matcher = StoredModel(project_id=project_id, number=0, encoder="e", cutoff=0, labels=2, positives=2, details={},
                          w=20.0, b=-12.0, folder=f"project-{project_id}/round/model")  # fmt: skip
        none = dict.fromkeys(("added", "changed", "withdrawn", "measuring"), 0)
        change = TextChange(project_id=project_id, number=1, who=WHO, source="texts.csv", **none)
        rater = MachineRater(project_id=project_id, number=1, who="", setup=setup().model_dump(mode="json"))
        session.add_all([*answers, matcher, change, rater])
        session.flush()
        session.add(
            Publication(project_id=project_id, kind=PublicationKind.MODEL, matcher_id=matcher.id, number=0, who="")
        )
        add_invitation(session, project_id, Role.VIEWER, None, START, timedelta(days=1))
        add_notice(session, project_id, NoticeKind.BATCH_READY, {})
        found = Whole(
            project_id, name, items, session.scalars(select(Task.id).where(Task.project_id == project_id)).all()[0],
            answers[0].id, (left[1], right[1]), (left[3], right[3]), matcher.id, study,
            session.scalars(select(StudyUnit.id).where(StudyUnit.study_id == study)).one(),
            session.scalars(select(Invitation.id).where(Invitation.project_id == project_id)).one(),
            webhook, session.scalars(select(Delivery.id).where(Delivery.webhook_id == webhook)).one(),
        )  # fmt: skip
    add_job(engine, project_id, found.run, kind=PIPELINE, state="done")
    add_job(engine, project_id, found.experiment, kind=EXPERIMENT, state="done")
    add_job(engine, project_id, found.open_job, kind=SEARCH, state="running")
    _write_run(found)
    write_model_folder(home, str(matcher.folder))
    experiment_folder(found.experiment).mkdir(parents=True)
    (experiment_folder(found.experiment) / STATE).write_text('{"name": "Compared", "cells": [], "updated": 0}')
    matches = folder_of_matches(project_id)
    matches.mkdir()
    for file in (PAIRS_FILE, GROUPS):
        pyarrow.parquet.write_table(pyarrow.table({"id1": ["a"], "id2": ["b"], "id": ["a"]}), matches / file)
    make_groups(engine, project_id, [found.matched])
    return found


def _write_run(of: Whole) -> None:
    write_began(of.run, "2 positive labels are the seed.")
    folder = results_folder(of.run)
    for model, file in {"biencoder": "config.json", "reranker": "reranker.json", "generator": "x"}.items():
        (folder / model).mkdir(parents=True)
        (folder / model / file).write_text("{}")
    mined = [{"x_id": of.free[0], "y_id": of.free[1], "x": "x", "y": "y", "cos": 0.9}]
    asked = [{"passage": "P", "reference": "R?", "questions": dict.fromkeys(BEGUN, "Q?")}]
    files: dict[str, list[Any]] = {"mined": mined, "asked": asked}
    for name, rows in files.items():
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    kinds = {"pairs": "mined.jsonl", "biencoder": "biencoder", RERANKER: "reranker", "generator": "generator",
             "test-questions": "asked.jsonl"}  # fmt: skip
    made = [{"kind": kind, "title": kind, "path": f"results/{path}", "about": {}} for kind, path in kinds.items()]
    (folder / ARTIFACTS).write_text(json.dumps(made))
