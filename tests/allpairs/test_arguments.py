"""Every public function says in an InputError which argument is wrong, whatever is given, and does nothing."""

import inspect
import pickle
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import allpairs
from allpairs import Client, InputError, Matcher, RemoteProject, clean, draw_audit, evaluate, evaluate_groups, simulate
from allpairs.arguments import CHECKS, pairs_or_file
from allpairs.arguments import texts as any_texts
from allpairs.db.corpus.corpus import GoldPair
from allpairs.db.corpus.text_columns import TextColumns
from allpairs.db.domain import FieldKind, Side
from allpairs.learner.models.encoder import load_encoder
from allpairs.learner.models.output_layer import OutputLayer
from allpairs.learner.scoring.matcher import PairModel, save_matcher
from allpairs.tables import read_corpus
from tests.helpers.projects.rounds import texts
from tests.helpers.tiny import tiny_encoder

COUNT = 40
TEXTS = texts(COUNT)
CURVE = {"score": [-1.0, 0.5], "precision": [0.5, 1.0], "recall": [1.0, 0.5]}


class Anything:
    """An object of somebody else's."""


# What is neither a text, a number, a list nor a path.
ALWAYS_WRONG = (Anything(), 1j, b"bytes", Decimal("NaN"))
NO_TEXTS = (
    *ALWAYS_WRONG, "one text", 7, {"a": "b"}, {"a set"}, ["a", None], ["a", float("nan")], [pd.NA], [1, 2], [b"a"],
    [{"id": 1, "text": "a"}], [("a", "b")], range(2), np.array([["a", "b"]]), np.array("a"),
    ["half \ud83d"], ["nul \0"], ["a", ""], ["a", "\u200b\xad"],
    pd.DataFrame({"text": ["a", None]}), pd.DataFrame({"words": ["a"]}), pd.DataFrame({"text": [["a"]]}),
    pd.DataFrame([["a", "b"]], columns=["text", "text"]), pa.table({"words": ["a"]}), str,
)  # fmt: skip
NO_NUMBER = (*ALWAYS_WRONG, "3", [3], float("nan"), float("inf"), True)
NO_WHOLE_NUMBER = (*NO_NUMBER, -1, 1.5, 2.0, 10**30, np.float64(2), None)
NO_PATH = (*ALWAYS_WRONG, 3, None, "", "a\0b", ["a"])
NO_FLAG = (*ALWAYS_WRONG, "no", 2, None, ["a"])
NO_PAIRS = (
    *ALWAYS_WRONG, 3, {0: 1}, [(0,)], [(0, 1, 1, 1)], [None], [(0, None)], [0, 1], ["ab"], [(0, float("nan"))],
    [(0, [1])], [(0, 999)], [(0, -2)], [(0, 1, "perhaps")], [], pd.DataFrame({"id1": [0]}),
)  # fmt: skip


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_encoder(tmp_path_factory.mktemp("encoder"), TEXTS)


@pytest.fixture(scope="module")
def matcher(encoder: Path) -> Matcher:
    return Matcher(PairModel(load_encoder(str(encoder)), OutputLayer(5.0, -2.0), curve=CURVE), "m")


@pytest.fixture
def calls(matcher: Matcher, encoder: Path, tmp_path: Path) -> dict[Callable[..., Any], dict[str, Any]]:
    """Return every public function with arguments that are right."""
    project = RemoteProject(Client("http://localhost:1"), 1, "Questions")
    gold = [(0, 1), (2, 3)]
    return {
        Matcher.load: {"path": "no-such-folder", "device": None},
        matcher.score: {"left": ["a"], "right": ["b"]},
        matcher.probability: {"left": ["a"], "right": ["b"]},
        matcher.search: {"texts": ["a", "b"], "k": 1, "among": None},
        matcher.match: {"left": ["a", "b"], "right": None, "threshold": None, "precision": None, "top": 1},
        evaluate: {"matcher": encoder, "left": TEXTS, "right": None, "gold": gold, "audit": None, "seed": 0},
        clean: {
            "rows": TEXTS, "model": matcher, "keep": "first", "columns": None, "text_columns": None, "id_column": None,
            "newest_by": None, "sources": None, "threshold": None,
        },
        draw_audit: {"matcher": encoder, "left": TEXTS, "right": None, "pairs": 100, "seed": 0},
        simulate: {
            "left": TEXTS, "right": None, "gold": gold, "out": tmp_path / "out", "rounds": 1, "test_fraction": 0.5,
            "seed": 0,
        },
        evaluate_groups: {"found": [1, 1], "true": [1, 2], "second": None, "by": "", "name": None},
        Client: {"url": "http://localhost:1", "token": "", "timeout": 1.0},
        project.client.project: {"name": "Questions"},
        project.client.call: {"method": "GET", "path": "/projects", "body": None},
        project.tasks: {"n": 1, "audit_batch": False},
        project.answer: {"answers": {1: "positive"}},
        project.change_texts: {"texts": {"a": "b"}, "side": "left", "dry_run": True},
        project.withdraw_texts: {"ids": ["a"], "side": "left", "dry_run": True},
        project.labels: {"after": 0},
        project.group_changes: {"after": 0},
        project.verdicts: {"after": 0},
        project.job: {"job_id": "1"},
        project.cancel: {"job_id": "1"},
        project.match: {"texts": ["a"], "k": 1, "side": "left", "why": False},
        project.publish: {"number": None, "note": "", "shadow": False},
        project.end_publication: {"note": "", "shadow": False},
        project.set_rater: {"name": "a"},
        project.run_rater: {"pairs": 1, "dry_run": True, "purpose": "labels"},
    }  # fmt: skip


A_TABLE = pd.DataFrame({"name": ["a"]})  # a list of its column names is not meant
NO_ONE_TEXT = (*ALWAYS_WRONG, 3, ["a"], None)
WRONG: dict[str, tuple[Any, ...]] = {
    **dict.fromkeys(("k", "n", "rounds", "pairs", "seed", "after"), NO_WHOLE_NUMBER),
    **dict.fromkeys(("top", "number"), (*NO_NUMBER, -1, 2.0)),
    **dict.fromkeys(("threshold", "precision", "test_fraction"), (*NO_NUMBER, -(2**2000))),
    **dict.fromkeys(("path", "out", "matcher"), NO_PATH),
    **dict.fromkeys(("audit_batch", "dry_run", "why", "shadow"), (*NO_FLAG, 1)),
    **dict.fromkeys(("url", "token", "name", "method", "job_id", "side", "note", "purpose"), NO_ONE_TEXT),
    "device": (*ALWAYS_WRONG, 3, "cuda:99", "gpu", "meta"),
    "timeout": (*NO_NUMBER, 0, -1, None),
    "ids": (*NO_ONE_TEXT[:-2], A_TABLE, "a", {"a": "b"}, [1], [None]),
    "answers": (*ALWAYS_WRONG, [1], {"a": "positive"}, {1: None}, {1.5: "positive"}),
    "body": ({"a": Anything()}, {"a": float("nan")}, {"a": b"bytes"}),
    "gold": NO_PAIRS,
    "audit": (*NO_PAIRS, [(0, 1)]),
}
NO_COLUMN = (*ALWAYS_WRONG, 3, ["text"], "venue")
NO_GROUPS = (*ALWAYS_WRONG, A_TABLE, "ab", 3, {1: 2}, [[1], [2]], [1], [{}, {}])
ELSEWHERE: dict[str, dict[str, tuple[Any, ...]]] = {
    "clean": {
        "rows": (*ALWAYS_WRONG, "one text", 7, {"a": "b"}, ["a", None], [1, 2], [b"a"], ["half \ud83d"], ["nul \0"]),
        "model": (*ALWAYS_WRONG, 3, "", "a\0b", ["a"]), "keep": (*NO_ONE_TEXT, "loudest"),
        "columns": (*ALWAYS_WRONG, "ab", ["a"], {"text": 1}, {"text": "loudest"}, {"venue": "first"}),
        "text_columns": (*ALWAYS_WRONG, "ab", 3, [1], ["venue"]), "id_column": NO_COLUMN, "newest_by": NO_COLUMN,
        "sources": (*ALWAYS_WRONG, "ab", 3, {"text": "ab"}, {"text": [1]}, {"venue": ["a"]}, {}),
        "threshold": NO_NUMBER,
    },
    "evaluate_groups": {
        "found": NO_GROUPS, "true": NO_GROUPS, "by": (*NO_GROUPS[:-4], "venue", [1]),
        "second": (*ALWAYS_WRONG, "ab", ["left", "right"], [None, None], [True], [2, 2]),
        "name": (*ALWAYS_WRONG, "ab", [1, 2], ["a"]),
    },
    "change_texts": {"texts": (*ALWAYS_WRONG, ["a"], {1: "a"}, {"a": 1}, {"a": {"b": 1}}, None)},
    "RemoteProject.match": {"texts": (*ALWAYS_WRONG, A_TABLE, "a", 3, [1], [None], [{"a": 1}], {"a": "b"})},
    "Client.call": {"path": NO_ONE_TEXT},
}  # fmt: skip


def wrong_values(function: Callable[..., Any], argument: str) -> Iterator[Any]:
    rows = [row for name, row in ELSEWHERE.items() if function.__qualname__.endswith(name)]
    yield from next((row[argument] for row in rows if argument in row), WRONG.get(argument, NO_TEXTS))


def test_every_public_function_refuses_whatever_is_wrong(
    calls: dict[Callable[..., Any], dict[str, Any]], tmp_path: Path
) -> None:
    passed: list[tuple[Any, ...]] = []
    for function, arguments in calls.items():
        for argument in arguments:
            for value in wrong_values(function, argument):
                given = {**arguments, argument: value}
                if argument in ("threshold", "precision") and "top" in arguments:
                    given["top"] = None
                if argument == "audit":
                    given["gold"] = None
                try:
                    list(function(**given) or ())
                    passed.append((function.__qualname__, argument, value, "no error"))
                except InputError as error:
                    if "\n" in str(error):
                        passed.append((function.__qualname__, argument, value, error))
                except Exception as error:
                    passed.append((function.__qualname__, argument, value, repr(error)))
    assert not passed, "\n".join(map(str, passed))
    assert list(tmp_path.iterdir()) == []


def test_every_argument_of_every_public_function_is_checked(calls: dict[Callable[..., Any], dict[str, Any]]) -> None:
    owners = [
        getattr(allpairs, name) for name in allpairs.__all__ if name not in ("ApiError", "Estimate", "InputError")
    ]
    functions = {owner for owner in owners if inspect.isfunction(owner)} | {
        member
        for owner in owners
        if inspect.isclass(owner)
        for name, member in inspect.getmembers(owner, callable)
        if not name.startswith("_") and owner.__module__ == getattr(member, "__module__", "")
    }
    for function in functions:
        names = {
            name for name, parameter in inspect.signature(function).parameters.items()
            if name not in ("self", "body") and parameter.kind is not parameter.VAR_KEYWORD
        }  # fmt: skip
        assert names == getattr(function, CHECKS, frozenset()), function.__qualname__
    tried = {getattr(function, "__qualname__", "") for function in calls}
    assert {function.__qualname__ for function in functions if getattr(function, CHECKS, None)} <= tried


def test_texts_come_in_any_list(matcher: Matcher, tmp_path: Path) -> None:
    for same in (
        tuple(TEXTS), iter(TEXTS), (text for text in TEXTS), np.array(TEXTS), np.array(TEXTS, dtype=object),
        pd.Series(TEXTS, index=range(COUNT, 0, -1)), pd.Index(TEXTS), pd.Series(TEXTS, dtype="category"),
        pa.array(TEXTS), pa.chunked_array([TEXTS]),
    ):  # fmt: skip
        assert any_texts(same, "left") == TEXTS, type(same)
    hostile = ["one\rtwo", "three\r\n\nfour", '"a", b', "'-ing", "=1+1", "x \u2028 ß"]
    for same in (hostile, pd.DataFrame({"id": range(6), "text": hostile})):
        assert [item.text for item in read_corpus(same, None, None, tmp_path).items] == hostile
    with pytest.raises(InputError, match="two columns of one name"):
        any_texts(pa.table([pa.array(TEXTS), pa.array(TEXTS)], names=["text", "text"]), "left")
    (tmp_path / "left.jsonl").write_text('{"id": "a", "text": ""}\n')
    with pytest.raises(InputError, match=r"left\.jsonl, row 1"):  # that file is the caller's
        evaluate(matcher, tmp_path / "left.jsonl", gold=[(0, 1)])
    table = pa.table({"text": TEXTS, "more": [1] * COUNT})
    used = iter(TEXTS)
    assert matcher.match(table, top=5).equals(matcher.match(used, top=5))
    with pytest.raises(InputError, match=r"left is .* yields nothing"):
        matcher.match(used, top=5)


def test_pairs_and_ids_come_in_any_list(encoder: Path, tmp_path: Path) -> None:
    def gold_of(pairs: Any, left: Any = TEXTS) -> list[GoldPair]:
        return read_corpus(any_texts(left, "left"), None, pairs_or_file(pairs, "gold"), tmp_path).gold

    gold = [(0, 1), (2, 3)]
    expected = gold_of(gold)
    frame = pd.DataFrame(gold, columns=["id1", "id2"])
    for same in (set(gold), iter(gold), np.array(gold), np.array(gold, float), [(*pair, 1) for pair in gold], frame,
                 frame.astype(float), frame.assign(label=1.0), pa.table(frame), [("0", "1"), ("2", "3")]):  # fmt: skip
        assert gold_of(same) == expected, type(same)
    table = pd.DataFrame({"id": range(COUNT), "text": TEXTS})
    assert gold_of(gold, table.astype({"id": float})) == gold_of(gold, pa.table(table)) == expected
    with pytest.raises(InputError, match=r"left\[1\], column 'text'"):
        evaluate(encoder, table.assign(text=[TEXTS[0], None, *TEXTS[2:]]), gold=gold)


def test_what_is_loaded_is_all_there_is(
    matcher: Matcher, encoder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gold, folder = [(0, 1), (2, 3)], tmp_path / "model"
    save_matcher(matcher.loaded, folder, curve=CURVE)
    monkeypatch.chdir(tmp_path)
    loaded = Matcher.load("model")

    def figures(of: Matcher) -> list[Any]:
        drawn = draw_audit(of, TEXTS, pairs=100)
        return [evaluate(of, TEXTS, gold=gold), of.match(TEXTS, precision=0.9).to_dict(), drawn.to_dict("list")]

    before = repr(figures(loaded))
    another = PairModel(matcher.loaded.encoder, OutputLayer(-5.0, 2.0))
    save_matcher(another, folder, curve={"score": [-1.0], "precision": [1.0], "recall": [1.0]})
    assert repr(figures(Matcher.load("model"))) != before
    assert repr(figures(loaded)) == before
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    folder.rename(tmp_path / "moved")
    copies = [loaded, pickle.loads(pickle.dumps(loaded))]
    results: list[str] = []
    threads = [Thread(target=lambda of=of: results.append(repr(figures(of)))) for of in copies]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert results == [before, before]


def test_a_model_of_records_is_measured_on_records(matcher: Matcher) -> None:
    kinds = {Side.LEFT: (FieldKind.TEXT, FieldKind.PRICE)}
    columns = TextColumns({Side.LEFT: ("title", "price")}, kinds)
    records = Matcher(PairModel(matcher.loaded.encoder, matcher.loaded.layer, columns=columns), "r")
    table = pd.DataFrame({"id": range(COUNT), "title": TEXTS, "price": [1.0, *[2.5] * (COUNT - 1)]})
    found = evaluate(records, table, gold=[(0, 1), (2, 3)])
    assert found == evaluate(matcher, TEXTS, gold=[(0, 1), (2, 3)])  # no model reads a price
    assert len(draw_audit(records, table, table, pairs=100)) == 100
    with pytest.raises(InputError, match="no column 'price'"):
        evaluate(records, table[["id", "title"]], gold=[(0, 1)])
