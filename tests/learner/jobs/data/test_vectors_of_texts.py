"""Stored vectors belong to their texts: others with the same numbers never get them."""

from pathlib import Path

import numpy as np

from allpairs.learner.jobs.data.stored_vectors import TEXTS, are_of, save_vectors


def test_vectors_are_of_their_texts_and_no_others(home: Path) -> None:
    path = home / "artifacts" / "project-1" / "job" / "vectors.npy"
    path.parent.mkdir(parents=True)
    save_vectors(path, np.eye(2, dtype=np.float32), ["red kettle", "blue chair"])
    assert are_of(path, ["red kettle", "blue chair"])
    assert are_of(path, ["red kettle", "blue chair", "added later"])
    for others in (
        ["red kettle", "green lamp"],
        ["red kettle"],
        ["red", " kettleblue chair"],
        ["blue chair", "red kettle"],
    ):
        assert not are_of(path, others)
    (path.parent / TEXTS).unlink()
    assert are_of(path, ["what was stored before does not say"])
