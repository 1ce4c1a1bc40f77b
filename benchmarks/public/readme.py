"""What README shows: the curve of one data set, and five figures beside what one would use instead, or a floor."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from benchmarks.public.catalog import OURS, PEERS
from benchmarks.public.runs import read_runs
from benchmarks.public.summary import AP, Summary
from benchmarks.public.tables import of_seeds, table
from benchmarks.public.work import WORK
from benchmarks.quality import audit_figures
from benchmarks.table import stored

DATA = "amazon_google"
LABELS = 64
ON_EVERY_SET = "active_loop"  # a tool that was run on each
POOL = "wikiqa"
AUDIT_LABELS = 1_000
MEASURED = ("latency", "load", "evaluation")  # benchmarks whose first row is shown
HEADER = ("", "Allpairs", "compared with", "measured by")


def figures() -> str:
    """Return the plot, what it shows, and the table, in Markdown."""
    summary = Summary(read_runs(DATA))
    title = WORK[DATA].title
    shown = f"![Average precision by number of labels: Allpairs and other tools](docs/comparison/{DATA}.svg)"
    seeds = len(summary.values(OURS, LABELS, AP))
    bands = "bands: the range of two seeds" if seeds == 2 else "bands: 95 % intervals"
    about = (
        f"Average precision (AP) over all pairs of {title}, by labels spent "
        f"({'one seed' if seeds == 1 else f'mean of {seeds} seeds; {bands}'}). "
        "The [comparison](docs/comparison.md) has every tool with its settings, and says first [where Allpairs "
        "loses](docs/comparison.md#where-allpairs-loses); [results](docs/results.md) has more data sets."
    )
    rows = [quality(summary, title), audit(), *speed(stored())]
    elsewhere = gains({data.title: Summary(read_runs(name)) for name, data in WORK.items()})
    held = " and ".join(covered(labels) for labels in (300, AUDIT_LABELS))
    audits = (
        f"An audit's 95 % interval of AP holds the truth over all pairs in {held} ([estimators](docs/estimators.md))."
    )
    return f"{shown}\n\n{about}\n\n{elsewhere}\n\n{table(HEADER, rows)}\n{audits}"


def gains(sets: Mapping[str, Summary]) -> str:
    """Say by how much average precision differs from one tool's, on each data set: the plot shows one of them."""
    found = {title: mean.value for title, each in sets.items() if (mean := each.difference(ON_EVERY_SET, LABELS))}
    listed = ", ".join(f"{gain:+.3f} on {title}" for title, gain in found.items())
    return (
        f"Allpairs was developed with these data sets at hand, {WORK[DATA].title} above all. With {LABELS} labels its "
        f"AP differs from that of the {PEERS[ON_EVERY_SET].title} by {listed}. The encoder was trained on duplicates "
        "of Quora's questions, and the demo was written for this project."
    )


def covered(labels: int) -> str:
    """Say how often an audit's interval holds the truth."""
    mean, least, most = (round(share * 100) for share in audit_figures.coverage(labels))
    return f"{mean} % of the runs with {labels:,} labels ({least} to {most} % by pool)"


def quality(summary: Summary, title: str) -> Sequence[str]:
    """Return average precision with few labels beside the best other tool's."""
    ours = summary.mean(OURS, LABELS, AP)
    others = {
        PEERS[peer].title: mean for peer in summary.peers() if peer != OURS and (mean := summary.mean(peer, LABELS, AP))
    }
    if ours is None or not others:
        raise ValueError(f"README shows {title} with {LABELS} labels: no run of ours, or of another tool, is kept")
    name, best = max(others.items(), key=lambda other: other[1].value)
    newest = max(run["date"] for run in summary.runs if PEERS[run["peer"]].title in (PEERS[OURS].title, name))
    return (
        f"AP with {LABELS} labels, {title}",
        f"{ours.value:.3f} ({of_seeds(ours)})",
        f"{name}: {best.value:.3f} ({of_seeds(best)})",
        measured_by(f"python -m benchmarks public --run --again --data {DATA}", newest, "comparison"),
    )


def audit() -> Sequence[str]:
    """Return the error of average precision measured by labels alone."""
    kept, (ours, other) = audit_figures.kept(), audit_figures.errors(POOL, AUDIT_LABELS)
    value, _, method = other.partition(" ")
    what = f"Error (RMSE) of AP from {AUDIT_LABELS:,} audit labels, {WORK[POOL].title}"
    return what, ours, f"{method.strip('()')}: {value}", measured_by(kept["command"], kept["date"], "estimators")


def speed(results: dict[str, dict[str, Any]]) -> Iterable[Sequence[str]]:
    """Yield the first row of each benchmark that README shows, up to its first semicolon."""
    for name in MEASURED:
        row = results[name]["rows"][0]
        about = results[name]
        ours, peer = (row[column].partition(";")[0] for column in ("ours", "peer"))
        what = row["what"][:1].upper() + row["what"][1:]
        yield what, ours, peer, measured_by(about["command"], about["date"], "benchmarks")


def measured_by(command: str, date: str, page: str) -> str:
    """Return the command, when it ran, and the page that says more."""
    return f"`{command}`, [{date}](docs/{page}.md)"
