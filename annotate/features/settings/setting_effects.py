"""Effects of changed settings on a project, described before they are saved."""

from collections.abc import Iterator
from typing import Any

from allpairs.annotate.features.settings.model_setting_effects import model_lines, training_lines
from allpairs.annotate.features.settings.progress import Situation
from allpairs.annotate.kit.text.measures import counted
from allpairs.db.domain import AT_ONCE, RaterUse, Search, Settings, batch_size_of
from allpairs.learner.light.catalog import STRATEGIES, strategy_description, strategy_title

BATCHES = 3  # number of coming batches whose sizes are listed
RATER_USES: dict[RaterUse, str] = {
    "measure": "From now on the machine rater is asked only on request, and its verdicts are not used for training.",
    "train": "A machine rater rates each batch from now on, and four times as many pairs beyond it. Its verdicts on "
    "pairs that nobody labels train, with a weight fitted by agreement with people; 0 where it is useless.",
    "route": "A machine rater rates each batch from now on, and four times as many pairs beyond it. Its verdicts "
    "are used for training. People first get the pairs where it contradicts the matcher or abstains; a random fifth "
    "stays as a spot check.",
}


def implications(old: Settings, new: Settings, now: Situation) -> list[str]:
    """Return sentences in Markdown for each effect of the change; none for fields without effect here."""
    changed = {name: value for name, value in new.model_dump().items() if getattr(old, name) != value}
    lines = [*_people(changed, new.votes, now), *_batches(old, new, changed, now), *_measuring(old, new, changed, now)]
    lines += [*model_lines(old, new, changed, now), *training_lines(old, new, changed, now)]
    if now.at_work and changed.keys() - AT_ONCE:
        lines.append("A job is running. It keeps the old values; the next one uses the new values.")
    return lines


def _people(changed: dict[str, Any], votes: int, now: Situation) -> Iterator[str]:
    words = [name for name in ("question", "guidelines") if name in changed]
    if words and now.labels:
        names = " and ".join(words)
        labels = f"{counted(now.labels, 'label')} given so far"
        yield f"Annotators see the new {names} at once; {labels} used the old and stay."
    if "overlap" in changed:
        share = f"{changed['overlap']:.0%}" if changed["overlap"] else "none"
        yield f"In the next batch, {share} of the pairs go to {counted(votes, 'annotator')}; the current one stays."
    if "double_check" in changed:
        yield (
            "Pairs marked match or unsure go to a second annotator from now on, earlier ones included."
            if changed["double_check"]
            else "Pairs marked match no longer go to a second annotator, except pairs chosen for several annotators."
        )
    if "auto_train" in changed:
        yield (
            "A model is trained automatically when a batch is complete, the current one included."
            if changed["auto_train"]
            else "A complete batch waits until somebody presses “Prepare the next batch” or “Train now”."
        )
    if "keep_groups" in changed:
        yield (
            "After each trained round and each change of texts, a search for all matches updates the groups."
            if changed["keep_groups"]
            else "The project's groups stay as they are until somebody finds matches on the page Export."
        )


def _batches(old: Settings, new: Settings, changed: dict[str, Any], now: Situation) -> Iterator[str]:
    before = _sizes(old, now.batch)
    after = _sizes(new, now.batch)
    if before != after:
        first = f"batch {now.batch + 1}"
        stays = f" Batch {now.batch} stays as it is." if now.batch else ""
        yield f"From {first} on, batches have {_listed(after)} pairs instead of {_listed(before)}.{stays}"
    if "strategy" in changed:
        yield from _strategy(old, new, now)
    if "first_batch" in changed and not now.trained:
        applies = f"{strategy_title(new.first_batch)} applies from batch {now.batch + 1} on, until a model is trained"
        yield f"{applies}. {strategy_description(new.first_batch)}"
    if (new.strategy != "random" or new.control_share) and ("neighbours" in changed or "search" in changed):
        yield from _candidates(old, new, now)
    if "per_text" in changed:
        most = f"at most {counted(new.per_text, 'pair')}" if new.per_text else "any number of pairs"
        yield f"The next batch has {most} of one text."
    if "control_share" in changed:
        share = f"{new.control_share:.0%} of" if new.control_share else "None of"
        yield f"{share} the next batch is sampled at random from the candidates, instead of {old.control_share:.0%}."
    if "rater_use" in changed:
        yield RATER_USES[new.rater_use]


def _sizes(settings: Settings, batch: int) -> list[int]:
    """Return the sizes of the coming batches."""
    growth = settings.first, settings.growth, settings.growth_kind
    return [batch_size_of(number, *growth) for number in range(batch, batch + BATCHES)]


def _listed(sizes: list[int]) -> str:
    return ", ".join(f"{size:,}" for size in sizes)


def _strategy(old: Settings, new: Settings, now: Situation) -> Iterator[str]:
    old_entry = STRATEGIES[old.strategy]
    new_entry = STRATEGIES[new.strategy]
    if not now.trained and old_entry.seed == new_entry.seed:
        yield f"{new_entry.title} applies once a model is trained; until then pairs are chosen as before."
        return
    yield f"{new_entry.title} applies from batch {now.batch + 1} on; earlier batches stay as they are."
    if new_entry.static and not old_entry.static:
        yield f"All {now.items:,} texts are encoded by the pre-trained encoder again if its vectors no longer exist."


_SEARCHED: dict[Search, str] = {
    "auto": ": exactly unless there are too many texts.",
    "exact": ", which is exact.",
    "faiss-hnsw": ", which misses some; how many is measured.",
    "faiss-ivf": ", which misses some; how many is measured.",
}


def _candidates(old: Settings, new: Settings, now: Situation) -> Iterator[str]:
    if old.neighbours != new.neighbours:
        wider = "more" if new.neighbours > old.neighbours else "fewer"
        yield (
            f"The next batch is chosen among the {new.neighbours:,} nearest neighbours of each text instead of "
            f"{old.neighbours:,}: {wider} candidates, with search time and memory in proportion."
        )
    if old.search != new.search:
        yield f"Neighbours are found by {new.search} instead of {old.search}{_SEARCHED[new.search]}"


def _measuring(old: Settings, new: Settings, changed: dict[str, Any], now: Situation) -> Iterator[str]:
    audited = not now.gold and now.measured_items > 1
    if "audit_every" in changed and audited:
        old_share, new_share = (f"one pair in {n}" if n else "none" for n in (old.audit_every, new.audit_every))
        tail = " Then only audit batches narrow the intervals." if not new.audit_every else ""
        yield f"From batch {now.batch + 1} on, audit pairs: {new_share} instead of {old_share}.{tail}"
    if "target_precision" in changed and (now.gold or audited):
        time = "at once" if now.gold else "with the next update of the figures"
        yield f"Monitor compares precision with {new.target_precision:g} instead of {old.target_precision:g}, {time}."
