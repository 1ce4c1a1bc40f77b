"""Download routes: each request writes its file to disk, sends it and removes it.

Streamlit's own download button would make the file whenever the page is drawn, and hold all of it in memory.
"""

import shutil
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp
from urllib.parse import urlencode
from zipfile import ZIP_STORED, ZipFile

from pydantic import ValidationError
from sqlalchemy import Engine
from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, Response
from starlette.routing import Route

from allpairs.annotate.features.archives.project_export import export_project
from allpairs.annotate.features.clean.project_list import CleanRulesInput, write_new_list, write_project_list
from allpairs.annotate.features.download.match_export import write_matches
from allpairs.annotate.features.labels.export import export_dataset, export_labels
from allpairs.annotate.features.labels.formats import Form
from allpairs.annotate.features.papers.runs import run_output
from allpairs.annotate.features.publish.model_export import ADDRESS, MOST_ID, download, safe_name
from allpairs.annotate.features.studies.rating_export import write_study
from allpairs.annotate.frame.access.roles import Right
from allpairs.annotate.frame.access.transactions import allowed
from allpairs.annotate.frame.web.middleware import engine_for
from allpairs.annotate.frame.web.work import Work
from allpairs.db.corpus.cells import shown
from allpairs.db.corpus.table_files import WRITERS
from allpairs.db.errors import Busy, InputError, without_places
from allpairs.db.files.artifacts import held
from allpairs.db.maintenance.error_messages import fault_of
from allpairs.db.projects.projects import project_named, project_of
from allpairs.db.requests.turns import Gone
from allpairs.db.schema.engine import artifacts, make_engine, reading
from allpairs.learner.light.clean.files import CLEAN, NEW, TABLES, new_rows_path, table_paths

LABELS = "download/labels"
PROJECTS = "download/projects"
MATCHES = "download/matches"
PIPELINES = "download/pipelines"
STUDIES = "download/studies"
CLEAN_LISTS = "download/clean"
DATASET = "dataset"
NOT_YOURS = "Only administrators of the project may export its data."
AT_A_TIME = (4, 2, 4)  # files that are made; for one person; that wait for one person
Make = Callable[[Engine, int, str, Path, Request], Path]


def labels_address(project_id: int, form: str, suffix: str, noted: bool = False) -> str:
    """Return the address of a file of labels in this form; `DATASET` is a form, too, and gives a zip file."""
    return f"{LABELS}/{project_id}?{urlencode({'form': form, 'suffix': suffix, 'noted': int(noted)})}"


def project_address(project_id: int, models: bool, vectors: bool) -> str:
    """Return the address of a project's archive."""
    return f"{PROJECTS}/{project_id}?{urlencode({'models': int(models), 'vectors': int(vectors)})}"


def matches_address(project_id: int, table: str, suffix: str) -> str:
    """Return the address of the project's newest matches: `pairs` or `groups`."""
    return f"{MATCHES}/{project_id}?{urlencode({'what': table, 'suffix': suffix})}"


def made_address(project_id: int, run_id: str, number: int) -> str:
    """Return the address of an output of a pipeline's run: a file as it is, a folder as a zip file."""
    return f"{PIPELINES}/{project_id}?{urlencode({'run': run_id, 'number': number})}"


def study_address(project_id: int, study_id: int, table: str) -> str:
    """Return the address of a study's `ratings` or `figures`, as CSV."""
    return f"{STUDIES}/{project_id}?{urlencode({'study': study_id, 'what': table})}"


def clean_address(project_id: int, table: str, suffix: str, choices: CleanRulesInput) -> str:
    """Return the address of a project's `clean` or `marked` list, its `changes`, its `new` rows, or a workbook."""
    query = {"table": table, "suffix": suffix, **choices.model_dump(mode="json", exclude_defaults=True)}
    return f"{CLEAN_LISTS}/{project_id}?{urlencode(query)}"


def routes() -> list[Route]:
    """Return the routes for these addresses, and for models."""
    makers = {LABELS: _labels, PROJECTS: _project, MATCHES: _matches, PIPELINES: _made, STUDIES: _study}
    makers |= {CLEAN_LISTS: _clean}
    answers = {f"{address}/{{project_id:int}}": _answering(make) for address, make in makers.items()}
    work = Work(*AT_A_TIME)
    return [
        Route(f"/{address}", _in_turn(work, answer))
        for address, answer in {**answers, f"{ADDRESS}/{{matcher_id:int}}": download}.items()
    ]


def _in_turn(work: Work, answer: Callable[[Request], Response]) -> Callable[[Request], Awaitable[Response]]:
    """Return the handler that makes a few files at a time, and fewer for one person."""

    async def answering(request: Request) -> Response:
        try:
            return await work.do(request, partial(answer, request))
        except Busy as error:
            return PlainTextResponse(str(error), 429, {"Retry-After": str(error.seconds)})
        except Gone:
            return Response(status_code=499)

    return answering


def _answering(make: Make) -> Callable[[Request], Response]:
    """Return a handler that sends the file which `make` writes, or a one-line error."""

    def answer(request: Request) -> Response:
        if request.path_params["project_id"] > MOST_ID:
            return PlainTextResponse("There is no project with this number.", status_code=404)
        with ExitStack() as stack:
            # The models' disk has room for a copy of them; /tmp may be in memory.
            artifacts().mkdir(parents=True, exist_ok=True)
            folder = Path(mkdtemp(prefix=".download-", dir=artifacts()))
            stack.callback(shutil.rmtree, folder, ignore_errors=True)
            engine = engine_for(request, make_engine())
            stack.callback(engine.dispose)
            try:
                with reading(engine) as session:
                    name = project_named(session, project_of(session, request.path_params["project_id"]).name).name
                if not allowed(engine, Right.CHANGE, request.path_params["project_id"]):
                    return PlainTextResponse(NOT_YOURS, status_code=403)
                file = make(engine, request.path_params["project_id"], name, folder, request)
            except InputError as problem:
                if fault_of(problem):
                    raise
                return PlainTextResponse(without_places(str(problem)), status_code=404)
            cleanup = stack.pop_all()  # the file is removed when it has been sent
        return FileResponse(file, filename=file.name, background=BackgroundTask(cleanup.close))

    return answer


def _labels(engine: Engine, project_id: int, name: str, folder: Path, request: Request) -> Path:
    form = request.query_params.get("form", Form.LABELS)
    safe = safe_name(name)
    if form == DATASET:
        return _dataset(engine, name, folder, f"{safe}-dataset")
    if form not in set(Form):
        raise InputError(f"there is no label format {form!r}; use {', '.join(Form)} or {DATASET}")
    path = folder / f"{safe}-{form}.{_suffix(request)}"
    export_labels(engine, name, path, Form(form), noted=request.query_params.get("noted") == "1", for_people=True)
    return path


def _dataset(engine: Engine, name: str, folder: Path, called: str) -> Path:
    with TemporaryDirectory(dir=folder) as temporary:
        root = Path(temporary) / called
        export_dataset(engine, name, root)
        return _zipped(root, folder / f"{called}.zip")


def _zipped(root: Path, path: Path) -> Path:
    """Write the folder, under its own name, to a zip file and return its path."""
    with ZipFile(path, "w", ZIP_STORED) as bundle:  # Parquet and weights do not compress
        for file in sorted(file for file in root.rglob("*") if file.is_file()):
            bundle.write(file, file.relative_to(root.parent))
    return path


def _project(engine: Engine, project_id: int, name: str, folder: Path, request: Request) -> Path:
    path = folder / f"{safe_name(name)}.zip"
    options = {option: request.query_params.get(option, default) == "1" for option, default in _OPTIONS.items()}
    export_project(engine, name, path, **options)
    return path


_OPTIONS = {"models": "1", "vectors": "0"}


def _matches(engine: Engine, project_id: int, name: str, folder: Path, request: Request) -> Path:
    table = request.query_params.get("what", "pairs")
    path = folder / f"{safe_name(name)}-{table}.{_suffix(request)}"
    write_matches(project_id, table, path)
    return path


def _clean(engine: Engine, project_id: int, name: str, folder: Path, request: Request) -> Path:
    query = dict(request.query_params)
    table = query.pop("table", CLEAN)
    suffix = query.pop("suffix", "xlsx")
    tables = (*TABLES, NEW)
    if table not in tables or suffix not in ("csv", "xlsx"):
        raise InputError(f"there is no table {shown(table)} as {shown(suffix)}: use {', '.join(tables)}, csv or xlsx")
    try:
        choices = CleanRulesInput.model_validate_strings(query)
    except ValidationError as error:
        raise InputError(f"the rules of the clean list are wrong: {error.errors()[0]['msg']}") from None
    out = folder / f"{safe_name(name)}-{CLEAN}.{suffix}"
    if table == NEW:
        write_new_list(engine, project_id, choices, new_rows_path(out))
        return new_rows_path(out)
    write_project_list(engine, project_id, choices, out, (table,))
    return table_paths(out, (table,))[0]


def _made(engine: Engine, project_id: int, name: str, folder: Path, request: Request) -> Path:
    number = request.query_params.get("number", "")
    if not _is_number(number):
        raise InputError(f"there is no output number {shown(number)}; use the links on the page “Pipelines”")
    output = run_output(engine, project_id, request.query_params.get("run", ""), int(number))
    if not output.path.is_dir():
        return output.path
    with held(output.path):
        return _zipped(output.path, folder / f"{safe_name(name)}-{output.kind}.zip")


def _study(engine: Engine, project_id: int, name: str, folder: Path, request: Request) -> Path:
    number = request.query_params.get("study", "")
    table = request.query_params.get("what", "")
    if not _is_number(number):
        raise InputError(f"there is no study number {shown(number)}; use the links on the page “Rate”")
    path = folder / f"{safe_name(name)}-study-{number}-{safe_name(table)}.csv"
    write_study(engine, project_id, int(number), table, path)
    return path


def _is_number(text: str) -> bool:
    """Return whether the text can be an id or a position."""
    return text.isdecimal() and len(text) < 10


def _suffix(request: Request) -> str:
    suffix = request.query_params.get("suffix", "csv")
    if f".{suffix}" not in WRITERS:
        raise InputError(f"cannot write files that end in {suffix!r}; use {', '.join(WRITERS)}")
    return suffix
