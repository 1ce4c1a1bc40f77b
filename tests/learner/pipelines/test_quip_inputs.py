"""What QuIP reads, what it refuses before its first stage, and resuming after a stop."""

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from allpairs.db.errors import InputError
from allpairs.db.progress import no_progress
from allpairs.learner.light.catalog.quip import QuipConfig
from allpairs.learner.pipelines.pipeline import Run, pipeline_named, run_stage
from allpairs.learner.pipelines.quip.asked import read_questions
from allpairs.learner.pipelines.quip.inputs import QuipTexts
from allpairs.learner.pipelines.quip.shards import each_shard, read_shards, shard_size
from tests.helpers.files.papers import ALL, NAME, STUDENT, run_of, table, write_files

PAIRS, TAGGED = "dataset,split,x,y,label", "dataset,split,tokens,tags"
CAT = "A dog. A cat."
Rows = list[tuple[Any, ...]]
BOTH: Rows = [("D", "train", "a", "b", 1), ("D", "train", "a", "c", 0)]
WORDS: Rows = [("D", "train", "a", "B-x"), ("D", "test", "a", "O")]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_files(tmp_path_factory.mktemp("quip"))


def stages_of(run: Run, *names: str, progress: Any = no_progress) -> None:
    """Run these stages of the run."""
    for stage in pipeline_named(NAME).stages:
        if stage.name in names:
            run_stage(run, stage, progress)


def test_what_cannot_be_run_is_said(data: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"'no teacher' .* inputs\.questions"):
        run_of(data, tmp_path / "a", {}, variants=["no teacher"])
    with pytest.raises(InputError, match="the file has 'id', 'text'"):
        run_of(data, tmp_path / "b", {"paraphrases": "passages.tsv"})
    with pytest.raises(InputError, match=r"teacher\.max_length is \d+.*passage_length"):
        run_of(data, tmp_path / "c", {}, student=STUDENT | {"passage_length": 60})
    with pytest.raises(InputError, match=r"'Why\?'.*pair of questions"):
        run_of(data, tmp_path / "d", {}, sentiment={"prompts": ["Why?"]})
    run = run_of(data, tmp_path / "e", ALL, student={"backbone": str(data / "bert"), **STUDENT, "passage_length": 38})
    assert run.config.student.passage_length == 38


@pytest.mark.parametrize(
    ("use", "columns", "right", "row", "said"),
    [
        (
            "paraphrases",
            PAIRS,
            BOTH,
            ("D", "test", "a", "b", 2),
            r"row 4, column 'label': '2' is not a label; write 1 or 0",
        ),
        (
            "paraphrases",
            PAIRS,
            BOTH,
            ("D", "test", "a", "b", 0),
            "D needs pairs of both labels in its split test",
        ),
        ("entities", TAGGED, WORDS, ("D", "test", "a b", "O"), r"2 words but 1 tags \('a b'\): give each word one tag"),
        (
            "entities",
            TAGGED,
            WORDS,
            ("D", "train", "a", "PER"),
            "the tag 'PER' is none of O, B-KIND, I-KIND: rename it",
        ),
        ("entities", TAGGED, [], ("D", "train", "a", "O"), "D lacks a split"),
        ("sentiment", "dataset,text,label", [], ("D", "a", "good"), "'good' is not a label; write 1 or 0"),
    ],
)
def test_wrong_rows_are_said_at_the_beginning(
    data: Path, tmp_path: Path, use: str, columns: str, right: Rows, row: tuple[Any, ...], said: str
) -> None:
    table(data / "wrong.tsv", columns, [*right, row])
    with pytest.raises(InputError, match=said):
        run_of(data, tmp_path / "out", {use: "wrong.tsv"})


def test_what_a_backbone_cannot_read_is_said_at_the_beginning(data: Path, tmp_path: Path) -> None:
    student = {"backbone": str(data / "bert"), **STUDENT, "passage_length": 100}
    teacher = {"backbone": str(data / "bert"), "max_length": 200, "question_length": 12}
    with pytest.raises(InputError, match=r"student.passage_length is 100.* 78 tokens"):
        run_of(data, tmp_path / "a", {}, student=student, teacher=teacher)
    with pytest.raises(InputError, match=r"paraphrases.layer is 2.* is 1"):
        run_of(data, tmp_path / "b", {"paraphrases": "pairs.tsv"}, paraphrases={"layer": 2})
    run_of(data, tmp_path / "c", {}, paraphrases={"layer": 2})  # nothing is ranked
    squad(data / "none.json", [])
    with pytest.raises(InputError, match=r"none.json: no question"):
        run_of(data, tmp_path / "d", {"reading": "none.json"})


def squad(path: Path, *answers: list[dict[str, Any]]) -> None:
    """Write a file with one question per argument."""
    qas = [{"question": "Who? ", "answers": one} for one in answers]
    path.write_text(json.dumps({"data": [{"paragraphs": [{"context": CAT, "qas": qas}]}]}), encoding="utf-8")


def test_questions_without_an_answer_are_kept_to_be_counted(data: Path, tmp_path: Path) -> None:
    squad(data / "some.json", [], [{"text": "cat", "answer_start": 9}], [], [{"text": "dog", "answer_start": 2}])
    run = run_of(data, tmp_path / "out", {"reading": "some.json"}, reading=1)
    stages_of(run, "texts")
    assert [one.answered for one in QuipTexts(run).tested] == [True, False, False]


def mrqa(**detected: Any) -> str:
    """Return a file with a header, a blank line and a passage with a question."""
    asked = [{"question": "Who?", "answers": ["Cat"], "qid": "1", "detected_answers": [detected]}]
    return "\n\n".join(map(json.dumps, ({"header": {"dataset": "X"}}, {"context": CAT, "qas": asked})))


def test_the_files_of_questions(tmp_path: Path) -> None:
    squad(tmp_path / "s.json", [{"text": "cat", "answer_start": 9}, {"text": "A cat", "answer_start": 7}])
    one = read_questions(tmp_path / "s.json")[0]
    assert (one.question, one.answers, one.start) == ("Who?", ("cat", "A cat"), 9)
    (tmp_path / "m.jsonl.gz").write_bytes(gzip.compress(mrqa(text="cat", char_spans=[[9, 11]]).encode()))
    one = read_questions(tmp_path / "m.jsonl.gz")[0]
    assert (one.answers, one.start) == (("cat", "Cat"), 9)
    (tmp_path / "bad.jsonl").write_text('{"text": 1}')
    with pytest.raises(InputError, match=r"bad.jsonl: .* MRQA.*KeyError\('qas'"):
        read_questions(tmp_path / "bad.jsonl")
    (tmp_path / "none.json").write_text('{"data": []}')
    with pytest.raises(InputError, match="contains no questions"):
        read_questions(tmp_path / "none.json")


def test_questions_are_read_by_what_is_in_the_file(tmp_path: Path) -> None:
    rows = [{"x": "Who?", "answer": answer, "passage": CAT, "id": 1} for answer in ("cat", "A cat")]
    lines, cells = "\n".join(map(json.dumps, rows)), f"x,answer,passage\nWho?,cat,{CAT}\nWho?,A cat,{CAT}\n"
    for name, text in (("a.jsonl", lines), ("b.csv.gz", cells), ("c.jsonl.gz", lines)):
        path = tmp_path / name
        path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
        (one,) = read_questions(path)
        assert (one.question, one.answers, one.start) == ("Who?", ("cat", "A cat"), 9)
    squad(tmp_path / "s.json", [{"text": "cat", "answer_start": 9}])
    (tmp_path / "s.json.gz").write_bytes(gzip.compress((tmp_path / "s.json").read_bytes()))
    assert read_questions(tmp_path / "s.json.gz") == read_questions(tmp_path / "s.json")


def test_questions_keep_the_name_of_their_data_set(tmp_path: Path) -> None:
    one = mrqa(text="cat", char_spans=[[9, 11]])
    (tmp_path / "joined.jsonl").write_text("\n".join([one, one.replace('"X"', '"DROP"')]))
    (tmp_path / "t.csv").write_text(f"x,answer,passage,dataset\nWho?,cat,{CAT},X\nWho?,cat,{CAT},DROP\n")
    for name in ("joined.jsonl", "t.csv"):
        assert [asked.dataset for asked in read_questions(tmp_path / name)] == ["X", "DROP"]


def test_broken_files_of_questions_are_said_in_a_line(tmp_path: Path) -> None:
    (tmp_path / "spans.jsonl").write_text(mrqa(text="cat", char_spans=[]))
    with pytest.raises(InputError, match=r"spans.jsonl: .* MRQA.*\(IndexError"):
        read_questions(tmp_path / "spans.jsonl")
    whole = gzip.compress(mrqa(text="cat", char_spans=[[9, 11]]).encode())
    (tmp_path / "half.jsonl.gz").write_bytes(whole[:-12])
    with pytest.raises(InputError, match=r"half.jsonl.gz.*is it complete\?"):
        read_questions(tmp_path / "half.jsonl.gz")


def test_prompts_stand_beside_the_known_ones() -> None:
    prompts = QuipConfig.model_validate({"entities": {"prompts": {"PER": "Who ?", "x": "Why ?"}}}).entities.prompts
    assert (prompts["PER"], prompts["x"], prompts["O"]) == ("Who ?", "Why ?", "What is a generic object ?")


def test_prompts_may_be_of_one_data_set() -> None:
    given = {"entities": {"prompts": {"D:PER": "Whose ?"}}, "sentiment": {"prompts": ["A movie ? | movies ?"]}}
    config = QuipConfig.model_validate(given)
    assert [config.entities.prompts_of(name)["PER"] for name in ("D", "E")] == ["Whose ?", "Who is a person ?"]
    assert config.sentiment.prompts_of("CR") == ["A product ? | movies ?"]  # the paper's only change
    assert config.sentiment.prompts_of("MR") == config.sentiment.prompts


def test_shards_tell_their_speed(tmp_path: Path) -> None:
    said: list[str] = []

    def work(part: list[int], number: int, progress: Any) -> dict[str, Any]:
        progress("write", 0.5)
        return {"questions": [0] * len(part), "seconds": 0.5}

    each_shard(tmp_path, [[1, 2], [3]], 2, work, lambda words, done: said.append(words))
    assert said == ["write, shard 1 of 2", "done, shard 1 of 2; 2 questions, 4.0 a second",
                    "write, shard 2 of 2; 2 questions, 4.0 a second",
                    "done, shard 2 of 2; 3 questions, 3.0 a second"]  # fmt: skip


def test_shards_keep_arrays(tmp_path: Path) -> None:
    at = np.arange(6).reshape(2, 3)

    def work(part: str, number: int, progress: Any) -> dict[str, Any]:
        return {"questions": [1, 2], "start": {"at": at, "mass": at.astype(np.float32)}}

    each_shard(tmp_path, ["part"], 1, work, lambda words, share: None)
    [shard] = read_shards(tmp_path)
    assert shard["questions"] == [1, 2] and shard["seconds"] >= 0
    assert np.array_equal(shard["start"]["at"], at) and shard["start"]["mass"].dtype == np.float32


def test_shards_grow_with_the_passages() -> None:
    assert (shard_size(8_000_000, 64), shard_size(3_000, 64)) == (16_000, 64)


def times(folder: Path) -> dict[str, int]:
    """Return the modification time of each complete file, by its path in the folder."""
    files = [path for path in folder.glob("[!.]*") if path.is_file()] + list(folder.glob("[!.]*/*.safetensors"))
    return {str(path.relative_to(folder)): path.stat().st_mtime_ns for path in files}


def test_a_stopped_stage_goes_on_and_leaves_the_same(data: Path, tmp_path: Path) -> None:
    def begun(name: str) -> Run:
        return run_of(
            data, tmp_path / name, {"paraphrases": "pairs.tsv", "sentiment": "opinions.tsv"}, shard=2,
            variants=["unsupervised questions", "concatenated passages"],
            paraphrases={"shots": 3, "seeds": [1], "fine_tune": False},
        )  # fmt: skip

    def stop(words: str, done: float) -> None:
        if done > 0.6:
            raise KeyboardInterrupt

    whole, stopped = begun("whole"), begun("stopped")
    for name in ("texts", "generator", "questions", "teacher", "targets", "student", "variants", "uses"):
        stages_of(whole, name)
        if name in ("questions", "targets", "variants", "uses"):
            with pytest.raises(KeyboardInterrupt):
                stages_of(stopped, name, progress=stop)
            partial = stopped.folder / f".{name}"
            left = times(partial)
            assert left and not stopped.has(name)
            stages_of(stopped, name)
            now = times(stopped.of(name))
            assert {part: now[part] for part in left} == left and len(now) > len(left)
        else:
            stages_of(stopped, name)
    for name in ("questions", "targets"):
        one, other = (list(read_shards(run.of(name))) for run in (whole, stopped))
        assert len(one) == 3
        for mine, theirs in zip(one, other, strict=True):
            np.testing.assert_equal(mine | {"seconds": 0}, theirs | {"seconds": 0})
    for path in whole.of("variants").glob("*/*.safetensors"):
        weights, again = load_file(path), load_file(stopped.of("variants") / path.parent.name / path.name)
        assert all(torch.equal(again[name], values) for name, values in weights.items())
    figures = {path.name: path.read_text() for path in whole.of("uses").glob("*.jsonl")}
    assert len(figures) == 8 and figures == {path.name: path.read_text() for path in stopped.of("uses").glob("*.jsonl")}
