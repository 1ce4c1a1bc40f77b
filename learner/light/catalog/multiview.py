"""The configuration of multi-view re-ranking (Ju, Yang and Wang 2021). The paper's values are in the descriptions."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from allpairs.learner.light.catalog.backbones import Training
from allpairs.learner.light.catalog.section import Section

FirstView = Literal["rank", "rank-swap"]
SecondView = Literal["p2q", "p2q-swap", "q2p", "rank-positives"]


class MultiViewInputs(Section):
    """The files that re-ranking reads: tables (CSV, TSV, JSON Lines, Parquet), or MS MARCO's released files."""

    passages: str = Field(
        description="Texts to rank: columns id and text, or MS MARCO's collection.tsv (id, text, no header)."
    )
    queries: str = Field(description="Training queries, likewise (queries.train.tsv).")
    qrels: str = Field(
        description="Which passage answers which training query: columns id1, id2 and label, or the format of TREC and "
        "MS MARCO (query, 0, passage, 1)."
    )
    triples: str | None = Field(
        None,
        description="Query, right and wrong passage as text, no header (triples.train.small.tsv). Without "
        "it wrong passages are known ones and results of the first stage.",
    )
    test_passages: str | None = Field(None, description="Passages to search for test queries, if not the same list.")
    test_queries: str | None = Field(
        None, description="Queries to measure with (MS MARCO's Dev); without them a share of the training queries."
    )
    test_qrels: str | None = Field(None, description="Their right passages.")
    test_run: str | None = Field(
        None,
        description="A first stage's results for them: a run in the format of MS MARCO "
        "(query, passage, rank) or TREC; without it the first stage searches.",
    )
    rest_queries: str | None = Field(
        None,
        description="Queries that never choose a model (MS MARCO's whole dev): test queries among them are "
        "left out (Dev-Rest).",
    )
    rest_qrels: str | None = Field(None, description="Their right passages.")
    rest_run: str | None = Field(None, description="A first stage's results for them.")
    matcher: str | None = Field(
        None,
        description="The file matcher.json in a trained matcher's folder, for the first "
        "stage of that name; a project uses its newest one.",
    )


class FirstStage(Section):
    """The search that finds the candidates to re-rank."""

    kind: Literal["bm25", "dense", "matcher"] = Field(
        "dense",
        description="Words (the paper), an encoder's cosine, or a trained matcher's score with its lexical similarity "
        "and hubness correction (in a run on a project: its newest matcher).",
    )
    encoder: str = Field(
        "all-MiniLM-L6-v2",
        min_length=1,
        description="Encoder of the dense first stage and of the cosine that scores are joined with: a name, or a "
        "folder (a project's encoder).",
    )
    both: bool = Field(True, title="Measure both", description="Also measure the other first stage.")
    words: Literal["as written", "english"] = Field(
        "as written",
        description="BM25: words as they are; or English ones by Porter's stems, without stop words (the paper).",
    )
    k1: float = Field(0.82, ge=0, le=10, description="BM25: how soon repeated words saturate (the paper: 0.82).")
    b: float = Field(0.68, ge=0, le=1, description="BM25: how strongly long texts are penalised (the paper: 0.68).")


class RerankerSettings(Training):
    """The model that reads query and passage, and answers `true` or `false`."""

    backbone: str = Field(
        "all-MiniLM-L6-v2",
        min_length=1,
        description="A Hugging Face name (the paper: t5-base, t5-large, t5-3b), or a folder; an encoder gets a new "
        "decoder.",
    )
    decoder_layers: int = Field(1, ge=1, le=48, description="Layers of a new decoder.")
    recipe: Literal["adamw", "adafactor"] = Field(
        "adamw", description="AdamW with a rate that rises and falls; or the paper's: Adafactor with a constant rate."
    )
    learning_rate: float = Field(
        1e-4, gt=0, lt=1, description="Learning rate (the paper, with Adafactor: 1e-3; T5 with AdamW: 3e-4)."
    )
    decoder_rate: float = Field(
        10.0, gt=0, le=1000, description="Factor on the learning rate for an encoder's new decoder."
    )
    batch_size: int = Field(16, ge=1, le=4096, description="Rows in one training step (the paper: 128).")
    epochs: int = Field(3, ge=1, le=1000, description="Passes over the rows of the first view.")
    steps: int | None = Field(
        200, ge=1, le=1_000_000, description="Training steps, instead of passes (the paper: 100,000)."
    )
    source_length: int = Field(
        96,
        ge=16,
        le=8192,
        description="Tokens of query and passage (the paper's code: 512); only the passage is cut off.",
    )
    target_length: int = Field(64, ge=4, le=8192, description="Tokens of a written text.")
    loss: Literal["row", "token"] = Field(
        "row",
        title="Mean of the loss",
        description="Over a step's rows, so that the second view weighs what its rate "
        "says; or over all target tokens (the paper), most of which are the second view's.",
    )
    compiled: bool = Field(
        False,
        title="Compile on a GPU",
        description="Compile the encoder that reads candidates if there is an "
        "NVIDIA GPU; elsewhere this has no effect.",
    )
    int8: bool = Field(
        False,
        title="Read in int8 on a CPU",
        description="Round the numbers that the encoder multiplies to 8 bits: "
        "more than twice as fast on a CPU, with scores that differ slightly; on a GPU this has no effect.",
    )


Share = Annotated[float, Field(gt=0, lt=1)]
Depth = Annotated[int, Field(ge=1, le=1000)]


class MultiViewConfig(Section):
    """How multi-view re-ranking works: one training run for each variant and seed."""

    seed: int = Field(0, ge=0, le=2**31 - 1, description="Seed of everything random.")
    first_stage: FirstStage = Field(default_factory=FirstStage)
    depth: int = Field(100, ge=2, le=1000, description="Candidates of each query (the paper: 1,000).")
    depths: list[Depth] = Field(
        [10, 20, 50, 100], max_length=30, description="Depths to measure, at most the one above (the paper's Figure 2)."
    )
    fuse: bool = Field(
        True,
        title="Keep the first stage's scores",
        description="Join the re-ranker's score with the cosine and BM25, by weights fitted to a share of the training "
        "queries that does not train (the paper: no).",
    )
    first_view: FirstView = Field("rank", description="The ranking template; swap: `Relevant:` comes first.")
    second_view: SecondView = Field(
        "p2q",
        description="What to learn besides ranking: the query from its passage, the passage from its query, or "
        "right pairs only.",
    )
    rate: Share = Field(
        0.15, title="Mixing rate", description="The share of rows of the second view (the paper: 0.15)."
    )
    rates: list[Share] = Field(
        [], max_length=20, title="Further mixing rates", description="The paper's Figure 3: 0.05, 0.25."
    )
    order: Literal["mixed", "write first"] = Field(
        "mixed",
        title="Order of the views",
        description="Both views in every step (the paper); or the second view's share of the steps first, then ranking "
        "alone.",
    )
    ablations: bool = Field(
        False, title="All templates", description="Train the other templates as well (the paper's Table 3)."
    )
    sizes: list[str] = Field([], max_length=5, description="Further backbones (the paper: t5-large, t5-3b).")
    seeds: int = Field(1, ge=1, le=20, description="Trainings of each variant (the paper: 10, 5 of the ablations).")
    negatives: int = Field(
        4,
        ge=1,
        le=1000,
        title="Wrong passages",
        description="Wrong passages for each right pair: half of them known ones, if there are any.",
    )
    from_best: int = Field(
        0,
        ge=0,
        le=100_000,
        title="Wrong ones among the best",
        description="Draw them from this many top results of the first stage (MS MARCO's triples: 1,000); 0: from all "
        "passages. An encoder that never read two texts at once learns nothing from hard ones alone.",
    )
    queries: int | None = Field(
        None,
        ge=2,
        le=10_000_000,
        title="Test queries",
        description="Maximum number of queries in each test; empty: all.",
    )
    held_out: float = Field(
        0.2,
        gt=0,
        lt=1,
        title="Share held out",
        description="Share of the training queries to measure with if there are no test queries.",
    )
    all_pairs: int = Field(
        5_000,
        ge=0,
        le=10_000_000,
        title="Sample of all pairs",
        description="Pairs that the best re-ranker reads to "
        "estimate its figures over all pairs of test texts, against the first stage's encoder; 0: none.",
    )
    measures: list[str] = Field(
        ["RR@10", "Success@1", "nDCG@10"],
        min_length=1,
        max_length=10,
        description="Measures by their names in ir-measures; the first one selects the best seed.",
    )
    model: RerankerSettings = Field(default_factory=RerankerSettings)

    @model_validator(mode="after")
    def _within_depth(self) -> Self:
        if deeper := [depth for depth in self.depths if depth > self.depth]:
            raise ValueError(f"depths contains {deeper[0]}, but depth is {self.depth}: raise depth, or leave it out")
        return self
