"""The tools that clean the messy lists, and how each one runs."""

from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.public.catalog import OURS, PROJECT

SEEDS = (0, 1, 2)
LABELS = (0, 50, 150)
ROWS = 1_500


@dataclass(frozen=True)
class ListPeer:
    """A tool. module: in `benchmarks.lists`; environment: whose packages are pinned; labels: the answers it can use."""

    name: str
    title: str
    module: str
    environment: str
    labels: Sequence[int]
    how: str


PEERS = {
    peer.name: peer
    for peer in (
        ListPeer(
            OURS,
            "Allpairs",
            "ours",
            PROJECT,
            LABELS,
            "Without answers: `allpairs clean`. After answers the groups of a new project: the batches that it asks "
            "about, p of one half, connected matches. It reads values as they came, and answers decide over the model.",
        ),
        ListPeer(
            "dedupe",
            "dedupe",
            "peers.dedupe_list",
            "dedupe",
            LABELS[1:],
            "Its own questions, `train()`, and `partition` at 0.5, as in its example for one file. Names, addresses "
            "and text are `String`, long text also `Text`, e-mail, phone, code and date `ShortString` and `Exact`, "
            "prices `Price`. It cannot start without answers.",
        ),
        ListPeer(
            "splink",
            "Splink",
            "peers.splink_list",
            "splink",
            LABELS[:1],
            "No blocking: all pairs are compared. Trained by deterministic rules, random pairs and EM; the comparison "
            "of its library for each kind of column, with term frequencies; clusters at 0.95, as in its tutorial. It "
            "does not choose what to ask.",
        ),
    )
}
