"""Projects and experiments that have something to show on every page, and a project of hostile texts."""

import json
from collections.abc import Sequence
from itertools import cycle
from pathlib import Path
from uuid import uuid4

from sqlalchemy import Engine, select

from allpairs.annotate.features.label.queue import record
from allpairs.annotate.frame.access import people
from allpairs.db.corpus.csv_writer import write_csv
from allpairs.db.domain import AnswerKind, Role
from allpairs.db.projects.studies import Unit, add_study
from allpairs.db.schema.engine import as_person, writing
from allpairs.db.schema.tables import Item, Project, Study, Task, now
from allpairs.learner.experiment.cell import FINISHED, ROUNDS
from allpairs.learner.experiment.grid import Grid
from allpairs.learner.experiment.report import write_report
from allpairs.learner.experiment.spec import Cell, Experiment, make_experiment
from tests.helpers.factories import make_project, make_round
from tests.helpers.figures.measured import add_job, answer_on, make_audited_project, make_measured_project
from tests.helpers.people import PASSWORD
from tests.helpers.projects.pipelines import finished_run, make_study
from tests.helpers.projects.results import SCORED, explore

STRATEGIES = ("uncertainty", "static-retrieval")


def finished_experiment(
    folder: Path, name: str = "Compared", strategies: Sequence[str] = STRATEGIES, reported: bool = True
) -> Experiment:
    """Write an experiment with two seeds, two rounds, finished runs and its report, and return it."""
    (folder / "data").mkdir(parents=True)
    (folder / "data" / "left.csv").write_text("id,text\na,one\nb,two\nc,three\nd,four\n")
    (folder / "data" / "gold.csv").write_text("id1,id2\na,b\nc,d\n")
    definition = {
        "name": name,
        "seeds": [0, 1],
        "rounds": 2,
        "rows": [{"name": strategy, "strategy": strategy} for strategy in strategies],
        "datasets": {"questions": {"left": "data/left.csv", "gold": "data/gold.csv"}},
    }
    experiment = make_experiment(definition, folder)
    for standing in Grid(experiment, folder, ["cpu"]).standings:
        _finish(standing.cell, folder)
    Grid(experiment, folder, ["cpu"])  # its state says now that they are done
    if reported:
        write_report(experiment, folder)
    return experiment


def _finish(cell: Cell, out: Path) -> None:
    folder = out / cell.folder
    folder.mkdir(parents=True)
    base = 0.3 if cell.row == STRATEGIES[0] else 0.2
    rows = [
        {
            "round": number,
            "labels": 20 * number,
            "positives": 5 * number,
            "average_precision": {"value": base + 0.1 * number + 0.01 * cell.seed},
            "precision_at_recall_20": {"value": 0.5},
        }
        for number in (1, 2)
    ]
    (folder / ROUNDS).write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / FINISHED).write_text(json.dumps({"cell": cell.model_dump(mode="json"), "seconds": 1.0}))


NAME, BUSY, EMPTY = "Help desk", "Busy", "Empty"
JOB, WHO = "running", "Root"  # the job; the administrator


def fill_every_page(engine: Engine, home: Path) -> None:
    """Make the projects and an administrator: “Help desk” has results, a job runs in “Busy”, “Empty” has no batch."""
    project_id = make_audited_project(engine, NAME)
    batch = make_round(engine, project_id, 12)
    with writing(engine) as session:
        disputed, *mine = session.scalars(select(Task).where(Task.round_id == batch).order_by(Task.position)).all()
        disputed.votes = 2
        said = {"ada": AnswerKind.POSITIVE, "ben": AnswerKind.NEGATIVE}
        session.add_all(answer_on(disputed, answer, who) for who, answer in said.items())
        session.add_all([answer_on(task, AnswerKind.POSITIVE, WHO) for task in mine[:3]])
        study = Study(project_id=project_id, run_id="run", models=["a"], per_model=1, seed=0)
        add_study(session, study, [Unit("Open the cover of the printer.", "What is opened?", ["a"])])
    add_job(engine, project_id, "failed", state="failed", stage="train", error="The disk is full.", traceback="At …")
    explore(engine, project_id, 3, SCORED, [(0, 1, 0.9, 1, 1), (0, 2, 0.8, 0, 1), (1, 2, 0.1, 0, 0)])
    explore(engine, project_id, 4, SCORED, [(0, 1, 0.9, 1, 1), (0, 2, 0.8, 0, 1), (1, 2, 0.1, 0, 0)])
    finished_run(engine, project_id, "run-done")
    finished_experiment(home / "artifacts" / "experiments" / "example")
    texts = [f"How do I do thing number {i}?" for i in range(20)]
    busy = make_project(engine, texts, name=BUSY)
    make_round(engine, busy, 6)
    add_job(engine, busy, JOB, state="running", stage="train", fraction=0.4, seconds_left=95.0)
    make_project(engine, texts, name=EMPTY, auto_train=False)
    people.add_account(engine, WHO, PASSWORD, now(), administrator=True)
    people.add_account(as_person(engine, people.id_of(engine, WHO)), "Vera", PASSWORD, now())
    people.set_role_by_name(as_person(engine, people.id_of(engine, WHO)), "Vera", NAME, Role.VIEWER, now())


PWNED = "window.pwned=1"
TEXTS = (
    f"<script>{PWNED}</script><img src=x onerror='{PWNED}'>",
    f"[click](javascript:{PWNED}) ![pixel](http://evil.invalid/pixel.png)",
    f":material/delete: :red[{PWNED}] $\\href{{javascript:{PWNED}}}{{x}}$ `x`",
    f'"><svg onload={PWNED}></textarea></script><script>{PWNED}</script>',
    f"</style><iframe srcdoc='<script>parent.{PWNED}</script>'></iframe> <a href=javascript:{PWNED}>a</a>",
    f"${{{PWNED}}} {{{{constructor.constructor('{PWNED}')()}}}} <b onmouseover={PWNED}>b</b>",
)
HOSTILE_NAME = f"<img src=x onerror={PWNED}> [P](javascript:{PWNED}) $x$"
ANNOTATORS = (f"<script>{PWNED}</script>", f"[Ben](javascript:{PWNED}) :red[x] <img src=x onerror={PWNED}>")
GUIDELINES = "\n\n".join(TEXTS)  # the only text of people that is Markdown, without HTML
NOTE = f"<img src=x onerror={PWNED}> [note](javascript:{PWNED})"


def hostile_table(folder: Path) -> Path:
    """Write a table whose name, columns and cells are such texts; return its path."""
    path = folder / f"<img src=x onerror={PWNED}> [f](javascript:{PWNED}) $x$ :red[y].csv".replace("/", "")
    write_csv(path, ["id", *TEXTS[:3]], [(str(number), *TEXTS[:3]) for number in range(6)])
    return path


def make_hostile_project(engine: Engine) -> int:
    """Make a project with rounds, figures, an exploration, a study, a failed job and a conflict; return its id."""
    project_id = make_measured_project(engine, HOSTILE_NAME, rounds=3)
    with writing(engine) as session:
        project = session.get_one(Project, project_id)
        project.settings = {**project.settings, "question": TEXTS[0], "guidelines": GUIDELINES, "votes": 2}
        items = session.scalars(select(Item).where(Item.project_id == project_id).order_by(Item.id)).all()
        for number, (item, text) in enumerate(zip(items, cycle(TEXTS), strict=False)):
            item.text = f"{text} {number}"
        tasks = session.scalars(select(Task.id).where(Task.project_id == project_id).order_by(Task.id)).all()[:6]
    for who, answer in zip(ANNOTATORS, ("positive", "negative"), strict=True):
        events = [{"key": uuid4().hex, "task_id": task, "answer": answer, "note": NOTE} for task in tasks]
        assert record(engine, project_id, who, events).refused == {}
    explore(engine, project_id, 2, [(i, i + 1, 0.9 - 0.1 * i) for i in range(6)], [(0, 1, 0.9, 0, 1)])
    make_study(engine, project_id)
    add_job(engine, project_id, f"next_round-{project_id}-x", state="failed", stage="train", error=TEXTS[0],
            traceback=TEXTS[1])  # fmt: skip
    return project_id
