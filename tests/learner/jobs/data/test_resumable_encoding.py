"""Encoding resumes after a kill: finished vectors are not encoded again, unless they are another encoder's or lost."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from allpairs.db.progress import Progress
from allpairs.learner.jobs.data.resumable_encoding import FILE, NOTE, encoded
from allpairs.learner.models import encoder as encoders
from allpairs.learner.models.encoder import Encoder, load_encoder
from allpairs.learner.runtime.protocol import LOCAL
from tests.helpers.tiny import tiny_encoder

TEXTS = [f"{word} {'very ' * i} long" for i in range(5) for word in ("blue", "red", "old")]
PART = 4  # texts


class Killed(Exception):
    """Stands for the end of the process."""


@pytest.fixture
def encoder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Encoder:
    monkeypatch.setattr(encoders, "CHUNK", PART)
    return load_encoder(str(tiny_encoder(tmp_path / "tiny", TEXTS)), "cpu")


def counting(monkeypatch: pytest.MonkeyPatch, until: int = 10**9) -> list[str]:
    """Return the list of texts encoded from now on; end the process before those after `until`."""
    seen: list[str] = []
    own = Encoder.encode_part

    def encode_part(self: Encoder, texts: Sequence[str], progress: Progress) -> np.ndarray:
        if len(seen) + len(texts) > until:
            raise Killed
        seen.extend(texts)
        return own(self, texts, progress)

    monkeypatch.setattr(Encoder, "encode_part", encode_part)
    return seen


def test_what_is_made_is_not_made_again(encoder: Encoder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected, folder = encoder.encode(TEXTS), tmp_path / "vectors"
    with monkeypatch.context() as patch, pytest.raises(Killed):
        counting(patch, 2 * PART)
        encoded(encoder, TEXTS, folder, engine=LOCAL)
    seen, heard = counting(monkeypatch), list[float]()
    found = encoded(encoder, TEXTS, folder, lambda stage, done: heard.append(done), LOCAL)
    assert seen == [TEXTS[0], *TEXTS[2 * PART :]]  # the first one tells whether it is the same encoder
    assert found == pytest.approx(expected, abs=1e-5)
    assert heard == sorted(heard) and heard[0] > 2 * PART / len(TEXTS) and heard[-1] == 1.0


@pytest.mark.parametrize("note", ["", '{"rows": 4}'])  # the power failed; a version that knew no file's number
def test_a_note_that_says_nothing_is_none(encoder: Encoder, tmp_path: Path, note: str) -> None:
    encoded(encoder, TEXTS[::-1], tmp_path, engine=LOCAL)
    (tmp_path / NOTE).write_text(note)
    assert encoded(encoder, TEXTS, tmp_path, engine=LOCAL) == pytest.approx(encoder.encode(TEXTS), abs=1e-5)


def test_another_encoders_rows_are_made_anew(encoder: Encoder, tmp_path: Path) -> None:
    other = load_encoder(str(tiny_encoder(tmp_path / "other", TEXTS, seed=1)), "cpu")
    encoded(other, TEXTS, tmp_path / "vectors", engine=LOCAL)
    assert encoded(encoder, TEXTS, tmp_path / "vectors", engine=LOCAL) == pytest.approx(encoder.encode(TEXTS), abs=1e-5)


def test_what_is_whole_is_only_looked_at(encoder: Encoder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = np.array(encoded(encoder, TEXTS, tmp_path / "vectors", engine=LOCAL))
    seen = counting(monkeypatch)
    assert np.array_equal(encoded(encoder, TEXTS, tmp_path / "vectors", engine=LOCAL), first)
    assert seen == [TEXTS[0]]


def test_two_jobs_at_once_do_not_disturb_each_other(
    encoder: Encoder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected, folder, own = encoder.encode(TEXTS), tmp_path / "vectors", Encoder.encode_part
    others: list[np.ndarray] = []

    def encode_part(self: Encoder, texts: Sequence[str], progress: Progress) -> np.ndarray:
        if not others:  # the second job begins before the first one has written anything, and is killed half-way
            others.append(expected)
            with monkeypatch.context() as patch, pytest.raises(Killed):
                counting(patch, PART)
                encoded(encoder, TEXTS, folder, engine=LOCAL)
        return own(self, texts, progress)

    monkeypatch.setattr(Encoder, "encode_part", encode_part)
    assert encoded(encoder, TEXTS, folder, engine=LOCAL) == pytest.approx(expected, abs=1e-5)
    # The first job's note is of its own file, not of the second one's, which is half empty.
    assert encoded(encoder, TEXTS, folder, engine=LOCAL) == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("missing", [FILE, NOTE])
def test_half_of_what_was_left_is_nothing(encoder: Encoder, tmp_path: Path, missing: str) -> None:
    folder = tmp_path / "vectors"
    encoded(encoder, TEXTS, folder, engine=LOCAL)
    (folder / missing).unlink()
    assert encoded(encoder, TEXTS, folder, engine=LOCAL) == pytest.approx(encoder.encode(TEXTS), abs=1e-5)


def test_of_other_texts_nothing_is_kept(encoder: Encoder, tmp_path: Path) -> None:
    encoded(encoder, TEXTS, tmp_path / "vectors", engine=LOCAL)
    found = encoded(encoder, TEXTS[:7], tmp_path / "vectors", engine=LOCAL)
    assert found == pytest.approx(encoder.encode(TEXTS[:7]), abs=1e-5)
