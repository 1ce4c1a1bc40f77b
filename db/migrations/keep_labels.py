"""The trigger that keeps the label of each pair, so that counting labels reads no answers.

On SQLite a migration that makes `answers` anew (batch_alter_table) drops the trigger: call `keep_labels` after it.
"""

from alembic import op

# Of each annotator the last answer that is no skip, unless it retracts; of these the last that settles, or else the
# last: `db/labels/answers.py:counting_ids`.
_REPLACE = """
DELETE FROM labels WHERE left_id = NEW.left_id AND right_id = NEW.right_id;
INSERT INTO labels (project_id, left_id, right_id, answer_id, answer, purpose)
SELECT a.project_id, a.left_id, a.right_id, a.id, a.answer,
       COALESCE((SELECT t.purpose FROM tasks t WHERE t.id = a.task_id), 'train')
FROM answers a WHERE a.id = (
    SELECT b.id FROM answers b
    WHERE b.project_id = NEW.project_id AND b.left_id = NEW.left_id AND b.right_id = NEW.right_id
      AND b.answer NOT IN ('skip', 'retract') AND NOT EXISTS (
        SELECT 1 FROM answers c
        WHERE c.project_id = b.project_id AND c.left_id = b.left_id AND c.right_id = b.right_id
          AND c.annotator = b.annotator AND c.id > b.id AND c.answer <> 'skip')
    ORDER BY b.settles DESC, b.id DESC LIMIT 1);
"""


def keep_labels() -> None:
    """Keep the label of a pair up to date with every stored answer, from now on."""
    if op.get_bind().dialect.name == "postgresql":
        function = f"$$ BEGIN {_REPLACE} RETURN NEW; END $$"
        op.execute(f"CREATE OR REPLACE FUNCTION keep_label() RETURNS trigger LANGUAGE plpgsql AS {function}")
        op.execute("DROP TRIGGER IF EXISTS keep_label ON answers")
        _create_trigger("(NEW.answer <> 'skip')", "EXECUTE FUNCTION keep_label()")
    else:
        op.execute("DROP TRIGGER IF EXISTS keep_label")
        _create_trigger("NEW.answer <> 'skip'", f"BEGIN {_REPLACE} END")


def _create_trigger(condition: str, action: str) -> None:
    op.execute(f"CREATE TRIGGER keep_label AFTER INSERT ON answers FOR EACH ROW WHEN {condition} {action}")
