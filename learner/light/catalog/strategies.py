"""The strategies: one entry each."""

from pydantic import BaseModel, ConfigDict


class StrategyEntry(BaseModel):
    """A way to choose the next pairs; `function` is where the learner has it, as `module:name`."""

    model_config = ConfigDict(frozen=True)

    title: str
    description: str
    function: str
    seed: str = "most-similar"  # chooses while no model is trained, by name; this one: as the project's setting says
    static: bool = False  # takes candidates and scores from the pre-trained encoder in every round
    live: bool = True  # usable where people label: needs neither known answers nor given negatives


STRATEGIES: dict[str, StrategyEntry] = {
    "uncertainty": StrategyEntry(
        title="Uncertainty sampling",
        description="The pairs that the model finds hardest to call: probability closest to one half.",
        function="allpairs.learner.strategies.basic:uncertainty",
    ),
    "uncertainty-stated": StrategyEntry(
        title="Uncertainty, seeded with known pairs",
        description="Uncertainty sampling whose first batch is drawn from the pairs that came with the data.",
        function="allpairs.learner.strategies.basic:uncertainty",
        seed="stated",
        live=False,
    ),
    "adaptive-retrieval": StrategyEntry(
        title="Adaptive retrieval",
        description="The pairs that the newest model finds most similar.",
        function="allpairs.learner.strategies.basic:most_similar",
        seed="adaptive-retrieval",
    ),
    "static-retrieval": StrategyEntry(
        title="Static retrieval",
        description="The pairs that the pre-trained encoder finds most similar, in every round.",
        function="allpairs.learner.strategies.basic:most_similar",
        seed="static-retrieval",
        static=True,
    ),
    "random": StrategyEntry(
        title="Random",
        description="Pairs drawn uniformly from all pairs: a baseline that hardly ever finds a positive.",
        function="allpairs.learner.strategies.basic:random",
        seed="random",
    ),
    "stated": StrategyEntry(
        title="Known pairs",
        description="The pairs that came with the data, positives and given negatives, in random order: a baseline.",
        function="allpairs.learner.strategies.oracle_baselines:stated",
        seed="stated",
        live=False,
    ),
    "stratified-match": StrategyEntry(
        title="Stratified, matched (oracle)",
        description="Random positives and random negatives, as many of each as an uncertainty run collected.",
        function="allpairs.learner.strategies.oracle_baselines:matched",
        seed="stratified-match",
        live=False,
    ),
    "stratified-all-positives": StrategyEntry(
        title="Stratified, all positives (oracle)",
        description="All positives, with at least as many random negatives, as far as the batch allows.",
        function="allpairs.learner.strategies.oracle_baselines:all_positives",
        seed="stratified-all-positives",
        live=False,
    ),
}


# What chooses while no model is trained, if the strategy names nothing of its own.
BEFORE_TRAINING = {
    "most-similar": "The pairs that the pre-trained encoder finds most similar.",
    "half-spread": "Half of the pairs are the most similar ones, and half come from further down the ranking, so "
    "that there are matches and non-matches to learn from. In lists of several columns half are pairs whose columns "
    "leave it open, and half likely matches.",
    "spread": "Pairs from everywhere in the ranking: all answers were matches, and a model needs non-matches, too.",
}


def strategy_title(name: str) -> str:
    """Return a strategy's name for people."""
    return STRATEGIES[name].title if name in STRATEGIES else name.replace("-", " ").capitalize()


def strategy_description(name: str) -> str:
    """Return in a sentence which pairs a strategy chooses; empty for a name that is none."""
    return STRATEGIES[name].description if name in STRATEGIES else BEFORE_TRAINING.get(name, "")
