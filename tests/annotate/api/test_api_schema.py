"""The REST API does what its OpenAPI document says, for any input: checked by schemathesis."""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode
from schemathesis.core.parameters import ParameterLocation

from allpairs.annotate.api.operations import OPERATIONS
from allpairs.annotate.frame.access import tokens
from allpairs.annotate.frame.web.base_path import DESCRIPTION
from allpairs.db.domain import Role, Scope
from allpairs.db.projects.jobs import PREVIEW, add_job
from allpairs.db.schema.engine import make_engine, writing
from tests.helpers.factories import keep_row, make_round
from tests.helpers.figures.measured import make_measured_project
from tests.helpers.machine import examples
from tests.helpers.people import START, make_person
from tests.helpers.projects.lists import change
from tests.helpers.projects.results import answering, make_published, make_trained
from tests.helpers.raters import add_rater
from tests.helpers.services.webhooks import add_webhook
from tests.helpers.web import site

EXAMPLES = examples(50)  # of each address, of what fits its description and of what does not
PLAIN = settings(
    max_examples=EXAMPLES, derandomize=True, database=None, phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)  # fmt: skip


WHO = (*Role, None)  # None: a token without a project


@dataclass(frozen=True)
class Described:
    """The document's schema, the project, job and webhook that exist, and tokens with all scopes.

    root: of an administrator of the installation; tokens: of each role.
    """

    schema: Any
    project_id: int
    job_id: str
    webhook_id: int
    root: str
    tokens: dict[Role | None, str]


@pytest.fixture(scope="module")
def described(migrated: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Described]:
    home = tmp_path_factory.mktemp("api") / "home"
    home.mkdir()
    shutil.copy(migrated, home / "allpairs.db")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ALLPAIRS_HOME", str(home))
        patch.delenv("ALLPAIRS_DATABASE_URL", raising=False)
        patch.setattr(tokens, "PER_ADDRESS", 1_000_000)  # it sends many bad tokens, and wants to hear 401 of each
        engine = make_engine()
        project_id = make_measured_project(engine, rounds=2)
        make_round(engine, project_id, 30)
        make_trained(engine, project_id, number=2)  # the newest, which a request that names no round publishes
        make_published(engine, project_id)
        answering(patch)
        with writing(engine) as session:
            job_id = add_job(session, project_id, PREVIEW).id
        webhook_id = add_webhook(engine, project_id)
        add_rater(engine, project_id)
        keep_row(engine, project_id)
        change(engine, home, {"changed": "a text that came later"}, name="Help desk questions")
        people = {role: make_person(engine, f"Person {at}", project_id, role) for at, role in enumerate(WHO)}
        made = {role: tokens.make(engine, one, "tests", START, scopes=[*Scope]) for role, one in people.items()}
        root = tokens.make(engine, make_person(engine, "Root", administrator=True), "tests", START, scopes=[*Scope])
        schema = schemathesis.openapi.from_asgi(DESCRIPTION, site())
        rejection = schema.config.checks.negative_data_rejection
        rejection.expected_statuses = [*rejection.expected_statuses, "413"]  # a body may be too long, too
        yield Described(schema, project_id, job_id, webhook_id, root, made)
        engine.dispose()


def statuses(described: Described, operation: Any, mode: GenerationMode, token: str, settings: Any) -> set[int]:
    """Send generated requests, with every check that there is, and return the statuses of the answers."""
    strategy = described.schema[operation.path][operation.method].as_strategy(generation_mode=mode)
    seen, sent = set(), count()

    @settings
    @given(case=strategy)
    def check(case: Any) -> None:
        path = case.meta.components.get(ParameterLocation.PATH)
        if path is not None and (mode.is_positive or path.mode.is_positive):
            case.path_parameters["project_id"] = described.project_id
            if next(sent) % 2:
                there = {"job_id": described.job_id, "webhook_id": described.webhook_id}
                case.path_parameters |= {name: there[name] for name in there if name in case.path_parameters}
                if mode.is_positive and operation.name == "change_texts":  # most random texts show nothing
                    case.body["texts"] = [{"id": "new", "text": "a text that is new"}]
                if mode.is_positive and operation.name == "clean_list":  # most random columns are not of the list
                    case.query = {"table": "marked"}
                if mode.is_positive and operation.name == "set_rater":  # most random addresses and keys are refused
                    case.body = {"name": "local", "url": "http://localhost:1/v1", "model": "m"}
        seen.add(case.call_and_validate(headers={"Authorization": f"Bearer {token}"}).status_code)

    check()
    return seen


@pytest.mark.hypothesis  # its test is made when it runs, where Hypothesis does not see it
@pytest.mark.parametrize("mode", list(GenerationMode), ids=str)
@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda one: one.name)
def test_every_answer_is_as_described(described: Described, operation: Any, mode: GenerationMode) -> None:
    seen = statuses(described, operation, mode, described.root, PLAIN)
    assert operation.status in seen or mode.is_negative


@pytest.mark.slow
@pytest.mark.parametrize("mode", list(GenerationMode), ids=str)
@pytest.mark.parametrize("role", WHO, ids=str)
@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda one: one.name)
def test_every_role_is_answered_as_described(
    described: Described, operation: Any, role: Role | None, mode: GenerationMode
) -> None:
    seen = statuses(described, operation, mode, described.tokens[role], PLAIN)
    if role is None and "{project_id}" in operation.path:
        assert operation.status not in seen
