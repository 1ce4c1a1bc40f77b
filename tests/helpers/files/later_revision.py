"""A version with one migration more than this one."""

import shutil
from pathlib import Path

import pytest

from allpairs.db.schema import engine

NUMBER = "9000"
_MIGRATION = """
from alembic import op

from allpairs.db.migrations.keep_labels import keep_labels

revision = "9000"
down_revision = "{newest}"


def upgrade():
    recreate = "always" if op.get_bind().dialect.name == "sqlite" else "never"
    with op.batch_alter_table("answers", recreate=recreate):
        pass
    keep_labels()
"""


def add_revision(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give this version a migration more, in a copy in the folder: it makes the table `answers` anew."""
    text = _MIGRATION.format(newest=engine.newest_revision())
    copied = folder / "migrations"
    shutil.copytree(engine.MIGRATIONS, copied)
    (copied / "versions" / f"{NUMBER}_later.py").write_text(text)
    monkeypatch.setattr(engine, "MIGRATIONS", copied)
