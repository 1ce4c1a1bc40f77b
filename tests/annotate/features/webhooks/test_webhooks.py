"""Webhooks as people manage them, and what does not travel with a project."""

from pathlib import Path

import pytest
from sqlalchemy import Engine, func, select

from allpairs.annotate.features.archives.project_export import export_project
from allpairs.annotate.features.archives.project_import import import_project
from allpairs.annotate.features.projects.history import events
from allpairs.annotate.features.projects.lifecycle import duplicate_project
from allpairs.annotate.features.projects.projects import delete_project, update_settings
from allpairs.annotate.features.webhooks import webhooks as services
from allpairs.annotate.features.webhooks.webhooks import MOST, OFFERED
from allpairs.db.domain import DeliveryState, EventKind, NoticeKind, Settings
from allpairs.db.errors import InputError
from allpairs.db.maintenance.backup import backup
from allpairs.db.projects.project_list import newest_figures
from allpairs.db.projects.webhook_addresses import VARIABLE
from allpairs.db.schema.engine import make_engine, reading, writing
from allpairs.db.schema.tables import Delivery, Evaluation, Notice, Project, Webhook
from tests.helpers.factories import make_project
from tests.helpers.figures.measured import make_measured_project
from tests.helpers.services.webhooks import URL, add_webhook, notices

TABLES = (Webhook, Notice, Delivery)


@pytest.fixture
def project(engine: Engine, home: Path) -> int:
    return make_project(engine, ["a", "b"])


def counts(engine: Engine) -> list[int | None]:
    with reading(engine) as session:
        return [session.scalar(select(func.count()).select_from(table)) for table in TABLES]


def test_what_is_done_to_a_webhook_is_recorded_without_secrets(engine: Engine, project: int) -> None:
    made = services.add(engine, project, f"{URL}?token=hidden", ["training.failed", "batch.ready"])
    other = services.renew_secret(engine, project, made.id)
    services.switch(engine, project, made.id, False)
    services.switch(engine, project, made.id, False)  # changes nothing
    services.remove_webhook(engine, project, made.id)
    found = events(engine, project, 10).events
    assert [event.kind for event in reversed(found)] == [
        EventKind.WEBHOOK_ADDED, EventKind.WEBHOOK_CHANGED, EventKind.WEBHOOK_CHANGED, EventKind.WEBHOOK_REMOVED,
    ]  # fmt: skip
    assert {event.about for event in found} == {"https://example.org"} and made.secret != other.secret
    assert not any(secret in str(event.new) for event in found for secret in (made.secret, other.secret, "hidden"))
    assert found[-1].new == {"tells": "batch.ready, training.failed"}


@pytest.mark.parametrize(
    ("url", "kinds"),
    [(URL, []), (URL, ["test"]), (URL, ["everything"]), ("http://192.168.0.1/", OFFERED), ("file:///x", OFFERED)],
)
def test_what_a_webhook_may_not_be_is_refused(engine: Engine, project: int, url: str, kinds: list[str]) -> None:
    with pytest.raises(InputError):
        services.add(engine, project, url, kinds)
    assert counts(engine) == [0, 0, 0]


def test_an_operator_allows_private_networks(engine: Engine, project: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "192.168.0.0/24")
    services.add(engine, project, "http://192.168.0.1/", OFFERED)


def test_a_project_has_so_many_webhooks_at_most(engine: Engine, project: int) -> None:
    for _ in range(MOST):
        add_webhook(engine, project)
    with pytest.raises(InputError, match=str(MOST)):
        services.add(engine, project, URL, OFFERED)


def test_a_test_goes_to_one_webhook_that_is_on(engine: Engine, project: int) -> None:
    one, other = add_webhook(engine, project, NoticeKind.BATCH_READY), add_webhook(engine, project)
    services.send_test(engine, project, one)
    (logged,) = services.deliveries(engine, project, one)
    assert (logged.kind, logged.state) == (NoticeKind.TEST, DeliveryState.WAITING)
    assert services.deliveries(engine, project, other) == []
    services.switch(engine, project, one, False)
    with pytest.raises(InputError, match="webhook is off"):
        services.send_test(engine, project, one)


def test_only_what_did_not_arrive_is_sent_again(engine: Engine, project: int) -> None:
    webhook = add_webhook(engine, project)
    services.send_test(engine, project, webhook)
    for state, again in ((DeliveryState.GIVEN_UP, True), (DeliveryState.DELIVERED, False)):
        with writing(engine) as session:
            row = session.scalars(select(Delivery)).one()
            row.state, row.attempts, number = state, 9, row.id
        if again:
            services.send_delivery_again(engine, project, number)
            (logged,) = services.deliveries(engine, project, webhook)
            assert (logged.state, logged.attempts) == (DeliveryState.WAITING, 0)
        else:
            with pytest.raises(InputError):
                services.send_delivery_again(engine, project, number)


def test_webhooks_stay_where_they_are_and_go_with_their_project(engine: Engine, project: int, tmp_path: Path) -> None:
    services.send_test(engine, project, add_webhook(engine, project))
    archive = tmp_path / "p.zip"
    export_project(engine, "Questions", archive)
    import_project(engine, archive, "Imported")
    duplicate_project(engine, project, True, "Copied")
    assert counts(engine) == [1, 1, 1]
    backup(engine, tmp_path / "kept.db")
    delete_project(engine, project)
    assert counts(engine) == [0, 0, 0]
    kept = make_engine(f"sqlite:///{tmp_path / 'kept.db'}")
    assert counts(kept) == [1, 1, 1]
    kept.dispose()


def test_a_lower_target_may_be_reached_at_once(engine: Engine, home: Path) -> None:
    project = make_measured_project(engine, rounds=2)
    with writing(engine) as session:
        for evaluation in session.scalars(select(Evaluation)):
            exact = {"value": 0.7, "low": 0.7, "high": 0.7, "method": "exact", "labels": 0}
            evaluation.estimates, evaluation.audit = {"precision": exact}, {}
        newest = newest_figures(session, [project])[project].number
        settings = Settings.model_validate(session.get_one(Project, project).settings)
    add_webhook(engine, project)
    for target in (0.75, 0.6, 0.5):
        update_settings(engine, project, settings.model_copy(update={"target_precision": target}))
    ((kind, about),) = notices(engine)
    assert (kind, about["round"], about["target"]) == ("target.reached", newest, 0.6)
