"""The sampled methods of `allpairs evaluate` on files: close to the exact figures, with intervals and strata."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from allpairs.db.corpus.corpus import load_corpus
from allpairs.db.errors import InputError
from allpairs.learner.files.evaluate import METHODS, Method, checked_method, evaluate_corpus
from tests.helpers.machine import ROOT

DEMO = ROOT / "annotate" / "demo"


@pytest.fixture(scope="module")
def figures(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict]:  # type: ignore[type-arg]
    """Return the demo's first 200 questions measured by every method with the bundled encoder."""
    folder = tmp_path_factory.mktemp("demo")
    questions = pd.read_csv(DEMO / "questions.csv").head(200)
    gold = pd.read_csv(DEMO / "gold.csv")
    questions.to_csv(folder / "questions.csv", index=False)
    gold[gold[["id1", "id2"]].isin(set(questions.id)).all(axis=1)].to_csv(folder / "gold.csv", index=False)
    corpus = load_corpus(folder / "questions.csv", None, folder / "gold.csv")
    return {name: evaluate_corpus("all-MiniLM-L6-v2", corpus, Method(name, sample=6_000)) for name in METHODS}


@pytest.mark.parametrize("method", ["near-random", "stratified"])
def test_a_sampled_figure_agrees_with_the_exact_one(figures, method: str) -> None:  # type: ignore[no-untyped-def]
    for name in ("average_precision", "precision_at_recall_20"):
        exact, sampled = figures["exact"][name], figures[method][name]
        assert sampled["low"] <= exact["value"] <= sampled["high"]
        assert sampled["low"] < sampled["value"]  # nothing sampled without a width
        assert sampled["value"] == pytest.approx(exact["value"], abs=0.02)
        assert (exact["method"], sampled["method"]) == ("exact", method)
    strata = figures[method]["strata"]
    assert sum(stratum["size"] for stratum in strata) == figures["exact"]["pairs"] == figures[method]["pairs"]
    assert sum(stratum["positives"] for stratum in strata) == figures["exact"]["positives"]
    curve = figures[method]["curve"]
    assert len(curve["low"]) == len(curve["high"]) == len(curve["recall"])
    assert set(figures[method]) == set(figures["exact"])
    assert np.isfinite([stratum["weight"] for stratum in strata]).all()


def test_an_unknown_method_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="use exact, near-random, stratified"):
        checked_method("guess", 100, "all-MiniLM-L6-v2", 0)
