"""What a round's figures mean and how they were computed, in a few sentences with the project's own numbers."""

from collections.abc import Iterator
from typing import Any

from allpairs.annotate.features.quality.rounds import MonitorReport
from allpairs.annotate.kit.text.formatting import literal
from allpairs.annotate.kit.text.measures import counted, estimate
from allpairs.db.estimate import Estimate
from allpairs.db.schema.tables import Evaluation

HEAVY = 50  # a positive that represents more pairs than this changes the figures a lot if it is wrong
SEPARATE = "A pair of evaluation items never trains a model."
BY_VERDICT = (
    "People labelled pairs of either verdict. Their labels alone tell which pairs are positives, and how much its "
    "verdicts on other pairs tell."
)


def meaning(evaluation: Evaluation) -> list[str]:
    """Return sentences that say what the round's figures mean."""
    return [_ranking(evaluation), *_at_threshold(evaluation)]


def _ranking(evaluation: Evaluation) -> str:
    positives = estimate(evaluation, "positives")
    chance = f", a random order {positives.value / evaluation.pairs:.2g}" if positives and evaluation.pairs else ""
    return f"A perfect order has 1{chance}."


def _at_threshold(evaluation: Evaluation) -> Iterator[str]:
    precision = estimate(evaluation, "precision")
    recall = estimate(evaluation, "recall")
    if precision is not None and recall is not None:
        yield (
            f"At the 50% threshold, {_percent(precision)} of the accepted pairs are positives, and {_percent(recall)} "
            "of all positives are accepted."
        )


def _percent(share: Estimate) -> str:
    """Return the share with its 95% interval, if it has a width."""
    between = f" ({share.low:.0%} to {share.high:.0%})" if share.high > share.low else ""
    return f"{share.value:.0%}{between}"


def explain(report: MonitorReport) -> list[str]:
    """Return paragraphs on the newest measured round, as Markdown; empty where none is measured."""
    if not report.measured:
        return []
    _, evaluation = report.measured[-1]
    figure = estimate(evaluation, "average_precision")
    method = figure.method if figure else ""
    return [*_WAYS[method](evaluation), *_unnamed(evaluation)] if method in _WAYS else []


def _exact(evaluation: Evaluation) -> list[str]:
    if evaluation.positives is None:
        return [f"All {evaluation.pairs:,} pairs of evaluation items are labelled or known. No interval is needed."]
    return [
        f"All {evaluation.pairs:,} pairs of evaluation items were scored. Nothing was sampled, so no interval is "
        f"needed. {SEPARATE}",
        _known(evaluation),
    ]


def _unnamed(evaluation: Evaluation) -> list[str]:
    """Return how audit labels count the positives that nobody named; nothing without such labels."""
    return [_drawn(evaluation), _posterior(evaluation.audit)] if evaluation.audit.get("estimates") else []


def _known(evaluation: Evaluation) -> str:
    return (
        f"{counted(evaluation.positives or 0, 'pair')} of them are known positives. Every other pair counts as a "
        "negative. If some of these are positives after all, the true precision is higher than shown."
    )


def _near_random(evaluation: Evaluation) -> list[str]:
    return _sampled(evaluation, "the nearest neighbours of each text, and a random sample of the others")


def _stratified(evaluation: Evaluation) -> list[str]:
    return _sampled(evaluation, "random samples of the strata of a cheap score, with larger shares of the high strata")


def _sampled(evaluation: Evaluation, sample: str) -> list[str]:
    figure = estimate(evaluation, "average_precision")
    scored = (
        f"{figure.labels:,} negatives were scored" if figure and figure.labels else "Some of the negatives were scored"
    )
    return [
        f"There are {evaluation.pairs:,} pairs of evaluation items. All known positives were scored. "
        f"{scored}: {sample}. Each scored negative represents similar ones that were not scored. {SEPARATE}",
        "The 95% interval allows for false positives that the sample missed, even where it found none.",
        _known(evaluation),
    ]


def _audit(evaluation: Evaluation) -> list[str]:
    audit = evaluation.audit
    by_rater = [f"{read_by(audit['rater'])} {BY_VERDICT}"] if audit.get("rater") else []
    return [_drawn(evaluation), *by_rater, _posterior(audit), _below(evaluation), _reused(), *_double_check(audit)]


_WAYS = {"exact": _exact, "near-random": _near_random, "stratified": _stratified, "audit": _audit}


def read_by(rater: dict[str, Any]) -> str:
    """Return how many pairs a machine rater has read for the audit, and the share of positives that it finds."""
    share = rater["sensitivity"]
    return (
        f"The machine rater {rater['name']} has read {rater['read']:,} pairs for this audit. It finds "
        f"{share['value']:.0%} of the positives (95% interval {share['low']:.0%} to {share['high']:.0%})."
    )


def _drawn(evaluation: Evaluation) -> str:
    audit = evaluation.audit
    pairs = f"{evaluation.pairs:,} pairs of evaluation items"
    ranked = f"all {pairs}" if evaluation.by_audit else f"the {pairs}, without the known ones"
    return (
        f"A model ranked {ranked}. They are divided by score into strata of known size, {len(audit['strata'])} in all, "
        "which grow with the rank; deep ones are divided again, by lexical similarity. "
        "Pairs were drawn at random from each stratum, with a known probability. People "
        f"labelled {audit['labels']:,}: {audit['positives']:,} are positives. Unsure answers ({audit['unsure']:,}) are "
        "left out."
    )


def _posterior(audit: dict[str, Any]) -> str:
    drawn = sorted((s for s in audit["strata"] if s["sampled"]), key=_weight)
    least = drawn[0]
    most = drawn[-1]
    return (
        f"A labelled pair represents {_weight(least):,.1f} pairs in the stratum “{literal(least['name'])}” and "
        f"{_weight(most):,.1f} in “{literal(most['name'])}”: the stratum's size divided by its labels. The labels "
        "give a posterior distribution of the share of positives in each stratum, given that shares fall with the "
        "score. Each figure is the mean of many draws from it. The interval is as wide as it takes to hold the truth "
        "in 95% of simulated audits."
    )


def _weight(stratum: dict[str, Any]) -> float:
    return float(stratum["size"] / stratum["sampled"])


def _below(evaluation: Evaluation) -> str:
    """Return what the labels say of the pairs below the highest ones, where most pairs and few positives are."""
    strata = [stratum for stratum in evaluation.audit["strata"] if stratum["far"]]
    if not strata:
        return "Pairs of every rank are drawn, so the figures hold over all pairs."
    size, sampled, positives = (sum(stratum[name] for stratum in strata) for name in ("size", "sampled", "positives"))
    return (
        f"Below the highest {evaluation.audit['top']['pairs']:,} pairs lie {size:,} more. {sampled:,} of them are "
        f"labelled, {positives:,} positive. What so few labels leave open is in every interval."
    )


def _reused() -> str:
    return (
        "Audit labels never train a model. They belong to pairs, not to a model, so the same labels measure every "
        "round, and two rounds are compared pair by pair."
    )


def _double_check(audit: dict[str, Any]) -> list[str]:
    heavy = sum(s["positives"] for s in audit["strata"] if s["positives"] and _weight(s) > HEAVY)
    if not heavy:
        return []
    subject = "1 of the positives represents" if heavy == 1 else f"{heavy:,} of the positives represent"
    return [
        f"{subject} more than {HEAVY} pairs each. A single wrong answer there changes the figures a lot, so "
        "double-check those pairs."
    ]
