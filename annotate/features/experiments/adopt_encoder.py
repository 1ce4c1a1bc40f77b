"""Use a pipeline's bi-encoder as the project's encoder."""

from pathlib import Path

from sqlalchemy import Engine

from allpairs.annotate.features.papers.runs import run_output
from allpairs.annotate.features.projects.projects import update_settings
from allpairs.annotate.features.settings.progress import situation_of
from allpairs.annotate.features.settings.setting_effects import implications
from allpairs.db.domain import Settings
from allpairs.db.errors import InputError
from allpairs.db.projects.projects import live_project
from allpairs.db.schema.engine import reading

BIENCODER = "biencoder"
LOADS = ("modules.json", "config.json")  # files that mark an encoder's folder
DOT = "It was trained with inner products, but projects compare texts by cosine: check its precision before and after."


def plan_encoder(engine: Engine, project_id: int, run_id: str, number: int) -> tuple[Settings, list[str]]:
    """Return the project's settings with the run's bi-encoder, and the effects in words; none if it is already in use.

    Raises InputError if the run made no encoder of that number, or one for each list.
    """
    output = run_output(engine, project_id, run_id, number)
    folders = encoders_in(output.path) if output.kind == BIENCODER else []
    if len(folders) != 1:
        raise InputError(f"a project cannot use {output.title}: it needs one encoder for both texts")
    new, lines = plan_change(engine, project_id, str(folders[0]))
    return new, [*lines, DOT] if lines and output.figures.get("similarity") == "dot" else lines


def plan_change(engine: Engine, project_id: int, encoder: str) -> tuple[Settings, list[str]]:
    """Return the project's settings with this encoder, a name or a folder, and the effects in words; none if in use."""
    with reading(engine) as session:
        old = Settings.model_validate(live_project(session, project_id).settings)
    new = old.model_copy(update={"encoder": encoder})
    return new, [] if new == old else implications(old, new, situation_of(engine, project_id))


def encoders_in(folder: Path) -> list[Path]:
    """Return the folders from which encoders are loaded: this one, else those in it; two for two towers."""
    places = [folder, *sorted(path for path in folder.glob("*") if path.is_dir())]
    encoder_folders = [place for place in places if any((place / name).is_file() for name in LOADS)]
    return [folder] if folder in encoder_folders else encoder_folders


def use_encoder(engine: Engine, project_id: int, run_id: str, number: int) -> None:
    """Use the run's bi-encoder from the project's next batch on. Raises as `plan_encoder` does."""
    update_settings(engine, project_id, plan_encoder(engine, project_id, run_id, number)[0])


def use_compared(engine: Engine, project_id: int, encoder: str) -> None:
    """Use an encoder that a comparison has measured from the project's next batch on.

    Raises Refused for a model that the person may not use.
    """
    update_settings(engine, project_id, plan_change(engine, project_id, encoder)[0])
