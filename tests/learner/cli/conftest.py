"""Small corpora on disk, and a simulation on each."""

from itertools import combinations, product
from pathlib import Path

import pytest

from tests.helpers.files.simulated import Files, make_files, texts_of, write
from tests.helpers.services.commands import learn


@pytest.fixture(scope="package", params=["symmetric", "bipartite"])
def files(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Files:
    """Return 48 texts on 12 topics; in two lists, 32 of them and 24 others."""
    folder = tmp_path_factory.mktemp(request.param)
    if request.param == "symmetric":
        topics = [i % 12 for i in range(48)]
        left = {f"q{i}": text for i, text in enumerate(texts_of(topics, 0))}
        return make_files(
            folder, left, {}, [(f"q{i}", f"q{j}") for i, j in combinations(range(48), 2) if i % 12 == j % 12]
        )
    left = {f"q{i}": text for i, text in enumerate(texts_of([i % 12 for i in range(32)], 1))}
    right = {f"p{i}": text for i, text in enumerate(texts_of([i % 12 for i in range(24)], 2))}
    return make_files(
        folder, left, right, [(f"q{i}", f"p{j}") for i, j in product(range(32), range(24)) if i % 12 == j % 12]
    )


@pytest.fixture(scope="package")
def out(files: Files) -> Path:
    """Return the folder of a simulation of three rounds."""
    folder = files.folder / "out"
    run = learn(*files.simulate(folder))
    assert run.code == 0, run.err
    lines = run.out.splitlines()
    assert lines[0].split() == ["round", "labels", "positives", "AP", "P@R20"]
    assert [line.split()[:2] for line in lines[1:]] == [["1", "10"], ["2", "25"], ["3", "47"]]
    assert all(line.startswith("note: ") for line in run.err.splitlines()), run.err
    return folder


@pytest.fixture(scope="package")
def twins(tmp_path_factory: pytest.TempPathFactory) -> Files:
    """Return eight pairs of texts that the encoder cannot distinguish, all positive, among sixteen others."""
    folder = tmp_path_factory.mktemp("twins")
    texts = texts_of(range(8), 0)
    left = {f"a{i}": text for i, text in enumerate(texts)} | {f"b{i}": text.title() for i, text in enumerate(texts)}
    left |= {f"c{i}": text for i, text in enumerate(texts_of(range(20, 36), 3))}
    twins = make_files(folder, left, {}, [(f"a{i}", f"b{i}") for i in range(8)])
    rows = [(name, "evaluation" if name[1:] in ("6", "7", "14", "15") else "train") for name in left]
    write(folder / "split.csv", ["id", "split"], rows)
    return twins
