"""How the figures of a round came about, in a few sentences with the project's own numbers."""

from typing import Any

from annotate.monitor.rounds import Report
from annotate.text.formatting import literal
from annotate.text.measures import counted, estimate, in_figures
from db.schema.tables import Evaluation

HEAVY = 50  # pairs for which one labelled positive stands, from which on a wrong answer moves the figures much
APART = "A pair of evaluation items never trains a model."


def explain(report: Report) -> list[str]:
    """Paragraphs on the newest measured round, in Markdown; empty where none is measured."""
    if not report.measured:
        return []
    _, evaluation = report.measured[-1]
    found = estimate(evaluation, "average_precision")
    method = found.method if found else ""
    return _WAYS[method](evaluation) if method in _WAYS else []


def _exact(evaluation: Evaluation) -> list[str]:
    return [
        f"Every one of the {evaluation.pairs:,} pairs of evaluation items was scored, so no interval is needed: "
        f"nothing was left to chance. {APART}",
        _known(evaluation),
    ]


def _known(evaluation: Evaluation) -> str:
    return (
        f"{counted(evaluation.positives or 0, 'pair')} of them are known positives. Every pair that the known ones do "
        "not name counts as a negative; where it is a positive all the same, precision is in truth higher than shown."
    )


def _near_random(evaluation: Evaluation) -> list[str]:
    return _sampled(evaluation, "those among the nearest neighbours of each text, and a random sample of the others")


def _stratified(evaluation: Evaluation) -> list[str]:
    return _sampled(evaluation, "a random sample of each stratum of a cheap score, a larger share of the high strata")


def _sampled(evaluation: Evaluation, which: str) -> list[str]:
    found = estimate(evaluation, "average_precision")
    scored = (
        f"{found.labels:,} negatives were scored" if found and found.labels else "Some of the negatives were scored"
    )
    return [
        f"There are {evaluation.pairs:,} pairs of evaluation items. All known positives were scored. "
        f"{scored}: {which}. A scored negative stands for those like it that were not scored. {APART}",
        "The 95% interval reckons with false positives that the sample has missed, even where it shows none.",
        _known(evaluation),
    ]


def _audit(evaluation: Evaluation) -> list[str]:
    audit = evaluation.audit
    return [_drawn(evaluation), _posterior(audit), far_in_words(evaluation), _reused(), *_double_check(audit)]


_WAYS = {"exact": _exact, "near-random": _near_random, "stratified": _stratified, "audit": _audit}


def _drawn(evaluation: Evaluation) -> str:
    audit = evaluation.audit
    strata = [stratum for stratum in audit["strata"] if not stratum["far"]]
    return (
        f"A model ranked all {evaluation.pairs:,} pairs of evaluation items. The highest {audit['pool']:,} are the "
        f"*audited pool*, cut by score into {counted(len(strata), 'stratum').replace('stratums', 'strata')} of known "
        f"size. From each, pairs were drawn at random with a known probability, and people labelled "
        f"{audit['labels']:,}: {audit['positives']:,} are positives. Unsure answers ({audit['unsure']:,}) are left out."
    )


def _posterior(audit: dict[str, Any]) -> str:
    drawn = sorted((s for s in audit["strata"] if s["sampled"] and not s["far"]), key=lambda s: float(s["weight"]))
    least, most = drawn[0], drawn[-1]
    return (
        f"A labelled pair stands for {least['weight']:,.1f} pairs in the stratum “{literal(least['name'])}” and for "
        f"{most['weight']:,.1f} in “{literal(most['name'])}”: their size divided by their labels. The labels say how "
        "large the share of positives in each stratum can be, given that shares fall with the score (a posterior). "
        "Each figure is the mean of many draws from it; the interval holds the middle 95% of them."
    )


def far_in_words(evaluation: Evaluation) -> str:
    """What is known of the pairs below the audited pool, and that recall leaves them out."""
    audit = evaluation.audit
    far, inside = audit["far"], estimate(evaluation, "positives")
    pool = f", about {in_figures('positives', inside.value)}" if inside else ""
    start = f"Recall counts the positives in the audited pool{pool}. Below it lie {far['size']:,} more pairs: "
    if not far["size"]:
        return f"The audited pool holds all pairs, so recall counts every positive{pool}."
    if not far["sampled"]:
        return start + "none of them is labelled, so how many positives are among them is not known."
    return start + (
        f"{counted(far['sampled'], 'pair')} of them labelled, {far['positives']:,} positive. At 95% certainty no more "
        f"than {far['high']:,.0f} of them are positives."
    )


def _reused() -> str:
    return (
        "Audit labels never train a model. They belong to the pairs, not to a model, so the same labels measure every "
        "round, and two rounds are compared pair by pair."
    )


def _double_check(audit: dict[str, Any]) -> list[str]:
    heavy = sum(s["positives"] for s in audit["strata"] if not s["far"] and s["weight"] > HEAVY)
    if not heavy:
        return []
    subject = "1 of the positives stands" if heavy == 1 else f"{heavy:,} of the positives stand"
    return [
        f"{subject} for more than {HEAVY} pairs each. One wrong answer among them moves the figures much: "
        "a double check at them pays."
    ]
