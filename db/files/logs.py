"""What app and worker log: lines for people or, with `ALLPAIRS_LOG=json`, one JSON object a line for programs."""

import json
import logging
import os
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime

from db.errors import InputError

TEXT, JSON = "text", "json"
OURS = ("annotate", "db", "learner")  # whose remarks are logged; of others only warnings are
REQUESTS = "uvicorn.access"  # its lines hold addresses, and those of invitations and tickets are secrets

_known: ContextVar[dict[str, object]] = ContextVar("known")


@contextmanager
def about(**known: object) -> Iterator[None]:
    """Nothing; what is logged within names these, where it is logged as JSON: a job, a project, a person by number.

    What is None is not known.
    """
    token = _known.set(_known.get({}) | {name: value for name, value in known.items() if value is not None})
    try:
        yield
    finally:
        _known.reset(token)


class JsonLines(logging.Formatter):
    """One JSON object a line. Of an exception it has the kind and the place: its words may quote anybody's text."""

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **_known.get({}),
        }
        if record.exc_info and record.exc_info[0] is not None:
            frames = traceback.extract_tb(record.exc_info[2])
            line["error"] = record.exc_info[0].__qualname__
            line["trace"] = [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames]
        return json.dumps(line, ensure_ascii=False, default=str)


def configure() -> None:
    """Nothing; this process logs to stderr as ALLPAIRS_LOG says. Raises InputError for another word than it can say."""
    wanted = os.environ.get("ALLPAIRS_LOG") or TEXT
    if wanted not in (TEXT, JSON):
        raise InputError(f"ALLPAIRS_LOG is {wanted!r}: it can be {TEXT!r} or {JSON!r}")
    handler = logging.StreamHandler()
    if wanted == JSON:
        handler.setFormatter(JsonLines())
        logging.captureWarnings(True)
        _silence_others()
    else:
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    for name in OURS:
        logging.getLogger(name).setLevel(logging.INFO)
    logging.getLogger(REQUESTS).disabled = True


def _silence_others() -> None:
    """Nothing; libraries that print their lines themselves hand them on to the one handler that there is."""
    for logger in list(logging.root.manager.loggerDict.values()):
        if isinstance(logger, logging.Logger) and logger.handlers:  # others are quiet on purpose
            logger.handlers.clear()
            logger.propagate = True
