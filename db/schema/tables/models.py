"""Trained models, their figures, and which of them answer requests."""

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, String, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from allpairs.db.domain import PublicationKind
from allpairs.db.schema.tables.base import COUNT_OF_PAIRS, Base, now, of_project


class StoredModel(Base):
    """A trained model, or the pre-trained encoder of round 0 (`w` and `b` are then empty)."""

    __tablename__ = "matchers"
    __table_args__ = (UniqueConstraint("project_id", "number"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    project_id: Mapped[int] = of_project()
    number: Mapped[int]  # trained on the answers of batches 1 … number
    folder: Mapped[str | None]  # below the artifact folder; empty for the base encoder itself
    encoder: Mapped[str]
    w: Mapped[float | None]
    b: Mapped[float | None]
    cutoff: Mapped[int] = mapped_column(default=0)  # the last answer that its newest batch's job saw
    labels: Mapped[int] = mapped_column(default=0)
    positives: Mapped[int] = mapped_column(default=0)
    details: Mapped[dict[str, Any]] = mapped_column(default=dict)  # seed, loss, seconds by stage, figures of groups
    created_at: Mapped[datetime] = mapped_column(default=now)


class Evaluation(Base):
    """The figures of one matcher over all pairs of evaluation items."""

    __tablename__ = "evaluations"
    matcher_id: Mapped[int] = mapped_column(ForeignKey("matchers.id", ondelete="CASCADE"), primary_key=True)
    pairs: Mapped[int] = mapped_column(COUNT_OF_PAIRS)
    positives: Mapped[int | None]  # known positives; empty if they are estimated
    estimates: Mapped[dict[str, Any]]  # name -> {value, low, high, method, labels}
    curve: Mapped[dict[str, Any]]  # recall, precision, score, and if sampled low, high: lists of equal length
    histogram: Mapped[dict[str, Any]]  # edges, negatives, positives; if positives are estimated: edges, pairs
    # Strata, advice and top of an audit; with known positives also `estimates` that count the ones nobody named.
    audit: Mapped[dict[str, Any]] = mapped_column(default=dict)

    @property
    def by_audit(self) -> bool:
        """Whether audit labels alone give the figures."""
        return bool(self.audit) and self.positives is None


class Publication(Base):
    """A round's model put into service, or its end. Append-only; the newest of each kind counts."""

    __tablename__ = "publications"
    id: Mapped[int] = mapped_column(primary_key=True)
    project_id: Mapped[int] = of_project()
    kind: Mapped[PublicationKind]
    # Empty: nothing of this kind is in service from here on, or a later training has replaced the model.
    matcher_id: Mapped[int | None] = mapped_column(ForeignKey("matchers.id", ondelete="SET NULL"), index=True)
    number: Mapped[int | None]  # the model's round; empty: an end
    note: Mapped[str] = mapped_column(Text, default="")
    who: Mapped[str] = mapped_column(String(80))  # empty: the command line, or an app without sign-in
    at: Mapped[datetime] = mapped_column(default=now)


class ShadowCounts(Base):
    """How the answers of a shadow differed from those of the published model: sums, and no text."""

    __tablename__ = "shadow_counts"
    published_id: Mapped[int] = mapped_column(ForeignKey("publications.id", ondelete="CASCADE"), primary_key=True)
    shadow_id: Mapped[int] = mapped_column(
        ForeignKey("publications.id", ondelete="CASCADE"), primary_key=True, index=True
    )
    project_id: Mapped[int] = of_project()
    texts: Mapped[int]  # that were compared
    same_best: Mapped[int]  # texts with the same best candidate
    shared: Mapped[float]  # sum over texts: share of the first ten candidates that both have
    pairs: Mapped[int]  # candidates among the first ten of either
    more: Mapped[float]  # sum over pairs: p of the shadow less p of the published model
    away: Mapped[float]  # sum over pairs: the size of that difference
    gained: Mapped[int]  # pairs at or above p = 1/2 under the shadow alone
    lost: Mapped[int]  # pairs at or above p = 1/2 under the published model alone
    updated_at: Mapped[datetime] = mapped_column(default=now)
