"""The REST API does what its OpenAPI document says, for any input: checked by schemathesis."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode
from schemathesis.core.parameters import ParameterLocation

from allpairs.annotate.access import tokens
from allpairs.annotate.api.operations import OPERATIONS
from allpairs.annotate.web.api_paths import DESCRIPTION
from allpairs.db.domain import Role
from allpairs.db.schema.engine import make_engine
from tests.helpers.api import site
from tests.helpers.examples import examples
from tests.helpers.factories import make_round
from tests.helpers.people import START, make_person
from tests.helpers.projects.measured import make_measured_project

EXAMPLES = examples(25)  # of each address, of what fits its description and of what does not
PLAIN = settings(
    max_examples=EXAMPLES, derandomize=True, database=None, phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)  # fmt: skip


@pytest.fixture(scope="module")
def described(migrated: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Any, str, int]]:
    """Yield the document's schema, a token of the project's administrator, and the project's id."""
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
        person_id = make_person(engine, "Anna", project_id, Role.ADMINISTRATOR)
        token = tokens.make(engine, person_id, "schemathesis", START)
        yield schemathesis.openapi.from_asgi(DESCRIPTION, site()), token, project_id
        engine.dispose()


@pytest.mark.hypothesis  # its test is made when it runs, where Hypothesis does not see it
@pytest.mark.parametrize("mode", list(GenerationMode), ids=str)
@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda one: one.name)
def test_every_answer_is_as_described(described: tuple[Any, str, int], operation: Any, mode: GenerationMode) -> None:
    schema, token, project_id = described
    strategy = schema[operation.path][operation.method].as_strategy(generation_mode=mode)
    seen = set()

    @PLAIN
    @given(case=strategy)
    def check(case: Any) -> None:
        path = case.meta.components.get(ParameterLocation.PATH)
        if path is not None and (mode.is_positive or path.mode.is_positive):
            case.path_parameters["project_id"] = project_id
        answer = case.call_and_validate(headers={"Authorization": f"Bearer {token}"})
        seen.add(answer.status_code)

    check()
    assert mode.is_negative or "{job_id}" in operation.path or operation.status in seen
