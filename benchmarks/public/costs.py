"""What blocking lost and what the computing cost, by tool and machine."""

from collections.abc import Iterable

from benchmarks.public.catalog import OURS, PEERS
from benchmarks.public.summary import AP, Summary
from benchmarks.public.tables import shown, table

HEADER = (
    "tool", "labels", "matches among them", "pairs scored", "lost by blocking", "AP if every pair were scored",
    "CPU minutes", "peak MiB", "runs on",
)  # fmt: skip


def costs(summary: Summary) -> str:
    """Return the table, each tool at its last budget."""
    return table(HEADER, [_row(part, peer) for part in summary.by_machine() for peer in part.peers()])


def cheaper(title: str, summary: Summary) -> Iterable[str]:
    """Yield which tools compute less, or take less memory, than ours on the same machine."""
    for part in summary.by_machine():
        if OURS in part.peers() and (found := list(_cheaper(part))):
            yield f"- **{title}, cost on {_machine(part)}:** {'; '.join(found)}."


def _cheaper(summary: Summary) -> Iterable[str]:
    last = max(labels for labels in summary.labels() if summary.values(OURS, labels, AP))
    ours, ours_mib = summary.mean(OURS, last, "cpu_seconds"), _memory(summary, OURS)
    for peer in summary.peers():
        theirs = summary.mean(peer, last, "cpu_seconds")
        if peer == OURS or theirs is None or ours is None:
            continue
        better = [f"{theirs.value / 60:.1f} instead of {ours.value / 60:.1f} CPU minutes for {last:,} labels"]
        better = better if theirs.value < ours.value else []
        if _memory(summary, peer) < ours_mib:
            better.append(f"{_memory(summary, peer):,} instead of {ours_mib:,} MiB")
        if better:
            yield f"{PEERS[peer].title} needs {' and '.join(better)}"


def _row(summary: Summary, peer: str) -> list[str]:
    last = max(labels for labels in summary.labels() if summary.values(peer, labels, AP))
    get = {figure: summary.mean(peer, last, figure) for figure in ("matches", "scored", "cpu_seconds", "blocking_loss")}
    matches, scored, seconds, lost = (found.value if found else 0.0 for found in get.values())
    unblocked = summary.mean(peer, last, "average_precision_unblocked")
    whole = shown(unblocked) if unblocked else "–" if lost else "as above"
    return [PEERS[peer].title, f"{last:,}", f"{matches:,.0f}", f"{scored:,.0f}", f"{lost:.1%}", whole,
            f"{seconds / 60:.1f}", f"{_memory(summary, peer):,}", _machine(summary)]  # fmt: skip


def _memory(summary: Summary, peer: str) -> int:
    """Return the most memory of a peer's runs, in MiB."""
    return max(run["peak_mib"] for run in summary.runs if run["peer"] == peer)


def _machine(summary: Summary) -> str:
    """Return where the runs of one machine were made; all use one thread, which the page says once."""
    return str(summary.runs[0]["machine"]).replace(", one thread", "")
