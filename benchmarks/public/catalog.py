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
            OURS,
            "Allpairs",
            "ours",
            PROJECT,
            "A new project: batches by uncertainty, the encoder trained after each, hubness correction, lexical "
            "features, a second stage that compares the columns.",
            "Learn before it has both matches and non-matches. Choose batches by columns: the first score chooses "
            "them, and reads a record as one text. Use its second stage above 250,000 records without a GPU.",
            "running-a-project.md#how-a-score-is-made",
        ),
        Peer(
            "dedupe",
            "dedupe",
            "dedupe_link",
            "dedupe",
            "As its example for products of two shops: its own questions, blocking rules and classifier by `train()`. "
            "It does not repeat itself: in two runs of all seeds the mean AP with 1,000 labels was 0.589 and 0.604.",
            "Start without labels.",
            "https://github.com/dedupeio/dedupe-examples/tree/main/record_linkage_example",
            labels=tuple(filter(None, LABELS)),
            data=("amazon_google",),
        ),
        Peer(
            "splink",
            "Splink",
            "splink_link",
            "splink",
            "Trained in the order of its guide; words compared by frequency as in its example for business names; "
            "labels estimate m as in its example of pairwise labels. The levels of the comparisons, the blocking rules "
            "and the recall of the deterministic rules (0.7) are ours. Titles are compared by exact words alone.",
            "Choose what to label: it gets a random part of its own 2,000 likeliest training pairs.",
            "https://moj-analytical-services.github.io/splink/topic_guides/training/training_rationale.html",
            data=("amazon_google",),
        ),
        Peer(
            "goldenmatch",
            "GoldenMatch",
            "goldenmatch_link",
            "goldenmatch",
            "What it configures by itself, asked for all matches and not only the best, its threshold lowered to rank "
            "every pair; labels go to its boost, which asks in batches of 100 and fits a logistic regression. Where a "
            "budget ends within a batch, we answer its first pairs. In seed 4 it stopped at 100 labels, and its "
            "figures for more are those of 100.",
            "Learn from a person in this version: the tab of its terminal interface for that does not start (a bug). "
            "Its boost asks a language model, in whose place our answers stand. Its scoring by a language model needs "
            "a service.",
            "https://pypi.org/project/goldenmatch/3.22.0/",
            data=("amazon_google",),
        ),
        Peer(
            "active_loop",
            "sentence-transformers loop",
            "active_loop",
            PROJECT,
            "Uncertainty on the cosine of all-MiniLM-L6-v2, which is trained anew by `OnlineContrastiveLoss` after "
            "each batch.",
            "Compare columns: a record is one text.",
            "https://sbert.net/docs/sentence_transformer/loss_overview.html",
        ),
        Peer(
            "cross_encoder",
            "cross-encoder, random pairs",
            "cross_encoder",
            PROJECT,
            "Retrieve and re-rank: a random part of the nearest 20 of all-MiniLM-L6-v2 labelled, a cross-encoder "
            "fine-tuned on it. It begins as the same MiniLM with a new output layer: no pre-trained cross-encoder is "
            "at hand, and one would do better.",
            "Choose what to label; start without labels; score all pairs: it scores the nearest 20.",
            "https://sbert.net/examples/sentence_transformer/applications/retrieve_rerank/README.html",
            labels=tuple(filter(None, LABELS)),
        ),
        Peer(
            "supervised",
            "Allpairs, 5,000 labels",
            "ours",
            PROJECT,
            "A reference for what labels can bring: the 5,000 most similar training pairs labelled at once, otherwise "
            "as Allpairs.",
            "As Allpairs.",
            "running-a-project.md#how-a-score-is-made",
            labels=(5_000,),
            data=("amazon_google",),
        ),
    )
}

UNRUN = (
    "dedupe, Splink and GoldenMatch on the other sets: they compare columns, and a record there is one text. We did "
    "not try.",
    "GoldenMatch with embeddings, most of which need a service. Its authors report a best F1 of 0.586 on the whole of "
    "Amazon–Google with those of Vertex AI, and 0.405 without "
    "([benchmarks](https://github.com/benseverndev-oss/goldenmatch/wiki/Benchmarks)).",
    "Allpairs with half of its first batch from further down the ranking, as new projects have it since 2026-11-28: "
    "its runs here begin with the most similar pairs alone.",
    "Any tool on records of people (name, address, date of birth): none are among the open sets at hand.",
    "Zingg 0.7 with Spark 3.5: its loop ran on Amazon–Google, seed 0, with the fields and sample of its own example, "
    "as far as 64 labels. Six of those pairs matched, and linking returned no pair. Finding, training and linking took "
    "7.7 minutes of computing; each further round of 10 to 20 questions takes up to two, so 1,000 labels take about "
    "two hours. Without any link we could not check how its scores are to be read, so there is no module yet.",
)
