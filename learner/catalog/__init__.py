"""What there is to choose from: strategies and pipelines. Read by the app, so it imports nothing of the learner."""

from learner.catalog.pipelines import PIPELINES, PipelineEntry
from learner.catalog.strategies import STRATEGIES, StrategyEntry

__all__ = ["PIPELINES", "STRATEGIES", "PipelineEntry", "StrategyEntry"]
