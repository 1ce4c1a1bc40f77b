"""What there is to choose from: one entry a strategy. Read by the app, so it imports nothing of the learner."""

from pydantic import BaseModel, ConfigDict


class StrategyEntry(BaseModel):
    """A way to choose the next pairs; `function` is its place in the learner, as `module:name`."""

    model_config = ConfigDict(frozen=True)

    title: str
    description: str
    function: str
    oracle: bool = False  # needs answers that a live project does not have


STRATEGIES: dict[str, StrategyEntry] = {
    "uncertainty": StrategyEntry(
        title="Uncertainty sampling",
        description="The pairs that the model finds hardest to call: probability closest to one half.",
        function="learner.acquisition:uncertainty",
    ),
    "adaptive-retrieval": StrategyEntry(
        title="Adaptive retrieval",
        description="The pairs that the newest model finds most similar.",
        function="learner.acquisition:adaptive_retrieval",
    ),
    "random": StrategyEntry(
        title="Random",
        description="Pairs drawn uniformly from all pairs: a baseline that hardly ever meets a positive.",
        function="learner.acquisition:random",
    ),
}
