"""Name the published advisories that affect a version in requirements.lock.

python -m scripts.audit_packages ADVISORIES          (`make audit ADVISORIES=all.zip`)

ADVISORIES holds records of the OSV format: OSV's file for PyPI, a folder such as PyPA's advisory database, or one file.
Nothing is fetched. Exit codes: 0, 1 (a version is affected), 2 (the advisories cannot be read).
"""

import argparse
import json
import sys
import zipfile
from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from packaging.utils import canonicalize_name, canonicalize_version
from packaging.version import Version

from scripts.lock import LOCK, pinned

OLD = 30  # days; the published files change every day
Record = dict[str, Any]


class Finding(NamedTuple):
    """An advisory that affects a pinned version."""

    package: str
    version: str
    advisory: str
    fixed: str
    summary: str

    def __str__(self) -> str:
        """Return the finding as a line."""
        fixed = f"fixed in {self.fixed}" if self.fixed else "no fixed version"
        return f"{self.package} {self.version}: {self.advisory}, {fixed}. {self.summary}"


def records(path: Path) -> Iterator[Record]:
    """Yield the records of a file, an archive or a folder.

    Raises:
        ValueError: A file holds something else.
        OSError: A file cannot be read.
    """
    for name, text in _texts(path):
        try:
            found = json.loads(text) if name.endswith(".json") else yaml.load(text, Loader=yaml.CSafeLoader)
        except (ValueError, yaml.YAMLError) as error:
            raise ValueError(f"{name} is not valid: {' '.join(str(error).split())}") from None
        for record in found if isinstance(found, list) else [found]:
            if not isinstance(record, dict) or not {"id", "modified"} <= record.keys():
                raise ValueError(f"{name} is no record of the OSV format")
            yield record


def _texts(path: Path) -> Iterator[tuple[str, bytes]]:
    if path.is_dir():
        files = sorted(file for file in path.rglob("*") if file.suffix in (".json", ".yaml"))
        yield from ((str(file), file.read_bytes()) for file in files)
    elif zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            yield from ((name, archive.read(name)) for name in archive.namelist() if name.endswith(".json"))
    else:
        yield str(path), path.read_bytes()


def audit(pins: dict[str, str], record: Record) -> Iterator[Finding]:
    """Yield the pinned versions that the advisory affects. One that was withdrawn affects none."""
    for affected in () if record.get("withdrawn") else record.get("affected", ()):
        name = _package(affected)
        pin = pins.get(name)
        if pin and affects(affected, pin):
            yield Finding(name, pin, _named(record), fixed_after(affected, pin), _summary(record))


def affects(affected: Record, pin: str) -> bool:
    """Tell whether this part of a record covers the version, by its list of versions or one of its ranges."""
    listed = {canonicalize_version(version) for version in affected.get("versions") or ()}
    return canonicalize_version(pin) in listed or any(_within(events, Version(pin)) for events in _ranges(affected))


def fixed_after(affected: Record, pin: str) -> str:
    """Return the first fixed version after this one, or nothing."""
    fixed = (event["fixed"] for events in _ranges(affected) for event in events if "fixed" in event)
    return min((version for version in fixed if Version(version) > Version(pin)), key=Version, default="")


def _ranges(affected: Record) -> Iterator[list[dict[str, str]]]:
    return (one["events"] for one in affected.get("ranges") or () if one["type"] == "ECOSYSTEM")


def _within(events: list[dict[str, str]], version: Version) -> bool:
    """Tell whether the last event up to this version leaves it affected. (Introduced in "0" is before all versions.)"""
    within = False
    for what, when in sorted((pair for event in events for pair in event.items()), key=lambda pair: Version(pair[1])):
        if what == "introduced" and (when == "0" or version >= Version(when)):
            within = True
        elif (what == "fixed" and version >= Version(when)) or (what == "last_affected" and version > Version(when)):
            within = False
    return within


def _package(affected: Record) -> str:
    package = affected.get("package", {})
    return canonicalize_name(package["name"]) if package.get("ecosystem") == "PyPI" else ""


def _named(record: Record) -> str:
    aliases = ", ".join(record.get("aliases") or ())
    return f"{record['id']} ({aliases})" if aliases else str(record["id"])


def _summary(record: Record) -> str:
    text = record.get("summary") or record.get("details") or ""
    return (text.strip() or "No summary.").splitlines()[0]


def age(newest: str, today: date) -> str:
    """Return a line if the newest advisory is old, else nothing.

    Raises:
        ValueError: There is none.
    """
    if not newest:
        raise ValueError("it holds no records of the OSV format")
    days = (today - date.fromisoformat(newest[:10])).days
    return f"The newest advisory is of {newest[:10]}, {days} days ago: get a newer file." if days > OLD else ""


def main(words: list[str] | None = None) -> None:
    """Print a line for each finding; exit with 1 if there is one."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("advisories", type=Path, help="a zip archive, a folder or a file of records of the OSV format")
    path = parser.parse_args(words).advisories
    pins = pinned(LOCK.read_text(encoding="utf-8"))
    found: set[Finding] = set()
    modified: list[str] = []
    try:
        for record in records(path):
            modified.append(str(record["modified"]))
            found.update(audit(pins, record))
        old = age(max(modified, default=""), datetime.now(UTC).date())
    except (ValueError, KeyError, OSError, zipfile.BadZipFile) as error:
        parser.error(f"{path} cannot be read: {error}")
    print(*sorted(found), f"{len(pins)} packages, {len(modified)} advisories, {len(found)} affect them", sep="\n")
    if old:
        print(old, file=sys.stderr)
    raise SystemExit(1 if found else 0)


if __name__ == "__main__":
    main()
