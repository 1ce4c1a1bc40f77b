"""The monitor page, without a browser."""

from functools import partial
from pathlib import Path

import pytest
from sqlalchemy import Engine, select
from streamlit.testing.v1 import AppTest

from allpairs.annotate.features.projects.next_step import next_step, read_standing
from allpairs.annotate.features.texts.change_texts import undo_text_change
from allpairs.annotate.frame.access.roles import Right
from allpairs.annotate.kit.jobs import open_jobs
from allpairs.annotate.kit.jobs import requests as jobs
from allpairs.db.domain import DesignKind
from allpairs.db.errors import InputError
from allpairs.db.estimate import Estimate
from allpairs.db.projects.evaluations import matchers_with_evaluations
from allpairs.db.projects.matchers import GROUP_FIGURES
from allpairs.db.schema.engine import writing
from allpairs.db.schema.tables import Evaluation, Job
from tests.helpers.factories import make_audit_batch, make_design, make_project, make_round
from tests.helpers.figures.measured import (
    add_job,
    add_worker,
    answer_round,
    make_audited_project,
    make_measured_project,
    write_model_folder,
)
from tests.helpers.machine import ROOT
from tests.helpers.pages import open_page as opened
from tests.helpers.projects.lists import change

SHELL, PAGE = ROOT / "annotate" / "shell" / "app.py", ROOT / "annotate" / "pages" / "monitor.py"
open_page = partial(opened, PAGE)


CURVES, PEOPLE, AUDIT, MODEL = ({"tab": tab} for tab in ("Curves", "People", "Audit", "Model"))


def headings(page: AppTest) -> list[str]:
    return [heading.value for heading in page.subheader]


def described(page: AppTest, start: str) -> str:
    """Return the description of the plot that starts like this."""
    (found,) = [plot.proto.alt for plot in page.get("vega_lite_chart") if plot.proto.alt.startswith(start)]
    return found


def test_the_newest_round_is_shown_with_its_method(engine: Engine, home: Path) -> None:
    make_measured_project(engine)
    page = open_page()
    assert headings(page)[0] == "Round 4, after 325 labels"
    assert [metric.label for metric in page.metric] == ["Average precision"]
    assert page.metric[0].delta.startswith("+0.0") and page.metric[0].proto.delta_description == "since round 3"
    assert "200,600 pairs of evaluation items, 600" in "\n".join(text.value for text in page.caption)


def test_before_training_there_is_nothing_to_compare(engine: Engine, home: Path) -> None:
    make_measured_project(engine, rounds=1)
    page = open_page()
    assert headings(page)[0] == "Before training"
    assert page.metric[0].delta == ""
    assert not page.get("vega_lite_chart")


@pytest.mark.parametrize(
    ("tab", "plots", "tables", "downloads"),
    [
        ("Summary", 1, 0, []),
        ("Curves", 8, 5, ["Download CSV"] * 6),
        ("People", 5, 4, ["Download CSV"] * 4),
        ("Audit", 0, 0, []),
        ("Model", 0, 0, ["Labels as CSV", "Labels as JSONL", "Labels as Parquet"]),
    ],
)
def test_only_the_open_tab_is_drawn_and_its_plots_are_described(
    engine: Engine, home: Path, tab: str, plots: int, tables: int, downloads: list[str]
) -> None:
    make_measured_project(engine)
    page = open_page(tab=tab)
    descriptions = [plot.proto.alt for plot in page.get("vega_lite_chart")]
    assert len(descriptions) == plots and all(len(text) > 40 for text in descriptions)
    assert [table.label for table in page.expander if table.label == "Table"] == ["Table"] * tables
    assert [button.proto.label for button in page.get("download_button")] == downloads


def test_the_summary_says_what_to_do_next_and_whether_to_stop(engine: Engine, home: Path) -> None:
    project = make_measured_project(engine)
    page = open_page()
    assert headings(page)[1:] == ["What to do next", "May labelling stop?"]
    assert page.button(key="next").label == next_step(read_standing(engine, project), frozenset(Right)).act
    assert any("Not yet" in text.value and "0.8 is not reached" in text.value for text in page.markdown)


def test_the_next_step_can_open_another_tab(engine: Engine, home: Path) -> None:
    found = Estimate(0.6, 0.2, 0.9, "audit", 200).as_dict()
    project = make_audited_project(engine)
    with writing(engine) as session:
        newest = session.scalars(select(Evaluation).order_by(Evaluation.matcher_id.desc())).first()
        assert newest is not None
        newest.estimates = newest.estimates | {"average_precision": found}
    page = open_page()
    page.button(key="next").click().run()
    assert not page.exception
    assert headings(page)[0] == "Audit pairs"
    add_job(engine, project, "training", state="running")
    assert open_page().button(key="next").label != "Draw audit pairs"  # which would be refused


def test_rounds_can_be_chosen_for_the_curves(engine: Engine, home: Path) -> None:
    make_measured_project(engine)
    page = open_page(**CURVES)
    rounds = page.pills(key="curve_rounds_4")
    assert rounds.value == [0, 4]
    rounds.set_value([1, 2, 3]).run()
    assert "Round 1 0." in described(page, "Precision against recall")
    page.pills(key="curve_rounds_4").set_value([]).run()
    assert "to see its curve" in "\n".join(text.value for text in page.caption)


def test_the_threshold_belongs_to_trained_rounds(engine: Engine, home: Path) -> None:
    make_measured_project(engine)
    page = open_page(**CURVES)
    assert "one half at 0.611" in described(page, "Score histogram")
    page.selectbox(key="histogram_round_4").set_value(0).run()
    assert "one half" not in described(page, "Score histogram")


def test_the_model_can_be_taken_away_and_the_encoder_cannot(engine: Engine, home: Path) -> None:
    project_id = make_measured_project(engine)
    write_model_folder(home, f"matchers/{project_id}-4")
    page = open_page(**MODEL)
    assert page.get("link_button")[0].proto.url == "download/matchers/5"
    assert 'Matcher.load("help-desk-questions-round-4")' in page.code[0].value
    page.selectbox(key="card_round_4").set_value(0).run()
    assert not page.get("link_button")
    assert any("no model to export" in text.value for text in page.markdown)


def test_figures_at_the_threshold_and_given_pairs_have_own_rows(engine: Engine, home: Path) -> None:
    make_measured_project(engine, stated=True)
    text = [element.value for element in open_page(**CURVES).markdown]
    assert text.index("**At the 50% threshold**") < text.index("**Over all pairs**")
    assert text.index("**Over all pairs**") < text.index("**On the known pairs**")
    assert text[text.index("**On the known pairs**") + 1 :][:2] == ["##### 0.912", "##### 0.884"]
    assert any("little about all pairs" in caption.value for caption in open_page(**CURVES).caption)


def test_an_audited_project_shows_intervals_and_highest_pairs(engine: Engine, home: Path) -> None:
    make_audited_project(engine)
    page = open_page()
    assert headings(page)[0] == "Round 4, after 325 labels"
    captions = [caption.value for caption in page.caption]
    assert any("0.520 to 0.680, from 200" in caption for caption in captions)
    assert page.metric[0].delta == "+0.020" and page.metric[0].proto.color == 2  # grey: it may be chance
    assert any("below the highest 65,536" in text.value for text in page.markdown)
    page = open_page(**CURVES)
    assert any("95% interval −0.010 to +0.050" in caption.value for caption in page.caption)
    said = [text.value for text in page.markdown if text.value]
    assert said.index("**Over all pairs**") < said.index("**Among the highest 65,536 pairs alone**")


def test_the_tab_audit_shows_the_strata(engine: Engine, home: Path) -> None:
    make_audited_project(engine)
    page = open_page(**AUDIT)
    (strata,) = [table.value for table in page.dataframe]
    assert strata["top"].tolist() == [True] * 10 + [False]
    assert "11 strata" in described(page, "Estimated share of positives")
    assert open_page(**MODEL).get("download_button")[-1].proto.label == "Audit labels as CSV"


def test_an_audit_counts_unnamed_positives_beside_the_known_ones(engine: Engine, home: Path) -> None:
    make_measured_project(engine, rounds=2, audit_needs=38)
    page = open_page(**AUDIT)
    assert any("38 more audit labels" in caption.value for caption in page.caption)
    assert "Strata of the audit" not in headings(page)
    assert not any("nobody named" in text.value for text in open_page(**CURVES).markdown)
    make_measured_project(engine, name="Audited", rounds=2, audit_needs=0)
    page = open_page(**CURVES)
    said = [text.value for text in page.markdown if text.value]
    found = said.index("**With the positives that nobody named**")
    assert said.index("**At the 50% threshold**") < found < said.index("**Among the highest 65,536 pairs alone**")
    assert "##### 1,348" in said[found : found + 8]
    assert any("a lower bound" in caption.value for caption in page.caption)
    assert page.metric[0].delta is not None
    assert any("without the known ones" in text.value for text in open_page().markdown)
    assert "Strata of the audit" in headings(open_page(**AUDIT))


@pytest.mark.parametrize(("positives", "said"), [(0, "None of 200"), (1, "Only 1 of 200"), (4, "Only 4 of 200")])
def test_hardly_any_positive_among_the_audit_labels_is_a_warning(
    engine: Engine, home: Path, positives: int, said: str
) -> None:
    make_audited_project(engine, rounds=1, positives=positives)
    assert open_page().warning[0].value.startswith(f"{said} audit labels")


def test_rounds_are_compared_among_the_highest_pairs_too(engine: Engine, home: Path) -> None:
    found = Estimate(0.6, 0.5, 0.7, "audit", 200).as_dict()
    moved = {"value": 0.031, "low": 0.012, "high": 0.05, "since": 1}
    top = {"pairs": 65_536, "estimates": {"average_precision": found}, "changes": {"average_precision": moved}}
    make_audited_project(engine, rounds=3, top=top)
    captions = [caption.value for caption in open_page(**CURVES).caption]
    assert any("since round 1: +0.031" in caption and "+0.012 to +0.050" in caption for caption in captions)


def test_highest_pairs_that_are_all_pairs_are_not_shown_apart(engine: Engine, home: Path) -> None:
    figures = {"average_precision": Estimate(0.6, 0.5, 0.7, "audit", 200).as_dict()}
    make_audited_project(engine, below=None, top={"pairs": 4_498_500, "estimates": figures})
    said = [text.value for page in (open_page(), open_page(**CURVES)) for text in page.markdown]
    assert not any("Among the highest" in text or "Most of that comes" in text for text in said)
    assert any("480 more audit labels would halve it" in text for text in said)


def test_a_target_is_forecast_in_labels_and_hours(engine: Engine, home: Path) -> None:
    make_measured_project(engine)
    page = open_page(**CURVES)
    target = page.number_input(key="forecast_target_325")
    assert target.value == 0.8
    (said,) = [text.value for text in page.markdown if "to an average precision of 0.8 (95% interval" in text.value]
    assert " of labelling (" in said
    target.set_value(0.99).run()
    assert any("0.99 looks unreachable" in text.value for text in page.markdown)
    assert "looks unreachable" in described(page, "Forecast of average precision")


def test_two_trained_rounds_are_too_few_for_a_forecast(engine: Engine, home: Path) -> None:
    make_measured_project(engine, rounds=3)
    page = open_page(**CURVES)
    assert any("needs 3 trained rounds" in caption.value for caption in page.caption)
    assert not [box for box in page.number_input if str(box.key).startswith("forecast_target")]


def test_work_is_shown_by_day_and_annotator(engine: Engine, home: Path) -> None:
    make_measured_project(engine)
    page = open_page(**PEOPLE)
    assert "Everybody: 325 labels on 4" in described(page, "Labels by day")
    page.selectbox(key="days_of_2").set_value("ben").run()
    assert "ben: 108 labels on 4" in described(page, "Labels by day")
    assert "ada 217 (89 positive)" in described(page, "Labels by annotator")
    assert "counted as 60: Everybody" in described(page, "Median seconds per label")


def test_an_answer_given_meanwhile_is_counted(engine: Engine, home: Path) -> None:
    project_id = make_measured_project(engine)
    assert "325 labels" in described(open_page(**PEOPLE), "Labels by day")
    answer_round(engine, make_round(engine, project_id, 7), positives=3)
    page = open_page(**PEOPLE)
    assert "332 labels" in described(page, "Labels by day")
    assert any("batch 5: 3 of 7 answers" in plot.proto.alt for plot in page.get("vega_lite_chart"))


def test_calibration_is_that_of_the_chosen_round(engine: Engine, home: Path) -> None:
    make_measured_project(engine, name="Gold")
    make_audited_project(engine, name="Audited")
    for name, said in (("Gold", "The intervals are binomial (95%)."), ("Audited", "estimated from the audit labels")):
        page = open_page(project=name, **CURVES)
        assert described(page, "Calibration of Round 4")
        assert any(said in caption.value for caption in page.caption)
        page.selectbox(key="calibration_round_4").set_value(1).run()
        assert described(page, "Calibration of Round 1")


def test_false_positives_can_be_checked_with_known_pairs(engine: Engine, home: Path) -> None:
    make_measured_project(engine, name="Gold")
    make_audited_project(engine, name="Audited")
    assert "Check the false positives" in headings(open_page(project="Gold", **AUDIT))
    assert "Check the false positives" not in headings(open_page(project="Audited", **AUDIT))


def test_more_than_two_bands_are_not_drawn_and_the_page_says_so(engine: Engine, home: Path) -> None:
    make_audited_project(engine)
    page = open_page(**CURVES)
    said = "95% bands are shown for at most 2 rounds at a time."
    assert said not in [caption.value for caption in page.caption]
    page.pills(key="curve_rounds_4").set_value([1, 2, 3]).run()
    assert said in [caption.value for caption in page.caption]


def test_a_new_audit_is_offered_when_a_tenth_of_texts_changed(engine: Engine, home: Path, tmp_path: Path) -> None:
    project_id = make_project(engine, [f"text {i}" for i in range(30)], evaluation=20, evaluation_share=0.0)
    make_round(engine, project_id, 10)
    make_design(engine, project_id)

    def offered() -> bool:
        return any("start a new audit" in caption.value for caption in open_page().caption)

    change(engine, tmp_path, ["left-29"])
    assert not offered()  # 1 of 19
    change(engine, tmp_path, {"left-27": "another text"})
    assert offered()  # one more has gone, and one has come
    undo_text_change(engine, project_id)
    assert not offered()


def test_without_evaluation_items_nothing_can_be_measured(engine: Engine, home: Path) -> None:
    project_id = make_project(engine, [f"text {i}" for i in range(20)])
    make_round(engine, project_id, 10)
    page = open_page()
    assert "no evaluation items" in page.info[0].value
    assert "draw_audit" not in [button.key for button in page.button]


def test_without_gold_the_page_invites_to_audit_tasks(engine: Engine, home: Path) -> None:
    project_id = make_project(engine, [f"text {i}" for i in range(20)], evaluation=5)
    answer_round(engine, make_round(engine, project_id, 10), positives=4)
    page = open_page()
    told = page.info[0].value
    assert "no known pairs" in told and "biased sample" in told
    assert "one pair in 6" in told
    assert page.number_input(key="audit_draw").value == 60
    assert not page.metric
    assert not headings(page)
    assert headings(open_page(**PEOPLE)) == ["Labelling", "Batches"]


def test_too_few_audit_labels_are_counted_until_first_figures(engine: Engine, home: Path) -> None:
    make_audited_project(engine, rounds=1, needed=38, labels=12)
    page = open_page()
    assert "38 more audit labels" in page.info[0].value
    assert not page.metric


@pytest.mark.parametrize("measured", [True, False])
def test_audit_pairs_are_drawn_and_figures_brought_up_to_date(
    engine: Engine, home: Path, monkeypatch: pytest.MonkeyPatch, measured: bool
) -> None:
    project_id = make_audited_project(engine, rounds=2, needed=0 if measured else 9)
    asked: list[tuple[int, int]] = []

    def request(engine: Engine, project_id: int, draw: int) -> str:
        asked.append((project_id, draw))
        if draw > 60:
            raise InputError("an audit batch is open: finish it or drop it")
        return "j"

    monkeypatch.setattr(jobs, "request_audit", request)
    page = open_page(**(AUDIT if measured else {}))
    page.button(key="update_audit").click().run()
    page.button(key="draw_audit").click().run()
    assert asked == [(project_id, 0), (project_id, 60)] and not page.error
    page.number_input(key="audit_draw").set_value(80)
    page.button(key="draw_audit").click().run()
    assert "audit batch is open" in page.error[0].value


def test_groups_are_measured_by_an_entity_audit(engine: Engine, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project_id = make_audited_project(engine)
    asked: list[int] = []
    monkeypatch.setattr(jobs, "request_entities", lambda engine, project_id, draw: asked.append(draw) or "j")
    page = open_page(**AUDIT)
    assert "Entity audit" in headings(page) and "update_entities" not in [button.key for button in page.button]
    page.number_input(key="entities_draw").set_value(40)
    page.button(key="draw_entities").click().run()
    figure = Estimate(0.8, 0.7, 0.9, "entity audit", 40).as_dict()
    of_round = {how: {"b_cubed_f1": figure, "cluster_precision": figure} for how in ("connected", "average")}
    found = {"complete": 38, "labels": 431, "positives": 60, "rounds": {"4": of_round, "3": of_round}}
    make_design(engine, project_id, DesignKind.ENTITIES, weights=[5.0] * 40, found=found)
    page = open_page(**AUDIT)
    assert "38 of 40 drawn texts" in "\n".join(caption.value for caption in page.caption)
    told = "B³ F1 of the groups of Round 4, with its 95% interval: Connected matches 0.800 (0.700 to 0.900); Average"
    assert described(page, "B³ F1").startswith(told)
    page.selectbox(key="entities_figure").set_value("Whole groups, precision").run()
    assert described(page, "Whole groups, precision")
    page.button(key="update_entities").click().run()
    assert asked == [40, 0]
    said = "Groups: B³ F1 **0.800** (0.700 to 0.900), average linkage, round 4."
    assert said in [text.value for text in open_page().markdown]


def test_known_pairs_measure_groups_and_come_before_an_audit(
    engine: Engine, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project_id = make_measured_project(engine)
    asked: list[int] = []
    monkeypatch.setattr(jobs, "request_entities", lambda engine, project_id, draw: asked.append(draw) or "j")
    open_page(**AUDIT).button(key="update_entities").click().run()
    assert asked == [0]
    exact, audited = (
        {"average": {"b_cubed_f1": Estimate(value, low, high, method).as_dict()}}
        for value, low, high, method in ((0.75, 0.75, 0.75, "exact"), (0.8, 0.7, 0.9, "entity audit"))
    )
    with writing(engine) as session:
        for matcher, _ in matchers_with_evaluations(session, project_id)[-2:]:
            matcher.details = matcher.details | {GROUP_FIGURES: exact}
    found = {"complete": 38, "labels": 431, "positives": 60, "rounds": {"4": audited}}
    make_design(engine, project_id, DesignKind.ENTITIES, weights=[5.0] * 40, found=found)
    page = open_page(**AUDIT)
    assert "Exact, by the known pairs" in "\n".join(caption.value for caption in page.caption)
    assert "Round 4, exact: Average linkage 0.750" in described(page, "B³ F1")
    page.selectbox(key="entities_method").set_value("entity audit").run()
    assert "0.800 (0.700 to 0.900)" in described(page, "B³ F1")
    said = "Groups: B³ F1 **0.750** (exact, by the known pairs), average linkage, round 4."
    assert said in [text.value for text in open_page().markdown]


def test_an_entity_audit_says_that_it_waits_for_complete_texts(engine: Engine, home: Path) -> None:
    make_design(engine, make_measured_project(engine), DesignKind.ENTITIES, weights=[5.0] * 30)
    captions = [caption.value for caption in open_page(**AUDIT).caption]
    assert any("30 texts drawn" in caption and "when 20 are complete" in caption for caption in captions)


def test_an_open_audit_batch_is_linked_to(engine: Engine, home: Path) -> None:
    project_id = make_audited_project(engine, rounds=2)
    make_design(engine, project_id)
    make_audit_batch(engine, project_id, 4)
    page = AppTest.from_file(str(SHELL), default_timeout=30).run()
    page.switch_page("../pages/monitor.py")
    page.query_params["tab"] = "Audit"
    page.run()
    assert not page.exception
    links = [link.proto.label for link in page.get("page_link")]
    assert any(label.startswith("4 pairs of the current") for label in links)


def test_gold_without_a_measurement_waits_for_the_first_job(engine: Engine, home: Path) -> None:
    project_id = make_measured_project(engine, rounds=0)
    make_round(engine, project_id, 5)
    page = open_page()
    assert "no figures yet" in page.info[0].value
    assert "No pair is labelled" in "\n".join(text.value for text in open_page(**PEOPLE).caption)


def test_a_project_without_a_round_says_what_comes(engine: Engine, home: Path) -> None:
    make_project(engine, ["a", "b"], name="**new**")
    page = open_page()
    assert "no round yet" in page.info[0].value
    assert "**" not in page.caption[0].value


def test_without_a_project_the_page_says_so(engine: Engine, home: Path) -> None:
    assert "no project yet" in open_page().info[0].value


def test_the_project_of_the_address_is_shown(engine: Engine, home: Path) -> None:
    make_measured_project(engine, name="Older")
    make_project(engine, ["a", "b"], name="Newer")
    assert headings(open_page(project="Older"))[0] == "Round 4, after 325 labels"


def test_a_running_job_shows_how_far_it_is_and_can_be_cancelled(
    engine: Engine, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project_id = make_project(engine, ["a", "b"])
    add_worker(engine)
    add_job(engine, project_id, "j", state="running", stage="train", fraction=0.43, seconds_left=95.0)
    cancelled: list[str] = []
    monkeypatch.setattr(open_jobs, "cancel", lambda engine, job_id: cancelled.append(job_id))
    page = open_page()
    assert "training, 43%, about 2 min" in page.get("progress")[0].proto.text
    assert not [button for button in page.button if button.key == "train_now"]
    page.button(key="cancel_j").click().run()
    assert cancelled == ["j"]


def test_train_now_asks_for_a_round_and_shows_what_hinders_it(
    engine: Engine, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project_id = make_project(engine, ["a", "b"])
    asked: list[int] = []

    def request(engine: Engine, project_id: int) -> str:
        asked.append(project_id)
        if len(asked) == 1:
            raise InputError("nothing of batch 1 has been answered yet")
        return add_job(engine, project_id, "j")

    monkeypatch.setattr(jobs, "request_round", request)
    page = open_page()
    page.button(key="train_now").click().run()
    assert "Nothing of batch 1" in page.error[0].value
    page.button(key="train_now").click().run()
    assert asked == [project_id] * 2
    assert "next batch: waiting for a worker" in page.get("progress")[0].proto.text


def test_the_page_is_drawn_anew_when_the_job_ends(engine: Engine, home: Path) -> None:
    project_id = make_project(engine, ["a", "b"])
    add_job(engine, project_id, "j", state="running")
    page = open_page()
    with writing(engine) as session:
        session.get_one(Job, "j").state = "failed"
        session.get_one(Job, "j").error = "The disk is full: make room and try again."
    page.run()
    assert "disk is full" in page.error[0].value
    assert page.button(key="train_now").label == "Try again"
