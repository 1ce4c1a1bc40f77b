"""A model's figures over all pairs of files: from every pair, from a sample of the negatives, or from audit labels."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from allpairs.db.corpus.cells import with_noun
from allpairs.db.corpus.corpus import Corpus
from allpairs.db.corpus.text_columns import TextColumns
from allpairs.db.domain import DEFAULT_ENCODER, Split
from allpairs.db.errors import InputError
from allpairs.db.estimate import Estimate
from allpairs.db.progress import Progress, no_progress
from allpairs.learner.backbones.reranking.reranker import is_reranker
from allpairs.learner.data.dataset import Dataset
from allpairs.learner.evaluation.audit.files_estimate import measure_labels
from allpairs.learner.evaluation.audit.label_files import NEEDED, OF_RATER, OPTIONAL, read_audit
from allpairs.learner.evaluation.exact import AllPairs
from allpairs.learner.evaluation.given_pairs import given_figures, why_all_negative
from allpairs.learner.evaluation.importance_sampling import Stratum, estimate_from_strata
from allpairs.learner.evaluation.sampling_designs import (
    NEAR_RANDOM,
    STRATIFIED,
    Population,
    Score,
    near_random,
    stratified,
)
from allpairs.learner.loop.corpus_dataset import dataset_of
from allpairs.learner.loop.round import evaluate_dataset
from allpairs.learner.models.cosine_bert import Labelled
from allpairs.learner.models.encoder import load_encoder
from allpairs.learner.scorers.bertscore_scorer import is_token_scorer, load_token_scorer
from allpairs.learner.scorers.scorer import (
    Scorer,
    VectorScorer,
    is_cross_encoder,
    load_cross_encoder,
    load_rerank_scorer,
)
from allpairs.learner.scorers.two_feature_scorer import FeatureScorer, is_feature_scorer, load_feature_scorer
from allpairs.learner.scoring.matcher import PairModel, columns_in, load_matcher, read_details
from allpairs.learner.search.exact import count_pairs, pairs_numbered

Model = str | PairModel  # the folder or name of a model, or a matcher that is loaded: no folder is read for it again
DESIGNS = {NEAR_RANDOM: near_random, STRATIFIED: stratified}
METHODS = ("exact", *DESIGNS)
GAINED = ("average_precision", "precision_at_recall_20")  # figures that compare two models, whatever their thresholds
AUDIT_COLUMNS = NEEDED
MORE_OF_AUDIT = (*OPTIONAL, *OF_RATER)
FEW = 200_000  # up to this many pairs, a model that reads pairs one by one reads all


@dataclass(frozen=True)
class Method:
    """How to measure: exactly, or from about `sample` scored negatives; `base`: the encoder of the cheap score.

    Without a name: exact, except stratified for a model that would have to read more than 200,000 pairs one by one, and
    near-random where multiplying all pairs would take hours.
    """

    name: str | None = None
    sample: int = 200_000
    base: str = DEFAULT_ENCODER
    seed: int = 0


def checked_method(name: str | None, sample: int, base: str, seed: int) -> Method:
    """Return the method. Raises InputError for an unknown name."""
    if name is not None and name not in METHODS:
        raise InputError(f"--method {name!r} is not known: use {', '.join(METHODS)}")
    return Method(name, sample, base, seed)


def evaluate_corpus(
    model: Model,
    corpus: Corpus,
    method: Method,
    progress: Progress = no_progress,
    against: str | None = None,
    labelled: Labelled | None = None,
) -> dict[str, Any]:
    """Return a model's estimates by name, with `pairs`, `positives`, curve, histogram and strata.

    against: a matcher or an encoder; adds its exact figures as `against` and the model's gain over them as `gain`.
    labelled: the training pairs, by row, that fit the `weights` of a model of two features. A corpus without splits is
    measured whole. Raises InputError without a gold positive, and where a cross-encoder or a re-ranker would have to
    read too many pairs.
    """
    dataset = dataset_for(model, corpus)
    if reason := why_unmeasurable(dataset):
        raise InputError(reason)
    if against is not None and reads_pairs(against):
        raise InputError(f"{against} reads pairs one by one, but --against must rank all pairs: name a matcher")
    scorer = load_scorer(model, dataset, progress, labelled)
    measured = _measure(dataset, scorer, method, progress)
    result = as_result(measured)
    if isinstance(scorer, FeatureScorer):
        result["weights"] = scorer.weights.as_dict()
    if against is None:
        return result
    base_dataset = dataset_for(against, corpus)
    base = _measure(
        base_dataset, load_vector_scorer(against, base_dataset, progress), Method("exact"), progress
    ).estimates
    return {
        **result,
        "against": {name: estimate.as_dict() for name, estimate in base.items()},
        "gain": {name: estimate.as_dict() for name, estimate in gains(measured.estimates, base).items()},
    }


def why_unmeasurable(dataset: Dataset) -> str:
    """Return why there is nothing to measure; empty if there is something."""
    if all_negative := why_all_negative(dataset):
        return all_negative
    nothing = "the gold file has no positive pair of these items, so there is nothing to measure: check its ids"
    return "" if len(dataset.evaluation_positives) else nothing


def repeated_texts_note(corpus: Corpus) -> str:
    """Return that figures are over texts, if some rows repeat one; else nothing."""
    rows = sum(len(item.ids) for item in corpus.items)
    texts = len(corpus.items)
    if rows == texts:
        return ""
    return f"{rows:,} rows have {with_noun(texts, 'different text')}: figures are over these, each pair once"


def gains(estimates: Mapping[str, Estimate], exact: Mapping[str, Estimate]) -> dict[str, Estimate]:
    """Subtract from each figure the exact one of the same name; the interval keeps its width."""
    return {
        name: Estimate(
            estimate.value - base.value,
            estimate.low - base.value,
            estimate.high - base.value,
            estimate.method,
            estimate.labels,
        )
        for name, estimate in estimates.items()
        if name in GAINED and (base := exact.get(name)) is not None
    }


def reads_pairs(model: Model) -> bool:
    """Return whether the model reads both texts of a pair at once, so that it cannot rank all pairs."""
    return isinstance(model, str) and (is_cross_encoder(model) or is_reranker(model))


def has_vectors(model: Model) -> bool:
    """Return whether the model is a matcher or an encoder: it gives each text a vector."""
    if isinstance(model, PairModel):
        return True
    return not (reads_pairs(model) or is_token_scorer(model) or is_feature_scorer(model))


def load_model(name: str) -> Model:
    """Load a matcher or an encoder, to be used several times; return the name of any other model."""
    return load_matcher(name) if has_vectors(name) else name


def evaluate_audit(
    model: Model, corpus: Corpus, labels: Path, seed: int, progress: Progress = no_progress
) -> dict[str, Any]:
    """Return the same from the audit labels of a file (see `read_audit`), for a matcher or an encoder.

    With gold, the figures on known pairs are added. Raises InputError for a bad file, too few labels, a matcher that
    does not score by cosine, and a cross-encoder, which cannot rank all pairs.
    """
    if not has_vectors(model):
        reason = "reads pairs one by one" if reads_pairs(model) else "compares tokens"
        raise InputError(f"{model} {reason}, and --audit ranks all pairs: measure it with --gold")
    dataset = dataset_for(model, corpus)
    audit = read_audit(labels, corpus, dataset)
    scorer = load_vector_scorer(model, dataset, progress)
    if scorer.space.distance != "cosine":
        raise InputError(
            f"the model scores by {scorer.space.distance}, and --audit ranks by cosine: measure it with --gold"
        )
    measured = measure_labels(dataset, scorer, audit, np.random.default_rng(seed), progress)
    return as_result(replace(measured, estimates={**measured.estimates, **given_figures(dataset, scorer)}))


def load_scorer(
    model: Model, dataset: Dataset, progress: Progress = no_progress, labelled: Labelled | None = None
) -> Scorer:
    """Load the scorer of the dataset's evaluation items.

    model: the folder of a cross-encoder or re-ranker; a matcher, or an encoder; or `bertscore:NAME`, which compares
    tokens, alone or weighted together with the cosine by the labelled pairs.
    """
    if isinstance(model, PairModel):
        return load_vector_scorer(model, dataset, progress)
    if is_feature_scorer(model):
        return load_feature_scorer(model, dataset.texts, _evaluated(dataset), labelled, progress)
    if is_token_scorer(model):
        return load_token_scorer(model, dataset.texts)
    if is_reranker(model):
        return load_rerank_scorer(model, dataset.texts)
    return (
        load_cross_encoder(model, dataset.texts)
        if is_cross_encoder(model)
        else load_vector_scorer(model, dataset, progress)
    )


def load_vector_scorer(model: Model, dataset: Dataset, progress: Progress = no_progress) -> VectorScorer:
    """Load a matcher or encoder as the scorer, with the vectors of the dataset's evaluation items."""
    matcher = model if isinstance(model, PairModel) else load_matcher(model)
    vectors = matcher.vectors(dataset, _encode(matcher, dataset, progress), progress)
    return VectorScorer(vectors, matcher.layer, matcher.space, matcher.rescored(dataset, vectors, progress))


def as_result(measured: AllPairs) -> dict[str, Any]:
    """Return the command's result: estimates by name; `positives` is a number if it is known."""
    known = {} if measured.positives is None else {"positives": measured.positives}
    return {
        **{name: estimate.as_dict() for name, estimate in measured.estimates.items()},
        "pairs": measured.pairs,
        **known,
        "strata": measured.strata,
        "curve": measured.curve.thinned().as_dict(),
        "histogram": measured.histogram,
    }


def _measure(dataset: Dataset, scorer: Scorer, method: Method, progress: Progress) -> AllPairs:
    few = count_pairs(len(dataset.evaluation_left), len(dataset.evaluation_right), dataset.symmetric) <= FEW
    name = method.name or ("exact" if few or isinstance(scorer, VectorScorer) else STRATIFIED)
    if name == "exact" and isinstance(scorer, VectorScorer):
        insists = method.name == "exact"
        measured = evaluate_dataset(
            dataset, scorer.vectors, progress, scorer.layer, scorer.space, method.seed, insists, scorer.rescored
        )
        assert measured is not None  # there is a positive
        return measured
    measured = _sampled(dataset, scorer, replace(method, name=name), progress)
    return replace(measured, estimates={**measured.estimates, **given_figures(dataset, scorer)})


def _sampled(dataset: Dataset, scorer: Scorer, method: Method, progress: Progress) -> AllPairs:
    left = dataset.evaluation_left
    right = dataset.evaluation_right
    positives = dataset.evaluation_positives

    def score(rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        return scorer.score(left[rows], right[columns], progress)

    rng = np.random.default_rng(method.seed)
    if method.name == "exact":
        strata = [_every_negative(dataset, score)]
    else:
        population = population_of(dataset, method.base, progress)
        strata = DESIGNS[str(method.name)](population, score, method.sample, rng, progress)
    return estimate_from_strata(score(*positives.T), strata, str(method.name), rng, scorer.layer)


def population_of(dataset: Dataset, base: str, progress: Progress = no_progress) -> Population:
    """Return all evaluation pairs with the vectors of the encoder that tells near ones from far ones."""
    cheap = _encode(PairModel(load_encoder(base), None), dataset, progress)
    left = cheap[dataset.evaluation_left]
    right = cheap[dataset.evaluation_right]
    return Population(left, right, dataset.evaluation_positives, dataset.symmetric)


def _every_negative(dataset: Dataset, score: Score) -> Stratum:
    """Return all negatives, each scored alone. Raises InputError where they are too many."""
    sides = len(dataset.evaluation_left), len(dataset.evaluation_right)
    pairs = count_pairs(*sides, dataset.symmetric)
    if pairs > FEW:
        problem = f"--method exact would read {pairs:,} pairs one by one, more than the {FEW:,} allowed"
        raise InputError(f"{problem}: use stratified or near-random")
    rows, columns = pairs_numbered(np.arange(pairs), *sides, dataset.symmetric)
    positive = dataset.evaluation_positives
    negative = ~np.isin(rows * sides[1] + columns, positive[:, 0] * sides[1] + positive[:, 1])
    return Stratum("negatives", int(negative.sum()), score(rows[negative], columns[negative]))


def dataset_for(model: Model, corpus: Corpus) -> Dataset:
    """Return the corpus as the model reads it: all its items are evaluation items, if it has no split.

    A trained matcher takes text columns for what they were in its training, an encoder for what the corpus says.
    """
    columns = corpus.columns
    if columns and is_trained(model):
        columns = columns.of_model(training_columns(model))
    return dataset_of(all_evaluation(corpus), columns)


def is_trained(model: Model) -> bool:
    """Return whether the model is a matcher that was trained, and no bare encoder."""
    return model.layer is not None if isinstance(model, PairModel) else bool(read_details(Path(model)))


def training_columns(model: Model) -> TextColumns | None:
    """Return the text columns that the model was trained on, if there were several."""
    return model.columns if isinstance(model, PairModel) else columns_in(Path(model))


def all_evaluation(corpus: Corpus) -> Corpus:
    """Return the corpus; if it has no split, all its items are evaluation items."""
    if any(item.split is not None for item in corpus.items):
        return corpus
    return replace(corpus, items=[replace(item, split=Split.EVALUATION) for item in corpus.items])


def _encode(matcher: PairModel, dataset: Dataset, progress: Progress) -> np.ndarray:
    """Return vectors (len(texts), d), of the evaluation items only unless other items affect their scores."""
    rows = _evaluated(dataset)
    if matcher.needs_all:
        rows = np.union1d(dataset.left, dataset.right)
    vectors = np.zeros((len(dataset.texts), matcher.encoder.dimension), dtype=np.float32)
    vectors[rows] = matcher.encoder.encode([dataset.texts[row] for row in rows], progress)
    return vectors


def _evaluated(dataset: Dataset) -> np.ndarray:
    """Return the rows of all evaluation items."""
    return np.union1d(dataset.evaluation_left, dataset.evaluation_right)
