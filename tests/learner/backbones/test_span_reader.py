"""The span reader: every architecture trains; windows; the best span; what is refused."""

import itertools
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from allpairs.db.errors import InputError
from allpairs.learner.backbones.span_reader import (
    Example,
    SpanAnswer,
    SpanReader,
    answer,
    best_spans,
    load_reader,
    train_reader,
)
from allpairs.learner.backbones.windows import cut
from allpairs.learner.light.catalog.backbones import ReaderSettings
from tests.helpers.tiny_backbones import tiny_backbone

THINGS = {
    "place": ("Paris", "New York", "Salt Lake City"),
    "colour": ("red", "dark blue", "green"),
    "animal": ("dog", "cat", "polar bear"),
}
LEARNT = {"bert": (130, 1e-2), "bart": (80, 1e-2), "t5": (130, 4e-3), "xlnet": (60, 2e-2)}  # steps and rate
CITIES = "it is said and so in New York and Paris so it is said"
FAST = ReaderSettings(
    steps=130, batch_size=12, learning_rate=1e-2, weight_decay=0, max_length=64, stride=8, question_length=16
)


def example(turn: int, kind: str) -> Example:
    """Return a question about a thing of a kind in a text that names one of each, in rotating order."""
    kinds = list(THINGS)
    said = [THINGS[kinds[(i + turn) % 3]][(i * turn) % 3] for i in range(3)]
    thing = next(thing for thing in said if thing in THINGS[kind])
    passage = " and ".join(said)
    return Example(f"what {kind} ?", passage, thing, passage.index(thing))


EXAMPLES = [example(turn, kind) for turn in range(4) for kind in THINGS]
QUESTIONS, TEXTS = [e.question for e in EXAMPLES], [e.passage for e in EXAMPLES]


def backbone(tmp_path: Path, architecture: str = "bert") -> str:
    return str(tiny_backbone(tmp_path, architecture, [*QUESTIONS, *TEXTS, CITIES, "so it is said and so on"]))


def trained(tmp_path: Path, architecture: str) -> SpanReader:
    reader = load_reader(backbone(tmp_path, architecture), device="cpu")
    steps, rate = LEARNT[architecture]
    train_reader(reader, EXAMPLES, FAST.model_copy(update={"steps": steps, "learning_rate": rate}))
    return reader


@pytest.mark.parametrize("architecture", LEARNT)
def test_every_shape_learns_and_its_folder_answers_alike(tmp_path: Path, architecture: str) -> None:
    seen: list[float] = []
    reader = trained(tmp_path, architecture)
    found = answer(reader, QUESTIONS, TEXTS, FAST, lambda stage, done: seen.append(done))
    assert [(a.text, a.start) for a in found] == [(e.answer, e.answer_start) for e in EXAMPLES]
    assert all(-2 < a.score <= 0 for a in found)
    assert seen == [1.0]
    reader.save(tmp_path / "saved")
    again = load_reader(str(tmp_path / "saved"), device="cpu")
    assert answer(again, QUESTIONS, TEXTS, FAST) == found
    alone = [answer(reader, [q], [text], FAST)[0] for q, text in zip(QUESTIONS, TEXTS, strict=True)]
    assert [a.text for a in alone] == [a.text for a in found]
    np.testing.assert_allclose([a.score for a in alone], [a.score for a in found], atol=1e-4)


def test_a_seed_fixes_head_and_training_and_no_other_draws(tmp_path: Path) -> None:
    folder, few = backbone(tmp_path), FAST.model_copy(update={"steps": 3})
    torch.manual_seed(7)
    expected = torch.rand(1)
    torch.manual_seed(7)
    found = []
    for seed in (1, 1, 2):
        reader = load_reader(folder, seed=seed, device="cpu")
        train_reader(reader, EXAMPLES, few)
        found.append([a.score for a in answer(reader, QUESTIONS, TEXTS, few)])
    assert found[0] == found[1] != found[2]
    assert torch.equal(torch.rand(1), expected)


def test_a_long_passage_is_read_in_windows(tmp_path: Path) -> None:
    before, after = "so it is said and so on " * 5, " so it is said and so on" * 2
    long = [Example(e.question, before + e.passage + after, e.answer, e.answer_start + len(before)) for e in EXAMPLES]
    settings = FAST.model_copy(update={"max_length": 40, "stride": 22, "question_length": 8, "batch_size": 24})
    reader = load_reader(backbone(tmp_path), device="cpu")
    train_reader(reader, long, settings)
    found = answer(reader, [e.question for e in long], [e.passage for e in long], settings)
    assert [(a.text, a.start) for a in found] == [(e.answer, e.answer_start) for e in long]


@pytest.mark.parametrize("architecture", LEARNT)
def test_windows_overlap_cover_the_passage_and_find_the_answer(tmp_path: Path, architecture: str) -> None:
    reader = load_reader(backbone(tmp_path, architecture), device="cpu")
    passage = "so it is said and so on " * 12 + CITIES
    settings = FAST.model_copy(update={"max_length": 40, "stride": 10})
    windows = cut(reader, ["what place ? " * 9, "what place ?"], [passage, "so it is"], settings)
    assert windows.rows.tolist() == [0] * (len(windows) - 1) + [1]
    assert windows.tokens.lengths.max() == 40
    read = [windows.offsets[i][slice(*windows.passages[i])] for i in range(len(windows) - 1)]
    words = {(at, at + len(word)) for at, word in _words(passage)}
    assert {place for window in read for place in window} == words
    assert all(one[-10:] == two[:10] for one, two in itertools.pairwise(read))
    where = passage.index("New York")
    targets = [windows.target(i, where, where + 8) for i in range(len(windows) - 1)]
    nothing = [(int(n), int(n)) for n in windows.nowhere]
    whole = [window[0][0] <= where and where + 8 <= window[-1][1] for window in read]
    assert [target != none for target, none in zip(targets, nothing, strict=False)] == whole
    found = [windows.text(i, *targets[i], passage) for i in range(len(whole)) if whole[i]]
    assert found
    assert set(found) == {("New York", where)}


def _words(text: str) -> list[tuple[int, str]]:
    places, at = [], 0
    for word in text.split():
        at = text.index(word, at)
        places.append((at, word))
        at += len(word)
    return places


def test_an_empty_passage_has_no_answer_and_no_questions_none(tmp_path: Path) -> None:
    reader = load_reader(backbone(tmp_path), device="cpu")
    assert answer(reader, ["what place ?"], [""], FAST) == [SpanAnswer("", 0, -np.inf)]
    assert answer(reader, [], [], FAST) == []


@pytest.mark.parametrize(
    ("longest", "span", "probability"),
    [(5, (1, 4), 0.35), (4, (1, 4), 0.35), (3, (4, 4), 0.14), (1, (4, 4), 0.14)],
)
def test_the_best_span_of_the_papers_example(longest: int, span: tuple[int, int], probability: float) -> None:
    start = torch.tensor([[0.1, 0.5, 0.1, 0.1, 0.2]]).log()
    end = torch.tensor([[0.05, 0.05, 0.1, 0.1, 0.7]]).log()
    first, last, score = best_spans(start, end, longest)
    assert ((int(first), int(last)), float(score.exp())) == (span, pytest.approx(probability))


@given(st.integers(1, 12), st.integers(1, 15), st.integers(0, 999))
def test_no_allowed_span_is_better_than_the_best(tokens: int, longest: int, seed: int) -> None:
    start, end = torch.randn(2, 3, tokens, generator=torch.Generator().manual_seed(seed))
    first, last, score = best_spans(start, end, longest)
    for row in range(3):
        spans = [(i, j) for i in range(tokens) for j in range(i, min(tokens, i + longest))]
        best = max(spans, key=lambda span: float(start[row, span[0]] + end[row, span[1]]))
        assert (int(first[row]), int(last[row])) == best
        assert float(score[row]) == float(start[row, best[0]] + end[row, best[1]])


@pytest.mark.parametrize("start", [3, -9, 999])
def test_an_answer_in_the_wrong_place_is_refused(tmp_path: Path, start: int) -> None:
    reader = load_reader(backbone(tmp_path), device="cpu")
    wrong = Example("what place ?", CITIES, "Paris", start)
    with pytest.raises(InputError, match=rf"example 2 \('what place \?'\): .*'Paris'.* {start} of"):
        train_reader(reader, [EXAMPLES[0], wrong], FAST)
    with pytest.raises(InputError, match="there are no examples"):
        train_reader(reader, [], FAST)


def test_a_reader_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no folder"):
        load_reader(str(tmp_path / "none"))
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(InputError, match="cannot be loaded") as refused:
        load_reader(str(tmp_path))
    assert "\n" not in str(refused.value)


def test_windows_that_would_stand_still_are_refused() -> None:
    with pytest.raises(ValidationError, match=r"max_length is 128.* 136"):
        ReaderSettings(max_length=128, stride=64, question_length=64)


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_the_bundled_encoder_learns_to_answer(real_data: Path) -> None:
    rows = pq.read_table(real_data / "squad" / "dev_part.parquet").to_pylist()
    short = [row for row in rows if len(row["context"]) < 600]
    titles = sorted({row["title"] for row in short})[::4]
    held = [row for row in short if row["title"] in titles][::4][:200]
    taught = [row for row in short if row["title"] not in titles][::7][:200]
    examples = [Example(r["question"], r["context"], r["answers"][0], r["answer_starts"][0]) for r in taught]
    settings = ReaderSettings(steps=70, batch_size=16, learning_rate=2e-4)

    def right(reader: SpanReader) -> float:
        """Return the share of held-out questions answered exactly."""
        found = answer(reader, [r["question"] for r in held], [r["context"] for r in held], settings)
        return float(np.mean([a.text in row["answers"] for a, row in zip(found, held, strict=True)]))

    assert (len(held), len(examples)) == (200, 200)
    reader = load_reader(settings.backbone)
    before = right(reader)
    train_reader(reader, examples, settings)
    after = right(reader)
    print(f"{before=:.3f} {after=:.3f}")
    assert after > before + 0.03
