"""What a change of settings implies for scores, models and their figures."""

from collections.abc import Iterator
from typing import Any

from annotate.projects.progress import Situation
from annotate.text.formatting import literal
from db.domain import Settings

TRAINING = {
    "epochs": "epochs",
    "learning_rate": "learning rate",
    "batch_size": "pairs in a step",
    "group_pairs": "steps by text",
    "initialization": "start of the output layer",
    "batch_norm": "batch norm",
    "implied": "pairs that follow from labels",
}


def model_lines(old: Settings, new: Settings, changed: dict[str, Any], now: Situation) -> Iterator[str]:
    """What becomes of scores and figures."""
    if "encoder" in changed:
        yield from _encoder(old, new, now)
    if "hubness" in changed:
        yield f"Scores take off {new.hubness:g} of the crowd instead of {old.hubness:g}. {_scores(now)}".rstrip()
    if "lexical" in changed:
        does = "counts beside meaning" if new.lexical else "does not count any more"
        yield f"Spelling {does} in models trained from now on.{f' {_scores(now)}' if now.trained else ''}"


def _encoder(old: Settings, new: Settings, now: Situation) -> Iterator[str]:
    one, other = literal(old.encoder), literal(new.encoder)
    yield f"All {now.items:,} texts are encoded again by {other}, which the worker must be able to load."
    if now.trained:
        of = (
            f"before training and of rounds 1 to {now.matcher}"
            if now.matcher != 1
            else "before training and of round 1"
        )
        yield (
            f"The next model is trained from {other} on all labels. The figures {of} are of {one} and stay: the change "
            "from one round to the next is also the change of encoder."
        )
    elif now.matcher is not None:
        yield f"The figures before training are of {one}; the next batch measures {other} in their place."


def _scores(now: Situation) -> str:
    """What becomes of scores and figures that are there already."""
    if now.trained:
        return "Scores change from the next round on; figures and models so far keep theirs and are not measured again."
    if now.matcher is not None:
        return "With the next batch the encoder's scores and its figures before training are computed anew."
    return ""


def training_lines(old: Settings, new: Settings, changed: dict[str, Any], now: Situation) -> Iterator[str]:
    names = [words for name, words in TRAINING.items() if name in changed]
    if names:
        stay = " Models so far stay as they are." if now.trained else ""
        yield f"The next model is trained with other {_joined(names)}.{stay}"
    if new.epochs != old.epochs:
        yield f"Training takes about {new.epochs / old.epochs:.2g} times as long."
    if "warm_start" in changed and now.trained:
        same = new.encoder == old.encoder
        if new.warm_start and same:
            yield "The next model goes on from the last one instead of starting from the encoder."
        elif not new.warm_start:
            yield "The next model starts from the encoder again instead of going on from the last one."
    if "seed" in changed:
        yield "Everything random from the next job on is drawn differently; what is there stays."


def _joined(names: list[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
