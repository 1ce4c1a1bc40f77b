"""Acts that count or compare follow one another within a project; serving pairs waits for nobody."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Event

from sqlalchemy import Engine

from allpairs.annotate.features.publish.publications import publish_round, read_service
from allpairs.annotate.features.webhooks import webhooks
from allpairs.annotate.frame.access.roles import Right
from allpairs.annotate.frame.access.transactions import acting
from allpairs.db.domain import PublicationKind
from allpairs.db.errors import InputError
from tests.helpers.factories import make_project
from tests.helpers.projects.results import make_trained
from tests.helpers.services.webhooks import URL


def test_one_act_of_a_project_at_a_time(engine: Engine, database_kind: str) -> None:
    project, other = make_project(engine, ["a", "b"]), make_project(engine, ["a", "b"], name="Other")
    begun = Event()

    def act(right: Right, project_id: int) -> None:
        with acting(engine, right, project_id):
            begun.set()

    with ThreadPoolExecutor(1) as pool:
        for right in Right:
            with acting(engine, Right.CHANGE, project):
                second = pool.submit(act, right, project)
                is_beside = right is Right.LABEL and database_kind == "postgresql"
                assert begun.wait(10 if is_beside else 0.2) == is_beside
            second.result()
            begun.clear()
        if database_kind == "postgresql":
            with acting(engine, Right.CHANGE, project):
                pool.submit(act, Right.CHANGE, other).result(10)


def together(*acts: Callable[[], object]) -> None:
    """Do the acts at the same time; some may be refused."""

    def refused_or_done(act: Callable[[], object]) -> None:
        with suppress(InputError):
            act()

    with ThreadPoolExecutor(len(acts)) as pool:
        list(pool.map(refused_or_done, acts))


def test_no_webhook_too_many(engine: Engine) -> None:
    project = make_project(engine, ["a", "b"])
    for _ in range(webhooks.MOST - 1):
        webhooks.add(engine, project, URL, ["batch.ready"])
    together(*[lambda: webhooks.add(engine, project, URL, ["batch.ready"])] * 4)
    assert len(webhooks.webhooks_of_project(engine, project)) == webhooks.MOST


def test_a_shadow_is_never_the_published_model(engine: Engine) -> None:
    project = make_project(engine, ["a", "b"])
    for number in (1, 2):
        make_trained(engine, project, number)
    publish_round(engine, project, 1)
    together(
        lambda: publish_round(engine, project, 2),
        lambda: publish_round(engine, project, 2, kind=PublicationKind.SHADOW),
    )
    service = read_service(engine, project)
    assert service.published is not None and service.published.number == 2 and service.shadow is None
