"""The catalog of strategies and pipelines. The app reads it, so it imports nothing else of the learner."""

from allpairs.learner.light.catalog.pipelines import PIPELINES, PipelineEntry
from allpairs.learner.light.catalog.strategies import BEFORE_TRAINING, STRATEGIES, strategy_description, strategy_title

__all__ = ["BEFORE_TRAINING", "PIPELINES", "STRATEGIES", "PipelineEntry", "strategy_description", "strategy_title"]
