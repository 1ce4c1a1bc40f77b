"""The documentation's pipeline configurations can be read."""

from pathlib import Path

import pytest

from allpairs.learner.pipelines.spec import read_spec
from tests.helpers.machine import ROOT

FILES = sorted((ROOT / "docs" / "examples" / "pipelines").glob("*.toml"))
NAMES = {  # by the beginning of a file's name
    "mining": "few-shot-mining",
    "back-training": "back-training",
    "multi-view": "multi-view-reranking",
    "quip": "quip",
}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_an_example_can_be_read(path: Path) -> None:
    name = next(name for beginning, name in NAMES.items() if path.name.startswith(beginning))
    inputs, config = read_spec(name, path)
    files = [value for value in inputs.model_dump().values() if value]
    assert all(ROOT / "out" in Path(file).parents for file in files) and config.model_fields_set
