"""Projects as people use them: each function is one transaction."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
from pydantic import ValidationError
from sqlalchemy import Engine
from sqlalchemy.orm import Session

from allpairs.annotate.frame.access.other_projects import require_new_models
from allpairs.annotate.frame.access.roles import Right
from allpairs.annotate.frame.access.transactions import acting
from allpairs.annotate.kit.jobs.open_jobs import forget
from allpairs.db.corpus.corpus import Corpus
from allpairs.db.corpus.split import split_corpus
from allpairs.db.domain import SIMULATED, AnswerKind, EventKind, Kind, Settings, Side, Split
from allpairs.db.errors import InputError
from allpairs.db.files.artifacts import discard
from allpairs.db.labels.answers import label_counts
from allpairs.db.progress import Progress, no_progress
from allpairs.db.projects.events import add_event
from allpairs.db.projects.items import add_corpus, gold_label_counts, item_counts
from allpairs.db.projects.jobs import PIPELINE, jobs_of_project
from allpairs.db.projects.lists import add_lists
from allpairs.db.projects.notices import announcing_target
from allpairs.db.projects.projects import (
    add_project,
    all_projects,
    binned_projects,
    checked_name,
    project_named,
    project_of,
    remove_project,
    require_unused,
    round_count,
)
from allpairs.db.results.pipelines import pipeline_folder
from allpairs.db.schema.engine import artifacts, person_of, reading
from allpairs.db.schema.tables import Project
from allpairs.learner.light.catalog import STRATEGIES


@dataclass(frozen=True)
class ProjectRow:
    """A project and the progress of its labelling."""

    id: int
    name: str
    kind: Kind
    settings: Settings
    created_at: datetime
    answers: dict[AnswerKind, int]
    rounds: int
    state: str = "active"  # or "archived", or "binned"


@dataclass(frozen=True)
class Contents:
    """The texts of the project, and the pairs that were known when it was created."""

    items: dict[tuple[Side, Split], int]
    gold_positives: int
    gold_negatives: int

    @property
    def kept(self) -> int:
        """The number of evaluation items."""
        return sum(count for (_, split), count in self.items.items() if split == Split.EVALUATION)

    def count(self, side: Side) -> int:
        """Return the number of items of one side."""
        return sum(count for (item_side, _), count in self.items.items() if item_side == side)


@dataclass(frozen=True)
class Summary:
    """A project with what it contains."""

    project: ProjectRow
    contents: Contents


def checked_settings(values: Mapping[str, Any]) -> Settings:
    """Return the settings with these values, and defaults elsewhere.

    Raises InputError with one line for all mistakes.
    """
    try:
        settings = Settings.model_validate(dict(values))
    except ValidationError as error:
        wrong = (f"{'.'.join(map(str, e['loc']))}: {e['msg'].lower()}, not {e['input']!r}" for e in error.errors())
        raise InputError("settings: " + "; ".join(wrong)) from None
    entry = STRATEGIES.get(settings.strategy)
    usable = [name for name, strategy in STRATEGIES.items() if strategy.live]
    if entry is None or not entry.live:
        raise InputError(f"settings: projects have no strategy {settings.strategy!r}; choose {', '.join(usable)}")
    if simulated := [name for name in SIMULATED if getattr(settings, name) != Settings.model_fields[name].default]:
        raise InputError(f"settings: {', '.join(simulated)}: only for simulations; leave it out")
    return settings


def split_as_set(corpus: Corpus, settings: Settings) -> Corpus:
    """Return the corpus itself if it is split already, else split it with the share and seed of the settings.

    Raises InputError if no pair is left for training.
    """
    if any(item.split is None for item in corpus.items):
        corpus = split_corpus(corpus, settings.evaluation_share, np.random.default_rng(settings.seed))
    shares = corpus.shares()
    left, right = (shares[side, Split.TRAIN] + shares[side, Split.SHARED] for side in (Side.LEFT, Side.RIGHT))
    if left < 2 if corpus.kind == Kind.SYMMETRIC else not (left and right):
        raise InputError(
            f"the split leaves {left + right} of {len(corpus.items)} items for training, too few for a pair: "
            "lower the evaluation share or add items"
        )
    return corpus


def create_project(
    engine: Engine, name: str, corpus: Corpus, settings: Settings, progress: Progress = no_progress
) -> int:
    """Store a new project, all of it or nothing; return its id.

    If the corpus has another share of evaluation items than the settings, the corpus's share is stored. Raises
    InputError for an invalid or taken name, and if no pair is left for training.
    """
    checked_name(name)
    corpus = split_as_set(corpus, checked_settings(settings.model_dump()))
    settings = settings.model_copy(update={"evaluation_share": _share(corpus, settings.evaluation_share)})
    with acting(engine, Right.INSTALL) as session:
        columns = corpus.columns.as_dict() if corpus.columns else None
        project = add_project(session, name, corpus.kind, settings.model_dump(), columns)
        add_corpus(session, project.id, corpus, progress)
        if corpus.rows is not None:
            add_lists(session, project.id, corpus.rows)
        new = {"items": len(corpus.items), "known pairs": len(corpus.gold)}
        add_event(session, person_of(engine), EventKind.CREATED, project.id, project.name, new=new)
        return project.id


def _share(corpus: Corpus, chosen_share: float) -> float:
    share = round(corpus.shares()[Side.LEFT, Split.EVALUATION] / corpus.count(Side.LEFT), 4)
    return chosen_share if abs(share - chosen_share) < 0.01 else share


def list_projects(engine: Engine, everything: bool = False) -> list[ProjectRow]:
    """Return every project, the newest first; if `everything`, with archived ones, and then those in the bin."""
    with reading(engine) as session:
        binned = binned_projects(session) if everything else []
        return [_row(session, project) for project in (*all_projects(session, archived=everything), *binned)]


def project_by_name(engine: Engine, name: str, in_bin: bool = False) -> ProjectRow:
    """Return the project of this name; one in the bin only if asked for.

    Raises InputError if there is none.
    """
    with reading(engine) as session:
        return _row(session, project_named(session, name, in_bin))


def project_contents(engine: Engine, project_id: int) -> Contents:
    """Return what was imported into the project."""
    with reading(engine) as session:
        return _contents(session, project_id)


def project_summary(engine: Engine, name: str) -> Summary:
    """Return the project of this name with what it contains.

    Raises InputError if there is none.
    """
    with reading(engine) as session:
        project = project_named(session, name)
        return Summary(_row(session, project), _contents(session, project.id))


def update_settings(engine: Engine, project_id: int, settings: Settings) -> None:
    """Change the project's settings from its next batch on.

    Raises InputError for another share of evaluation items, since the split is made only once; Refused for a new
    encoder that the person may not use.
    """
    settings = checked_settings(settings.model_dump())
    with acting(engine, Right.CHANGE, project_id) as session:
        project = project_of(session, project_id)
        require_new_models(session, settings, project.settings)
        share = project.settings["evaluation_share"]
        if settings.evaluation_share != share:
            raise InputError(f"the evaluation share must stay {share}: the split is made only once, with the project")
        old = Settings.model_validate(project.settings).model_dump()
        new = settings.model_dump()
        changed = [name for name in new if new[name] != old[name]]
        with announcing_target(session, project_id):
            project.settings = new
        if changed:
            values = ({name: settings_[name] for name in changed} for settings_ in (old, new))
            add_event(session, person_of(engine), EventKind.SETTINGS, project_id, project.name, *values)


def delete_project(engine: Engine, project_id: int, binned_before: datetime | None = None) -> None:
    """Delete the project, its labels and its matchers permanently (`lifecycle.bin_project` can be undone).

    Raises InputError while another project uses the encoder of its runs and, with `binned_before`, if it
    was not put into the bin before that time.
    """
    with acting(engine, Right.CHANGE, project_id, put_away=True) as session:
        project = project_of(session, project_id)
        if binned_before is not None and (project.deleted_at is None or project.deleted_at >= binned_before):
            raise InputError(f"the project {project.name!r} was restored")
        jobs = jobs_of_project(session, project_id)
        for run in (pipeline_folder(job.id) for job in jobs if job.kind == PIPELINE):
            require_unused(session, run, excepted=project_id)
        add_event(session, person_of(engine), EventKind.REMOVED, subject=project.name)  # its own events go with it
        folders = remove_project(session, project)
        forget([job.id for job in jobs])
    for folder in folders:
        discard(artifacts() / folder)


def _row(session: Session, project: Project) -> ProjectRow:
    return ProjectRow(
        id=project.id,
        name=project.name,
        kind=Kind(project.kind),
        settings=Settings.model_validate(project.settings),
        created_at=project.created_at,
        answers=label_counts(session, project.id),
        rounds=round_count(session, project.id),
        state="binned" if project.deleted_at else "archived" if project.archived_at else "active",
    )


def _contents(session: Session, project_id: int) -> Contents:
    gold = gold_label_counts(session, project_id)
    return Contents(item_counts(session, project_id), gold[True], gold[False])
