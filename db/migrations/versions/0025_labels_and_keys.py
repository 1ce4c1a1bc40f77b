"""labels: a standing answer that settles its pair is the label, whoever answers later; keys: unique in their project

On SQLite a migration that makes `answers` anew (batch_alter_table) drops its trigger: call `keep_labels` after it.
"""

from alembic import op

revision = "0025"
down_revision = "0024"

# Of each annotator the last answer that is no skip, unless it retracts; of these the last that settles, or else the
# last: `db/labels/answers.py:counting_ids`.
_COUNTING = """
SELECT a.project_id, a.left_id, a.right_id, a.id, a.answer,
       COALESCE((SELECT t.purpose FROM tasks t WHERE t.id = a.task_id), 'train')
FROM answers a WHERE a.id = (
    SELECT b.id FROM answers b
    WHERE b.project_id = {pair}.project_id AND b.left_id = {pair}.left_id AND b.right_id = {pair}.right_id
      AND b.answer NOT IN ('skip', 'retract') AND NOT EXISTS (
        SELECT 1 FROM answers c
        WHERE c.project_id = b.project_id AND c.left_id = b.left_id AND c.right_id = b.right_id
          AND c.annotator = b.annotator AND c.id > b.id AND c.answer <> 'skip')
    ORDER BY b.settles DESC, b.id DESC LIMIT 1)
"""
_COLUMNS = "(project_id, left_id, right_id, answer_id, answer, purpose)"
_REPLACE = f"""
DELETE FROM labels WHERE left_id = NEW.left_id AND right_id = NEW.right_id;
INSERT INTO labels {_COLUMNS} {_COUNTING.format(pair="NEW")};
"""
_SETTLED = "IN (SELECT left_id, right_id FROM answers WHERE settles)"  # the labels of other pairs stay as they are


def upgrade() -> None:
    for table in ("answers", "check_answers"):
        _key_in_project(table)
    keep_labels()
    op.execute(f"DELETE FROM labels WHERE (left_id, right_id) {_SETTLED}")
    counting = _COUNTING.format(pair="a")
    op.execute(f"INSERT INTO labels {_COLUMNS} {counting} AND (a.left_id, a.right_id) {_SETTLED}")


def _key_in_project(name: str) -> None:
    """Let projects have the same keys: an archive brings those that it was made with."""
    unnamed = {"uq": "%(table_name)s_%(column_0_name)s_key"}  # as PostgreSQL names them; SQLite gives no name
    with op.batch_alter_table(name, naming_convention=unnamed) as table:
        table.drop_constraint(f"{name}_key_key", type_="unique")
        table.create_unique_constraint(f"{name}_project_id_key_key", ["project_id", "key"])


def keep_labels() -> None:
    """Keep the label of a pair up to date with every stored answer, from now on."""
    if op.get_bind().dialect.name == "postgresql":
        how = "RETURNS trigger LANGUAGE plpgsql AS"
        op.execute(f"CREATE OR REPLACE FUNCTION keep_label() {how} $$ BEGIN {_REPLACE} RETURN NEW; END $$")
        return
    op.execute("DROP TRIGGER IF EXISTS keep_label")
    how = "FOR EACH ROW WHEN NEW.answer <> 'skip'"
    op.execute(f"CREATE TRIGGER keep_label AFTER INSERT ON answers {how} BEGIN {_REPLACE} END")
