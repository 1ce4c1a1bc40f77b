"""What blocking lost and what the computing cost, by tool and machine."""

from collections.abc import Iterable

from benchmarks.public.catalog import OURS, PEERS
from benchmarks.public.summary import AP, Summary
from benchmarks.public.tables import shown, table
from benchmarks.public.work import SEEDS

HEADER = (
    "tool",
    "seeds",
    "labels",
    "matches among the labels",
    "pairs scored",
    "lost by blocking",
    "AP if every pair were scored",
    "CPU minutes",
    "peak MiB",
    "runs on",
)
EQUAL = 0.05  # costs that differ by less are called equal: the machines were shared


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
    for peer in summary.peers():
        both = summary.seeds_of(OURS) & summary.seeds_of(peer)
        if peer == OURS or not both or not summary.values(peer, last, AP):
            continue
        common = Summary([run for run in summary.runs if run["seed"] in both])
        (ours, theirs), better = (common.mean(one, last, "cpu_seconds") for one in (OURS, peer)), []
        if ours and theirs and theirs.value < ours.value * (1 - EQUAL):
            minutes = f"{theirs.value / 60:.1f} instead of {ours.value / 60:.1f} CPU minutes for {last:,} labels"
            better.append(f"{minutes}{'' if len(both) == len(SEEDS) else f' [{len(both)}]'}")
        ours_mib = _memory(common, OURS)
        their_mib = _memory(common, peer)
        if ours_mib and their_mib and their_mib < ours_mib * (1 - EQUAL):
            better.append(f"{their_mib:,} instead of {ours_mib:,} MiB")
        if better:
            yield f"{PEERS[peer].title} needs {' and '.join(better)}"


def _row(summary: Summary, peer: str) -> list[str]:
    last = max(labels for labels in summary.labels() if summary.values(peer, labels, AP))
    get = {figure: summary.mean(peer, last, figure) for figure in ("matches", "scored", "cpu_seconds", "blocking_loss")}
    matches, scored, seconds, lost = (found.value if found else 0.0 for found in get.values())
    unblocked = summary.mean(peer, last, "average_precision_unblocked")
    whole = shown(unblocked) if unblocked else "–" if lost else "as above"
    memory = _memory(summary, peer)
    return [
        PEERS[peer].title,
        f"{len(summary.seeds_of(peer))}",
        f"{last:,}",
        f"{matches:,.0f}",
        f"{scored:,.0f}",
        f"{lost:.1%}",
        whole,
        f"{seconds / 60:.1f}",
        f"{memory:,}" if memory else "–",
        _machine(summary),
    ]


def _memory(summary: Summary, peer: str) -> int:
    """Return the most memory of a peer's runs, in MiB; 0 if it was not measured."""
    return max(run.get("peak_mib", 0) for run in summary.runs if run["peer"] == peer)


def _machine(summary: Summary) -> str:
    """Return where the runs of one machine were made; all use one thread, which the page says once."""
    return str(summary.runs[0]["machine"]).replace(", one thread", "")
