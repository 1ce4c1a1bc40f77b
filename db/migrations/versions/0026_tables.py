"""The tables.

It has the number of the last of 26 migrations that were made before the first release, so that their databases open
without a change. The newest commit with all of them is `db.schema.engine:LAST_WITH_OLDER_REVISIONS`.
"""

from typing import Any

import sqlalchemy as sa
from alembic import op

from allpairs.db.migrations.keep_labels import keep_labels

revision = "0026"
down_revision = None

_INSTANT = sa.DateTime(timezone=True)
_PAIR_COUNT = sa.BigInteger().with_variant(sa.Integer, "sqlite")
_TABLES = sa.MetaData()


def upgrade() -> None:
    _TABLES.create_all(op.get_bind())
    keep_labels()


def _table(name: str, *parts: Any, **options: Any) -> None:
    sa.Table(name, _TABLES, *parts, **options)


def _required(of_type: Any, *names: str, **options: Any) -> list[sa.Column[Any]]:
    return [sa.Column(name, of_type, nullable=False, **options) for name in names]


def _optional(of_type: Any, *names: str, **options: Any) -> list[sa.Column[Any]]:
    return [sa.Column(name, of_type, **options) for name in names]


def _reference(
    name: str,
    table: str,
    rule: str | None = "CASCADE",
    constraint: str | None = None,
    nullable: bool = False,
    **options: Any,
) -> sa.Column[Any]:
    key = sa.ForeignKey(f"{table}.id", ondelete=rule, name=constraint)
    return sa.Column(name, sa.Integer, key, nullable=nullable, **options)


def _numbered_in_project() -> list[sa.Column[Any]]:
    return [_id(), _reference("project_id", "projects", index=True)]


def _id() -> sa.Column[Any]:
    return sa.Column("id", sa.Integer, primary_key=True)


def _partial_index(name: str, *columns: str, predicate: str, unique: bool = False) -> sa.Index:
    condition = sa.text(predicate)
    return sa.Index(name, *columns, unique=unique, sqlite_where=condition, postgresql_where=condition)


_table(
    "login_attempts",
    _id(),
    *_required(sa.String(400), "name"),
    *_required(sa.String(100), "address"),
    *_required(_INSTANT, "at"),
    sa.Index("ix_login_attempts_address", "address", "at"),
    sa.Index("ix_login_attempts_name", "name", "at"),
)
_table(
    "match_servers",
    sa.Column("name", sa.String(80), primary_key=True),
    *_required(sa.String, "host"),
    *_required(sa.Integer, "pid"),
    *_required(sa.String, "address"),
    *_required(sa.String(64), "secret"),
    *_required(_INSTANT, "seen_at"),
)
_table(
    "people",
    _id(),
    *_required(sa.String(80), "name"),
    *_required(sa.String(400), "folded", unique=True),
    *_optional(sa.Text, "password"),
    *_optional(sa.String(500), "issuer"),
    *_optional(sa.String(255), "subject"),
    *_required(sa.Boolean, "administrator"),
    *_optional(_INSTANT, "disabled_at"),
    *_required(_INSTANT, "changed_at", "created_at"),
    sa.UniqueConstraint("issuer", "subject"),
)
_table(
    "projects",
    _id(),
    *_required(sa.String(200), "name", unique=True),
    *_required(sa.String(16), "kind"),
    *_required(sa.JSON, "settings"),
    *_optional(sa.JSON, "text_columns"),
    *_required(_INSTANT, "created_at"),
    *_optional(_INSTANT, "archived_at", "deleted_at"),
    sqlite_autoincrement=True,
)
_table(
    "workers",
    sa.Column("executor_id", sa.String(80), primary_key=True),
    *_required(sa.String, "host"),
    *_required(sa.Integer, "pid"),
    *_required(sa.String, "device"),
    *_optional(sa.String(8), "queue"),
    *_required(_INSTANT, "seen_at"),
)
_table(
    "api_tokens",
    _id(),
    _reference("person_id", "people", index=True),
    *_required(sa.String(64), "token", unique=True),
    *_required(sa.String(80), "purpose"),
    *_required(sa.JSON, "scopes"),
    *_required(_INSTANT, "created_at"),
    *_optional(_INSTANT, "expires_at", "used_at"),
    sqlite_autoincrement=True,
)
_table(
    "events",
    _id(),
    _reference("project_id", "projects", index=True, nullable=True),
    *_required(sa.String(80), "who"),
    *_required(sa.String(32), "kind"),
    *_required(sa.Text, "about"),
    *_optional(sa.JSON, "old", "new"),
    *_required(_INSTANT, "at"),
)
_table(
    "group_updates",
    *_numbered_in_project(),
    *_required(sa.Integer, "matcher"),
    *_required(sa.Double, "threshold"),
    *_optional(sa.Double, "p"),
    *_required(sa.String(16), "clustering", "representative"),
    *_required(sa.Text, "newest_by"),
    *_required(sa.Integer, "groups", "texts"),
    *_required(_INSTANT, "created_at"),
)
_table(
    "invitations",
    _id(),
    *_required(sa.String(64), "token", unique=True),
    _reference("project_id", "projects", index=True),
    *_required(sa.String(16), "role"),
    _reference("made_by", "people", rule="SET NULL", nullable=True),
    *_required(_INSTANT, "created_at", "expires_at"),
    _reference("used_by", "people", rule="SET NULL", nullable=True),
    *_optional(_INSTANT, "used_at"),
)
_table(
    "items",
    *_numbered_in_project(),
    *_required(sa.String(8), "side"),
    *_required(sa.String(16), "split"),
    *_required(sa.Text, "text"),
    *_optional(sa.JSON, "field_lengths"),
    *_optional(sa.Integer, "added_in"),
    *_optional(_INSTANT, "withdrawn_at"),
    _partial_index("ix_items_added", "project_id", "added_in", predicate="added_in IS NOT NULL"),
    sa.Index("ix_items_counted", "project_id", "side", "split"),
    _partial_index("ix_items_withdrawn", "project_id", predicate="withdrawn_at IS NOT NULL"),
)
_table(
    "jobs",
    sa.Column("id", sa.String(80), primary_key=True),
    _reference("project_id", "projects", index=True),
    *_required(sa.String(40), "kind"),
    *_required(sa.String(16), "state"),
    *_required(sa.String, "stage"),
    *_required(sa.Double, "fraction"),
    *_optional(sa.Double, "seconds_left"),
    *_required(sa.Boolean, "cancel"),
    *_optional(sa.Text, "error", "traceback"),
    *_required(_INSTANT, "created_at", "updated_at"),
)
_table(
    "labels",
    sa.Column("left_id", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("right_id", sa.Integer, primary_key=True, autoincrement=False),
    _reference("project_id", "projects"),
    *_required(sa.Integer, "answer_id", index=True),
    *_required(sa.String(16), "answer"),
    *_required(sa.String(8), "purpose"),
    sa.Index("ix_labels_counted", "project_id", "purpose", "answer"),
)
_table(
    "logins",
    _id(),
    _reference("person_id", "people", index=True),
    *_required(sa.String(64), "token", unique=True),
    *_optional(sa.String(64), "previous", index=True),
    *_optional(sa.String(64), "ticket_of"),
    *_required(_INSTANT, "created_at", "rotated_at", "seen_at", "expires_at"),
    *_optional(_INSTANT, "ended_at"),
    sqlite_autoincrement=True,
)
_table(
    "matchers",
    *_numbered_in_project(),
    *_required(sa.Integer, "number"),
    *_optional(sa.String, "folder"),
    *_required(sa.String, "encoder"),
    *_optional(sa.Double, "w", "b"),
    *_required(sa.Integer, "cutoff", "labels", "positives"),
    *_required(sa.JSON, "details"),
    *_required(_INSTANT, "created_at"),
    sa.UniqueConstraint("project_id", "number"),
)
_table(
    "memberships",
    _reference("person_id", "people", primary_key=True),
    _reference("project_id", "projects", primary_key=True, index=True),
    *_required(sa.String(16), "role"),
)
_table(
    "notices",
    *_numbered_in_project(),
    *_required(sa.String(80), "key", unique=True),
    *_required(sa.String(32), "kind"),
    *_required(sa.JSON, "body"),
    *_required(_INSTANT, "created_at", index=True),
)
_table(
    "raters",
    _id(),
    _reference("project_id", "projects"),
    *_required(sa.Integer, "number"),
    *_required(sa.JSON, "setup"),
    *_required(sa.String(80), "who"),
    *_required(_INSTANT, "at"),
    *_optional(_INSTANT, "ended_at", "paused_at"),
    *_optional(sa.Text, "paused_why"),
    sa.UniqueConstraint("project_id", "number"),
    _partial_index("ix_raters_in_use", "project_id", predicate="ended_at IS NULL", unique=True),
)
_table(
    "studies",
    *_numbered_in_project(),
    *_required(sa.String(80), "run_id"),
    *_required(sa.JSON, "models"),
    *_required(sa.Integer, "per_model", "seed"),
    *_required(_INSTANT, "created_at"),
    sqlite_autoincrement=True,
)
_table(
    "text_changes",
    *_numbered_in_project(),
    *_required(sa.Integer, "number"),
    *_required(sa.String(80), "who"),
    *_required(sa.String(500), "source"),
    *_required(sa.Integer, "added", "changed", "withdrawn", "measuring"),
    *_required(_INSTANT, "at"),
    *_optional(_INSTANT, "undone_at"),
    sa.UniqueConstraint("project_id", "number"),
)
_table(
    "webhooks",
    *_numbered_in_project(),
    *_required(sa.String(2000), "url"),
    *_required(sa.JSON, "kinds"),
    *_required(sa.String(80), "secret"),
    *_required(sa.Boolean, "active"),
    _reference("made_by", "people", rule="SET NULL", nullable=True),
    *_required(_INSTANT, "created_at"),
    sqlite_autoincrement=True,
)
_table(
    "deliveries",
    *_numbered_in_project(),
    _reference("notice_id", "notices"),
    _reference("webhook_id", "webhooks", index=True),
    *_required(sa.String(16), "state"),
    *_required(sa.Integer, "attempts"),
    *_required(_INSTANT, "next_at"),
    *_optional(sa.Integer, "status"),
    *_optional(sa.Text, "error"),
    *_optional(_INSTANT, "delivered_at"),
    sa.UniqueConstraint("notice_id", "webhook_id"),
    sa.Index("ix_deliveries_due", "state", "next_at"),
    sqlite_autoincrement=True,
)
_table(
    "designs",
    *_numbered_in_project(),
    *_required(sa.Integer, "number"),
    *_required(sa.String(16), "kind"),
    _reference("matcher_id", "matchers", rule="SET NULL", nullable=True),
    *_required(_PAIR_COUNT, "pairs"),
    *_required(sa.JSON, "strata", "details"),
    *_required(sa.String, "folder"),
    *_required(_INSTANT, "created_at"),
    sa.UniqueConstraint("project_id", "number"),
)
_table(
    "evaluations",
    _reference("matcher_id", "matchers", primary_key=True),
    *_required(_PAIR_COUNT, "pairs"),
    *_optional(sa.Integer, "positives"),
    *_required(sa.JSON, "estimates", "curve", "histogram", "audit"),
)
_table(
    "gold",
    _reference("left_id", "items", primary_key=True),
    _reference("right_id", "items", primary_key=True, index=True),
    _reference("project_id", "projects"),
    *_required(sa.Boolean, "positive", "closure"),
    sa.Index("ix_gold_drawn", "project_id", "positive", "left_id", "right_id"),
)
_table(
    "group_changes",
    _id(),
    _reference("project_id", "projects"),
    _reference("update_id", "group_updates", index=True),
    *_required(sa.Integer, "number"),
    *_required(sa.String(16), "event"),
    *_required(sa.Integer, "before", "size", "added", "removed"),
    *_required(sa.JSON, "details"),
    sa.Index("ix_group_changes_cursor", "project_id", "id"),
    sa.Index("ix_group_changes_group", "project_id", "number"),
)
_table(
    "grouped_items",
    _reference("item_id", "items", primary_key=True, autoincrement=False),
    _reference("project_id", "projects"),
    *_required(sa.Integer, "number"),
    sa.Index("ix_grouped_items_group", "project_id", "number"),
)
_table(
    "identifier_changes",
    _reference("change_id", "text_changes", primary_key=True),
    sa.Column("side", sa.String(8), primary_key=True),
    sa.Column("external_id", sa.String(500), primary_key=True),
    _reference("project_id", "projects", index=True),
    _reference("before_id", "items", index=True, nullable=True),
    _reference("after_id", "items", index=True, nullable=True),
)
_table(
    "identifiers",
    _reference("project_id", "projects", primary_key=True),
    sa.Column("side", sa.String(8), primary_key=True),
    sa.Column("external_id", sa.String(500), primary_key=True),
    _reference("item_id", "items", index=True),
)
_table(
    "publications",
    *_numbered_in_project(),
    *_required(sa.String(8), "kind"),
    _reference("matcher_id", "matchers", rule="SET NULL", index=True, nullable=True),
    *_optional(sa.Integer, "number"),
    *_required(sa.Text, "note"),
    *_required(sa.String(80), "who"),
    *_required(_INSTANT, "at"),
)
_table(
    "rounds",
    *_numbered_in_project(),
    *_optional(sa.Integer, "number"),
    *_required(sa.String, "strategy"),
    *_required(sa.Integer, "size"),
    _reference("matcher_id", "matchers", rule=None, nullable=True),
    *_required(sa.Text, "note"),
    *_optional(sa.String(32), "ordered"),
    *_required(_INSTANT, "created_at"),
    sa.UniqueConstraint("project_id", "number"),
    sqlite_autoincrement=True,
)
_table(
    "study_units",
    *_numbered_in_project(),
    _reference("study_id", "studies"),
    *_required(sa.Integer, "position"),
    *_required(sa.Text, "passage", "question"),
    *_required(sa.JSON, "models"),
    sa.UniqueConstraint("study_id", "position"),
    sqlite_autoincrement=True,
)
_table(
    "verdicts",
    *_numbered_in_project(),
    _reference("rater_id", "raters"),
    _reference("left_id", "items", index=True),
    _reference("right_id", "items", index=True),
    *_required(sa.String(8), "verdict"),
    *_optional(sa.Double, "p"),
    *_required(sa.Integer, "tokens_in", "tokens_out"),
    *_required(sa.Double, "cost"),
    *_required(sa.String(8), "prompt"),
    *_required(_INSTANT, "at"),
    sa.UniqueConstraint("rater_id", "left_id", "right_id"),
)
_table(
    "ratings",
    *_numbered_in_project(),
    _reference("unit_id", "study_units"),
    *_required(sa.String(200), "rater"),
    *_required(sa.Boolean, "naturalness", "coverage", "correctness", "answerability"),
    *_required(_INSTANT, "created_at"),
    sa.Index("ix_ratings_unit", "unit_id", "rater"),
)
_table(
    "shadow_counts",
    _reference("published_id", "publications", primary_key=True),
    _reference("shadow_id", "publications", primary_key=True, index=True),
    _reference("project_id", "projects", index=True),
    *_required(sa.Integer, "texts", "same_best"),
    *_required(sa.Double, "shared"),
    *_required(sa.Integer, "pairs"),
    *_required(sa.Double, "more", "away"),
    *_required(sa.Integer, "gained", "lost"),
    *_required(_INSTANT, "updated_at"),
)
_table(
    "tasks",
    *_numbered_in_project(),
    _reference("round_id", "rounds"),
    _reference("left_id", "items", index=True),
    _reference("right_id", "items", index=True),
    *_required(sa.Integer, "position"),
    *_required(sa.String, "strategy"),
    *_required(sa.Double, "score"),
    *_optional(sa.Double, "p", "inclusion"),
    *_optional(sa.Integer, "stratum"),
    _reference("design_id", "designs", index=True, constraint="fk_tasks_design_id", nullable=True),
    *_required(sa.String(8), "purpose"),
    *_required(sa.Boolean, "turned", server_default=sa.false()),
    *_optional(sa.Double, "rerank"),
    *_optional(sa.Integer, "likely_start", "likely_end"),
    *_optional(sa.JSON, "alike"),
    *_required(sa.Integer, "votes", server_default="1"),
    sa.UniqueConstraint("round_id", "left_id", "right_id"),
    sa.Index("ix_tasks_round_position", "round_id", "position"),
    _partial_index("ix_tasks_several", "project_id", predicate="votes > 1"),
    sqlite_autoincrement=True,
)
_table(
    "answers",
    *_numbered_in_project(),
    _reference("task_id", "tasks", rule="SET NULL", index=True, nullable=True),
    _reference("left_id", "items", index=True),
    _reference("right_id", "items", index=True),
    *_required(sa.String(200), "annotator"),
    *_required(sa.String(16), "answer"),
    *_required(sa.String(80), "key"),
    *_optional(sa.Double, "seconds"),
    *_optional(sa.Text, "note"),
    *_required(sa.Boolean, "settles", server_default=sa.false()),
    *_optional(sa.String(8), "guidelines"),
    *_required(_INSTANT, "created_at"),
    sa.UniqueConstraint("project_id", "key", name="answers_project_id_key_key"),
    sa.Index("ix_answers_annotator", "project_id", "annotator", "id"),
    sa.Index("ix_answers_counted", "project_id", "created_at", "answer"),
    sa.Index("ix_answers_pair", "project_id", "left_id", "right_id", "annotator"),
    sa.Index(
        "ix_answers_settling",
        "project_id",
        sqlite_where=sa.text("settles = 1"),
        postgresql_where=sa.text("settles"),
    ),
)
_table(
    "checks",
    *_numbered_in_project(),
    *_required(sa.String(200), "annotator"),
    *_required(sa.String(8), "kind"),
    _reference("left_id", "items", index=True),
    _reference("right_id", "items", index=True),
    *_required(sa.String(16), "expected"),
    _reference("task_id", "tasks", rule="SET NULL", index=True, nullable=True),
    _reference("before_id", "tasks", rule="SET NULL", nullable=True),
    *_required(_INSTANT, "created_at"),
    sa.UniqueConstraint("before_id", "annotator"),
    sa.Index("ix_checks_pair", "project_id", "annotator", "left_id", "right_id"),
)
_table(
    "leases",
    _reference("task_id", "tasks", primary_key=True),
    *_required(sa.String(200), "annotator", index=True),
    *_optional(sa.String(32), "device"),
    *_required(_INSTANT, "expires_at"),
)
_table(
    "check_answers",
    *_numbered_in_project(),
    _reference("check_id", "checks", index=True),
    *_required(sa.String(16), "answer"),
    *_required(sa.String(80), "key"),
    *_optional(sa.Double, "seconds"),
    *_optional(sa.Text, "note"),
    *_required(_INSTANT, "created_at"),
    sa.UniqueConstraint("project_id", "key", name="check_answers_project_id_key_key"),
)
_table(
    "rushes",
    *_numbered_in_project(),
    *_required(sa.String(200), "annotator"),
    *_required(sa.String(16), "answer"),
    _reference("first_id", "answers", index=True),
    _reference("last_id", "answers", index=True),
    *_required(sa.Integer, "answers"),
    *_required(sa.Double, "seconds"),
)
_table(
    "rush_tasks",
    _reference("task_id", "tasks", primary_key=True),
    _reference("rush_id", "rushes", index=True),
    _reference("project_id", "projects", index=True),
)
