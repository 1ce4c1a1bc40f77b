"""Experiments in TOML: what is read, what is refused and how, and the resulting cells."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from allpairs.db.errors import InputError
from allpairs.learner.experiment.spec import cells_of, files_digest, make_experiment, read_experiment
from tests.helpers.machine import ROOT

Values = dict[str, Any]


@pytest.fixture
def values(tmp_path: Path) -> Values:
    """Return a valid experiment on files in the temporary folder."""
    for name in ("left.csv", "gold.csv"):
        (tmp_path / name).write_text("id,text\n1,a\n")
    rows = [
        {"name": "plain", "strategy": "uncertainty"},
        {"name": "matched", "strategy": "stratified-match"},
        {"name": "warm", "strategy": "uncertainty", "settings": {"warm_start": True}, "rounds": 2},
        {"name": "reader", "kind": "concat", "labels": "warm", "settings": {"epochs": 3}},
    ]
    files = {"left": "left.csv", "gold": "gold.csv"}
    return {
        "name": "x",
        "seeds": [0, 7],
        "rounds": 3,
        "settings": {"first": 30},
        "rows": rows,
        "datasets": {"d": files},
    }


def test_a_file_is_read_with_paths_relative_to_it(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "l.csv").write_text("id,text\n1,a\n")
    (tmp_path / "e.toml").write_text(
        'name = "x"\n[datasets.d]\nleft = "data/l.csv"\ngold = "data/l.csv"\n'
        '[[rows]]\nname = "r"\nstrategy = "random"\nsettings = { epochs = 5 }\n'
    )
    found = read_experiment(tmp_path / "e.toml")
    assert found.datasets["d"].left == folder / "l.csv"
    assert (found.seeds, found.rounds, found.rows[0].settings) == ([0], 4, {"epochs": 5})


def test_every_row_has_a_cell_for_every_seed_after_its_needs(values: Values, tmp_path: Path) -> None:
    cells = cells_of(make_experiment(values, tmp_path))
    rows = ["plain", "matched", "warm", "reader"]
    assert [(cell.row, cell.seed) for cell in cells] == [(row, seed) for seed in (0, 7) for row in rows]
    plain, matched, warm, reader = cells[4:]
    assert (plain.settings.strategy, plain.settings.first, plain.settings.seed, plain.rounds) == (
        "uncertainty",
        30,
        7,
        3,
    )
    assert (warm.settings.warm_start, plain.settings.warm_start, warm.rounds) == (True, False, 2)
    assert (matched.source, reader.source, plain.source) == (plain, warm, None)
    assert reader.concat is not None
    assert (reader.concat.settings.epochs, reader.concat.settings.seed, reader.settings.epochs) == (3, 7, 2)
    assert str(warm.folder) == "runs/d/warm/seed-7"


def test_what_a_matched_row_matches_can_be_named(values: Values, tmp_path: Path) -> None:
    values["rows"][1] |= {"labels": "plain"}
    assert cells_of(make_experiment(values, tmp_path))[1].source is not None


def test_the_data_are_known_by_their_contents(values: Values, tmp_path: Path) -> None:
    files = make_experiment(values, tmp_path).datasets["d"]
    before = files_digest(files)
    (tmp_path / "copy.csv").write_bytes((tmp_path / "left.csv").read_bytes())
    assert files_digest(files.model_copy(update={"left": tmp_path / "copy.csv"})) == before
    assert files_digest(files.model_copy(update={"test_fraction": 0.4})) != before
    assert files_digest(files.model_copy(update={"paper": "qqp", "part": "dev"})) == before
    (tmp_path / "gold.csv").write_text("id1,id2\n1,2\n")
    assert files_digest(files) != before


def change_row(place: int, **values: Any) -> Callable[[Values], None]:
    return lambda whole: whole["rows"][place].update(values)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (change_row(0, strategy="best"), "row 'plain': strategy 'best' is not known; use one of uncertainty"),
        (change_row(0, name="warm"), "row 'warm'"),
        (change_row(0, name="a/b"), "rows.0.name: string should match"),
        (change_row(0, settings={"frist": 3}), "row 'plain': settings: frist: there is no such key; did you mean fi"),
        (change_row(0, settings={"epochs": 0}), "row 'plain': settings: epochs: input should be greater than or equal"),
        (change_row(0, settings={"seed": 3}), "row 'plain': seed"),
        (change_row(0, strategy="random"), "row 'matched'"),
        (change_row(3, labels="later"), "row 'reader' uses the labels of 'later'"),
        (change_row(3, labels=None), "row 'reader' has kind concat"),
        (change_row(3, settings={"neighbours": 3}), "row 'reader': settings: neighbours: there is no such key"),
        (lambda whole: whole.update(seeds=[1, 1]), "seed '1'"),
        (lambda whole: whole.update(seeds=[]), "seeds: list should have at least 1 item"),
        (lambda whole: whole.update(baseline="none"), "baseline 'none' is not a row"),
        (lambda whole: whole.pop("datasets"), "datasets: field required"),
        (lambda whole: whole["datasets"]["d"].update(spilt="s.csv"), "datasets.d.spilt: there is no such key; did you"),
        (lambda whole: whole["datasets"]["d"].update(left="gone.csv"), "there is no file "),
        (lambda whole: whole.update(round=3), "round: there is no such key; did you mean rounds?"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_in_a_line(
    values: Values, tmp_path: Path, spoil: Callable[[Values], object], message: str
) -> None:
    spoil(values)
    with pytest.raises(InputError) as refused:
        make_experiment(values, tmp_path)
    assert str(refused.value).startswith(message)
    assert "\n" not in str(refused.value)


def test_a_file_that_is_no_toml_is_named(tmp_path: Path) -> None:
    (tmp_path / "e.toml").write_text("name = ")
    with pytest.raises(InputError, match=r"e\.toml .* TOML:"):
        read_experiment(tmp_path / "e.toml")
    with pytest.raises(InputError, match=r"gone\.toml cannot be read"):
        read_experiment(tmp_path / "gone.toml")


@pytest.mark.parametrize("example", sorted((ROOT / "docs" / "examples").glob("*.toml")), ids=lambda path: path.stem)
def test_the_examples_can_be_read(example: Path, tmp_path: Path) -> None:
    copy = tmp_path / "docs" / "examples" / example.name
    copy.parent.mkdir(parents=True)
    copy.write_text(example.read_text(encoding="utf-8"))
    for path in re.findall(r'= "(\.\./.*)"', example.read_text(encoding="utf-8")):
        (copy.parent / path).resolve().parent.mkdir(parents=True, exist_ok=True)
        (copy.parent / path).write_text("id,text\n1,a\n")
    assert len(cells_of(read_experiment(copy))) >= 18
