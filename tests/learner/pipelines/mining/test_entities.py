"""Spans that may answer: what is found, what never is, and how many of SQuAD's answers are among them."""

import sys
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from allpairs.db.errors import InputError
from allpairs.learner.metrics.text import squad_form
from allpairs.learner.pipelines.mining.answers.entities import EntityTagger, PatternTagger, spacy_tagger


def tagged(text: str, tagger: EntityTagger | None = None) -> list[tuple[str, str]]:
    return [(text[start:end], kind) for start, end, kind in (tagger or PatternTagger())(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It opened on May 5, 1999.", [("May 5, 1999", "date")]),
        ("It opened on 5th May 1999 and in June 2001.", [("5th May 1999", "date"), ("June 2001", "date")]),
        ("Seen 2024-01-31, then 31/1/24.", [("2024-01-31", "date"), ("31/1/24", "date")]),
        ("From the 1990s to 1999–2004.", [("1990s", "year"), ("1999–2004", "year")]),
        ("In the 19th century, or 1066 AD.", [("19th century", "year"), ("1066 AD", "year")]),
        ("It is 7,000.5 km long, 16-inch thick.", [("7,000.5 km", "quantity"), ("16-inch", "quantity")]),
        ("It cost $5.4 million, £1.3bn and 30 euros.",
         [("$5.4 million", "money"), ("£1.3bn", "money"), ("30 euros", "money")]),
        ("Of 13%, 5.5 percent and 20–25 per cent.",
         [("13%", "percentage"), ("5.5 percent", "percentage"), ("20–25 per cent", "percentage")]),
        ("They won 24–10, the third of twenty-two.",
         [("24–10", "number"), ("third", "number"), ("twenty-two", "number")]),
        ("The song “Let it be” and \"Come together\" by them.", [("Let it be", "title"), ("Come together", "title")]),
        ("He met John F. Kennedy and the Duke of Kent’s son.", [("John F. Kennedy", "name"), ("Duke of Kent", "name")]),
        ("We saw Super Bowl 50 in Santa Clara.", [("Super Bowl 50", "name"), ("Santa Clara", "name")]),
        ("Then came 3 iPhones.", [("3", "number"), ("iPhones", "name")]),
    ],
)  # fmt: skip
def test_what_is_found(text: str, expected: list[tuple[str, str]]) -> None:
    assert tagged(text) == expected


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Weather matters. Rain falls.", []),
        ("The weather in Oslo matters. However, it rains.", ["Oslo"]),
        ("In The Hague it rains. The Hague is wet.", ["Hague", "Hague"]),
        ("Oslo is wet. I say I like Oslo.", ["Oslo", "Oslo"]),
        ("Kofi Annan spoke. NASA listened.", ["Kofi Annan", "NASA"]),
    ],
)
def test_a_capital_at_the_beginning_of_a_sentence_makes_no_name(text: str, names: list[str]) -> None:
    assert [name for name, kind in tagged(text) if kind == "name"] == names


def test_names_of_a_list() -> None:
    tagger = PatternTagger(["rain", "rain forest", "5 May", "'n roll", "…", ""])
    assert tagged("The rain forest, rain, rainy; on 5 May rock 'n roll.", tagger) == [
        ("rain forest", "name"), ("rain", "name"), ("5 May", "name"), ("'n roll", "name"),
    ]  # fmt: skip


def test_spans_of_the_list_come_first_and_never_overlap() -> None:
    tagger = PatternTagger(["rain forest", "forest fire", "may"])
    assert tagged("A “rain forest fire” in may.", tagger) == [("rain forest", "name"), ("may", "name")]


pieces = st.sampled_from(
    ["May", "5", "1999", ",", ".", " ", " ", "$", "%", '"', "“", "”", "million", "km", "The", "Oslo", "of", "F.", "\n",
     "’s", "-", "–", "third", "é", "ß"]
)  # fmt: skip


@given(
    st.lists(pieces, max_size=25).map("".join), st.lists(st.sampled_from(["Oslo", "5 May", "of", "The"]), max_size=2)
)
def test_spans_lie_in_order_within_the_text(text: str, names: list[str]) -> None:
    found = PatternTagger(names)(text)
    ends = [0, *(entity.end for entity in found)]
    assert all(end <= entity.start < entity.end for end, entity in zip(ends, found, strict=False))
    assert all(text[entity.start : entity.end].strip() for entity in found)
    assert ends[-1] <= len(text)


def test_a_tagger_of_spacy(monkeypatch: pytest.MonkeyPatch) -> None:
    def load(model: str) -> object:
        if model != "here":
            raise OSError(f"[E050] Can't find model '{model}'")
        return lambda text: SimpleNamespace(ents=[SimpleNamespace(start_char=3, end_char=7, label_="GPE")])

    monkeypatch.setitem(sys.modules, "spacy", SimpleNamespace(load=load))
    assert tagged("In Oslo", spacy_tagger("here")) == [("Oslo", "GPE")]
    with pytest.raises(InputError, match=r"no model 'there'.* download there"):
        spacy_tagger("there")


def test_without_spacy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "spacy", None)
    with pytest.raises(InputError, match="spaCy is not installed"):
        spacy_tagger("en_core_web_sm")


@pytest.mark.slow
def test_answers_of_squad_are_among_the_spans(real_data: Path) -> None:
    """Measured: 47.6 % of 7,432 questions, with 15.4 spans for each of 1,381 passages."""
    rows = pd.read_parquet(real_data / "squad" / "dev_part.parquet", columns=["context", "answers"])
    spans = {passage: [text for text, _ in tagged(passage)] for passage in rows["context"].unique()}
    forms = {passage: set(map(squad_form, texts)) for passage, texts in spans.items()}
    asked = zip(rows["context"], rows["answers"], strict=True)
    hits = [not forms[passage].isdisjoint(map(squad_form, answers)) for passage, answers in asked]
    per_passage = sum(map(len, spans.values())) / len(spans)
    print(f"{sum(hits)} of {len(hits)}; {per_passage:.2f} per passage")
    assert sum(hits) / len(hits) == pytest.approx(0.476, abs=0.005)
    assert per_passage == pytest.approx(15.4, abs=0.2)
