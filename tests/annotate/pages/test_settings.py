"""The settings page and the form of settings, without a browser."""

from functools import partial
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine
from streamlit.testing.v1 import AppTest

from allpairs.annotate.features.projects.lifecycle import list_bin
from allpairs.annotate.features.projects.projects import list_projects, update_settings
from allpairs.annotate.features.settings.ui.form import ADVANCED, GROUPS, LABELS, setting_problems
from allpairs.annotate.kit.text.formatting import literal
from allpairs.db.domain import PAPER_SETTINGS, SIMULATED, Settings
from allpairs.learner.light.catalog import STRATEGIES
from tests.helpers.factories import make_project
from tests.helpers.figures.measured import make_measured_project
from tests.helpers.machine import ROOT
from tests.helpers.pages import open_page as opened

PAGE = ROOT / "annotate" / "pages" / "settings.py"
open_page = partial(opened, PAGE)
DEFAULTS: dict[str, Any] = Settings.model_validate({}).model_dump()


@pytest.fixture
def project(engine: Engine, home: Path) -> int:
    return make_project(engine, ["a", "b"], name="Old *name*", hubness=0.25, lexical=True, second_stage="auto")


def field(page: AppTest, project: int, name: str) -> Any:
    return page.get_by_key(f"settings_{project}_{name}")


def stored(engine: Engine) -> Settings:
    return list_projects(engine)[0].settings


def test_every_setting_has_a_place_in_the_form() -> None:
    assert list(LABELS) == [name for group in GROUPS.values() for name in group]
    assert set(LABELS) == set(Settings.model_fields) - set(SIMULATED)


def test_every_field_shows_its_value_and_its_description(project: int) -> None:
    page = open_page()
    shown = [caption.value for caption in page.caption]
    for name in LABELS:
        widget = field(page, project, name)
        assert widget.value == DEFAULTS[name], name
        assert widget.label == LABELS[name]
        assert any(text.startswith(literal(str(Settings.model_fields[name].description))) for text in shown), name
    first = f"{Settings.model_fields['first'].description} Default: 40 (at least 2, at most 1,000,000)."
    assert literal(first) in shown


def test_question_and_guidelines_are_open_and_the_rest_is_folded(project: int) -> None:
    page = open_page()
    groups = [group for group in page.expander if group.label != "Set up a machine rater"]
    assert [group.label.partition(":")[0].strip("*") for group in groups] == list(ADVANCED)
    assert not any(group.proto.expanded for group in groups)
    folded = {label for group in ADVANCED for label in GROUPS[group].values()}
    assert folded == set(LABELS.values()) - {"Question", "Guidelines"}


def test_strategies_come_from_the_catalog(project: int) -> None:
    strategy = field(open_page(), project, "strategy")
    live = [entry for entry in STRATEGIES.values() if entry.live]
    assert strategy.options == [entry.title for entry in live]
    assert list(strategy.proto.captions) == [literal(entry.description) for entry in live]
    assert not {"stratified-match", "stated"} & {name for name, entry in STRATEGIES.items() if entry.live}


def test_settings_are_saved(engine: Engine, project: int) -> None:
    page = open_page()
    field(page, project, "question").set_value("Same issue?")
    field(page, project, "first").set_value(64)
    field(page, project, "growth").set_value(2)
    field(page, project, "auto_train").set_value(False)
    page.run()
    assert "Not saved yet." in [text.value for text in page.caption]
    page.button(key="save").click().run()
    assert not page.exception
    changed = {"question": "Same issue?", "first": 64, "growth": 2.0, "auto_train": False}
    assert stored(engine).model_dump() == DEFAULTS | changed
    assert "All saved." in [text.value for text in page.caption]
    field(page, project, "first").set_value(7).run()
    page.button(key="discard").click().run()
    assert field(page, project, "first").value == 64 and "All saved." in [text.value for text in page.caption]


def test_saving_keeps_what_somebody_else_has_stored_meanwhile(engine: Engine, project: int) -> None:
    page = open_page()
    field(page, project, "target_precision").set_value(0.95).run()
    others = stored(engine).model_copy(update={"guidelines": "Same product, any edition.", "target_precision": 0.7})
    update_settings(engine, project, others)
    field(page, project, "first").set_value(20).run()
    assert field(page, project, "guidelines").value == "Same product, any edition."
    page.get_by_key("save").click().run()
    kept = stored(engine)
    assert (kept.guidelines, kept.first, kept.target_precision) == (others.guidelines, 20, 0.95)


def test_what_a_change_implies_is_said_before_it_is_saved(engine: Engine, project: int) -> None:
    page = open_page()
    assert "Effects of the change" not in "\n".join(text.value for text in page.markdown)
    field(page, project, "encoder").set_value("bge-small").run()
    (said,) = [text.value for text in page.markdown if text.value.startswith("- ")]
    assert "All 2 texts are encoded again by bge-small" in said.replace("\\", "")
    field(page, project, "encoder").set_value(DEFAULTS["encoder"])
    field(page, project, "audit_every").set_value(3).run()  # no item is kept for measuring
    assert "No further effects" in "\n".join(text.value for text in page.markdown)
    assert stored(engine).model_dump() == DEFAULTS


def test_each_impossible_value_is_named_and_nothing_is_saved(engine: Engine, project: int) -> None:
    page = open_page()
    field(page, project, "first").set_value(1)
    field(page, project, "encoder").set_value("").run()
    first, encoder = (line.value.replace("\\", "").replace("\u2060", "") for line in page.error)
    assert first.startswith("First batch:") and first.endswith("2, not 1.")
    assert encoder.startswith("Encoder:") and encoder.endswith("not ''.")
    page.button(key="save").click().run()
    assert len(page.error) == 2 and stored(engine).model_dump() == DEFAULTS


def test_the_papers_values_are_one_click_away(engine: Engine, project: int) -> None:
    page = open_page()
    page.get_by_key(f"settings_{project}_paper").click().run()
    page.button(key="save").click().run()
    assert stored(engine).model_dump() == DEFAULTS | PAPER_SETTINGS


def test_the_split_cannot_be_changed(project: int) -> None:
    page = open_page()
    fixed = [name for name in LABELS if field(page, project, name).disabled]
    assert fixed == ["evaluation_share"]


@pytest.mark.parametrize(
    ("values", "line"),
    [
        ({"growth": 0.5}, "Growth: should be greater than or equal to 1, not 0.5."),
        ({"initialization": "x"}, "Initial output layer: should be 'balanced' or 'reference', not 'x'."),
        ({"colour": 1}, "colour: Extra inputs are not permitted, not 1."),
    ],
)
def test_problems_are_in_words(values: dict[str, Any], line: str) -> None:
    assert setting_problems(values) == [line]
    assert setting_problems({}) == []


def test_a_project_is_deleted_only_by_its_name(engine: Engine, project: int) -> None:
    measured = make_measured_project(engine, name="With rounds")
    page = open_page()
    page.text_input(key=f"confirm_{measured}").set_value("with rounds")
    page.button(key="delete").click().run()
    assert "exactly" in page.error[0].value and list_bin(engine) == []
    page.text_input(key=f"confirm_{measured}").set_value("With rounds").run()
    page.button(key="delete").click().run()
    assert not page.exception
    assert [row.name for row in list_projects(engine)] == ["Old *name*"]
    assert [binned.name for binned in list_bin(engine)] == ["With rounds"]
    assert "Old \\*name\\*" in page.text_input(key=f"confirm_{project}").label


def test_without_a_project_the_page_says_so(engine: Engine, home: Path) -> None:
    assert "no project yet" in open_page().info[0].value


def test_the_browser_is_told_of_every_initial_value_in_every_run(project: int) -> None:
    page = open_page()
    for _ in range(2):  # a run may be cut off before the browser has heard of what was set in it
        for name, value in (("hubness", 0.25), ("first", 40), ("lexical", True), ("epochs", 2)):
            widget = field(page, project, name).proto
            assert not widget.set_value
            assert widget.default == value
        page.run()
    page.get_by_key(f"settings_{project}_paper").click().run()
    assert not page.warning
    assert field(page, project, "first").value == PAPER_SETTINGS["first"]
