"""The trained matcher as an archive, and the lines of Python that use it."""

import json
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZIP_STORED, ZipFile

from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, Response

from allpairs.annotate.features.publish.model_card import Usage, model_readme
from allpairs.annotate.features.quality.rounds import threshold
from allpairs.annotate.frame.access.roles import Right
from allpairs.annotate.frame.access.transactions import Refused, require
from allpairs.annotate.frame.web.middleware import engine_for
from allpairs.db.corpus.text_columns import TextColumns
from allpairs.db.domain import Side
from allpairs.db.errors import InputError, without_places
from allpairs.db.files.artifacts import held, is_there
from allpairs.db.files.checksums import FILE as CHECKSUMS
from allpairs.db.projects.projects import project_of
from allpairs.db.schema.engine import artifacts, make_engine, reading
from allpairs.db.schema.tables import Project, StoredModel
from allpairs.db.version import VERSION

ADDRESS = "download/matchers"
CARD = "README.md"
DETAILS = "matcher.json"
# The card and the details are written anew, with the newest figures; the checksums are for this installation only.
LEFT = (CARD, CHECKSUMS, DETAILS)
MOST_ID = 2**31 - 1  # largest id of a row
WHOLE = """\
from allpairs import Matcher

matcher = Matcher.load("{folder}")  # the unpacked archive
matcher.probability(["first text"], ["second text"])
matches = matcher.match(["one list", "of texts"], ["another", "list"], threshold={threshold})
"""
WHOLE_OF_RECORDS = """\
import pandas as pd

from allpairs import Matcher

left, right = pd.DataFrame([{left}]), pd.DataFrame([{right}])  # records, by their columns
matcher = Matcher.load("{folder}")  # the unpacked archive
matcher.probability(left, right)
matches = matcher.match(left, right, threshold={threshold})
"""
BARE = """\
import json
from math import exp
from pathlib import Path

from sentence_transformers import SentenceTransformer

folder = Path("{folder}")  # the unpacked archive
encoder = SentenceTransformer(str(folder))
bare = json.loads((folder / "matcher.json").read_text())["bare"]

left, right = encoder.encode(["first text", "second text"], normalize_embeddings=True)
cosine = float(left @ right)
p = 1 / (1 + exp(-(bare["w"] * cosine + bare["b"])))
"""


def bundle_name(project: str, matcher: StoredModel) -> str:
    """Return the name of the folder in the archive: the project's name, made safe for a file, and the round."""
    return f"{safe_name(project)}-round-{matcher.number}"


def safe_name(project: str) -> str:
    """Return the project's name, made safe for a file."""
    return re.sub(r"[^A-Za-z0-9]+", "-", project).strip("-").lower() or "project"


def usage(project: Project, matcher: StoredModel) -> Usage:
    """Return the lines of Python that use the unpacked matcher of this project."""
    folder = bundle_name(project.name, matcher)
    cutoff = threshold(matcher)
    known = {"folder": folder, "threshold": 0.5 if cutoff is None else round(cutoff, 4)}
    columns = TextColumns.read(project.text_columns)
    whole = WHOLE.format(**known) if columns is None else WHOLE_OF_RECORDS.format(**known, **_examples(columns))
    return Usage(whole, BARE.format(folder=folder) if "bare" in matcher.details else "")


def _examples(columns: TextColumns) -> dict[str, str]:
    """Return a record of each list, as Python writes it."""
    names = {side: columns.names.get(side, columns.names[Side.LEFT]) for side in Side}
    return {side.value: json.dumps(dict.fromkeys(names[side], "…"), ensure_ascii=False) for side in Side}


def address(matcher: StoredModel) -> str:
    """Return the archive's address, relative to any page."""
    return f"{ADDRESS}/{matcher.id}"


@contextmanager
def matcher_archive(project: str, matcher: StoredModel, card: str) -> Iterator[Path]:
    """Write a zip file with the matcher's folder and model card to disk; remove it afterwards.

    Raises InputError if the matcher has no folder of its own, or if its folder is missing.
    """
    folder = artifacts() / _folder_of(matcher)
    if not is_there(folder):
        raise InputError(f"the folder of round {matcher.number} is missing: {folder}; train again to make a new one")
    name = bundle_name(project, matcher)
    with TemporaryDirectory(prefix="allpairs-") as temporary, held(folder):
        archive = Path(temporary) / f"{name}.zip"
        with ZipFile(archive, "w", ZIP_STORED) as bundle:  # weights do not compress
            for file in sorted(path for path in folder.rglob("*") if path.is_file() and path.name not in LEFT):
                bundle.write(file, Path(name) / file.relative_to(folder))
            bundle.writestr(f"{name}/{CARD}", card)
            bundle.writestr(f"{name}/{DETAILS}", _details(folder / DETAILS, matcher))
        yield archive


def _details(file: Path, matcher: StoredModel) -> str:
    """Return the contents of the matcher's file, with what later labels say of its bare score.

    Raises InputError if it is damaged: it may have come in an archive.
    """
    try:
        known = dict(json.loads(file.read_text(encoding="utf-8")))
    except (FileNotFoundError, ValueError, TypeError, RecursionError):
        raise InputError(f"{file.name} of round {matcher.number} is damaged or missing: train again") from None
    newest = {name: matcher.details[name] for name in ("bare",) if name in matcher.details}
    return json.dumps(known | newest | {"allpairs": VERSION}, indent=2)


def _folder_of(matcher: StoredModel) -> str:
    if not matcher.folder:
        raise InputError(f"round {matcher.number} is the encoder {matcher.encoder} itself: there is nothing to export")
    return matcher.folder


def download(request: Request) -> Response:
    """Send the model of `address`. Streamlit's own download button would hold the whole archive in memory."""
    requested = _requested(request)
    if isinstance(requested, Response):
        return requested
    project, matcher = requested
    with ExitStack() as stack:
        try:
            archive = stack.enter_context(matcher_archive(project.name, matcher, _card(project, matcher)))
        except InputError as problem:
            return PlainTextResponse(without_places(str(problem)), status_code=404)
        cleanup = stack.pop_all()  # the file is removed when it has been sent
    return FileResponse(archive, filename=archive.name, background=BackgroundTask(cleanup.close))


def _card(project: Project, matcher: StoredModel) -> str:
    """Return the model card, with the current figures."""
    engine = make_engine()
    try:
        return model_readme(engine, matcher, bundle_name(project.name, matcher), usage(project, matcher))
    finally:
        engine.dispose()


def _requested(request: Request) -> tuple[Project, StoredModel] | Response:
    """Return the project and the matcher; or the response that says why it cannot be downloaded."""
    engine = engine_for(request, make_engine())
    try:
        with reading(engine) as session:
            number = request.path_params["matcher_id"]
            matcher = session.get(StoredModel, number) if number <= MOST_ID else None
            project = project_of(session, matcher.project_id) if matcher is not None else None
            if matcher is None or project is None or project.deleted_at is not None:
                raise InputError("no such matcher")
            require(session, Right.CHANGE, project.id)
            return project, matcher
    except Refused:
        return PlainTextResponse("Only administrators of the project may export its models.", status_code=403)
    except InputError:
        return PlainTextResponse("There is no such matcher: its project may have been deleted.", status_code=404)
    finally:
        engine.dispose()
