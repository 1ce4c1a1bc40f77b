"""The peers: what each is, how it runs, as its own documents recommend, and what it cannot do."""

from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.public.work import LABELS

OURS = "allpairs"
PROJECT = ""  # the environment of this project


@dataclass(frozen=True)
class Peer:
    """A method of the comparison.

    module: in `benchmarks.public.peers`; environment: whose packages `environments/NAME.txt` pins; labels: the budgets
    it has a use for; data: the data sets that its module knows, none for all.
    """

    name: str
    title: str
    module: str
    environment: str
    how: str
    cannot: str
    source: str
    labels: Sequence[int] = LABELS
    data: Sequence[str] = ()


PEERS = {
    peer.name: peer
    for peer in (
        Peer(
            OURS, "Allpairs", "ours", PROJECT,
            "A new project: batches by uncertainty, the encoder trained after each, hubness correction, lexical features, "
            "a second stage that compares the columns.",
            "–", "running-a-project.md",
        ),
    )
}  # fmt: skip
