"""Effects of changed settings on scores, models and their figures."""

from collections.abc import Iterator
from typing import Any

from allpairs.annotate.features.settings.progress import Situation
from allpairs.annotate.kit.text.formatting import literal
from allpairs.db.domain import Settings

TRAINING = {
    "epochs": "epochs",
    "learning_rate": "learning rate",
    "batch_size": "pairs per training step",
    "group_pairs": "grouping by text",
    "initialization": "initialization of the output layer",
    "batch_norm": "batch norm",
    "implied": "implied pairs",
}


SECOND_STAGE = {
    "off": "Models trained from now on have no second stage.",
    "on": "Models trained from now on have a second stage.",
    "auto": "Models trained from now on have a second stage only where labels that it has not seen bear it out.",
}


def model_lines(old: Settings, new: Settings, changed: dict[str, Any], now: Situation) -> Iterator[str]:
    """Describe the effects on scores and figures."""
    if "encoder" in changed:
        yield from _encoder(old, new, now)
    if "hubness" in changed:
        yield f"The hubness correction changes from {old.hubness:g} to {new.hubness:g}. {_scores(now)}".rstrip()
    if "lexical" in changed:
        does = "are used" if new.lexical else "are no longer used"
        yield f"Lexical features {does} in models trained from now on.{f' {_scores(now)}' if now.trained else ''}"
    if "second_stage" in changed:
        yield f"{SECOND_STAGE[new.second_stage]}{f' {_scores(now)}' if now.trained else ''}"


def _encoder(old: Settings, new: Settings, now: Situation) -> Iterator[str]:
    before = literal(old.encoder)
    after = literal(new.encoder)
    yield f"All {now.items:,} texts are encoded again by {after}, which the worker must be able to load."
    if now.trained:
        rounds = "round 1" if now.matcher == 1 else f"rounds 1 to {now.matcher}"
        yield (
            f"The next model is trained from {after} on all labels. The figures before training and of {rounds} belong "
            f"to {before} and stay: the change from one round to the next includes the change of encoder."
        )
    elif now.matcher is not None:
        yield f"The figures before training belong to {before}; with the next batch, those of {after} replace them."


def _scores(now: Situation) -> str:
    """Describe the effect on existing scores and figures."""
    if now.trained:
        return "Scores change from the next round on. Earlier models keep their scores and figures."
    if now.matcher is not None:
        return "With the next batch, the encoder's scores and the figures before training are recomputed."
    return ""


def training_lines(old: Settings, new: Settings, changed: dict[str, Any], now: Situation) -> Iterator[str]:
    names = [words for name, words in TRAINING.items() if name in changed]
    if names:
        stay = " Earlier models stay as they are." if now.trained else ""
        yield f"The next model is trained with a new setting of: {_joined(names)}.{stay}"
    if new.epochs != old.epochs:
        yield f"Training takes about {new.epochs / old.epochs:.2g} times as long."
    if "warm_start" in changed and now.trained:
        same = new.encoder == old.encoder
        if new.warm_start and same:
            yield "The next model continues from the last one instead of starting from the encoder."
        elif not new.warm_start:
            yield "The next model starts from the encoder again instead of continuing from the last one."
    if "seed" in changed:
        yield "The next jobs use the new random seed; existing results stay."


def _joined(names: list[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
