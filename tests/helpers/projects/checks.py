"""A hidden check and a rush as rows, for tests of what becomes of them."""

from sqlalchemy import Engine, select

from db.domain import AnswerKind, CheckKind
from db.schema.engine import writing
from db.schema.tables import Answer, Check, CheckAnswer, Rush, RushTask, Task


def make_check_and_rush(engine: Engine, project_id: int) -> None:
    """Nothing; the first annotator of the project has said yes to a check, and no to two tasks in a rush."""
    with writing(engine) as session:
        answers = session.scalars(select(Answer).where(Answer.project_id == project_id).order_by(Answer.id)).all()
        tasks = session.scalars(select(Task).where(Task.project_id == project_id).order_by(Task.id)).all()
        about = {"project_id": project_id, "annotator": answers[0].annotator}
        check = Check(**about, kind=CheckKind.REPEAT, left_id=tasks[0].left_id, right_id=tasks[0].right_id,
                      expected=AnswerKind.NEGATIVE, task_id=tasks[0].id, before_id=tasks[1].id)  # fmt: skip
        rush = Rush(**about, answer=AnswerKind.NEGATIVE, first_id=answers[0].id, last_id=answers[1].id, answers=2,
                    seconds=0.5)  # fmt: skip
        session.add_all([check, rush])
        session.flush()
        session.add(CheckAnswer(project_id=project_id, check_id=check.id, answer=AnswerKind.POSITIVE, key="a check"))
        session.add(RushTask(project_id=project_id, rush_id=rush.id, task_id=tasks[0].id))
