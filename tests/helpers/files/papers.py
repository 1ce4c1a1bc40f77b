"""Data and configurations for tests of the papers' pipelines."""

from pathlib import Path
from typing import Any

from allpairs.learner.pipelines.pipeline import Run, begin
from allpairs.learner.pipelines.spec import make_spec
from tests.helpers.tiny_backbones import tiny_backbone

NAME = "quip"
PLACES = ("Rome", "Paris", "Berlin", "Vienna", "Madrid", "Oslo")
PASSAGES = [
    f"The fair of {place} begins in May 19{i}2. It costs 1{i} dollars and is good." for i, place in enumerate(PLACES)
]
ASKED = [(f"where is the fair of 19{i}2 ?", place, PASSAGES[i]) for i, place in enumerate(PLACES)]
ASKED += [(f"what does {place} cost ?", f"1{i} dollars", PASSAGES[i]) for i, place in enumerate(PLACES)]
OPINIONS = [("so good and fair", 1), ("it costs dollars", 0), ("good it is", 1), ("in May it costs", 0)] * 2
STUDENT = {"passage_length": 40, "question_length": 12, "window_step": 30, "batch_size": 3, "epochs": 1}
WRITER = {"steps": 60, "batch_size": 6, "each": 2, "learning_rate": 1e-2, "decoder_layers": 1, "decoder_rate": 1,
          "source_length": 64, "target_length": 10}  # fmt: skip
PROMPTS = ["Why is it good? | Why is it bad?", "What is good? | What is bad?"]
VARIANTS = ["no question generation", "teacher", "no teacher", "cross-encoder student", "unsupervised questions",
            "concatenated passages", "hard labels", "two-stage beam", "gold answers"]  # fmt: skip


def table(path: Path, columns: str, rows: list[tuple[Any, ...]]) -> None:
    path.write_text(
        "\n".join(["\t".join(columns.split(",")), *("\t".join(map(str, row)) for row in rows)]), encoding="utf-8"
    )


def write_files(folder: Path) -> Path:
    """Write a tiny backbone and a file for every input to the folder, and return it."""
    words = ["who what when how many is a an the object entity location person why movie bad product | ? BLANK"]
    tiny_backbone(folder, "bert", [*PASSAGES, *(q for q, *_ in ASKED), *words])
    table(folder / "passages.tsv", "id,text", [(f"p{i}", text) for i, text in enumerate(PASSAGES)])
    table(folder / "asked.tsv", "x,answer,passage", ASKED)
    pairs = [(PASSAGES[i], PASSAGES[j], int(i == j)) for i in range(6) for j in (i, (i + 1) % 6)]
    table(folder / "pairs.tsv", "dataset,split,x,y,label",
          [("MRPC", part, *pair) for part in ("train", "test") for pair in pairs])  # fmt: skip
    sentences = [(f"The fair of {place} begins", "O O O B-LOC O") for place in PLACES]
    table(folder / "tagged.tsv", "dataset,split,tokens,tags",
          [("CoNLL", part, *row) for part in ("train", "test") for row in sentences])  # fmt: skip
    table(folder / "opinions.tsv", "dataset,text,label", [("SST-2", *row) for row in OPINIONS])
    return folder


def quip_config(data: Path, inputs: dict[str, str], **config: Any) -> dict[str, Any]:
    backbone = {"backbone": str(data / "bert")}
    return {
        "inputs": {"passages": "passages.tsv"} | inputs,
        "shard": 4,
        "generator": backbone | WRITER,
        "teacher": backbone | {"steps": 2, "batch_size": 4, "max_length": 64, "question_length": 12, "stride": 8},
        "student": backbone | STUDENT,
        "paraphrases": {"layer": 1, "shots": 3, "seeds": [1, 2], "epochs": 1},
        "entities": {"shots": 2, "seeds": [0], "epochs": 1},
        "sentiment": {"prompts": PROMPTS, "words": ["the"]},
    } | config  # fmt: skip


def run_of(data: Path, out: Path, inputs: dict[str, str], **config: Any) -> Run:
    return begin(NAME, out, *make_spec(NAME, quip_config(data, inputs, **config), data / "x.toml"))


ALL = {"questions": "asked.tsv", "reading": "asked.tsv", "paraphrases": "pairs.tsv", "entities": "tagged.tsv",
       "sentiment": "opinions.tsv"}  # fmt: skip


THINGS = [f"{colour} {thing}" for colour in ("red", "blue", "green", "black") for thing in ("cat", "dog", "hen", "owl", "fox")]  # fmt: skip  # noqa: E501

PAIRS = [(f"what is the {thing}", f"the {thing} is an animal here") for thing in THINGS]


def back_training_config(data: Path, inputs: dict[str, str], **config: Any) -> dict[str, Any]:
    files = {"source_pairs": "source.csv", "questions": "questions.tsv", "passages": "passages.csv",
             "dev_pairs": "dev.tsv", "test_pairs": "test.tsv", "test_passages": "search.tsv"}  # fmt: skip
    generator = {"backbone": str(data / "bert"), "decoder_layers": 1, "steps": 6, "batch_size": 4, "beams": 2,
                 "learning_rate": 5e-3, "decoder_rate": 1, "source_length": 32, "target_length": 8}  # fmt: skip
    retriever = {"backbone": str(data / "tiny"), "steps": 6, "batch_size": 4, "learning_rate": 2e-3}
    adaptation = {"generator_epochs": 1, "retriever_epochs": 1, "generator_rate": 1e-3, "retriever_rate": 1e-3}
    return {"inputs": files | inputs, "generator": generator, "retriever": retriever, "adaptation": adaptation,
            "lists": {"negatives": 3}, "wanted": 3} | config  # fmt: skip
