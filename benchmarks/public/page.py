"""docs/comparison.md, from the runs that are kept and the words in page.md."""

from collections.abc import Iterable, Sequence
from itertools import groupby, pairwise, product
from operator import itemgetter
from pathlib import Path
from string import Template

from benchmarks.lists.page import section
from benchmarks.public import speed
from benchmarks.public.catalog import OURS, PEERS, UNRUN
from benchmarks.public.costs import cheaper, costs
from benchmarks.public.reasons import LOSSES, MORE, UNKNOWN
from benchmarks.public.run import Run
from benchmarks.public.runs import KEPT, read_runs
from benchmarks.public.summary import AP, FIGURES, Summary
from benchmarks.public.tables import shown, signed, table
from benchmarks.public.work import LABELS, SEEDS, WORK
from benchmarks.quality import audit_figures

WORDS = Path(__file__).with_suffix(".md")


def page(folder: Path = KEPT) -> str:
    """Return the whole page."""
    found = {name: Summary(read_runs(name, folder)) for name in WORK}
    run = {name: summary for name, summary in found.items() if summary.runs}
    parts = {
        "done": done(run),
        "losses": "\n".join([*losses(run), audits(), *speed.losses()]),
        "results": "\n".join(part for name, summary in run.items() for part in results(name, summary)),
        "lists": section(folder),
        "speed": speed.speed(),
        "other": speed.other(),
        "reliability": speed.reliability(),
        "gpu": speed.gpu(),
        "peers": tools([one for summary in run.values() for one in summary.runs]),
        "missing": "\n".join(unrun(run)),
    }
    return Template(WORDS.read_text(encoding="utf-8")).substitute(parts)


def done(run: dict[str, Summary]) -> str:
    """Say how many of the planned runs there are."""
    there = sum(len(summary.runs) for summary in run.values())
    wanted = len(SEEDS) * sum(not peer.data or name in peer.data for peer in PEERS.values() for name in WORK)
    sets = ", ".join(WORK[name].title for name in run)
    share = f"all {wanted}" if there == wanted else f"**{there} of the {wanted}**"
    return f"The page shows {share} planned runs, on {len(run)} data sets ({sets})."


def losses(run: dict[str, Summary]) -> Iterable[str]:
    """Yield where a peer is ahead, the largest difference first; where more labels made ours worse; and by cost."""
    found = [loss for name, summary in run.items() for loss in behind(name, summary)]
    yield from (line for _, line in sorted(found, key=itemgetter(0), reverse=True))
    yield from (line for name, summary in run.items() for line in falls(name, summary))
    yield from (line for name, summary in run.items() for line in cheaper(WORK[name].title, summary))


def audits() -> str:
    """Say where another method measures average precision better from the same number of audit labels."""
    found, cells = audit_figures.behind()
    return (
        f"- **Measuring by audit labels:** the error (RMSE) of AP is larger than another method's in {len(found)} of "
        f"{cells} combinations of pool and labels: {'; '.join(found)}. [Why](estimators.md#results)."
    )


def behind(name: str, summary: Summary) -> Iterable[tuple[float, str]]:
    """Yield in which figures a peer is ahead on a data set: by how much at most, and in words."""
    for figure, about in FIGURES.items():
        for peer, lost in groupby(summary.losses(figure), itemgetter(0)):
            ahead = [(less.negated(), labels) for _, labels, less in lost]
            at = ", ".join(f"{signed(more)} with {labels:,} labels" for more, labels in ahead)
            why = LOSSES.get((name, figure), UNKNOWN)
            line = f"- **{WORK[name].title}, {about}:** {PEERS[peer].title} is ahead by {at}. {why}"
            yield max(more.value for more, _ in ahead), line


def falls(name: str, summary: Summary) -> Iterable[str]:
    """Yield where more labels made ours worse on a data set."""
    steps = [(one, other, summary.change(one, other)) for one, other in pairwise(summary.labels())]
    found = [
        f"{signed(change)} from {one:,} labels to {other:,}"
        for one, other, change in steps
        if change and round(change.value, 3) < 0
    ]
    if found:
        why = LOSSES.get((name, MORE), UNKNOWN)
        yield f"- **{WORK[name].title}, more labels, lower AP:** ours changes by {' and '.join(found)}. {why}"


def results(name: str, summary: Summary) -> Iterable[str]:
    """Yield the section of a data set."""
    title = WORK[name].title
    columns = [labels for labels in summary.labels() if labels in LABELS]
    peers = [peer for peer in summary.peers() if any(summary.values(peer, labels, AP) for labels in columns)]
    yield f"## {title}\n"
    yield f"![Average precision against labels on {title}](comparison/{name}.svg)\n"
    reference = list(references(summary))
    yield f"Bands: 95 % intervals.{' Dashed: the reference below.' if reference else ''}\n"
    for figure, about in FIGURES.items():
        yield f"**{about[0].upper()}{about[1:]}**, by labels.\n"
        rows = [
            [PEERS[peer].title, *(shown(summary.mean(peer, labels, figure)) for labels in columns)] for peer in peers
        ]
        yield table(["tool", *(f"{labels:,}" for labels in columns)], rows)
    others = [peer for peer in peers if peer != OURS and any(summary.difference(peer, each) for each in columns)]
    if others:
        yield "**Ours minus theirs**, AP over all pairs.\n"
        rows = [[PEERS[peer].title, *(signed(summary.difference(peer, each)) for each in columns)] for peer in others]
        yield table(["tool", *(f"{labels:,}" for labels in columns)], rows)
    yield from reference
    yield "**Blocking and cost**, at each tool's last budget.\n"
    yield costs(summary)


def references(summary: Summary) -> Iterable[str]:
    """Yield the figures of those that ran with another number of labels."""
    for peer, labels in product(summary.peers(), summary.labels()):
        if labels not in LABELS and summary.values(peer, labels, AP):
            found = [f"{about} {shown(summary.mean(peer, labels, figure))}" for figure, about in FIGURES.items()]
            yield f"**Reference: {PEERS[peer].title} at once.** {'; '.join(found)}.\n"


def tools(runs: Sequence[Run]) -> str:
    """Return how each peer ran, what it cannot do, and its settings in the newest run."""
    rows = []
    listed = []
    newest = {run["peer"]: run for run in runs}
    for name, peer in PEERS.items():
        if name in newest:
            run = newest[name]
            rows.append([f"[{peer.title}]({peer.source})", versions(name, runs), peer.how, peer.cannot])
            settings = "; ".join(f"{key}: {value}" for key, value in run["settings"].items())
            listed.append(f"- **{peer.title}** – {settings}. `{run['command']}`, {run['date']}")
    header = ["tool", "versions", "how it ran", "what it cannot do"]
    return table(header, rows) + "\n**Settings**, command and date of the newest run:\n\n" + "\n".join(listed)


def versions(peer: str, runs: Sequence[Run]) -> str:
    """Return the packages of a peer's runs, each with all versions that there were."""
    found: dict[str, set[str]] = {}
    for run in runs:
        for package, version in run["versions"].items() if run["peer"] == peer else ():
            found.setdefault(package, set()).add(version)
    return ", ".join(f"{package} {' and '.join(sorted(numbers))}" for package, numbers in found.items())


def unrun(run: dict[str, Summary]) -> Iterable[str]:
    """Yield what is missing, by hand and by count."""
    for name, data in WORK.items():
        for peer in PEERS.values():
            if not peer.data or name in peer.data:
                done = {one["seed"] for one in run[name].runs if one["peer"] == peer.name} if name in run else set()
                left = [str(seed) for seed in SEEDS if seed not in done]
                if left:
                    yield f"- {data.title}, {peer.title}: seeds {', '.join(left)}"
    yield from (f"- {what}" for what in UNRUN)
