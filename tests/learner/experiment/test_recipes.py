"""The paper's recipes from end to end: released files, tiny models of the named architectures, rows and report."""

import json
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from allpairs.learner.experiment.paper import ALBERT, BERT, ROBERTA, XLNET
from tests.helpers.files.released_files import write_quora, write_wikiqa
from tests.helpers.services.commands import learn
from tests.helpers.tiny_backbones import tiny_backbone

EXAMPLES = Path(__file__).parents[3] / "docs" / "examples"
ARCHITECTURES = {BERT: "bert", XLNET: "xlnet", ROBERTA: "roberta", ALBERT: "albert"}
TOPICS = 36
FEWER = {"2048": "16", "257421": "60", "20360": "60", "249250": "40", "neighbours = 1000": "neighbours = 20",
         "seeds = [0, 1, 2]": "seeds = [0]", "rounds = 10": "rounds = 2", "rounds = 4": "rounds = 2",
         "10000000": "200"}  # fmt: skip


def texts_of(topic: int) -> list[str]:
    rng = np.random.default_rng(topic)
    return [f"topic{topic} " + " ".join(rng.choice([f"word{k}" for k in range(9)], 3)) for _ in range(4)]


def write_qqp(folder: Path) -> Path:
    """Write questions of which those of a topic are duplicates, and stated negatives between neighbouring topics."""
    texts = {f"{topic}{at}": text for topic in range(10, 10 + TOPICS) for at, text in enumerate(texts_of(topic))}
    pairs = [(one, other, 1) for one, other in combinations(texts, 2) if one[:-1] == other[:-1]]
    pairs += [(f"{topic}0", f"{topic + 1}1", 0) for topic in range(10, 9 + TOPICS, 2)]
    return write_quora(folder / "quora_duplicate_questions.tsv", pairs, texts)


def write_answers(folder: Path) -> Path:
    """Write questions with one right sentence each and three wrong ones, a third of them in each part."""
    parts = {
        part: [
            (f"Q{topic}", f"which {texts[0]}", f"Title {topic}", text, int(at == 0))
            for topic in range(first, TOPICS, 3)
            for texts in [texts_of(topic)]
            for at, text in enumerate(texts)
        ]
        for first, part in enumerate(("train", "dev", "test"))
    }
    return write_wikiqa(folder, parts)


def table(folder: Path, number: int) -> list[dict[str, Any]]:
    content = (folder / "experiment" / "tables" / f"table{number}.json").read_text()
    rows: list[dict[str, Any]] = json.loads(content)["rows"]
    return rows


@pytest.mark.slow
@pytest.mark.parametrize(("name", "write"), [("qqp", write_qqp), ("wikiqa", write_answers)])
def test_a_recipe_runs_to_its_end(name: str, write: Callable[[Path], Path], tmp_path: Path) -> None:
    (tmp_path / "released").mkdir()
    data = tmp_path / "out" / name
    more = ["--titles", "always"] if name == "wikiqa" else []
    assert learn("dataset", name, write(tmp_path / "released"), "--out", data, *more).code == 0
    words = [text for topic in range(10 + TOPICS) for text in [*texts_of(topic), f"which Title {topic} ."]]
    recipe = (EXAMPLES / f"paper-{name}.toml").read_text()
    for old, new in FEWER.items():
        recipe = recipe.replace(old, new)
    for model, architecture in ARCHITECTURES.items():
        recipe = recipe.replace(f'"{model}"', f'"{tiny_backbone(tmp_path, architecture, words)}"')
    file = tmp_path / "docs" / "examples" / "recipe.toml"
    file.parent.mkdir(parents=True)
    file.write_text(recipe)
    run = learn("experiment", file, "--out", tmp_path / "experiment", "--workers", 2)
    assert run.code == 0, run.err
    tables = {path.stem for path in (tmp_path / "experiment" / "tables").glob("*.json")}
    expected = {f"table{number}" for number in (1, 2, 3, 4, 5, 6)} | {"comparison", "conditions", "labels"}
    assert tables == expected
    names = [f"concat {which} stated" for which in ("BERT", "XLNet", "RoBERTa", "ALBERT")]
    assert [row["row"] for row in table(tmp_path, 2)] == names
    assert all(row["average_precision_sample_low"] <= row["average_precision"] for row in table(tmp_path, 2))
    assert [row["marks"] for row in table(tmp_path, 3)] == ["E L P"] * 5
    assert [row["row"] for row in table(tmp_path, 1)] == ["train", "dev", "test"]
    assert all(row["near_negatives"] > 0 for row in table(tmp_path, 1)[1:])
    assert {path.name for path in (tmp_path / "experiment" / "figures").glob("*.png")} >= {
        f"figure3-{name}.png", f"figure4-{name}.png",
    }  # fmt: skip
