"""SQuAD and XSum as few-shot mining reads them, and the paper's two recipes on them, with tiny BARTs."""

import csv
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from allpairs.db.errors import InputError
from allpairs.learner.published import FEW_SHOT
from allpairs.learner.published.few_shot import READERS, write_few_shot
from allpairs.learner.published.released import Options
from tests.helpers.files.released_files import write_squad, write_xsum
from tests.helpers.machine import ROOT
from tests.helpers.services.commands import learn
from tests.helpers.tiny_backbones import tiny_backbone

EXAMPLES = ROOT / "docs" / "examples" / "pipelines"
PLACES = [f"Town{number}" for number in range(210)]
ASKED = [(f"where is fair {place} held", f"The fair of {place} began in May 1952.", [place]) for place in PLACES]
NEWS = [(f"The fair of {place} began. It cost much. Many came. It rained.", f"{place} has a fair.") for place in PLACES]


def squad(folder: Path) -> Path:
    folder.mkdir()
    test = [(question, passage, [*answers, "May 1952"]) for question, passage, answers in ASKED[205:]]
    return write_squad(folder, {"train-v1.1.json": ASKED[:205], "dev-v1.1.json": test})


def xsum(folder: Path) -> Path:
    return write_xsum(folder, {"train": NEWS[:106], "validation": NEWS[106:206], "test": NEWS[206:]})


def table(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_the_command_knows_every_reader() -> None:
    assert set(FEW_SHOT) == set(READERS)


def test_squads_questions_are_drawn_once(tmp_path: Path) -> None:
    counts = write_few_shot("squad", squad(tmp_path / "squad"), tmp_path / "out", Options())
    assert counts == {"seed.csv": 100, "dev.csv": 100, "test.csv": 10, "questions.csv": 5, "passages.csv": 205,
                      "gold.csv": 5}  # fmt: skip
    found = {name: table(tmp_path / "out" / name) for name in counts}
    asked = [row["x"] for name in ("seed.csv", "dev.csv") for row in found[name]]
    asked += [row["text"] for row in found["questions.csv"]]
    assert sorted(asked) == sorted(question for question, *_ in ASKED[:205])
    passages, questions = ({row["id"]: row["text"] for row in found[one]} for one in ("passages.csv", "questions.csv"))
    known = {(questions[row["id1"]], passages[row["id2"]], row["answer"]) for row in found["gold.csv"]}
    assert known <= {(question, passage, answers[0]) for question, passage, answers in ASKED} and len(known) == 5
    assert [row["answer"] for row in found["test.csv"]][:2] == [PLACES[205], "May 1952"]


def test_xsums_first_sentences_are_among_all_sentences(tmp_path: Path) -> None:
    counts = write_few_shot("xsum", xsum(tmp_path / "xsum"), tmp_path / "out", Options())
    assert counts == {"seed.csv": 100, "dev.csv": 100, "test.csv": 4, "documents.csv": 6, "sentences.csv": 30,
                      "gold.csv": 6}  # fmt: skip
    documents, lines = ({row["id"]: row["text"] for row in table(tmp_path / "out" / f"{name}.csv")}
                        for name in ("documents", "sentences"))  # fmt: skip
    pairs = {(documents[row["id1"]], lines[row["id2"]]) for row in table(tmp_path / "out" / "gold.csv")}
    assert pairs <= set(NEWS) and len(pairs) == 6
    for part, articles in (("train", NEWS[:106]), ("validation", NEWS[106:206]), ("test", NEWS[206:])):
        text = "".join(json.dumps({"id": "1", "document": one, "summary": other}) + "\n" for one, other in articles)
        (tmp_path / f"{part}.jsonl").write_text(text)
    assert write_few_shot("xsum", tmp_path, tmp_path / "again", Options()) == counts


@pytest.mark.parametrize(
    ("name", "what"), [("squad", r"no train-v1\.1\.json"), ("xsum", r"neither XSum-TRAINING.* nor train\.jsonl")]
)
def test_an_empty_folder_is_refused(tmp_path: Path, name: str, what: str) -> None:
    with pytest.raises(InputError, match=what):
        write_few_shot(name, tmp_path, tmp_path / "out", Options())
    assert not (tmp_path / "out").exists()


FEWER = {
    '"en_core_web_sm"': '"patterns"', "5e-6, 1e-5, 2e-5, 3e-5, 4e-5, 5e-5": "1e-5, 1e-3", "50, 100, 250, 500": "2",
    "seeds = 3": "seeds = 1",
}  # fmt: skip
PARTS = """
[biencoder]
backbone = "{bart}"
steps = 2
max_length = 64
[classifier]
fraction = 1.0
threshold = 0.0
[crossencoder]
backbone = "{bart}"
steps = 2
max_length = 64
[reader]
backbone = "{bart}"
steps = 1
max_length = 72
stride = 8
question_length = 24
[generator]
backbone = "{bart}"
steps = 1
source_length = 40
target_length = 8
"""


@pytest.mark.slow
@pytest.mark.parametrize(("name", "write", "measure"), [("squad", squad, "token_f1"), ("xsum", xsum, "rougeL")])
def test_a_recipe_runs_to_its_end(tmp_path: Path, name: str, write: Callable[[Path], Path], measure: str) -> None:
    made = learn("dataset", name, write(tmp_path / "released"), "--out", tmp_path / "out" / name)
    assert made.code == 0 and "seed.csv" in made.out
    bart = tiny_backbone(tmp_path, "bart", [text for one, other, _ in ASKED for text in (one, other)])
    recipe = (EXAMPLES / f"mining-paper-{name}.toml").read_text()
    for old, new in FEWER.items():
        recipe = recipe.replace(old, new)
    file = tmp_path / "docs" / "examples" / "pipelines" / "recipe.toml"
    file.parent.mkdir(parents=True)
    file.write_text((recipe + PARTS).replace("{bart}", str(bart)))
    run = learn("pipeline", "few-shot-mining", "--config", file, "--out", tmp_path / "run")
    assert run.code == 0, run.err
    rows = json.loads((tmp_path / "run" / "results" / "tables" / "downstream.json").read_text())["rows"]
    methods = {row["method"] for row in rows}
    mined = {"bi-encoder", "full"} if name == "squad" else set()  # a tiny BART finds a document's own sentences
    assert methods >= {"seed only", "gold"} | mined and all(0 <= row[measure] <= 1 for row in rows)
    looks = json.loads((tmp_path / "run" / "biencoder" / "development.json").read_text())
    assert {look["learning_rate"] for look in looks} == {1e-5, 1e-3}
