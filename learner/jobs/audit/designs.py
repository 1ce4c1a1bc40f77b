"""Audit designs: strata computed from a model's scores, stored as a row and a folder with the sampling orders."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sqlalchemy import Engine, func, select
from sqlalchemy.orm import Session

from allpairs.db.domain import DesignKind, Verdict
from allpairs.db.groups.decisions import known_by_decisions
from allpairs.db.labels.audits import newest_design
from allpairs.db.labels.pairs import Pair
from allpairs.db.progress import Progress
from allpairs.db.raters.audits import rater_of_design
from allpairs.db.raters.rows import setup_of
from allpairs.db.raters.verdicts import verdicts_of
from allpairs.db.schema.engine import artifacts, reading, writing
from allpairs.db.schema.tables import Design, StoredModel
from allpairs.learner.evaluation.audit.ranking import Ranking, rank_all
from allpairs.learner.evaluation.audit.sampling_order import SamplingOrder, make_sampling_order
from allpairs.learner.evaluation.audit.strata import Strata, divide, rank_bands
from allpairs.learner.jobs.data.evaluation_snapshot import EvaluationSnapshot, lexical_of, rows_of, sides
from allpairs.learner.jobs.data.project_data import ProjectData
from allpairs.learner.jobs.data.stored_arrays import load_arrays, save_arrays
from allpairs.learner.jobs.data.stored_rescored import as_arrays, from_arrays
from allpairs.learner.search.rescored import NOTHING, Rescored

# begin the names of a divided band's strata
ALIKE = "similar"
DISSIMILAR = "other"
FOLDER = "design"  # begins the name of a design's folder
DECIDED = ("decided_left", "decided_right", "decided_same")  # arrays of a design


@dataclass(frozen=True)
class AuditDesign:
    """A design with its sampling orders, as item ids.

    vectors, rescored: of the evaluation items under its model, as in `EvaluationSnapshot`; lexical: (n, d) of
    `lexical_of`, where it divides bands. rows: (n,) of these items in the project; text_count: their number when the
    design was drawn. verdicts, rater: those of the machine rater of this name, if pairs are drawn by its verdicts.
    decided: the pairs that people had decided of before, which are in no stratum, and whether their texts are the same.
    """

    id: int
    number: int
    strata: Strata
    names: list[str]
    order: SamplingOrder
    vectors: np.ndarray
    lexical: np.ndarray | None
    rows: np.ndarray
    text_count: int
    rescored: Rescored = NOTHING
    verdicts: Mapping[Pair, Verdict] = field(default_factory=dict)
    rater: str = ""
    decided: Mapping[Pair, bool] = field(default_factory=dict)

    def among(self, data: ProjectData) -> "AuditDesign":
        """Return the design without its withdrawn texts, which leave its strata and orders.

        A stratum shrinks by the share of its order that is withdrawn: exactly, if the order holds the whole stratum;
        otherwise by an estimate from 4,000 random pairs.
        """
        present = np.isin(self.rows, rows_of(data))
        if present.all():
            return self
        ids = data.item_ids[self.rows[present]]
        places = np.flatnonzero(present)
        order = self.order
        stays = np.isin(order.left, ids) & np.isin(order.right, ids)
        before, after = (
            np.bincount(strata, minlength=len(self.names)) for strata in (order.stratum, order.stratum[stays])
        )
        sizes = np.round(self.strata.sizes * (after / np.maximum(before, 1))).astype(np.int64)
        columns = (getattr(order, name)[stays] for name in ("left", "right", "stratum", "score"))
        return replace(
            self,
            strata=replace(self.strata, sizes=np.maximum(sizes, 1)),
            order=SamplingOrder(*columns),
            vectors=self.vectors[present],
            lexical=None if self.lexical is None else self.lexical[present],
            rows=self.rows[present],
            rescored=self.rescored.within(places, places),
            decided={pair: same for pair, same in self.decided.items() if np.isin(pair, ids).all()},
        )

    def is_of(self, design: "AuditDesign") -> bool:
        """Return whether both are designs of the same texts."""
        return np.array_equal(self.rows, design.rows)

    def changed_by(self, data: ProjectData) -> float:
        """Return the share of the design's evaluation texts that were added or withdrawn since it was made."""
        came = len(np.setdiff1d(rows_of(data), self.rows))
        return (came + self.text_count - len(self.rows)) / max(self.text_count, 1)


def read_designs(session: Session, project_id: int, data: ProjectData) -> list[AuditDesign]:
    """Return the project's audit designs, oldest first, without withdrawn texts."""
    audit_designs = select(Design).where(Design.project_id == project_id, Design.kind == DesignKind.AUDIT)
    return [_with_verdicts(session, design, data) for design in session.scalars(audit_designs.order_by(Design.number))]


def _with_verdicts(session: Session, design: Design, data: ProjectData) -> AuditDesign:
    drawn = _read(design).among(data)
    rater = rater_of_design(session, design)
    return drawn if rater is None else replace(drawn, verdicts=verdicts_of(session, rater), rater=setup_of(rater).name)


def _read(design: Design) -> AuditDesign:
    bands = [stratum["band"] for stratum in design.strata]
    first = [design.strata[at] for at in np.unique(bands, return_index=True)[1]]
    edges = np.array([stratum["low"] for stratum in first])
    cuts = np.array([stratum["cut"] for stratum in first], dtype=np.float64)  # None is NaN
    sizes = np.array([stratum["size"] for stratum in design.strata], dtype=np.int64)
    top = sum(stratum["top"] for stratum in design.strata)
    strata = Strata(edges, cuts, sizes, top)
    stored = load_arrays(artifacts() / design.folder / "decks.npz", "restore it from a back-up")
    order = SamplingOrder(stored["left"], stored["right"], stored["stratum"], stored["score"])
    vectors = stored["vectors"].astype(np.float32)
    names = [stratum["name"] for stratum in design.strata]
    lexical = stored["lexical"].astype(np.float32) if "lexical" in stored else None
    rescored = from_arrays(stored, len(vectors))
    rows = stored["rows"]
    drawn = AuditDesign(design.id, design.number, strata, names, order, vectors, lexical, rows, len(rows), rescored)
    if DECIDED[0] not in stored:
        return drawn
    left, right, same = (stored[name].tolist() for name in DECIDED)
    return replace(drawn, decided=dict(zip(zip(left, right, strict=True), map(bool, same), strict=True)))


def decided_among(session: Session, project_id: int, data: ProjectData) -> dict[Pair, bool]:
    """Return whether the texts of each evaluation pair are the same that people decided of, without known pairs."""
    decided = known_by_decisions(session, project_id)
    left, right = np.array(list(decided), dtype=np.int64).reshape(-1, 2).T
    left_ids, right_ids = evaluation_ids(data)
    inside = np.isin(left, left_ids) & np.isin(right, right_ids)
    known = data.dataset.evaluation_known
    known_pairs = set(zip(left_ids[known[:, 0]].tolist(), right_ids[known[:, 1]].tolist(), strict=True))
    pairs = zip(decided.items(), inside.tolist(), strict=True)
    return {pair: same for (pair, same), is_inside in pairs if is_inside and pair not in known_pairs}


def evaluation_ids(data: ProjectData) -> tuple[np.ndarray, np.ndarray]:
    """Return the items of both sides of evaluation pairs, (n,) and (m,), ascending."""
    return data.item_ids[data.dataset.evaluation_left], data.item_ids[data.dataset.evaluation_right]


def make_design(
    engine: Engine, data: ProjectData, matcher: StoredModel, snapshot: EvaluationSnapshot, progress: Progress
) -> None:
    """Store an audit design under this matcher, unless the project's newest design is already one of the same texts."""
    project_id = matcher.project_id
    with reading(engine) as session:
        last = session.scalar(select(func.max(Design.number)).where(Design.project_id == project_id)) or 0
        decided = decided_among(session, project_id, data)
    lexical = lexical_of(data)
    decided_ids = np.array([(*pair, same) for pair, same in decided.items()], dtype=np.int64).reshape(-1, 3).T
    places = [np.searchsorted(ids, side) for ids, side in zip(evaluation_ids(data), decided_ids[:2], strict=True)]
    known = np.concatenate([data.dataset.evaluation_known, np.column_stack(places)])
    pair_sides = replace(sides(data, snapshot.vectors, lexical.astype(np.float32), snapshot.rescored), known=known)
    ranking = snapshot.ranking
    if len(known):
        ranking = rank_all(
            pair_sides.left, pair_sides.right, pair_sides.symmetric, progress, known, pair_sides.rescored
        )
    strata = divide(rank_bands(ranking), pair_sides, progress)
    order = make_sampling_order(pair_sides, strata, project_id, progress)
    arrays = {"vectors": snapshot.vectors.astype(np.float16), "rows": rows_of(data)} | as_arrays(snapshot.rescored)
    arrays |= {"lexical": lexical} if strata.divided else {}
    arrays |= dict(zip(DECIDED, decided_ids, strict=True)) if decided else {}
    folder = f"project-{project_id}/{FOLDER}-{last + 1}"
    save_arrays(
        artifacts() / folder / "decks.npz",
        left=pair_sides.left_ids[order.left],
        right=pair_sides.right_ids[order.right],
        stratum=order.stratum,
        score=order.score,
        **arrays,
    )
    row = Design(
        project_id=project_id,
        number=last + 1,
        kind=DesignKind.AUDIT,
        matcher_id=matcher.id,
        pairs=strata.pairs,
        strata=_rows(strata, ranking),
        folder=folder,
        details={"texts": data.version, "decided": len(decided)},
    )
    with writing(engine) as session:
        newest = newest_design(session, project_id, DesignKind.AUDIT)
        if newest is None or _made_of(newest) != _made_of(row):
            session.add(row)


def _made_of(design: Design) -> tuple[object, ...]:
    """Return by which matcher a design was made, of which texts, and without how many decided pairs."""
    return design.matcher_id, design.details.get("texts", 0), design.details.get("decided", 0)


def _rows(strata: Strata, ranking: Ranking) -> list[dict[str, Any]]:
    """Return each stratum's name, score bounds, size, cut of its band, and whether it belongs to the top."""
    band = strata.band
    ends = np.cumsum(np.bincount(band, strata.sizes)).astype(np.int64).tolist()
    edges = [float(ranking.score(np.array([1]))[0]), *strata.edges.tolist()]
    return [
        {
            "name": _name([0, *ends][place] + 1, ends[place], cut, stratum > 0 and band[stratum - 1] == place),
            "low": edges[place + 1],
            "high": edges[place],
            "size": int(size),
            "top": stratum < strata.top,
            "band": place,
            "cut": None if np.isnan(cut) else float(cut),
        }
        for stratum, (place, size, cut) in enumerate(zip(band.tolist(), strata.sizes, strata.cuts[band], strict=True))
    ]


def _name(first: int, last: int, cut: float, second: bool) -> str:
    ranks = f"pairs {first:,} to {last:,}"
    return ranks if np.isnan(cut) else f"{DISSIMILAR if second else ALIKE} {ranks}"
