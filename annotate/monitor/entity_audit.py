"""The entity audit of a project: which texts are drawn, and the figures of every round's groups."""

from dataclasses import dataclass

import pandas as pd
from sqlalchemy import Engine

from allpairs.annotate.monitor.rounds import round_name
from allpairs.annotate.text.clusterings import TITLES
from allpairs.db.domain import Clustering, DesignKind
from allpairs.db.labels.audits import designs_of
from allpairs.db.schema.engine import reading

USUAL = Clustering.AVERAGE  # of which the summary speaks
DRAW = 30  # texts: some 350 pairs, up to nine of them on a card
COLUMNS = ["round", "groups", "figure", "value", "low", "high"]
FIGURES = {
    f"{measure}_{part}": f"{title} {word}"
    for measure, title in (("b_cubed", "B³"), ("pairwise", "Pairwise"), ("cluster", "Whole groups,"))
    for part, word in (("f1", "F1"), ("precision", "precision"), ("recall", "recall"))
}


@dataclass(frozen=True)
class EntityAudit:
    """How many texts are drawn; how many are complete, with how many labels; and the figures, with COLUMNS.

    The figures may be of an earlier draw, while the newest one has too few complete texts.
    """

    drawn: int
    complete: int
    labels: int
    table: pd.DataFrame


def read_entity_audit(engine: Engine, project_id: int) -> EntityAudit | None:
    """Return the project's entity audit; None before the first draw."""
    with reading(engine) as session:
        designs = designs_of(session, project_id, DesignKind.ENTITIES)
    if not designs:
        return None
    found = [one.details["found"] for one in reversed(designs) if one.details.get("found", {}).get("rounds")]
    last = found[0] if found else designs[-1].details.get("found", {"complete": 0, "labels": 0, "rounds": {}})
    rows = [
        (int(number), TITLES[Clustering(how)], FIGURES[name], one["value"], one["low"], one["high"])
        for number, clusterings in last["rounds"].items()
        for how, figures in clusterings.items()
        for name, one in figures.items()
    ]
    table = pd.DataFrame(rows, columns=COLUMNS).sort_values("round", kind="stable", ignore_index=True)
    return EntityAudit(len(designs[-1].details["weights"]), last["complete"], last["labels"], table)


def in_words(found: EntityAudit) -> str:
    """Return the newest round's figure of the usual groups in a sentence; empty before there is one."""
    shown = found.table[(found.table["figure"] == FIGURES["b_cubed_f1"]) & (found.table["groups"] == TITLES[USUAL])]
    if shown.empty:
        return ""
    last = shown.iloc[-1]
    of = f"{USUAL.value} linkage, {round_name(int(last['round'])).lower()}"
    return f"Groups: {last['figure']} **{last['value']:.3f}** ({last['low']:.3f} to {last['high']:.3f}), {of}."
