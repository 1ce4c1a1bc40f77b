"""Ask the process that answers `match`: the app has no model itself."""

import http.client
import json
import logging
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Engine

from allpairs.annotate.frame.access.roles import Right
from allpairs.annotate.frame.access.transactions import require
from allpairs.db.domain import PublicationKind
from allpairs.db.errors import Busy, InputError
from allpairs.db.projects.match_servers import live_servers
from allpairs.db.projects.projects import live_project
from allpairs.db.projects.publications import NOTHING_PUBLISHED, in_service
from allpairs.db.requests.server_proof import (
    CHALLENGE,
    MATCH,
    SCHEME,
    app_proof,
    is_proof,
    new_challenge,
    process_proof,
)
from allpairs.db.schema.engine import as_system, reading
from allpairs.db.schema.tables import MatchServer

PATIENCE = 60.0  # seconds: a process that has to load the model first says so after 20
LONGEST_ANSWER = 40_000_000  # bytes: ten for each character that the process gives
RETRY_AFTER = 15  # seconds
ABSENT = (
    "no process answers `match`: start the app with `allpairs serve --match`, or a process with `allpairs serve-model`"
)

log = logging.getLogger(__name__)


class NotAnswering(Busy):
    """No process can answer now."""


def match_texts(engine: Engine, project_id: int, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return the best candidates as the serving process has them; request: texts, k, side, why.

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
    status, answer = ask_servers(servers, {"project_id": project_id, **request})
    if status == 200:
        return answer
    detail = str(answer.get("detail", f"the process that answers `match` returned {status}"))
    raise (
        InputError(detail) if status in (409, 422) else NotAnswering(detail, int(answer.get("seconds") or RETRY_AFTER))
    )


def ask_servers(servers: Sequence[MatchServer], body: Mapping[str, Any]) -> tuple[int, dict[str, Any]]:
    """Return the status and the answer of the first process that can be reached. Raises NotAnswering without any."""
    for server in servers:
        try:
            return _ask(server, json.dumps(body).encode())
        except (OSError, http.client.HTTPException, ValueError) as error:
            log.warning("the process %s at %s does not answer: %r", server.name, server.address, error)
    raise NotAnswering(ABSENT, RETRY_AFTER)


def _ask(server: MatchServer, body: bytes) -> tuple[int, dict[str, Any]]:
    """Return the answer of the process, once it has shown on the same connection that it knows its secret.

    Raises ValueError if it has not: another program may have taken the port of a process that has ended.
    """
    connection = http.client.HTTPConnection(server.address, timeout=PATIENCE)
    try:
        connection.connect()
        connection.auto_open = 0  # a second connection might reach another program
        app_challenge = new_challenge()
        _, server_answer = _exchange(connection, CHALLENGE, app_challenge.encode())
        challenge = str(server_answer.get("challenge"))
        if not is_proof(server_answer.get("proof"), process_proof(server.secret, app_challenge, challenge)):
            raise ValueError("it does not know the secret of that process")
        proof = app_proof(server.secret, app_challenge, challenge, body)
        return _exchange(connection, MATCH, body, f"{challenge}:{proof}")
    finally:
        connection.close()


def _exchange(
    connection: http.client.HTTPConnection, path: str, body: bytes, proof: str = ""
) -> tuple[int, dict[str, Any]]:
    """Send the body and maybe a proof; return status and answer. Raises ValueError for an endless answer."""
    headers = {"Content-Type": "application/json"} | ({"Authorization": f"{SCHEME} {proof}"} if proof else {})
    connection.request("POST", path, body, headers)
    response = connection.getresponse()
    answer = response.read(LONGEST_ANSWER + 1)
    if len(answer) > LONGEST_ANSWER:
        raise ValueError(f"it answers more than {LONGEST_ANSWER:,} bytes")
    return response.status, dict(json.loads(answer))
