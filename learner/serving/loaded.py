"""The models that this process holds. Each is loaded in a thread of its own.

A new publication takes the place of the old one when it is ready; a request keeps the model that it began with.
"""

import logging
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from time import monotonic

from sqlalchemy import Engine
from sqlalchemy.orm import Session

from allpairs.db.domain import PublicationKind
from allpairs.db.errors import Busy, InputError
from allpairs.db.projects.publications import NOTHING_PUBLISHED, in_service
from allpairs.db.schema.engine import reading
from allpairs.db.texts.plan import state_of
from allpairs.learner.serving.loading import load_served
from allpairs.learner.serving.project_texts import ProjectTexts
from allpairs.learner.serving.served_model import ServedModel

PATIENCE = 20.0  # seconds that a request waits for a model that is being loaded
MOST_LOADING = 1_000  # at a time: the texts of one project may take hours to encode, and no other waits for them
RETRY_AFTER = 30  # seconds until a model that could not be loaded is tried again
MODEL, SHADOW = PublicationKind

log = logging.getLogger(__name__)


class NothingPublished(InputError):
    """The project has no published model."""


class StillLoading(Busy):
    """The model is still being loaded."""

    def __init__(self) -> None:
        super().__init__("the published model is being loaded: ask again in half a minute", RETRY_AFTER)


@dataclass(frozen=True)
class Key:
    """What a loaded model was made of: its publication, and the state of the project's texts (`state_of`)."""

    publication_id: int
    matcher_id: int
    number: int
    texts: tuple[int, int]


@dataclass(frozen=True)
class Served:
    """A loaded model with the texts of its project."""

    key: Key
    texts: ProjectTexts
    model: ServedModel


Place = tuple[int, PublicationKind]  # a project, and what its model is published as
Load = Callable[[Engine, int, int], tuple[ProjectTexts, ServedModel]]


class Loaded:
    """The loaded models of all projects that were asked for, and the loading of others."""

    def __init__(self, engine: Engine, load: Load = load_served) -> None:
        self._engine = engine
        self._load = load
        self._served: dict[Place, Served] = {}
        self._loading: dict[Place, Future[None]] = {}
        self._failed: dict[Place, tuple[Key, float]] = {}
        self._lock = threading.Lock()
        self._loader = ThreadPoolExecutor(MOST_LOADING, "loader")

    def model(self, project_id: int, patience: float = PATIENCE) -> Served:
        """Return the published model of the project; load it first, if nobody has asked for it yet.

        Raises NothingPublished, StillLoading after so many seconds, and InputError if it cannot be loaded.
        """
        loading = self.loading(project_id)
        if loading is not None:
            wait([loading], patience)
            if not loading.done():
                raise StillLoading
            loading.result()
        served = self._served.get((project_id, MODEL))
        if served is None:  # its publication has just ended
            raise NothingPublished(NOTHING_PUBLISHED)
        return served

    def loading(self, project_id: int) -> "Future[None] | None":
        """Return the loading of the project's published model, which begins now if need be; None if it is loaded.

        Raises NothingPublished. A model that could not be loaded is tried again after half a minute.
        """
        place = project_id, MODEL
        if place in self._served:
            return None
        with reading(self._engine) as session:
            key = _key(session, *place)
        if key is None:
            raise NothingPublished(NOTHING_PUBLISHED)
        return self._loading[place] if self._has_just_failed(place, key) else self._start(place, key)

    def shadow(self, project_id: int) -> Served | None:
        """Return the shadow of a published model, if it has one that is loaded."""
        return self._served.get((project_id, SHADOW))

    def look(self) -> None:
        """Load what has been published since, for each project whose model is loaded, and drop what has ended."""
        projects = {project_id for project_id, _ in list(self._served)}
        with reading(self._engine) as session:
            keys = {
                (project_id, kind): _key(session, project_id, kind)
                for project_id in projects
                for kind in PublicationKind
            }
        for place, key in keys.items():
            served = self._served.get(place)
            if key is None and served is not None:
                self._served.pop(place, None)
                log.info("project %d: the %s of round %d has ended", *place, served.key.number)
            elif key is not None and (served is None or served.key != key) and not self._has_just_failed(place, key):
                self._start(place, key)

    def start(self, projects: Iterable[int]) -> None:
        """Begin to load the published models of these projects."""
        with reading(self._engine) as session:
            keys = {project_id: _key(session, project_id, MODEL) for project_id in projects}
        for project_id, key in keys.items():
            if key is not None:
                self._start((project_id, MODEL), key)

    def _start(self, place: Place, key: Key) -> "Future[None]":
        """Begin to load the model, unless one of this place is being loaded, and return that loading."""
        with self._lock:
            loading = self._loading.get(place)
            if loading is None or loading.done():
                loading = self._loading[place] = self._loader.submit(self._put, place, key)
            return loading

    def _put(self, place: Place, key: Key) -> None:
        began = monotonic()
        try:
            self._served[place] = Served(key, *self._load(self._engine, place[0], key.matcher_id))
        except Exception as error:
            self._failed[place] = key, monotonic()
            log.exception("project %d: the %s of round %d could not be loaded", *place, key.number)
            if isinstance(error, InputError):
                raise
            raise InputError(
                f"the model of round {key.number} could not be loaded: the process's log says why"
            ) from error
        log.info("project %d: the %s of round %d took %.0f s to load", *place, key.number, monotonic() - began)

    def _has_just_failed(self, place: Place, key: Key) -> bool:
        failed, time = self._failed.get(place, (None, 0.0))
        return failed == key and monotonic() < time + RETRY_AFTER


def _key(session: Session, project_id: int, kind: PublicationKind) -> Key | None:
    publication = in_service(session, project_id, kind)
    if publication is None or publication.matcher_id is None or publication.number is None:
        return None
    return Key(publication.id, publication.matcher_id, publication.number, state_of(session, project_id))
