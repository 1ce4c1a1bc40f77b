"""The address of the database, however it is spelt."""

import pytest

from allpairs.db.errors import InputError
from allpairs.db.schema.engine import database_url, jobs_url, make_engine
from allpairs.learner.jobs.queue.routing import queue_engine


@pytest.mark.parametrize(
    "beginning", ["postgres", "postgresql", "postgresql+psycopg", "postgres+psycopg2", "POSTGRES", " postgres"]
)
def test_every_address_of_postgresql_works(beginning: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALLPAIRS_DATABASE_URL", f"{beginning}://user:secret@host/name?sslmode=require\n")
    assert database_url() == jobs_url() == "postgresql://user:secret@host/name?sslmode=require"
    for engine in (make_engine(), queue_engine()):
        assert engine.url.drivername == "postgresql+psycopg" and engine.url.host == "host"


@pytest.mark.parametrize("address", ["mysql://user:secret@host/name", "host", "postgres:/x"])
def test_another_database_is_refused_without_its_password(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALLPAIRS_DATABASE_URL", address)
    with pytest.raises(InputError, match="write postgresql://") as caught:
        make_engine()
    assert "secret" not in str(caught.value)
