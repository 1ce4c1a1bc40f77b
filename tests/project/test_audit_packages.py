"""`make audit`: advisories of the OSV format against pinned versions."""

import json
import zipfile
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from scripts import audit_packages, lock
from scripts.audit_packages import Finding, age, audit, records


def advisory(name: str = "jinja2", /, *events: dict[str, str], **more: Any) -> dict[str, Any]:
    """Return a record about a package: a range of these events, and other fields."""
    package = {"ecosystem": more.pop("ecosystem", "PyPI"), "name": name}
    ranges = [{"type": "ECOSYSTEM", "events": list(events)}] if events else []
    affected = {"package": package, "ranges": ranges, "versions": more.pop("versions", [])}
    return {"id": "PYSEC-1", "modified": "2026-11-20T10:00:00Z", "summary": "A hole.", "affected": [affected], **more}


def found(pins: dict[str, str], record: dict[str, Any]) -> list[Finding]:
    """Return what the advisory affects."""
    return list(audit(pins, record))


INTRODUCED, FIXED = {"introduced": "0"}, {"fixed": "3.1.7"}


@pytest.mark.parametrize(
    ("pin", "events", "affected"),
    [
        ("3.1.6", [INTRODUCED, FIXED], True),
        ("3.1.7", [INTRODUCED, FIXED], False),
        ("3.1.10", [INTRODUCED, FIXED], False),  # ten is more than seven
        ("3.1.7rc1", [INTRODUCED, FIXED], True),
        ("2.9", [{"introduced": "3.0"}, FIXED], False),
        ("3.0", [{"introduced": "3.0"}, FIXED], True),
        ("99", [INTRODUCED], True),
        ("2.0", [INTRODUCED, {"last_affected": "2.0"}], True),
        ("2.0.1", [INTRODUCED, {"last_affected": "2.0"}], False),
        ("1.5", [INTRODUCED, {"fixed": "1.4"}, {"introduced": "2.0"}, {"fixed": "2.3"}], False),
        ("2.1", [INTRODUCED, {"fixed": "1.4"}, {"introduced": "2.0"}, {"fixed": "2.3"}], True),
        ("2.1", [{"fixed": "2.3"}, {"introduced": "2.0"}, {"fixed": "1.4"}, INTRODUCED], True),  # in any order
    ],
)
def test_a_range_covers_what_lies_between_its_events(pin: str, events: list[dict[str, str]], affected: bool) -> None:
    assert bool(found({"jinja2": pin}, advisory("jinja2", *events))) == affected


def test_a_listed_version_is_affected_however_it_is_written() -> None:
    record = advisory(versions=["2004d", "3.1.0"])
    assert found({"jinja2": "3.1"}, record)
    assert not found({"jinja2": "3.1.1"}, record)


def test_a_finding_says_what_to_do() -> None:
    events = [INTRODUCED, {"fixed": "1.4"}, {"introduced": "2.0"}, {"fixed": "2.10"}, {"fixed": "2.9"}]
    record = advisory("Typing_Extensions", *events, aliases=["CVE-1"], summary="", details="First line.\nSecond.")
    assert found({"typing-extensions": "2.1"}, record) == [
        Finding("typing-extensions", "2.1", "PYSEC-1 (CVE-1)", "2.9", "First line.")
    ]


@pytest.mark.parametrize(
    "record",
    [
        advisory("jinja2", INTRODUCED, ecosystem="npm"),
        advisory("jinja", INTRODUCED),
        advisory("jinja2", INTRODUCED, withdrawn="2026-11-21T00:00:00Z"),
        advisory() | {"affected": [{"package": {"ecosystem": "PyPI", "name": "jinja2"}, "ranges": [
            {"type": "GIT", "events": [{"introduced": "0"}, {"fixed": "767f6aa"}]}]}]},
    ],
    ids=["another ecosystem", "another package", "withdrawn", "commits"],
)  # fmt: skip
def test_other_advisories_count_for_nothing(record: dict[str, Any]) -> None:
    assert found({"jinja2": "3.1.6"}, record) == []


def zipped(folder: Path, record: dict[str, Any]) -> Path:
    """Write the record as OSV publishes it."""
    with zipfile.ZipFile(folder / "all.zip", "w") as archive:
        archive.writestr("PYSEC-1.json", json.dumps(record))
    return folder / "all.zip"


def one_file(folder: Path, record: dict[str, Any]) -> Path:
    """Write a list with the record."""
    (folder / "one.json").write_text(json.dumps([record]))
    return folder / "one.json"


def in_folders(folder: Path, record: dict[str, Any]) -> Path:
    """Write the record as PyPA publishes it."""
    file = folder / "vulns" / "jinja2" / "PYSEC-1.yaml"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps(record))  # which YAML takes
    (folder / "README.md").write_text("# Advisories")
    return folder


@pytest.mark.parametrize("write", [zipped, one_file, in_folders])
def test_records_are_read_from(write: Callable[[Path, dict[str, Any]], Path], tmp_path: Path) -> None:
    record = advisory("jinja2", INTRODUCED)
    assert list(records(write(tmp_path, record))) == [record]


def test_old_advisories_are_told_of() -> None:
    assert age("2026-10-25T10:00:00Z", date(2026, 11, 24)) == ""
    assert "2026-10-24" in age("2026-10-24T10:00:00Z", date(2026, 11, 24))


@pytest.mark.parametrize(("version", "code"), [("0", 1), ("99999", 0)])
def test_the_locks_versions_are_audited(
    version: str, code: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    modified = (datetime.now(UTC) - timedelta(days=90)).isoformat()
    path = one_file(tmp_path, advisory("streamlit", {"introduced": version}, modified=modified))
    with pytest.raises(SystemExit) as ended:
        audit_packages.main([str(path)])
    said = capsys.readouterr()
    pin = lock.pinned(lock.LOCK.read_text(encoding="utf-8"))["streamlit"]
    assert ended.value.code == code
    assert (f"streamlit {pin}: PYSEC-1" in said.out) == bool(code)
    assert modified[:10] in said.err  # old


@pytest.mark.parametrize("content", [None, "", "{}", "no: [yaml", '[{"id": "PYSEC-1"}]', "\0"])
def test_what_cannot_be_read_is_said_in_one_line(
    content: str | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "advisories"
    if content is not None:
        path.write_text(content)
    with pytest.raises(SystemExit) as ended:
        audit_packages.main([str(path)])
    assert ended.value.code == 2
    *_, line = capsys.readouterr().err.splitlines()
    assert str(path) in line


@pytest.mark.parametrize("archive", [False, True])
def test_a_folder_or_archive_without_advisories_is_an_error(
    archive: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "README.md").write_text("# Nothing here")
    with zipfile.ZipFile(tmp_path / "empty.zip", "w") as empty:
        empty.writestr("README.md", "")
    with pytest.raises(SystemExit) as ended:
        audit_packages.main([str(tmp_path / "empty.zip" if archive else tmp_path)])
    assert ended.value.code == 2
    assert "no records" in capsys.readouterr().err
