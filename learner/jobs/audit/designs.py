"""Audit designs: strata computed from a model's scores, stored as a row and a folder with the sampling orders."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlalchemy import Engine, func, select
from sqlalchemy.orm import Session

from allpairs.db.domain import DesignKind
from allpairs.db.labels.audits import newest_design
from allpairs.db.progress import Progress
from allpairs.db.schema.engine import artifacts, reading, writing
from allpairs.db.schema.tables import Design, Matcher
from allpairs.learner.evaluation.audit.sampling_order import SamplingOrder, make_sampling_order
from allpairs.learner.evaluation.audit.strata import Bands, rank_bands
from allpairs.learner.jobs.data.evaluation_snapshot import Seen, load_arrays, save_arrays, sides
from allpairs.learner.jobs.data.project_data import ProjectData

FAR = "below the pool"  # the last stratum of an earlier version's designs, with 99 % of all pairs
FOLDER = "design"  # begins the name of a design's folder


@dataclass(frozen=True)
class Drawn:
    """A design with its sampling orders, as item ids. vectors: (n, d) of the evaluation items under its model."""

    id: int
    number: int
    bands: Bands
    names: list[str]
    order: SamplingOrder
    vectors: np.ndarray


def read_designs(session: Session, project_id: int) -> list[Drawn]:
    """Return the project's audit designs, oldest first."""
    mine = select(Design).where(Design.project_id == project_id, Design.kind == DesignKind.AUDIT)
    return [_read(design) for design in session.scalars(mine.order_by(Design.number))]


def _read(design: Design) -> Drawn:
    edges = np.array([stratum["low"] for stratum in design.strata])
    sizes = np.array([stratum["size"] for stratum in design.strata], dtype=np.int64)
    top = sum(stratum.get("top", stratum["name"] != FAR) for stratum in design.strata)
    stored = load_arrays(artifacts() / design.folder / "decks.npz", "restore it from a back-up")
    order = SamplingOrder(stored["left"], stored["right"], stored["stratum"], stored["score"])
    vectors = stored["vectors"].astype(np.float32)
    names = [stratum["name"] for stratum in design.strata]
    return Drawn(design.id, design.number, Bands(edges, sizes, top), names, order, vectors)


def is_old(names: list[str]) -> bool:
    """Return whether an earlier version made the design with strata of these names: one for all pairs below the top."""
    return names[-1] == FAR


def make_design(engine: Engine, data: ProjectData, matcher: Matcher, seen: Seen, progress: Progress) -> None:
    """Store an audit design under this matcher, unless the project's newest design is already such a one."""
    project_id = matcher.project_id
    with reading(engine) as session:
        last = session.scalar(select(func.max(Design.number)).where(Design.project_id == project_id)) or 0
    bands = rank_bands(seen.ranking)
    both = sides(data, seen.vectors)
    order = make_sampling_order(both, bands, project_id, progress)
    folder = f"project-{project_id}/{FOLDER}-{last + 1}"
    save_arrays(
        artifacts() / folder / "decks.npz", left=both.left_ids[order.left], right=both.right_ids[order.right],
        stratum=order.stratum, score=order.score, vectors=seen.vectors.astype(np.float16),
    )  # fmt: skip
    row = Design(
        project_id=project_id, number=last + 1, kind=DesignKind.AUDIT, matcher_id=matcher.id, pairs=bands.pairs,
        strata=_strata(bands, seen), folder=folder,
    )  # fmt: skip
    with writing(engine) as session:
        newest = newest_design(session, project_id, DesignKind.AUDIT)
        if newest is None or newest.matcher_id != matcher.id or is_old([one["name"] for one in newest.strata]):
            session.add(row)


def _strata(bands: Bands, seen: Seen) -> list[dict[str, Any]]:
    """Return name, score bounds and size of each stratum, and whether it belongs to the top."""
    ends = np.cumsum(bands.sizes)
    edges = [float(seen.ranking.score(np.array([1]))[0]), *bands.edges.tolist()]
    return [
        {"name": f"pairs {end - size + 1:,} to {end:,}", "low": low, "high": high, "size": int(size)}
        | {"top": at < bands.top}
        for at, (end, size, low, high) in enumerate(zip(ends, bands.sizes, edges[1:], edges, strict=False))
    ]
