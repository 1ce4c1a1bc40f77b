"""Logging of app and worker: lines for people or, with `ALLPAIRS_LOG=json`, one JSON object a line for programs."""

import json
import logging
import os
import sys
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from types import TracebackType
from typing import Any

from allpairs.db.errors import InputError
from allpairs.db.identity import without_unseen

TEXT = "text"
JSON = "json"
LOGGER = "allpairs"  # logged from INFO on; others only from WARNING on
REQUESTS = "uvicorn.access"  # its lines contain addresses; those of invitations and tickets are secret

_known: ContextVar[dict[str, object]] = ContextVar("known")


@contextmanager
def about(**known: object) -> Iterator[None]:
    """Add these values (ids of a job, a project, a person) to JSON log lines within the block.

    None values are left out.
    """
    token = _known.set(_known.get({}) | {name: value for name, value in known.items() if value is not None})
    try:
        yield
    finally:
        _known.reset(token)


class TextLines(logging.Formatter):
    """A line for people, without the signs by which a text from outside could hide or repaint other lines."""

    def format(self, record: logging.LogRecord) -> str:
        return without_unseen(super().format(record))

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802
        record.message = " ".join(record.message.splitlines())
        return super().formatMessage(record)


class JsonLines(logging.Formatter):
    """One JSON object a line. Of an exception it has the type and the place: its message may quote private text."""

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage().partition("Traceback (most recent call last)")[0],
            **_known.get({}),
        }
        if record.exc_info and record.exc_info[0] is not None:
            frames = traceback.extract_tb(record.exc_info[2])
            line["error"] = record.exc_info[0].__qualname__
            line["trace"] = [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames]
        return json.dumps(line, ensure_ascii=False, default=str)


class PassingLogger(logging.Logger):
    """A logger without handlers: its lines go to the handler of the root, whenever a library adds handlers."""

    @property
    def propagate(self) -> bool:
        return True

    @propagate.setter
    def propagate(self, value: bool) -> None:
        pass

    def addHandler(self, hdlr: logging.Handler) -> None:  # noqa: N802
        pass


def configure() -> None:
    """Configure logging to stderr by ALLPAIRS_LOG. Raises InputError for an unknown value."""
    log_format = os.environ.get("ALLPAIRS_LOG") or TEXT
    if log_format not in (TEXT, JSON):
        raise InputError(f"ALLPAIRS_LOG is {log_format!r}: set it to {TEXT!r} or {JSON!r}")
    handler = logging.StreamHandler()
    if log_format == JSON:
        handler.setFormatter(JsonLines())
        logging.captureWarnings(True)
        _silence_others()
        _log_what_nobody_catches()
    else:
        handler.setFormatter(TextLines("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    logging.getLogger(LOGGER).setLevel(logging.INFO)
    logging.getLogger(REQUESTS).disabled = True


def _silence_others() -> None:
    """Make libraries with handlers of their own pass their lines on to our one handler, now and later."""
    logging.setLoggerClass(PassingLogger)
    for logger in list(logging.root.manager.loggerDict.values()):
        if type(logger) is logging.Logger and (logger.propagate or logger.handlers):  # the others are silent on purpose
            logger.handlers.clear()
            logger.__class__ = PassingLogger


def _log_what_nobody_catches() -> None:
    """Log the exceptions that end the process or a thread, whose messages Python itself would write."""
    log = logging.getLogger(LOGGER)
    sys.excepthook = lambda *error: log.critical("the process ends after an error", exc_info=error)
    threading.excepthook = lambda error: log.error("a thread ends after an error", exc_info=_exc_info(error))
    sys.unraisablehook = lambda error: log.error("an object was deleted with an error", exc_info=_exc_info(error))


def _exc_info(error: Any) -> tuple[type[BaseException], BaseException, TracebackType | None]:
    return error.exc_type, error.exc_value or error.exc_type(), error.exc_traceback
