"""Projects with a published model, and answers without the process that would give them."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from sqlalchemy import Engine

from allpairs.annotate.publish import matching
from allpairs.annotate.publish.publications import publish
from allpairs.db.projects.matchers import matcher_of
from allpairs.db.schema.engine import as_system, writing
from allpairs.db.schema.tables import Matcher, MatchServer

ANSWER = {
    "round": 1, "publication": 1, "recall": None,
    "results": [[{"item": 1, "ids": ["left-0"], "group": None, "text": "text 0", "fields": None,
                  "score": 0.9, "p": 0.75, "reason": "model",
                  "why": [{"part": "meaning", "amount": 1.1, "words": []}]}]],
}  # fmt: skip


def make_trained(engine: Engine, project_id: int, number: int = 1) -> None:
    """Give this round a model, of which there is nothing but its row."""
    with writing(as_system(engine)) as session:
        row = matcher_of(session, project_id, number) or Matcher(project_id=project_id, number=number, encoder="tiny")
        row.folder, row.w, row.b = f"project-{project_id}/job-{number}/model", 20.0, -12.0
        session.add(row)


def make_published(engine: Engine, project_id: int, number: int = 1) -> None:
    """Publish the model of this round, of which there is nothing but its row."""
    make_trained(engine, project_id, number)
    publish(as_system(engine), project_id, number)


def answering(patch: pytest.MonkeyPatch) -> list[Mapping[str, Any]]:
    """Let a process answer; return what it is asked, as it comes."""
    asked: list[Mapping[str, Any]] = []

    def ask(servers: Sequence[MatchServer], body: Mapping[str, Any]) -> tuple[int, dict[str, Any]]:
        asked.append(body)
        return 200, ANSWER

    patch.setattr(matching, "ask", ask)
    return asked
