"""Ask the process that answers `match`: the app has no model itself."""

import http.client
import json
import logging
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Engine

from allpairs.annotate.access.roles import Right
from allpairs.annotate.access.transactions import require
from allpairs.db.domain import PublicationKind
from allpairs.db.errors import InputError
from allpairs.db.projects.match_servers import live_servers
from allpairs.db.projects.projects import live_project
from allpairs.db.projects.publications import NOTHING_PUBLISHED, in_service
from allpairs.db.schema.engine import as_system, reading
from allpairs.db.schema.tables import MatchServer

PATIENCE = 60.0  # seconds: a process that has to load the model first says so after 20
ABSENT = (
    "no process answers `match`: start the app with `allpairs serve --match`, or a process with `allpairs serve-model`"
)

log = logging.getLogger(__name__)


class NotAnswering(InputError):
    """No process can answer now."""


def match(engine: Engine, project_id: int, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return the best candidates as the serving process has them; asked: texts, k, side, why.

    Raises Refused without the right to see the project's figures, InputError if nothing is published or what is asked
    for does not fit the project, and NotAnswering if no process answers, or the model is still being loaded.
    """
    with reading(engine) as session:
        require(session, Right.SEE, project_id)
        live_project(session, project_id)
        if in_service(session, project_id, PublicationKind.MODEL) is None:
            raise InputError(NOTHING_PUBLISHED)
    with reading(as_system(engine)) as session:
        servers = live_servers(session)
    status, answer = ask(servers, {"project_id": project_id, **asked})
    if status == 200:
        return answer
    detail = str(answer.get("detail", f"the process that answers `match` returned {status}"))
    raise InputError(detail) if status in (409, 422) else NotAnswering(detail)


def ask(servers: Sequence[MatchServer], body: Mapping[str, Any]) -> tuple[int, dict[str, Any]]:
    """Return the status and the answer of the first process that can be reached. Raises NotAnswering without any."""
    for server in servers:
        try:
            return _ask(server, json.dumps(body).encode())
        except (OSError, http.client.HTTPException, ValueError) as error:
            log.warning("the process %s at %s does not answer: %r", server.name, server.address, error)
    raise NotAnswering(ABSENT)


def _ask(server: MatchServer, body: bytes) -> tuple[int, dict[str, Any]]:
    connection = http.client.HTTPConnection(server.address, timeout=PATIENCE)
    try:
        headers = {"Authorization": f"Bearer {server.secret}", "Content-Type": "application/json"}
        connection.request("POST", "/match", body, headers)
        response = connection.getresponse()
        return response.status, dict(json.loads(response.read()))
    finally:
        connection.close()
