"""The experiments in docs/examples: every key and value is known, and they say what the paper did."""

import re
import shutil
from pathlib import Path

import pytest

from allpairs.db.domain import batch_size_of
from allpairs.learner.experiment.conditions import LABELS
from allpairs.learner.experiment.spec import Experiment, cells_of, read_experiment

EXAMPLES = Path(__file__).parents[3] / "docs" / "examples"
NAMES = sorted(path.name for path in EXAMPLES.glob("*.toml"))


def read(name: str, folder: Path) -> Experiment:
    """Read the example as if its data were there."""
    place = folder / "docs" / "examples" / name
    place.parent.mkdir(parents=True)
    shutil.copy(EXAMPLES / name, place)
    for path in re.findall(r'"(\.\./[^"]+)"', place.read_text()):
        (place.parent / path).parent.mkdir(parents=True, exist_ok=True)
        (place.parent / path).resolve().touch()
    return read_experiment(place)


@pytest.mark.parametrize("name", NAMES)
def test_every_example_is_an_experiment(name: str, tmp_path: Path) -> None:
    experiment = read(name, tmp_path)
    assert len(experiment.seeds) == 3
    assert len({cell.folder for cell in cells_of(experiment)}) == 3 * len(experiment.rows) * len(experiment.datasets)


@pytest.mark.parametrize("dataset", LABELS)
def test_the_papers_recipes_have_its_conditions(dataset: str, tmp_path: Path) -> None:
    experiment = read(f"paper-{dataset}.toml", tmp_path)
    assert experiment.datasets[dataset].development is not None
    for cell in cells_of(experiment):
        if cell.concat is None:
            sizes = [batch_size_of(number, cell.settings.first, cell.settings.growth) for number in range(cell.rounds)]
            assert sum(sizes) == LABELS[dataset].get(cell.settings.strategy, LABELS[dataset][None]), cell.row
            assert (cell.settings.encoder, cell.settings.hubness) == ("bert-base-uncased", 0)
        else:
            assert (cell.concat.method, cell.concat.base) == ("near-random", "bert-base-uncased")
