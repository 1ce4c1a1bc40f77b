"""One contract for every engine: the same results from every stage, whichever process dies meanwhile."""

import logging
import pickle
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from allpairs.db.errors import Cancelled, InputError
from allpairs.db.progress import Progress, no_progress
from allpairs.learner.backbones import generator
from allpairs.learner.backbones.generator import generate, load_generator
from allpairs.learner.backbones.reranking import reranker
from allpairs.learner.backbones.reranking.reading import Reading
from allpairs.learner.backbones.reranking.reranker import Reranker, truth_logits
from allpairs.learner.evaluation.exact import evaluate_exact
from allpairs.learner.light.catalog.backbones import GeneratorSettings
from allpairs.learner.models import encoder as encoder_module
from allpairs.learner.models.encoder import load_encoder
from allpairs.learner.models.output_layer import OutputLayer
from allpairs.learner.pipelines.mining import shards
from allpairs.learner.pipelines.quip.shards import each_shard, read_shards
from allpairs.learner.runtime.engine import default_engine
from allpairs.learner.runtime.protocol import ADDRESS, ENGINE, LOCAL, Engine, Local, slices
from allpairs.learner.search import exact as search
from allpairs.learner.search import inverted_file
from allpairs.learner.search.bm25 import QUERIES, Bm25
from allpairs.learner.search.inner_product import BLENDED, factors
from allpairs.learner.search.inverted_file import neighbours_by_lists
from allpairs.learner.search.top_pairs import best_pairs, most_uncertain
from tests.helpers.engine_work import Mortal, doubling, failing, large, reading, slow, without_room
from tests.helpers.tiny import tiny_encoder
from tests.helpers.tiny_backbones import tiny_backbone

TEXTS = [f"where are {thing} sold in town number {n}" for n in range(12) for thing in ("apples", "boats", "cats")]
WORDS = [*TEXTS, "Query: Document: Relevant: Translate to true false nothing about here"]
Stage = Callable[[Engine, Path], Any]


@pytest.fixture(scope="module")
def spilled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder where the cluster spills what does not fit its store."""
    return tmp_path_factory.mktemp("spilled")


@pytest.fixture(scope="module")
def cluster(spilled: Path) -> Iterator[Any]:
    """Yield our engine on a Ray cluster of two nodes on this machine."""
    import ray
    from ray.cluster_utils import Cluster

    node = {"num_cpus": 1, "object_store_memory": 200 * 2**20, "object_spilling_directory": str(spilled)}
    found = Cluster(initialize_head=True, head_node_args=node)
    found.add_node(**node)
    yield found
    ray.shutdown()
    found.shutdown()


@pytest.fixture
def on_ray(cluster: Any, monkeypatch: pytest.MonkeyPatch) -> Engine:
    monkeypatch.setenv(ENGINE, "ray")
    monkeypatch.setenv(ADDRESS, cluster.address)
    return default_engine()


def unit(n: int, seed: int) -> np.ndarray:
    vectors = np.random.default_rng(seed).normal(size=(n, 16)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def encode(engine: Engine, folder: Path) -> np.ndarray:
    return load_encoder(str(tiny_encoder(folder, TEXTS))).encode(TEXTS, engine=engine)


def nearest(engine: Engine, folder: Path) -> tuple[np.ndarray, ...]:
    vectors = unit(2_500, 1)
    found = search.nearest(vectors, vectors, 5, True, engine=engine)
    return found.left, found.right, found.score


def neighbours(engine: Engine, folder: Path) -> tuple[np.ndarray, ...]:
    return tuple(search.neighbours(unit(2_500, 1), unit(900, 2), 5, False, engine=engine))


def best(engine: Engine, folder: Path) -> tuple[np.ndarray, ...]:
    vectors = unit(2_500, 1)
    found = best_pairs(vectors, vectors, True, top=300, engine=engine)
    return found.left, found.right, found.score


def above(engine: Engine, folder: Path) -> tuple[np.ndarray, ...]:
    found = best_pairs(unit(2_500, 1), unit(900, 2), False, threshold=0.8, engine=engine)
    return found.left, found.right, found.score


def uncertain(engine: Engine, folder: Path) -> tuple[np.ndarray, ...]:
    known = np.column_stack([np.arange(2_000), np.arange(2_000) + 1])
    found = most_uncertain(unit(2_500, 1), unit(2_500, 1), True, 0.5, 300, known, engine=engine)
    return found.left, found.right, found.score


def tiles(engine: Engine, folder: Path) -> tuple[np.ndarray, ...]:
    folder.mkdir()
    np.save(folder / "vectors.npy", unit(900, 2))
    on_disk = np.load(folder / "vectors.npy", mmap_mode="r")
    return tuple(shards.disk_neighbours(unit(400, 1), on_disk, 5, engine=engine))


def lists(engine: Engine, folder: Path) -> tuple[np.ndarray, ...]:
    return tuple(neighbours_by_lists(unit(2_500, 1), unit(900, 2), 5, np.random.default_rng(0), engine=engine))


def evaluate(engine: Engine, folder: Path) -> tuple[Any, ...]:
    vectors = unit(2_500, 3)
    positives = np.column_stack([np.arange(0, 600, 3), np.arange(1, 601, 3)])
    found = evaluate_exact(vectors, vectors, positives, True, layer=OutputLayer(4.0, -2.0), engine=engine)
    assert found is not None
    return found.estimates, found.histogram, found.curve.score, found.curve.precision


def bm25(engine: Engine, folder: Path) -> tuple[np.ndarray, ...]:
    return tuple(Bm25(TEXTS).search([f"boats sold {n}" for n in range(2 * QUERIES + 1)], 4, engine=engine))


def rerank(engine: Engine, folder: Path) -> np.ndarray:
    model = Reranker(load_generator(str(tiny_backbone(folder, "t5", WORDS)), 1), Reading("rank", "", 48))
    pairs = np.array([(row, (7 * row) % len(TEXTS)) for row in range(len(TEXTS))])
    return truth_logits(model, TEXTS, TEXTS, pairs, engine=engine)


def write(decoding: str) -> Stage:
    def stage(engine: Engine, folder: Path) -> list[str]:
        model = load_generator(str(tiny_backbone(folder, "bart", WORDS)), 1)
        settings = GeneratorSettings(decoding=decoding, beams=2, source_length=32, target_length=6)
        return generate(model, TEXTS, settings, seed=5, engine=engine)

    return stage


def written(engine: Engine, folder: Path) -> dict[str, list[str]]:
    """Return what a stage of a pipeline leaves in its folder, a file for each shard."""
    model = load_generator(str(tiny_backbone(folder, "bart", WORDS)), 1)
    settings = GeneratorSettings(decoding="sample", source_length=32, target_length=6)

    def work(texts: list[str], number: int, progress: Progress) -> dict[str, Any]:
        return {"questions": generate(model, texts, settings, seed=number, engine=engine)}

    (folder / "shards").mkdir()
    parts = [TEXTS[at : at + 20] for at in range(0, len(TEXTS), 20)]
    each_shard(folder / "shards", parts, len(parts), work, no_progress)
    names = sorted(path.name for path in (folder / "shards").iterdir())
    return {"files": names, **{str(at): one["questions"] for at, one in enumerate(read_shards(folder / "shards"))}}


STAGES: dict[str, Stage] = {
    "encode": encode, "nearest": nearest, "neighbours": neighbours, "best": best, "above": above,
    "uncertain": uncertain, "tiles": tiles, "lists": lists, "evaluate": evaluate, "bm25": bm25, "rerank": rerank,
    "write": write("beam"), "sample": write("sample"), "shards": written,
}  # fmt: skip
SLOW = pytest.mark.slow  # a Ray cluster takes half a minute to start
ROUNDED = {"encode": 1e-6, "rerank": 1e-5}  # other parts, so other blocks: the last bits of a product may differ


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "PARTS", 1)
    monkeypatch.setattr(shards, "QUERIES", 100)
    monkeypatch.setattr(shards, "SHARD", 500)
    monkeypatch.setattr(inverted_file, "QUERIES", 400)
    monkeypatch.setattr(generator, "WRITTEN", 10)
    for module in (encoder_module, reranker):
        monkeypatch.setattr(module, "LEAST", 10)


THREADED = 1e-6  # of a score: with several threads a product is parted otherwise


@pytest.fixture
def two_threads() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


def test_several_threads_find_the_same_pairs(two_threads: None) -> None:
    vectors = unit(1_031, 1)  # not of every number of texts are the last bits others
    found = search.nearest(vectors, vectors, 5, True, engine=LOCAL)
    torch.set_num_threads(1)
    wanted = search.nearest(vectors, vectors, 5, True, engine=LOCAL)
    np.testing.assert_equal((found.left, found.right), (wanted.left, wanted.right))
    assert found.score == pytest.approx(wanted.score, abs=THREADED)


def test_several_threads_count_the_same_number_of_pairs(two_threads: None, tmp_path: Path) -> None:
    estimates, histogram, *_ = evaluate(LOCAL, tmp_path)
    torch.set_num_threads(1)
    wanted, known, *_ = evaluate(LOCAL, tmp_path)
    assert [sum(one["negatives"]) + one["below"] for one in (histogram, known)] == [2_500 * 2_499 // 2 - 200] * 2
    assert {name: one.value for name, one in estimates.items()} == pytest.approx(
        {name: one.value for name, one in wanted.items()}, abs=THREADED
    )


def assert_same(name: str, found: Any, wanted: Any) -> None:
    if name in ROUNDED:
        assert found == pytest.approx(wanted, abs=ROUNDED[name])
    else:
        np.testing.assert_equal(found, wanted)


@SLOW
@pytest.mark.parametrize("name", STAGES)
def test_every_stage_gives_the_same_on_a_cluster(name: str, small_parts: None, on_ray: Engine, tmp_path: Path) -> None:
    here, there = (STAGES[name](engine, tmp_path / str(at)) for at, engine in enumerate((LOCAL, on_ray)))
    assert_same(name, there, here)


@SLOW
def test_the_environment_chooses_the_engine(on_ray: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    assert type(on_ray).__name__ == "OnRay"
    monkeypatch.delenv(ENGINE)
    assert default_engine() is LOCAL
    monkeypatch.setenv(ENGINE, "spark")
    with pytest.raises(InputError, match="local or ray"):
        default_engine()


def test_slices_cover_all_rows_and_there_is_always_one() -> None:
    assert slices(5, 2) == [slice(0, 2), slice(2, 4), slice(4, 5)]
    assert slices(0, 2) == [slice(0, 0)]


def test_the_local_progress_goes_through_the_parts() -> None:
    heard: list[float] = []
    found = list(LOCAL.map(doubling, [], [1, 2], "double", lambda _, done: heard.append(done)))
    assert (found, heard) == ([2, 4], [0.25, 0.75])


@SLOW
@pytest.mark.parametrize("name", STAGES)
def test_a_stage_outlives_a_process_of_it(name: str, small_parts: None, on_ray: Engine, tmp_path: Path) -> None:
    whole = STAGES[name](LOCAL, tmp_path / "whole")
    assert_same(name, STAGES[name](Mortal(on_ray, tmp_path / "killed"), tmp_path / "mortal"), whole)
    assert (tmp_path / "killed").exists()


@SLOW
def test_a_node_that_goes_away_takes_no_part_with_it(cluster: Any, on_ray: Engine) -> None:
    node = cluster.add_node(num_cpus=2, object_store_memory=100 * 2**20)
    found = on_ray.map(slow, [0.3], range(12), "sleep")
    first = next(found)
    cluster.remove_node(node, allow_graceful=False)
    assert [first, *found] == list(range(12))


@SLOW
def test_what_does_not_fit_the_store_is_moved_to_disk(on_ray: Engine, spilled: Path) -> None:
    found = on_ray.map(large, [], range(6), "fill")  # 900 MiB where two nodes have 200 each
    first, end = next(found), time.monotonic() + 60
    while not any(path.is_file() for path in spilled.rglob("*")):
        assert time.monotonic() < end, "nothing was moved to disk"
        time.sleep(0.1)
    assert [int(array[0]) for array in (first, *found)] == list(range(6))


@SLOW
def test_mapped_vectors_lie_in_memory_once_for_all_parts(on_ray: Engine, tmp_path: Path) -> None:
    np.save(tmp_path / "vectors.npy", unit(3_000, 1))  # Ray copies what is small whatever it is
    mapped = np.load(tmp_path / "vectors.npy", mmap_mode="c")
    assert list(on_ray.map(reading, (mapped, mapped), [1, 2], "read")) == [[True, True]] * 2


def test_blended_vectors_travel_once_to_a_search_of_lists(tmp_path: Path) -> None:
    vectors, given = np.hstack([unit(300, 1), np.full((300, 1), 0.1, np.float32)]), list[Any]()

    class Watching(Local):
        def map(self, make: Any, given_: Any, *more: Any) -> Iterator[Any]:
            given.extend(given_)
            return super().map(make, given_, *more)

    sides = factors(vectors, np.arange(200), np.arange(100, 300), BLENDED)
    found = neighbours_by_lists(*sides, 3, np.random.default_rng(0), engine=Watching())
    arrays = [one for one in given if isinstance(one, np.ndarray)]
    assert len(arrays) == 2 and all(one is vectors for one in arrays)
    whole = search.neighbours(np.asarray(sides[0]), np.asarray(sides[1]), 3, False)
    assert np.mean(np.sort(found.ids) == np.sort(whole.ids)) > 0.9


@SLOW
def test_a_gpu_without_a_core_beside_it_is_none(cluster: Any, on_ray: Engine) -> None:
    node = cluster.add_node(num_cpus=0, num_gpus=1)
    try:
        assert len(on_ray.parts(10_000, 10, 10_000)) > 3  # cores are counted
        assert list(on_ray.map(doubling, [], [1, 2], "double")) == [2, 4]
    finally:
        cluster.remove_node(node)


@SLOW
def test_what_ray_logs_is_logged_as_everything_is(on_ray: Engine, caplog: pytest.LogCaptureFixture) -> None:
    assert list(on_ray.map(slow, [0.0], [1, 2], "sleep")) == [1, 2]
    logging.getLogger("ray").error("the raylet is gone")
    assert not logging.getLogger("ray").handlers
    assert "the raylet is gone" in caplog.text


@SLOW
def test_no_room_for_a_result_is_said_with_advice(on_ray: Engine) -> None:
    with pytest.raises(InputError, match="no room to fill"):
        list(on_ray.map(without_room, [], [1, 2], "fill"))


@SLOW
def test_no_room_at_all_is_said_with_advice(on_ray: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    import ray
    from ray.exceptions import OutOfDiskError

    def full(value: Any) -> None:
        raise OutOfDiskError("no space left on device")

    monkeypatch.setattr(ray, "put", full)
    with pytest.raises(InputError, match="no room to double"):
        list(on_ray.map(slow, [0.0], [1, 2], "double"))


@SLOW
def test_an_error_in_a_part_is_the_stage_s_own(on_ray: Engine) -> None:
    with pytest.raises(InputError, match=r"^part 0 has no texts: "):
        list(on_ray.map(failing, [], [0, 1, 2], "fail"))


@SLOW
def test_a_stage_can_be_stopped(on_ray: Engine) -> None:
    def stop(stage: str, done: float) -> None:
        if done > 0:
            raise Cancelled

    began = time.monotonic()
    with pytest.raises(Cancelled):
        list(on_ray.map(slow, [0.2], range(500), "sleep", stop))
    assert time.monotonic() - began < 20  # all parts would take 50 seconds and more


def test_nothing_answers_at_an_address_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    import ray

    from allpairs.learner.runtime.ray_engine import OnRay

    if ray.is_initialized():
        ray.shutdown()
    engine = OnRay("127.0.0.1:1")
    assert list(engine.map(doubling, [], [3], "double")) == [6]  # nothing to move: no cluster is needed
    with pytest.raises(InputError, match=r"127.0.0.1:1: .* ALLPAIRS_RAY_ADDRESS"):
        list(engine.map(doubling, [], [3, 4], "double"))


def test_an_encoder_travels(tmp_path: Path) -> None:
    encoder = load_encoder(str(tiny_encoder(tmp_path, TEXTS)))
    other = pickle.loads(pickle.dumps(encoder))
    assert other.encode_part(TEXTS, no_progress) == pytest.approx(encoder.encode_part(TEXTS, no_progress))
