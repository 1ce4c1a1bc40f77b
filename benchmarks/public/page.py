"""docs/comparison.md, from the runs that are kept and the words in page.md."""

from collections.abc import Iterable, Sequence
from itertools import groupby, pairwise
from operator import itemgetter
from pathlib import Path
from string import Template

from benchmarks.public import speed
from benchmarks.public.catalog import OURS, PEERS, UNRUN
from benchmarks.public.costs import cheaper, costs
from benchmarks.public.reasons import LOSSES, MORE, UNKNOWN
from benchmarks.public.run import Run
from benchmarks.public.runs import KEPT, read_runs
from benchmarks.public.summary import AP, FIGURES, Summary
from benchmarks.public.tables import shown, table
from benchmarks.public.work import SEEDS, WORK

WORDS = Path(__file__).with_suffix(".md")


def page(folder: Path = KEPT) -> str:
    """Return the whole page."""
    found = {name: Summary(read_runs(name, folder)) for name in WORK}
    run = {name: summary for name, summary in found.items() if summary.runs}
    parts = {
        "done": done(run),
        "losses": "\n".join([*(line for name, each in run.items() for line in losses(name, each)), *speed.losses()]),
        "results": "\n".join(part for name, summary in run.items() for part in results(name, summary)),
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


def losses(name: str, summary: Summary) -> Iterable[str]:
    """Yield where a peer is ahead on a data set: by figure, and by cost; and where more labels made ours worse."""
    title = WORK[name].title
    for figure, about in FIGURES.items():
        for peer, lost in groupby(summary.losses(figure), itemgetter(0)):
            at = [f"{shown(less.negated(), '+')} with {labels:,} labels" for _, labels, less in lost]
            why = LOSSES.get((name, figure), UNKNOWN)
            yield f"- **{title}, {about}:** {PEERS[peer].title} is ahead by {', '.join(at)}. {why}"
    if summary.peers() != [OURS] and not any(summary.losses(figure) for figure in FIGURES):
        yield f"- **{title}:** no tool that was run is ahead in a figure of quality at the same number of labels."
    ours = [(labels, mean) for labels in summary.labels() if (mean := summary.mean(OURS, labels, AP))]
    falls = []
    for (one, before), (other, after) in pairwise(ours):
        if after.value < before.value:
            falls.append(f"from {shown(before)} with {one:,} labels to {shown(after)} with {other:,}")
    if falls:
        why = LOSSES.get((name, MORE), UNKNOWN)
        yield f"- **{title}, more labels, lower AP:** ours falls {', and '.join(falls)}. {why}"
    yield from cheaper(title, summary)


def results(name: str, summary: Summary) -> Iterable[str]:
    """Yield the section of a data set."""
    title, peers, budgets = WORK[name].title, summary.peers(), summary.labels()
    columns = [labels for labels in budgets if any(summary.values(peer, labels, AP) for peer in peers)]
    yield f"## {title}\n"
    yield f"![Average precision against labels on {title}](comparison/{name}.svg)\n"
    bound = " Dashed: the upper bound." if "supervised" in peers else ""
    yield f"Bands: the 95 % interval, or the range of two seeds.{bound}\n"
    for figure, about in FIGURES.items():
        yield f"**{about[0].upper()}{about[1:]}**, by labels; seeds in brackets.\n"
        rows = [
            [PEERS[peer].title, *(shown(summary.mean(peer, labels, figure)) for labels in columns)] for peer in peers
        ]
        yield table(["tool", *(f"{labels:,}" for labels in columns)], rows)
    others = [peer for peer in peers if peer != OURS and any(summary.difference(peer, each) for each in columns)]
    if others:
        yield "**Ours minus theirs**, AP over all pairs.\n"
        rows = [
            [PEERS[peer].title, *(shown(summary.difference(peer, each), "+") for each in columns)] for peer in others
        ]
        yield table(["tool", *(f"{labels:,}" for labels in columns)], rows)
    yield "**Blocking and cost**, at each tool's last budget.\n"
    yield costs(summary)


def tools(runs: Sequence[Run]) -> str:
    """Return how each peer ran, what it cannot do, and its settings in the newest run."""
    rows, listed = [], []
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
