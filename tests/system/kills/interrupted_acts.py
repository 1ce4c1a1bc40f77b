"""What `interrupted` interrupts: imports, a change of texts, an export, a deletion; and how far it came."""

import shutil
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
from sqlalchemy import Engine, func, select

from allpairs.annotate.features.archives.project_export import MANIFEST, export_project
from allpairs.annotate.features.archives.project_import import import_project
from allpairs.annotate.features.label.queue import record, serve
from allpairs.annotate.features.projects.lifecycle import bin_project, empty_bin
from allpairs.annotate.features.projects.projects import create_project, project_by_name
from allpairs.annotate.features.texts.change_texts import TextFile as ChangeSource
from allpairs.annotate.features.texts.change_texts import apply, undo_text_change
from allpairs.annotate.kit.uploads import Source, load
from allpairs.db.corpus.corpus import Columns
from allpairs.db.domain import Settings
from allpairs.db.errors import InputError
from allpairs.db.files.checksums import seal
from allpairs.db.schema.engine import artifacts, make_engine, reading, writing
from allpairs.db.schema.tables import Answer, Identifier, IdentifierChange, Item, Project, StoredModel, TextChange, now
from tests.helpers.factories import make_project, make_round

ROWS, MODEL = 3000, 8_000_000  # texts of a project, and bytes of its model
NEW = 1000  # texts that a change adds, and as many that it changes
NAME = "Moved"


@dataclass(frozen=True)
class Place:
    """Where all of it happens."""

    folder: Path

    @property
    def archive(self) -> Path:
        return self.folder / "source.zip"

    @property
    def out(self) -> Path:
        return self.folder / "out" / "export.zip"

    @property
    def table(self) -> Path:
        return self.folder / "texts.csv"

    @property
    def changes(self) -> Path:
        return self.folder / "changes.csv"


@dataclass(frozen=True)
class Act:
    """Something to interrupt. state: what there is of it, of which only `before` and `after` are whole."""

    name: str
    prepare: Callable[[Place], None]
    work: Callable[[Place], None]
    state: Callable[[Place], Any]
    done: Callable[[Place], Any]  # what `state` must be after the act


def _project(engine: Engine, name: str = NAME) -> tuple[int, int, int, bool] | None:
    """Return how many items, answers and models the project has, and whether the model's file is whole."""
    with reading(engine) as session:
        found = session.scalar(select(Project).where(Project.name == name))
        if found is None:
            return None
        of_project = [select(func.count()).where(table.project_id == found.id) for table in (Item, Answer)]
        counts = [session.scalar(one) or 0 for one in of_project]
        models = session.scalars(select(StoredModel.folder).where(StoredModel.project_id == found.id)).all()
        sizes = [(artifacts() / str(folder) / "model.safetensors").stat().st_size for folder in models]
    return counts[0], counts[1], len(models), sizes == [MODEL] * len(models)


def _state(place: Place) -> Any:
    engine = make_engine()
    try:
        return _project(engine)
    finally:
        engine.dispose()


def _remove(place: Place) -> None:
    engine = make_engine()
    if _project(engine) is not None:
        _put_into_bin(engine)
        empty_bin(engine, now() + timedelta(days=8))
    engine.dispose()


def _create(place: Place) -> None:
    engine = make_engine()
    create_project(engine, NAME, load(Source(place.table, Columns("id", ("text",)))), Settings())
    engine.dispose()


def _import(place: Place) -> None:
    engine = make_engine()
    import_project(engine, place.archive, NAME)
    engine.dispose()


def _unchanged(place: Place) -> None:
    """Have the project as it was imported, without the change of its texts."""
    if _state(place) is None:
        _import(place)
    with suppress(InputError):  # there may be no change to undo
        engine = make_engine()
        undo_text_change(engine, project_by_name(engine, NAME).id)
        engine.dispose()


def _change(place: Place) -> None:
    engine = make_engine()
    apply(engine, NAME, ChangeSource(place.changes))
    engine.dispose()


def _changed(place: Place) -> Any:
    """Return how many changes stand, what they moved, how many ids name a text, and how many texts are there."""
    engine = make_engine()
    with reading(engine) as session:
        found = session.scalars(select(Project).where(Project.name == NAME)).one()
        stands = select(TextChange.id).where(TextChange.project_id == found.id, TextChange.undone_at.is_(None))
        counts = [
            session.scalar(select(func.count()).select_from(stands.subquery())),
            session.scalar(select(func.count()).where(IdentifierChange.change_id.in_(stands))),
            session.scalar(select(func.count()).where(Identifier.project_id == found.id)),
            session.scalar(select(func.count()).where(Item.project_id == found.id, Item.withdrawn_at.is_(None))),
        ]
    engine.dispose()
    return tuple(counts)


def _bin(place: Place) -> None:
    _remove(place)
    _import(place)
    engine = make_engine()
    _put_into_bin(engine)
    engine.dispose()


def _put_into_bin(engine: Engine) -> None:
    with reading(engine) as session:
        project = session.scalars(select(Project).where(Project.name == NAME)).one()
    if project.deleted_at is None:
        bin_project(engine, project.id)


def _empty(place: Place) -> None:
    engine = make_engine()
    empty_bin(engine, now() + timedelta(days=8))
    engine.dispose()


def _present(place: Place) -> None:
    if _state(place) is None:
        _import(place)
    shutil.rmtree(place.out.parent, ignore_errors=True)
    place.out.parent.mkdir()


def _export(place: Place) -> None:
    engine = make_engine()
    export_project(engine, NAME, place.out)
    engine.dispose()


def _exported(place: Place) -> Any:
    if not place.out.exists():
        return None
    with ZipFile(place.out) as bundle:
        return bundle.testzip() is None and MANIFEST in bundle.namelist()


ACTS = (
    Act("import of texts", _remove, _create, _state, lambda place: (ROWS, 0, 0, True)),
    Act("import of a project", _remove, _import, _state, lambda place: (ROWS, 9, 1, True)),
    Act("change of texts", _unchanged, _change, _changed, lambda place: (1, 2 * NEW, ROWS + NEW, ROWS + NEW)),
    Act("export of a project", _present, _export, _exported, lambda place: True),
    Act("deletion of a project", _bin, _empty, _state, lambda place: None),
)


def make_sources(engine: Engine, place: Place) -> None:
    """Write the tables of texts and of changed ones, and the archive of a project with answers and a model."""
    texts = [f"text {at} of many words that say little" for at in range(ROWS)]
    place.table.write_text("id,text\n" + "".join(f"{at},{one}\n" for at, one in enumerate(texts)), encoding="utf-8")
    news = [f"left-{at},changed text {at}" for at in range(NEW)] + [f"new-{at},new text {at}" for at in range(NEW)]
    place.changes.write_text("id,text\n" + "\n".join(news), encoding="utf-8")
    project = make_project(engine, texts, name="Source", auto_train=False)
    make_round(engine, project, 9)
    answer_all(engine, project, "source", 9)
    folder = artifacts() / f"project-{project}" / "job" / "model"
    folder.mkdir(parents=True)
    (folder / "model.safetensors").write_bytes(np.random.default_rng(0).bytes(MODEL))
    (folder / "matcher.json").write_text('{"w": 1.0, "b": 0.0}')
    seal(folder)
    with writing(engine) as session:
        session.add(
            StoredModel(
                project_id=project,
                number=1,
                encoder="tiny",
                w=1.0,
                b=0.0,
                labels=9,
                positives=9,
                folder=f"project-{project}/job/model",
            )
        )
    export_project(engine, "Source", place.archive)


def answer_all(engine: Engine, project: int, who: str, n: int) -> list[str]:
    """Answer the next n pairs, and return the acknowledged keys."""
    pairs, _ = serve(engine, project, who, n)
    events = [{"key": f"{who}-{pair.task_id}", "task_id": pair.task_id, "answer": "positive", "seconds": 9.0}
              for pair in pairs]  # fmt: skip
    return record(engine, project, who, events).stored
