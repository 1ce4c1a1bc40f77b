"""The first stage that finds candidates as a project finds its matches."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import Engine

from allpairs.db.corpus.corpus import load_corpus
from allpairs.db.errors import InputError
from allpairs.db.progress import no_progress
from allpairs.db.schema.engine import reading
from allpairs.learner.files.evaluate import all_evaluation
from allpairs.learner.jobs.data.pipeline_files import write_data
from allpairs.learner.light.catalog import PIPELINES
from allpairs.learner.loop.corpus_dataset import dataset_of
from allpairs.learner.models.encoder import load_encoder
from allpairs.learner.pipelines.multiview.inputs import check_multiview_inputs
from allpairs.learner.pipelines.multiview.matched import matcher_search
from allpairs.learner.pipelines.pipeline import Run
from allpairs.learner.scoring.matcher import FILE, PairModel, load_matcher, save_matcher
from allpairs.learner.scoring.score import Blend, blended
from allpairs.learner.search.inner_product import BLENDED, as_left, as_right
from tests.helpers.factories import make_project
from tests.helpers.projects.rounds import answer_batch, half, run, texts
from tests.helpers.tiny import tiny_encoder

BLEND = Blend(0.3, {"ngrams": 0.5, "words": 0.4})


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_encoder(tmp_path_factory.mktemp("matcher"), texts())


@pytest.fixture(scope="module")
def folder(encoder: Path) -> Path:
    save_matcher(PairModel(load_encoder(str(encoder)), None, BLEND), encoder.parent / "model")
    return encoder.parent / "model"


def score(folder: Path, dataset: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return all scores of evaluation pairs, and those of the bare cosine."""
    matcher = load_matcher(str(folder))
    vectors = matcher.encoder.encode(dataset.texts)
    left, right = dataset.evaluation_left, dataset.evaluation_right
    whole = blended(dataset, vectors, BLEND)
    return as_left(whole[left], BLENDED) @ as_right(whole[right], BLENDED).T, vectors[left] @ vectors[right].T


@pytest.mark.parametrize("two_lists", [True, False])
def test_passages_are_found_by_the_whole_score(folder: Path, tmp_path: Path, two_lists: bool) -> None:
    queries, passages = (texts()[:8], texts()[8:]) if two_lists else (texts()[:8], texts())
    lists = {"left": queries, "right": passages} if two_lists else {"left": passages}
    for name, some in lists.items():
        (tmp_path / f"{name}.csv").write_text("id,text\n" + "".join(f"{i},{text}\n" for i, text in enumerate(some)))
    corpus = load_corpus(tmp_path / "left.csv", tmp_path / "right.csv" if two_lists else None)
    wanted, cosine = score(folder, dataset_of(all_evaluation(corpus)))
    found = matcher_search(folder, queries, passages, no_progress)(queries[2:5], 6, no_progress)
    for row, query in enumerate(range(2, 5)):
        np.testing.assert_allclose(found.scores[row], np.sort(wanted[query])[::-1][:6], atol=1e-5)
        np.testing.assert_allclose(wanted[query][found.ids[row]], found.scores[row], atol=1e-5)
    assert any(set(np.argsort(-cosine[query])[:6]) != set(found.ids[query - 2]) for query in range(2, 5))


def test_a_project_gives_its_newest_matcher(engine: Engine, home: Path, encoder: Path, tmp_path: Path) -> None:
    project_id = make_project(engine, texts(), encoder=str(encoder), first=6, neighbours=10, epochs=1, audit_every=0)
    run(engine, project_id)
    answer_batch(engine, project_id, half)

    def files() -> dict[str, str | None]:
        with reading(engine) as session:
            return write_data(session, project_id, "multi-view-reranking", {}, 0, tmp_path / "data").files

    assert "matcher" not in files()  # the encoder as it comes is the dense first stage
    run(engine, project_id)
    path = Path(str(files()["matcher"]))
    assert path.name == FILE and load_matcher(str(path.parent)).layer is not None


def test_without_a_matcher_the_stage_is_refused() -> None:
    entry = PIPELINES["multi-view-reranking"]
    inputs = entry.inputs.model_validate({"passages": "p", "queries": "q", "qrels": "r"})
    with pytest.raises(InputError, match=r"set inputs\.matcher"):
        check_multiview_inputs(Run(Path(), inputs, entry.config.model_validate({"first_stage": {"kind": "matcher"}})))
