"""A project whose texts all try to be a script, markup or Markdown."""

from itertools import cycle
from pathlib import Path
from uuid import uuid4

from sqlalchemy import Engine, select

from allpairs.annotate.labelling.queue import record
from allpairs.db.corpus.csv_writer import write_csv
from allpairs.db.schema.engine import writing
from allpairs.db.schema.tables import Item, Project, Task
from tests.helpers.figures.measured import add_job, make_measured_project
from tests.helpers.projects.explored import explore
from tests.helpers.projects.studies import make_study

PWNED = "window.pwned=1"
TEXTS = (
    f"<script>{PWNED}</script><img src=x onerror='{PWNED}'>",
    f"[click](javascript:{PWNED}) ![pixel](http://evil.invalid/pixel.png)",
    f":material/delete: :red[{PWNED}] $\\href{{javascript:{PWNED}}}{{x}}$ `x`",
    f'"><svg onload={PWNED}></textarea></script><script>{PWNED}</script>',
    f"</style><iframe srcdoc='<script>parent.{PWNED}</script>'></iframe> <a href=javascript:{PWNED}>a</a>",
    f"${{{PWNED}}} {{{{constructor.constructor('{PWNED}')()}}}} <b onmouseover={PWNED}>b</b>",
)
NAME = f"<img src=x onerror={PWNED}> [P](javascript:{PWNED}) $x$"
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
    project_id = make_measured_project(engine, NAME, rounds=3)
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
