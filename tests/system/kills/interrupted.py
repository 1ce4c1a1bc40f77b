"""Count what is left half-done if a process is killed while it imports, exports or deletes.

    python -m tests.system.kills.interrupted [--kills 50] [--seed 0] [--database sqlite|postgresql] [--only ACT]

Each act runs in a process of its own, which gets SIGKILL at a random moment of the act. After each kill the act must be
either done or not begun, the database whole, every answer of another project stored once; and the act, done again, must
succeed. Meanwhile somebody labels that other project.
"""

import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
from sqlalchemy import select, text

from allpairs.db.maintenance.garbage import garbage, remove
from allpairs.db.maintenance.integrity import problems
from allpairs.db.schema.engine import artifacts, home, make_engine, migrate, reading
from allpairs.db.schema.tables import Answer, now
from tests.helpers.factories import make_project, make_round
from tests.system.kills.faults import Victim, command
from tests.system.kills.interrupted_acts import ACTS, Act, Place, answer_all, make_sources

LATE = 0.8  # share of the act after which every second kill comes: around the commit


@dataclass
class Found:
    """What the kills of one act left."""

    kills: int = 0
    undone: int = 0  # the act had left nothing
    finished: int = 0  # the act was complete
    half: list[str] = field(default_factory=list)  # neither
    failed: list[str] = field(default_factory=list)  # the act, done again
    wrong: list[str] = field(default_factory=list)  # findings of `db check`
    left: Counter[str] = field(default_factory=Counter)  # files that nothing names
    kept: list[str] = field(default_factory=list)  # those that neither the act, done again, nor `db clean` removes


def _marked(work: Callable[[Place], None], place: Place) -> None:
    """Do it; say when it began and when it was done."""
    (place.folder / "began").touch()
    work(place)
    (place.folder / "ended").touch()


def _begin(act: Act, place: Place) -> Victim:
    """Start the act in a process, and return when it has begun."""
    for name in ("began", "ended"):
        (place.folder / name).unlink(missing_ok=True)
    victim = Victim(_marked, (act.work, place), place.folder / "acts.log")
    victim.start()
    while not (place.folder / "began").exists():
        time.sleep(0.001)
    return victim


def _length(act: Act, place: Place) -> float:
    """Return the seconds that the act takes undisturbed."""
    act.prepare(place)
    victim, began = _begin(act, place), time.monotonic()
    assert victim.process is not None
    while victim.process.is_alive() and not (place.folder / "ended").exists():
        time.sleep(0.001)
    seconds = time.monotonic() - began
    victim.process.join()
    if act.state(place) != act.done(place):
        raise RuntimeError(f"{act.name}, undisturbed: {act.state(place)}; see {place.folder / 'acts.log'}")
    return seconds


def _litter(place: Place) -> Iterator[str]:
    """Yield files and folders that no finished act leaves."""
    for folder in (home(), place.out.parent):
        for path in folder.rglob("*") if folder.is_dir() else ():
            if path.name.endswith((".part", ".tmp")) or path.name.startswith((".import-", ".download-")):
                yield str(path)
    engine = make_engine()
    with engine.connect() as connection:
        known = {f"project-{id_}" for id_ in connection.scalars(text("SELECT id FROM projects"))}
    engine.dispose()
    yield from (str(path) for path in artifacts().glob("project-*") if path.name not in known)


def interrupt(act: Act, place: Place, kills: int, rng: np.random.Generator, between: Callable[[], None]) -> Found:
    """Kill the act so often, look at what it left, and do it again. between: called after each kill."""
    found, seconds = Found(), _length(act, place)
    while found.kills < kills:
        act.prepare(place)
        before, after = act.state(place), act.done(place)
        victim = _begin(act, place)
        time.sleep(float(rng.uniform(LATE * seconds if found.kills % 2 else 0, seconds)))
        victim.kill()
        if (place.folder / "ended").exists():
            seconds *= 0.9  # too late: the machine is less busy than when the act was timed
            continue
        found.kills += 1
        between()
        look(act, place, found, before, after)
        _do_again(act, place, found, after)
        print(f"{act.name}: killed {found.kills} of {kills}", file=sys.stderr, flush=True)
    return found


def look(act: Act, place: Place, found: Found, before: Any, after: Any) -> None:
    state = act.state(place)
    found.undone += state == before
    found.finished += state == after
    if state not in (before, after):
        found.half.append(f"{state}, not {before} or {after}")
    for path in _litter(place):
        found.left[re.sub(r"[-0-9a-f]{8,}|[0-9]+", "…", Path(path).name)] += 1


def _do_again(act: Act, place: Place, found: Found, after: Any) -> None:
    """Do the act again unless it was complete, and look at what is left then."""
    try:
        if act.state(place) != after:
            act.work(place)
        if act.state(place) != after:
            found.failed.append(f"{act.state(place)}, not {after}")
    except Exception as error:
        found.failed.append(f"{type(error).__name__}: {error}")
        return
    engine = make_engine()
    found.wrong += problems(engine)
    for one in list(garbage(engine, now() + timedelta(days=2))):
        remove(one)
    engine.dispose()
    found.kept += _litter(place)


@dataclass(frozen=True)
class Outcome:
    """What became of all acts, and of the answers that were given in another project meanwhile."""

    acts: dict[str, Found]
    acknowledged: int
    lost: int
    doubled: int
    seconds: float

    @property
    def clean(self) -> bool:
        """Whether nothing was lost, doubled or left half-done."""
        bad = any(one.half or one.failed or one.wrong for one in self.acts.values())
        return not (self.lost or self.doubled or bad)


def interrupted(folder: Path, kills: int, seed: int, only: str = "") -> Outcome:
    """Return the outcome on the database that the environment names, with kills spread evenly over the acts.

    only: the name of the one act that is killed.
    """
    began, rng, place = time.monotonic(), np.random.default_rng(seed), Place(folder)
    migrate()
    engine = make_engine()
    place.out.parent.mkdir()
    make_sources(engine, place)
    bystander = make_project(engine, [f"other {at}" for at in range(60)], name="Bystander", auto_train=False)
    make_round(engine, bystander, 1000)
    acknowledged: list[str] = []

    def label() -> None:
        acknowledged.extend(answer_all(engine, bystander, "ann", 3))

    chosen = [act for act in ACTS if only in ("", act.name)]
    shares = [kills // len(chosen) + (at < kills % len(chosen)) for at in range(len(chosen))]
    acts = {act.name: interrupt(act, place, share, rng, label) for act, share in zip(chosen, shares, strict=True)}
    with reading(engine) as session:
        keys = Counter(session.scalars(select(Answer.key).where(Answer.project_id == bystander)))
    engine.dispose()
    lost = len(set(acknowledged) - keys.keys())
    return Outcome(acts, len(acknowledged), lost, keys.total() - len(keys), time.monotonic() - began)


if __name__ == "__main__":
    raise SystemExit(command(__doc__, interrupted, [act.name for act in ACTS]))
