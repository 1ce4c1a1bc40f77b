"""Corrections as the app sees them, and their section on a page."""

from collections.abc import Callable
from itertools import combinations, islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import Engine, delete, select, update
from streamlit.testing.v1 import AppTest

from allpairs.annotate.features.quality.false_negatives import (
    comparison_in_words,
    correctable_rounds,
    correction_in_words,
    correction_strata,
    precisions_table,
    read_corrections,
)
from allpairs.annotate.kit.jobs import requests as jobs
from allpairs.db.domain import AnswerKind, DesignKind, Purpose, Split
from allpairs.db.errors import InputError
from allpairs.db.projects.matchers import matcher_of
from allpairs.db.schema.engine import writing
from allpairs.db.schema.tables import Design, Evaluation, Item, Round, StoredModel, Task
from allpairs.learner.evaluation.false_negatives import Checked, corrected_precision
from tests.helpers.factories import make_project
from tests.helpers.figures.measured import answer_on, make_measured_project

# A page of its own with the section, beside an empty page to label on.
SCRIPT = """
import streamlit as st
from allpairs.annotate.features.quality.ui.correction import corrections

st.navigation([st.Page(lambda: corrections({project}), title="Monitor"), st.Page("../pages/label.py")]).run()
"""
COMPARISON = {"with_round": 0, "p": 6.9e-5, "rates": [0.32, 0.72]}
TRUE, FALSE = 120, [340, 55]


def add_correction(
    engine: Engine,
    project_id: int,
    number: int,
    labelled: int = 20,
    recall: float = 0.2,
    drawn: int = 20,
    result: dict[str, Any] | None = None,
) -> int:
    """Add a correction of the round, with an audit batch of `drawn` pairs, the first ones labelled; return its id."""
    with writing(engine) as session:
        matcher = matcher_of(session, project_id, number)
        assert matcher is not None
        details = {"round": number, "recall": recall, "threshold": 0.7312, "true": TRUE, "false": FALSE}
        design = Design(
            project_id=project_id, number=len(session.scalars(select(Design)).all()) + 1, kind=DesignKind.CORRECTION,
            matcher_id=matcher.id, pairs=7_140, strata=[], details=details | ({"result": result} if result else {}),
            folder="",
        )  # fmt: skip
        audit_batch = Round(project_id=project_id, strategy=DesignKind.CORRECTION, size=drawn, matcher_id=matcher.id)
        session.add_all([design, audit_batch])
        session.flush()
        items = session.scalars(select(Item.id).where(Item.project_id == project_id, Item.split == Split.EVALUATION))
        for position, (left, right) in enumerate(islice(combinations(sorted(items), 2), drawn)):
            task = Task(project_id=project_id, round_id=audit_batch.id, left_id=left, right_id=right, position=position,
                        strategy="correction", score=0.8, p=None, inclusion=0.1, stratum=position % 2,
                        design_id=design.id, purpose=Purpose.AUDIT)  # fmt: skip
            session.add(task)
            session.flush()
            if position < labelled:
                session.add(answer_on(task, AnswerKind.NEGATIVE, act=design.id))
        return design.id


def figures(real: tuple[int, int] = (16, 8), sampled: tuple[int, int] = (50, 10), **more: Any) -> dict[str, Any]:
    """Return the result that the job would store for these labels."""
    checked = [Checked(*numbers) for numbers in zip(FALSE, sampled, real, strict=True)]
    forms = corrected_precision(TRUE, checked, np.random.default_rng(0))
    return {
        "labels": sum(sampled), "sampled": list(sampled), "false": list(real),
        **{name: estimate.as_dict() for name, estimate in forms.items()}, **more,
    }  # fmt: skip


@pytest.fixture
def project(engine: Engine) -> int:
    return make_measured_project(engine, rounds=3)


def test_of_one_round_and_recall_the_newest_is_shown(engine: Engine, project: int) -> None:
    for number, recall, drawn in ((1, 0.2, 20), (2, 0.2, 10), (1, 0.2, 12), (1, 0.5, 25)):
        add_correction(engine, project, number, labelled=0, recall=recall, drawn=drawn)
    found = read_corrections(engine, project)
    assert [(one.round, one.recall, one.drawn) for one in found] == [(1, 0.5, 25), (1, 0.2, 12), (2, 0.2, 10)]


def test_labelled_pairs_are_counted(engine: Engine, project: int) -> None:
    add_correction(engine, project, 1, labelled=7)
    (found,) = read_corrections(engine, project)
    assert (found.name, found.drawn, found.left) == ("Round 1 at recall 0.20", 20, 13)


def test_a_dropped_audit_batch_leaves_nothing_drawn(engine: Engine, project: int) -> None:
    add_correction(engine, project, 1, labelled=0)
    with writing(engine) as session:
        session.execute(delete(Round).where(Round.number.is_(None)))
    (found,) = read_corrections(engine, project)
    assert (found.drawn, found.left, found.result) == (0, 0, None)


def test_a_replaced_matchers_correction_is_not_shown(engine: Engine, project: int) -> None:
    add_correction(engine, project, 2)
    with writing(engine) as session:
        session.execute(update(Round).values(matcher_id=None))
        session.execute(delete(StoredModel).where(StoredModel.number == 2))
    assert read_corrections(engine, project) == []


def test_rounds_that_known_pairs_measure_can_be_corrected(engine: Engine, project: int) -> None:
    assert correctable_rounds(engine, project) == [2, 1, 0]
    with writing(engine) as session:
        session.execute(update(Evaluation).values(positives=None))
    assert correctable_rounds(engine, project) == []


def test_the_figures_in_words(engine: Engine, project: int) -> None:
    add_correction(engine, project, 2, result=figures(comparison=COMPARISON))
    (found,) = read_corrections(engine, project)
    assert found.result is not None
    words = correction_in_words(found, found.result)
    assert words.startswith("Round 2 at recall 0.20, scores of 0.731 and above")
    assert "120 true" in words and "395 putative" in words and "Of 60 labelled" in words and "24 are real" in words
    real = 0.32 * 340 + 0.8 * 55
    assert f"precision is {1 - real / 515:.3f} (95% interval 0." in words
    assert words.endswith(f" {120 / 515:.3f}.")
    compared = comparison_in_words(found, found.result)
    assert "32% for round 2, 72%" in compared
    assert "than chance explains" in compared and "p\u00a0=\u00a06.9e-05" in compared


def test_a_difference_that_may_be_chance_and_none_at_all(engine: Engine, project: int) -> None:
    add_correction(engine, project, 2)
    (found,) = read_corrections(engine, project)
    assert "may be chance" in comparison_in_words(found, {"comparison": COMPARISON | {"p": 0.3}})
    assert comparison_in_words(found, {}) == ""


def test_the_tables_behind(engine: Engine, project: int) -> None:
    result = figures()
    add_correction(engine, project, 2, result=result)
    (found,) = read_corrections(engine, project)
    precisions = precisions_table(result)
    assert list(precisions["precision"]) == ["As measured", "Corrected", "Corrected, paper's form"]
    assert list(precisions["value"]) == [result[form]["value"] for form in ("uncorrected", "consistent", "paper")]
    strata = correction_strata(found, result)
    assert strata.to_numpy().tolist() == [["near", 340, 50, 16], ["other", 55, 10, 8]]


@pytest.fixture
def open_section(engine: Engine, tmp_path: Path) -> Callable[[int], AppTest]:
    """Return a function that opens a page with the section of a project."""
    for folder in ("shell", "pages"):
        (tmp_path / folder).mkdir()
    (tmp_path / "pages" / "label.py").write_text("")

    def open_section(project_id: int) -> AppTest:
        script = tmp_path / "shell" / "app.py"
        script.write_text(SCRIPT.format(project=project_id))
        page = AppTest.from_file(str(script), default_timeout=30).run()
        assert not page.exception
        return page

    return open_section


def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """Return the arguments of every request, filled while the page is used."""
    calls: list[tuple[Any, ...]] = []
    monkeypatch.setattr(jobs, "request_correction", lambda engine, *arguments: calls.append(arguments))
    return calls


def test_without_known_pairs_there_is_no_section(engine: Engine, open_section: Callable[[int], AppTest]) -> None:
    page = open_section(make_project(engine, ["a", "b"]))
    assert not page.subheader and not page.button


def test_the_form_asks_for_what_it_says(
    engine: Engine, project: int, open_section: Callable[[int], AppTest], monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = asked(monkeypatch)
    page = open_section(project)
    assert page.subheader[0].value == "Check the false positives"
    page.button(key="draw_correction").click().run()
    page.selectbox(key="correction_round_2").set_value(1)
    page.number_input(key="correction_recall").set_value(0.3 + 0.05)
    page.number_input(key="correction_draw").set_value(20)
    page.button(key="draw_correction").click().run()
    assert calls == [(project, 2, 0.2, 50), (project, 1, 0.35, 20)]


def test_what_hinders_is_said(
    engine: Engine, project: int, open_section: Callable[[int], AppTest], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise InputError("another job is running: wait until it is done")

    monkeypatch.setattr(jobs, "request_correction", refuse)
    page = open_section(project)
    page.button(key="draw_correction").click().run()
    assert "Another job is running" in page.error[0].value


def test_an_open_audit_batch_says_how_far_it_is(
    engine: Engine, project: int, open_section: Callable[[int], AppTest]
) -> None:
    add_correction(engine, project, 2, labelled=5)
    page = open_section(project)
    assert "Round 2 at recall 0.20: 5 of 20" in page.get("progress")[0].proto.text
    assert len(page.get("page_link")) == 1
    assert not page.get("vega_lite_chart")


def test_labelled_without_figures_they_can_be_asked_for(
    engine: Engine, project: int, open_section: Callable[[int], AppTest], monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = asked(monkeypatch)
    add_correction(engine, project, 2, recall=0.4)
    page = open_section(project)
    page.button(key="compute_correction").click().run()
    assert calls == [(project, 2, 0.4, 0)]


def test_figures_are_shown_with_their_plot_and_tables(
    engine: Engine, project: int, open_section: Callable[[int], AppTest]
) -> None:
    add_correction(engine, project, 1, result=figures((40, 9)))
    add_correction(engine, project, 2, result=figures(comparison=COMPARISON))
    page = open_section(project)
    (plot,) = page.get("vega_lite_chart")
    assert "As measured 0.233 (0.233 to 0.233); Corrected 0.7" in plot.proto.alt
    said = [text.value for text in page.markdown]
    assert "0.233" in said[0] and "Mann–Whitney" in said[1]
    assert [button.proto.label for button in page.get("download_button")] == ["Download CSV"] * 2
    page.selectbox(key="correction_of_2_Round 2 at recall 0.20").set_value("Round 1 at recall 0.20").run()
    assert any(text.value.startswith("Round 1 at recall 0.20") for text in page.markdown)
