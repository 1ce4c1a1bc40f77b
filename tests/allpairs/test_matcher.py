"""The matcher in other people's programs: the score and p of the project's figures, for its texts and for others."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
import pytest
from sqlalchemy import Engine, select

from allpairs import InputError, Matcher
from allpairs.annotate.features.publish.model_export import matcher_archive
from allpairs.db.schema.engine import artifacts, reading
from allpairs.db.schema.tables import Item, StoredModel
from allpairs.learner.jobs.data.stored_rescored import load_rescored
from allpairs.learner.models.output_layer import OutputLayer
from allpairs.learner.scoring import make_reference
from allpairs.learner.scoring.matcher import load_matcher
from allpairs.learner.search.inner_product import BLENDED, scores
from tests.helpers.machine import ROOT
from tests.helpers.projects.rounds import texts, trained
from tests.helpers.tiny import tiny_encoder

PAIRS = 1_000
SETTINGS: dict[str, dict[str, Any]] = {
    "one list": {"hubness": 0.25, "lexical": True},
    "two lists": {"hubness": 0.25, "lexical": True, "right": 40},
    "two lists, the other way": {"hubness": 0.33, "lexical": False, "right": 90},
    "no hubness": {"hubness": 0.0, "lexical": True},
    "cosine alone": {"hubness": 0.0, "lexical": False},
    "second stage": {"hubness": 0.25, "lexical": True, "second_stage": "on"},
    "second stage, two lists": {"hubness": 0.0, "lexical": False, "second_stage": "on", "right": 40},
}
# What another program does with the folders, without the project.
PROGRAM = """
import json, sys
from allpairs import Matcher
for folder, left, right in json.load(open(sys.argv[1])):
    matcher = Matcher.load(folder)
    print(json.dumps([matcher.score(left, right).tolist(), matcher.probability(left, right).tolist()]))
"""


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("encoder")
    return tiny_encoder(folder, texts(150))


def unpacked(name: str, row: StoredModel, folder: Path) -> Path:
    with matcher_archive(name, row, "# Card") as path, ZipFile(path) as bundle:
        bundle.extractall(folder)
    (found,) = folder.iterdir()
    return found


def test_a_downloaded_model_gives_the_scores_of_its_project(engine: Engine, encoder: Path, tmp_path: Path) -> None:
    rng, asked, wanted = np.random.default_rng(0), [], []
    for name, settings in SETTINGS.items():
        row = trained(engine, encoder, name, **settings)
        assert row.w is not None and row.b is not None and row.folder is not None
        with reading(engine) as session:
            items = session.execute(
                select(Item.text, Item.side).where(Item.project_id == row.project_id).order_by(Item.id)
            ).all()
        vectors = np.load(artifacts() / Path(row.folder).parent / "vectors.npy")
        left = rng.choice([at for at, item in enumerate(items) if item.side == "left"], PAIRS)
        right = rng.choice([at for at, item in enumerate(items) if item.side == items[-1].side], PAIRS)
        left, right = left[left != right], right[left != right]  # a text with itself is no pair of a project
        folder = unpacked(name, row, tmp_path / name)
        asked.append((str(folder), [items[at].text for at in left], [items[at].text for at in right]))
        score = load_rescored(artifacts() / Path(row.folder).parent, len(items)).replace(
            np.minimum(left, right), np.maximum(left, right), scores(vectors, left, right, BLENDED)
        )
        wanted.append((score, OutputLayer(row.w, row.b).probability(score)))
    (tmp_path / "asked.json").write_text(json.dumps(asked))
    command = [sys.executable, "-c", PROGRAM, str(tmp_path / "asked.json")]
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    for name, line, (score, p) in zip(SETTINGS, said, wanted, strict=True):
        found = json.loads(line)
        assert found[0] == pytest.approx(score, abs=1e-6), name
        assert found[1] == pytest.approx(p, abs=1e-3), name  # layers of w = 700 turn 1e-6 of a score into this


def test_a_new_text_is_scored_like_a_text_of_the_project(
    engine: Engine, encoder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(make_reference, "MOST_KNOWN", 0)  # as if all texts were new
    for name in ("two lists", "two lists, the other way", "second stage, two lists"):
        row = trained(engine, encoder, name, **SETTINGS[name])
        assert row.folder is not None
        with reading(engine) as session:
            found = select(Item.text).where(Item.project_id == row.project_id).order_by(Item.id)
            items = session.scalars(found).all()
        vectors = np.load(artifacts() / Path(row.folder).parent / "vectors.npy")
        matcher = Matcher.load(unpacked(name, row, tmp_path / name))
        left, right = np.arange(30), np.arange(60, 90)
        score = matcher.score([items[at] for at in left], [items[at] for at in right])
        wanted = load_rescored(artifacts() / Path(row.folder).parent, len(items)).replace(
            left, right, scores(vectors, left, right, BLENDED)
        )
        assert score == pytest.approx(wanted, abs=5e-3)  # the sample is in float16


def test_a_sample_of_a_large_list_gives_nearly_its_hubness(
    engine: Engine, encoder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(make_reference, "SAMPLE", 30)
    row = trained(engine, encoder, "sampled", **SETTINGS["one list"])
    matcher = Matcher.load(unpacked("sampled", row, tmp_path / "sampled"))
    assert matcher.p_moves["texts"] == 6
    assert 0 < matcher.p_moves["mean"] <= matcher.p_moves["most"]
    assert row.details["p_moves"] == matcher.p_moves


def test_the_package_is_light_to_import() -> None:
    program = "import sys, allpairs; print([name for name in ('torch', 'numpy', 'pandas') if name in sys.modules])"
    said = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert said.strip() == "[]"


@pytest.mark.parametrize(
    ("settings", "more"),
    [
        (SETTINGS["one list"], ["a text that the project lacks"]),
        ({"hubness": 0.25, "lexical": False, "second_stage": "on"}, []),  # with others a new text has other rivals
    ],
)
def test_search_and_match_agree_with_the_scores(
    engine: Engine, encoder: Path, tmp_path: Path, settings: dict[str, Any], more: list[str]
) -> None:
    matcher = Matcher.load(unpacked("m", trained(engine, encoder, "m", **settings), tmp_path / "m"))
    some = [*texts(20), *more]
    table = matcher.match(some, top=15)
    assert (table["left"] < table["right"]).all() and table["score"].is_monotonic_decreasing and len(table) == 15
    assert table["score"].to_numpy() == pytest.approx(matcher.score(table["left_text"], table["right_text"]), abs=1e-6)
    assert table["p"].to_numpy() == pytest.approx(
        matcher.probability(table["left_text"], table["right_text"]), abs=1e-4
    )
    found = matcher.search(some, k=3)
    assert len(found) == 3 * len(some) and (found["text"] != found["match"]).all()
    best = found.loc[found["score"].idxmax()]
    assert {int(best["text"]), int(best["match"])} == {table["left"][0], table["right"][0]}
    assert (found["reason"] == "model").all() and (found["p"] < 1).all()
    again = matcher.search(some, k=2, among=[*some, some[0].upper(), some[0]])
    first = again[again["rank"] == 1]
    assert (first["match"] == first["text"]).all() and (first["p"] == 1).all() and (first["reason"] == "equal").all()
    assert list(again[again["text"] == 0]["match"]) == [0, len(some) + 1]
    assert len(matcher.search(some, among=[])) == len(matcher.search([])) == len(matcher.score([], [])) == 0
    others = matcher.match(some[:5], some[5:], threshold=float(table["score"][7]))
    assert set(others["score"].round(5)) <= set(table["score"].round(5))


def test_a_second_stage_without_its_reference_is_refused(engine: Engine, encoder: Path, tmp_path: Path) -> None:
    row = trained(engine, encoder, "m", hubness=0.0, lexical=False, second_stage="on")
    folder = unpacked("m", row, tmp_path / "m")
    (folder / "reference.npz").unlink()
    with pytest.raises(InputError, match=r"lacks reference\.npz"):
        load_matcher(str(folder))


def test_bad_input_is_one_line(engine: Engine, encoder: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no output layer"):
        Matcher.load(encoder)
    folder = unpacked("m", trained(engine, encoder, "m", **SETTINGS["one list"]), tmp_path / "m")
    matcher = Matcher.load(folder)
    with pytest.raises(InputError, match="1 texts and right 2"):
        matcher.score(["a"], ["a", "b"])
    with pytest.raises(InputError, match="not a single text"):
        matcher.probability("a", "b")
    with pytest.raises(InputError, match="exactly one of"):
        matcher.match(["a", "b"])
    (folder / "reference.npz").write_bytes(b"nothing")
    with pytest.raises(InputError, match=r"reference\.npz is damaged"):
        Matcher.load(folder)
    (folder / "reference.npz").unlink()
    with pytest.raises(InputError, match=r"lacks reference\.npz"):
        Matcher.load(folder)
