"""Which columns of a file are guessed to be ids, texts and labels."""

import pytest

from allpairs.annotate.features.new_project.templates import fitting
from allpairs.db.corpus.column_guess import guess_columns, guess_gold_columns
from allpairs.db.corpus.corpus import Columns
from allpairs.db.domain import Side

LEFT, RIGHT = Side.LEFT, Side.RIGHT
QUESTION, ANSWER = "How are glacier caves formed?", "A glacier cave is a cave in the ice of a glacier."


@pytest.mark.parametrize(
    ("names", "columns", "gold"),
    [
        (["id", "text"], Columns("id", ("text",)), ("id", "text", "")),
        (["Question", "ID"], Columns("ID", ("Question",)), ("Question", "ID", "")),
        (["a", "b", "label"], Columns("", ("a", "b")), ("a", "b", "label")),
        (["qid1", "qid2", "is_duplicate"], Columns("qid1", ("qid2",)), ("qid1", "qid2", "is_duplicate")),
        (["only"], Columns("", ("only",)), ("only", "only", "")),
    ],
)
def test_names_alone_are_a_hint(names: list[str], columns: Columns, gold: tuple[str, str, str]) -> None:
    assert guess_columns(names) == columns
    assert guess_gold_columns(names) == gold


@pytest.mark.parametrize(
    ("side", "table", "id_", "texts"),
    [
        (LEFT, {"passage": [ANSWER, QUESTION]}, "", ("passage",)),
        (LEFT, {"id": ["2", "3"], "text": [QUESTION, ANSWER], "cased": ["true"] * 2, "split": ["dev"] * 2}, "id",
         ("text",)),
        (LEFT, {"split": ["train"] * 2, "question_id": ["q1", "q1"], "question": [QUESTION] * 2,
                "title": ["", "Cave"], "sentence": [ANSWER, "Other words."], "label": ["0", "1"]}, "", ("question",)),
        (RIGHT, {"split": ["train"] * 2, "question_id": ["q1", "q1"], "question": [QUESTION] * 2,
                 "title": ["", ""], "sentence": [ANSWER, "Other words."], "label": ["0", "1"]}, "", ("sentence",)),
        (RIGHT, {"_id": ["d1", "d2"], "title": ["Cave", "Ice"], "text": [ANSWER, "Other words."]}, "_id",
         ("title", "text")),
        (LEFT, {"id": ["b0", "b1"], "title": ["Image pack", "Arcserve"], "manufacturer": ["Broderbund", "CA"],
                "price": ["0", "12.50"]}, "id", ("title", "manufacturer", "price")),
        (LEFT, {"sentence1": [QUESTION, "A"], "sentence2": [ANSWER, "B"], "label": ["1", "0"]}, "", ("sentence1",)),
        (RIGHT, {"sentence1": [QUESTION, "A"], "sentence2": [ANSWER, "B"], "label": ["1", "0"]}, "", ("sentence2",)),
        (LEFT, {"Ticket": ["T-1", "T-2"], "Frage": ["Wie geht das?", "Was ist das?"]}, "Ticket", ("Frage",)),
        (LEFT, {"質問": ["質問は何ですか", "他の質問"], "n": ["1", "2"]}, "", ("質問",)),
        (LEFT, {"id": ["1", "2"], "value": ["3", "4"]}, "id", ("value",)),
    ],
)  # fmt: skip
def test_values_decide(side: Side, table: dict[str, list[str]], id_: str, texts: tuple[str, ...]) -> None:
    rows = list(zip(*table.values(), strict=True))
    assert guess_columns(list(table), rows, side) == Columns(id_, texts)


@pytest.mark.parametrize(
    ("names", "gold"),
    [
        (["idDBLP", "idACM"], ("idDBLP", "idACM", "")),
        (["query-id", "corpus-id", "score"], ("query-id", "corpus-id", "")),
        (["id", "qid1", "qid2", "question1", "question2", "is_duplicate"], ("qid1", "qid2", "is_duplicate")),
        (["ltable_id", "rtable_id", "label"], ("ltable_id", "rtable_id", "label")),
    ],
)
def test_known_pairs_of_published_sets_are_understood(names: list[str], gold: tuple[str, str, str]) -> None:
    assert guess_gold_columns(names) == gold


TEXT, RECORD = Columns("id", ("text",)), Columns("id", ("title", "maker"))


@pytest.mark.parametrize(
    ("left", "right", "lefts", "rights", "task"),
    [
        (TEXT, None, ["a"], [], "duplicates"),
        (Columns("id", ("title", "body")), None, ["a"], [], "duplicates"),
        (RECORD, None, ["a"], [], "records"),
        (RECORD, RECORD, ["a"], ["b"], "records"),
        (Columns("", ("question",)), Columns("", ("title", "text")), ["a"], ["b"], "answers"),
        (TEXT, TEXT, [QUESTION], [ANSWER], "answers"),
        (TEXT, TEXT, ["pink pen"], ["pen, pink"], "records"),
    ],
)
def test_the_template_fits_the_lists(
    left: Columns, right: Columns | None, lefts: list[str], rights: list[str], task: str
) -> None:
    assert fitting(left, right, lefts, rights) == task
