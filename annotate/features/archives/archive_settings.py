"""What an archive says about models: the project's settings, and the encoder that each matcher started from.

An archive brings its matchers, but no encoders. Its author may name models of the hub. Folders of
the machine on which it is imported are for the person who imports it to name, and so is what verdicts are for.
"""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from allpairs.annotate.features.projects.projects import checked_settings
from allpairs.db.corpus.cells import shown
from allpairs.db.domain import DEFAULT_ENCODER, Settings
from allpairs.db.errors import InputError
from allpairs.db.files.artifacts import is_there
from allpairs.db.files.home import place_of
from allpairs.db.results.pipelines import FOLDER as RUNS

HUB_NAME = re.compile(r"(?:[A-Za-z0-9][\w.-]{0,95}/)?[A-Za-z0-9][\w.-]{0,95}", re.ASCII)


def arrived_settings(stored: dict[str, Any], encoder: str | None, note: Callable[[str], None]) -> dict[str, Any]:
    """Return the settings as the form on the page would store them.

    encoder: takes the place of a folder; note: receives what was left out. Raises InputError for a value that the form
    would not take, and for a folder if there is no encoder in its place.
    """
    if unknown := [field for field in stored if field not in Settings.model_fields]:
        note(left_out("settings", unknown))
    settings = checked_settings({field: value for field, value in stored.items() if field not in unknown}).model_dump()
    settings["encoder"] = arrived_encoder(settings["encoder"], encoder)
    if settings["rater_use"] != "measure":
        note("settings: verdicts of a machine rater only measure here, until the settings say otherwise")
        settings["rater_use"] = "measure"
    return settings


def arrived_encoder(name: str, instead: str | None) -> str:
    """Return the encoder's name, or for a folder the one in its place. Raises InputError if there is none."""
    if name == DEFAULT_ENCODER or _is_of_hub(name) or _is_output(name):
        return name
    if instead is None:
        problem = f"its encoder is the folder {shown(name)}, which an archive may not choose"
        raise InputError(f"{problem}: name an encoder in its place (on the page “Export”, or with --encoder)")
    return instead


def left_out(source: str, unknown: list[str]) -> str:
    """Return the note on what an archive has and this version does not know."""
    return f"{source}: this version of Allpairs has no {shown(', '.join(map(str, unknown)))}, so it was left out"


def _is_of_hub(name: str) -> bool:
    """Return whether a model of the hub may have this name, and no folder here has it."""
    return bool(HUB_NAME.fullmatch(name)) and not Path(name).exists()


def _is_output(name: str) -> bool:
    """Return whether this is a folder that a pipeline of this installation wrote."""
    place = place_of(Path(name)) if Path(name).is_absolute() else None
    return place is not None and place.startswith(f"{RUNS}/") and is_there(Path(name))
