"""Cells of an experiment encode the texts once, and never read vectors of another encoder or other texts."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from allpairs.db.progress import no_progress
from allpairs.learner.experiment.starting_vectors import FOLDER, starting_vectors
from allpairs.learner.models.encoder import Encoder, load_encoder
from tests.helpers.tiny import tiny_encoder

TEXTS = ["red car", "blue car", "green tree"]


@pytest.fixture
def encoder(tmp_path: Path) -> Encoder:
    return load_encoder(str(tiny_encoder(tmp_path / "encoder", TEXTS)))


def test_a_second_cell_reads_what_the_first_encoded(
    encoder: Encoder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = starting_vectors(tmp_path, encoder, TEXTS, no_progress)
    monkeypatch.delattr(Encoder, "encode")
    np.testing.assert_array_equal(starting_vectors(tmp_path, encoder, TEXTS, no_progress), first)


@pytest.mark.parametrize(
    "changed",
    [
        lambda encoder: (encoder.variant("max"), TEXTS),
        lambda encoder: (encoder.variant("model", "dot"), TEXTS),
        lambda encoder: (encoder, ["red", "car blue car", "green tree"]),
        lambda encoder: (trained(encoder), TEXTS),
    ],
)
def test_another_encoder_or_other_texts_are_encoded(
    encoder: Encoder, tmp_path: Path, changed: Callable[[Encoder], tuple[Encoder, list[str]]]
) -> None:
    starting_vectors(tmp_path, encoder, TEXTS, no_progress)
    other, texts = changed(encoder)
    np.testing.assert_array_equal(starting_vectors(tmp_path, other, texts, no_progress), other.encode(texts))
    assert len(list((tmp_path / FOLDER).iterdir())) == 2


def test_a_damaged_file_is_encoded_again(encoder: Encoder, tmp_path: Path) -> None:
    vectors = starting_vectors(tmp_path, encoder, TEXTS, no_progress)
    [file] = (tmp_path / FOLDER).iterdir()
    file.write_bytes(file.read_bytes()[:100])
    np.testing.assert_array_equal(starting_vectors(tmp_path, encoder, TEXTS, no_progress), vectors)


def trained(encoder: Encoder) -> Encoder:
    """Change a weight."""
    next(iter(encoder.model.parameters())).data += 0.1
    return encoder
