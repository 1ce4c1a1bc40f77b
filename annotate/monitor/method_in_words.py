"""How a round's figures were computed, in a few sentences with the project's own numbers."""

from typing import Any

from allpairs.annotate.monitor.rounds import Report
from allpairs.annotate.text.formatting import literal
from allpairs.annotate.text.measures import counted, estimate, in_figures
from allpairs.db.schema.tables import Evaluation

HEAVY = 50  # a positive that represents more pairs than this changes the figures a lot if it is wrong
APART = "A pair of evaluation items never trains a model."


def explain(report: Report) -> list[str]:
    """Return paragraphs on the newest measured round, as Markdown; empty where none is measured."""
    if not report.measured:
        return []
    _, evaluation = report.measured[-1]
    found = estimate(evaluation, "average_precision")
    method = found.method if found else ""
    return _WAYS[method](evaluation) if method in _WAYS else []


def _exact(evaluation: Evaluation) -> list[str]:
    return [
        f"All {evaluation.pairs:,} pairs of evaluation items were scored. Nothing was sampled, so no interval is "
        f"needed. {APART}",
        _known(evaluation),
    ]


def _known(evaluation: Evaluation) -> str:
    return (
        f"{counted(evaluation.positives or 0, 'pair')} of them are known positives. Every other pair counts as a "
        "negative. If some of these are positives after all, the true precision is higher than shown."
    )


def _near_random(evaluation: Evaluation) -> list[str]:
    return _sampled(evaluation, "the nearest neighbours of each text, and a random sample of the others")


def _stratified(evaluation: Evaluation) -> list[str]:
    return _sampled(evaluation, "random samples of the strata of a cheap score, with larger shares of the high strata")


def _sampled(evaluation: Evaluation, which: str) -> list[str]:
    found = estimate(evaluation, "average_precision")
    scored = (
        f"{found.labels:,} negatives were scored" if found and found.labels else "Some of the negatives were scored"
    )
    return [
        f"There are {evaluation.pairs:,} pairs of evaluation items. All known positives were scored. "
        f"{scored}: {which}. Each scored negative represents similar ones that were not scored. {APART}",
        "The 95% interval allows for false positives that the sample missed, even where it found none.",
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
        f"*sampled ranks*, divided by score into {counted(len(strata), 'stratum').replace('stratums', 'strata')} of "
        f"known size. Pairs were drawn at random from each stratum, with a known probability. People labelled "
        f"{audit['labels']:,}: {audit['positives']:,} are positives. Unsure answers ({audit['unsure']:,}) are left out."
    )


def _posterior(audit: dict[str, Any]) -> str:
    drawn = sorted((s for s in audit["strata"] if s["sampled"] and not s["far"]), key=lambda s: float(s["weight"]))
    least, most = drawn[0], drawn[-1]
    return (
        f"A labelled pair represents {least['weight']:,.1f} pairs in the stratum “{literal(least['name'])}” and "
        f"{most['weight']:,.1f} in “{literal(most['name'])}”: the stratum's size divided by its labels. The labels "
        "give a posterior distribution of the share of positives in each stratum, given that shares fall with the "
        "score. Each figure is the mean of many draws from it; the interval holds the middle 95% of them."
    )


def far_in_words(evaluation: Evaluation) -> str:
    """Return what is known of the tail stratum, and that recall leaves it out."""
    audit = evaluation.audit
    far, inside = audit["far"], estimate(evaluation, "positives")
    pool = f", about {in_figures('positives', inside.value)}" if inside else ""
    start = (
        f"Recall counts only the positives within the sampled ranks{pool}. The tail stratum below them holds "
        f"{far['size']:,} more pairs. "
    )
    if not far["size"]:
        return f"The sampled ranks hold all pairs, so recall counts every positive{pool}."
    if not far["sampled"]:
        return start + "None of them is labelled, so the number of positives among them is unknown."
    return start + (
        f"{far['sampled']:,} of them {'is' if far['sampled'] == 1 else 'are'} labelled, {far['positives']:,} positive. "
        f"With 95% confidence at most {far['high']:,.0f} of them are positives."
    )


def _reused() -> str:
    return (
        "Audit labels never train a model. They belong to pairs, not to a model, so the same labels measure every "
        "round, and two rounds are compared pair by pair."
    )


def _double_check(audit: dict[str, Any]) -> list[str]:
    heavy = sum(s["positives"] for s in audit["strata"] if not s["far"] and s["weight"] > HEAVY)
    if not heavy:
        return []
    subject = "1 of the positives represents" if heavy == 1 else f"{heavy:,} of the positives represent"
    return [
        f"{subject} more than {HEAVY} pairs each. A single wrong answer there changes the figures a lot, so "
        "double-check those pairs."
    ]
