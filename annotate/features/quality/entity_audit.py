"""How good the groups of every round are: by the known pairs, and by the entity audit and which texts it has drawn."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd
from sqlalchemy import Engine

from allpairs.annotate.features.quality.rounds import round_name
from allpairs.annotate.kit.text.clusterings import TITLES
from allpairs.db.domain import Clustering, DesignKind
from allpairs.db.labels.audits import designs_of
from allpairs.db.projects.matchers import GROUP_FIGURES, matchers_of
from allpairs.db.schema.engine import reading

USUAL = Clustering.AVERAGE  # the clustering that the summary describes
DRAW = 30  # texts: some 350 pairs, up to nine of them on a card
COLUMNS = ["round", "groups", "figure", "value", "low", "high", "method"]
EXACT = "exact"
FIGURES = {
    f"{measure}_{part}": f"{title} {word}"
    for measure, title in (("b_cubed", "B³"), ("pairwise", "Pairwise"), ("cluster", "Whole groups,"))
    for part, word in (("f1", "F1"), ("precision", "precision"), ("recall", "recall"))
}


@dataclass(frozen=True)
class EntityAudit:
    """How many texts are drawn; how many are complete, with how many labels; and the figures, with COLUMNS.

    Those by known pairs come first. Those of the audit may be of an earlier draw, while the newest one has too few
    complete texts.
    """

    drawn: int
    complete: int
    labels: int
    table: pd.DataFrame

    @property
    def methods(self) -> list[str]:
        """The methods that gave figures, exact ones first."""
        return list(dict.fromkeys(self.table["method"]))

    def by(self, method: str) -> pd.DataFrame:
        """Return the rows of the table by this method."""
        return self.table[self.table["method"] == method]


def read_entity_audit(engine: Engine, project_id: int) -> EntityAudit:
    """Return the figures of the project's groups, and its entity audit."""
    with reading(engine) as session:
        designs = designs_of(session, project_id, DesignKind.ENTITIES)
        matchers = matchers_of(session, project_id)
    exact = {row.number: row.details[GROUP_FIGURES] for row in matchers if GROUP_FIGURES in row.details}
    measured = [row.details["found"] for row in reversed(designs) if row.details.get("found", {}).get("rounds")]
    newest = designs[-1].details if designs else {"weights": []}
    last = measured[0] if measured else newest.get("found", {"complete": 0, "labels": 0, "rounds": {}})
    parts = [pd.DataFrame(_rows(rounds), columns=COLUMNS) for rounds in (exact, last["rounds"])]
    table = pd.concat([row.sort_values("round", kind="stable") for row in parts if len(row)] or parts[:1])
    return EntityAudit(len(newest["weights"]), last["complete"], last["labels"], table.reset_index(drop=True))


def _rows(rounds: Mapping[Any, Any]) -> Iterator[tuple[Any, ...]]:
    for number, clusterings in rounds.items():
        for clustering, figures in clusterings.items():
            for name, figure in figures.items():
                numbers = figure["value"], figure["low"], figure["high"]
                yield int(number), TITLES[Clustering(clustering)], FIGURES[name], *numbers, figure["method"]


def groups_in_words(audit: EntityAudit) -> str:
    """Return the newest round's figure of the usual groups in a sentence; empty before there is one."""
    table = audit.by(audit.methods[0]) if audit.methods else audit.table
    usual = table[(table["figure"] == FIGURES["b_cubed_f1"]) & (table["groups"] == TITLES[USUAL])]
    if usual.empty:
        return ""
    last = usual.iloc[-1]
    exact = last["method"] == EXACT
    sure = "exact, by the known pairs" if exact else f"{last['low']:.3f} to {last['high']:.3f}"
    groups = f"{USUAL.value} linkage, {round_name(int(last['round'])).lower()}"
    return f"Groups: {last['figure']} **{last['value']:.3f}** ({sure}), {groups}."
