"""The real process: found by the database, answering the app alone, swapping models, and leaving."""

import http.client
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine

from allpairs.annotate.features.publish.matching import NotAnswering, match_texts
from allpairs.annotate.features.publish.publications import publish_round
from allpairs.db.projects.match_servers import live_servers
from allpairs.db.schema.engine import reading
from allpairs.db.schema.tables import MatchServer
from tests.helpers.machine import ROOT
from tests.helpers.projects.rounds import texts, trained
from tests.helpers.services.workers import started, wait_for
from tests.helpers.tiny import tiny_encoder

COMMAND = [sys.executable, "-m", "allpairs", "serve-model", "--name", "desk"]
ASKED = {"texts": ["topic1 word3 word4", texts(3)[2]], "k": 3, "side": "left", "why": True}


def servers(engine: Engine) -> list[MatchServer]:
    with reading(engine) as session:
        return live_servers(session)


def test_a_process_answers_until_it_is_stopped(engine: Engine, tmp_path: Path) -> None:
    row = trained(engine, tiny_encoder(tmp_path, texts(60)), rounds=2, hubness=0.25, lexical=True)

    def asking() -> dict[str, Any]:
        return match_texts(engine, row.project_id, ASKED)

    publish_round(engine, row.project_id, 1)
    with pytest.raises(NotAnswering, match="allpairs serve-model"):
        asking()
    with started([*COMMAND, "--project", "Questions"]) as process:
        wait_for(lambda: bool(servers(engine)) or process.poll() is not None)
        (server,) = servers(engine)
        assert server.address.startswith("127.0.0.1:") and server.pid == process.pid
        answer = asking()
        assert answer["round"] == 1 and [len(one) for one in answer["results"]] == [3, 3]
        assert answer["results"][1][0]["text"] == texts(3)[2]  # an equal text is the best candidate
        assert status_without_secret(server) == 401
        again = subprocess.run(COMMAND, cwd=ROOT, capture_output=True, text=True, timeout=120)
        assert again.returncode == 2 and "named desk" in again.stderr
        publish_round(engine, row.project_id, 2)
        wait_for(lambda: asking()["round"] == 2)
        process.terminate()
        assert process.wait(60) == 0
    assert servers(engine) == []
    with pytest.raises(NotAnswering):
        asking()


def status_without_secret(server: MatchServer) -> int:
    connection = http.client.HTTPConnection(server.address, timeout=30)
    connection.request("POST", "/match", "{}")
    return connection.getresponse().status
