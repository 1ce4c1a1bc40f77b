"""Projects that have something to show on every page."""

from pathlib import Path

from sqlalchemy import Engine, select

from allpairs.annotate.access import people
from allpairs.db.domain import AnswerKind, Role
from allpairs.db.projects.studies import Unit, add_study
from allpairs.db.schema.engine import as_person, writing
from allpairs.db.schema.tables import Study, Task, now
from tests.helpers.factories import make_project, make_round
from tests.helpers.figures.measured import add_job, answer_on, make_audited_project
from tests.helpers.people import PASSWORD
from tests.helpers.projects.experiments import finished_experiment
from tests.helpers.projects.explored import SCORED, explore
from tests.helpers.projects.pipelines import finished_run

NAME, BUSY, EMPTY = "Help desk", "Busy", "Empty"
JOB, WHO = "running", "Root"  # the job; the administrator


def fill(engine: Engine, home: Path) -> None:
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
    people.add(engine, WHO, PASSWORD, now(), administrator=True)
    people.add(as_person(engine, people.id_of(engine, WHO)), "Vera", PASSWORD, now())
    people.set_role_by_name(as_person(engine, people.id_of(engine, WHO)), "Vera", NAME, Role.VIEWER, now())
