"""The configurations of pipelines that the documentation names can be read."""

from pathlib import Path

import pytest

from learner.pipelines.spec import read_spec
from tests.conftest import ROOT

MINING = sorted((ROOT / "docs" / "examples" / "pipelines").glob("mining*.toml"))


@pytest.mark.parametrize("path", MINING, ids=lambda path: path.name)
def test_an_example_of_mining_can_be_read(path: Path) -> None:
    inputs, config = read_spec("few-shot-mining", path)
    files = [value for value in inputs.model_dump().values() if value]
    assert all(Path(file).parent == ROOT / "out" / "data" for file in files) and config.model_fields_set
