"""labels: the label of each pair as it stands, kept by triggers, so that counting labels reads no answers"""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"

# Of each annotator the last answer that is no skip, unless it retracts; of these the last.
_COUNTING = """
SELECT a.project_id, a.left_id, a.right_id, a.id, a.answer,
       COALESCE((SELECT t.purpose FROM tasks t WHERE t.id = a.task_id), 'train')
FROM answers a WHERE a.id = (
    SELECT MAX(b.id) FROM answers b
    WHERE b.project_id = {pair}.project_id AND b.left_id = {pair}.left_id AND b.right_id = {pair}.right_id
      AND b.answer NOT IN ('skip', 'retract') AND NOT EXISTS (
        SELECT 1 FROM answers c
        WHERE c.project_id = b.project_id AND c.left_id = b.left_id AND c.right_id = b.right_id
          AND c.annotator = b.annotator AND c.id > b.id AND c.answer <> 'skip'))
"""
_COLUMNS = "(project_id, left_id, right_id, answer_id, answer, purpose)"
_REPLACE = f"""
DELETE FROM labels WHERE left_id = NEW.left_id AND right_id = NEW.right_id;
INSERT INTO labels {_COLUMNS} {_COUNTING.format(pair="NEW")};
"""


def upgrade() -> None:
    op.create_table(
        "labels",
        sa.Column("left_id", sa.Integer(), nullable=False),
        sa.Column("right_id", sa.Integer(), nullable=False),
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("answer_id", sa.Integer(), nullable=False),
        sa.Column("answer", sa.String(length=16), nullable=False),
        sa.Column("purpose", sa.String(length=8), nullable=False),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("left_id", "right_id"),
    )
    op.create_index("ix_labels_answer_id", "labels", ["answer_id"])
    op.create_index("ix_labels_counted", "labels", ["project_id", "purpose", "answer"])
    op.execute(f"INSERT INTO labels {_COLUMNS} {_COUNTING.format(pair='a')}")
    keep_labels()


def keep_labels() -> None:
    """Keep the label of a pair up to date with every stored answer, from now on."""
    if op.get_bind().dialect.name == "postgresql":
        op.execute(
            f"CREATE FUNCTION keep_label() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {_REPLACE} RETURN NEW; END $$"
        )
        how = "FOR EACH ROW WHEN (NEW.answer <> 'skip') EXECUTE FUNCTION keep_label()"
    else:
        how = f"FOR EACH ROW WHEN NEW.answer <> 'skip' BEGIN {_REPLACE} END"
    op.execute(f"CREATE TRIGGER keep_label AFTER INSERT ON answers {how}")
