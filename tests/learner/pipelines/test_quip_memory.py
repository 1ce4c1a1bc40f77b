"""The memory of QuIP's stages and variants does not grow with the passages."""

import tracemalloc
import weakref
from collections.abc import Iterator
from pathlib import Path

import pytest

from allpairs.db.progress import no_progress
from allpairs.learner.backbones import span_reader
from allpairs.learner.pipelines.pipeline import pipeline_named, run_stage
from allpairs.learner.pipelines.quip.inputs import QuipTexts, read_quip_inputs
from tests.helpers.files.papers import NAME, PASSAGES, VARIANTS, run_of, table, write_files


class Passage(str):
    """A passage that tells when it is let go."""


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_files(tmp_path_factory.mktemp("quip"))


def test_stages_and_variants_let_passages_go(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read, alive, most = QuipTexts.parts, list[weakref.ref[Passage]](), dict[str, int]()

    def parts(texts: QuipTexts, size: int) -> Iterator[list[str]]:
        for part in read(texts, size):
            some = [Passage(one) for one in part]
            alive.extend(weakref.ref(one) for one in some)
            most[stage.name] = max(most.get(stage.name, 0), sum(ref() is not None for ref in alive))
            yield [*some]
            del some

    monkeypatch.setattr(QuipTexts, "parts", parts)
    monkeypatch.setattr(span_reader, "CHUNK", 1)
    run = run_of(data, tmp_path / "out", {"questions": "asked.tsv"}, shard=1, variants=VARIANTS)
    for stage in pipeline_named(NAME).stages[:8]:
        run_stage(run, stage)
    assert set(most) == {"questions", "targets", "student", "variants"}
    assert max(most.values()) <= 2 < len(PASSAGES), most  # the one that was worked on and the next


def test_the_first_stage_keeps_a_few_numbers_of_each_passage(data: Path, tmp_path: Path) -> None:
    peaks = []
    for size in (200, 1_200):
        table(data / "many.tsv", "id,text", [(f"p{i}", f"{i} {'x' * 500}") for i in range(size)])
        run = run_of(data, tmp_path / str(size), {"passages": "many.tsv"}, passages=size - 1)
        (run.folder / "texts").mkdir()
        tracemalloc.start()
        read_quip_inputs(run, run.of("texts"), no_progress)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert len(QuipTexts(run)) == size - 1
    assert (peaks[1] - peaks[0]) / 1_000 < 100  # bytes of a passage, which itself has 500
