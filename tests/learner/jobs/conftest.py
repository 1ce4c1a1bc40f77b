"""A tiny encoder, and fixtures of the audit jobs' tests."""

from pathlib import Path

import pytest
from sqlalchemy import Engine

from allpairs.learner.evaluation.audit import strata
from tests.helpers.figures.audits import HIGHEST, add_model, make_audited, texts
from tests.helpers.projects import rounds
from tests.helpers.tiny import tiny_encoder


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a tiny encoder that knows the words of the topics' texts."""
    return tiny_encoder(tmp_path_factory.mktemp("jobs"), rounds.texts())


@pytest.fixture(scope="session")
def encoders(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return [tiny_encoder(tmp_path_factory.mktemp("audit"), texts(), seed) for seed in range(2)]


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make seven strata of 16 pairs and more: five of the highest 256 pairs, and two below."""
    monkeypatch.setattr(strata, "TOP", 16)
    monkeypatch.setattr(strata, "SMALLEST_TOP", HIGHEST)


@pytest.fixture
def project(engine: Engine, encoders: list[Path]) -> int:
    """Return a project with only the pre-trained encoder; no job has run."""
    project_id = make_audited(engine, encoders[0])
    add_model(engine, project_id, 0, encoders[0])
    return project_id
