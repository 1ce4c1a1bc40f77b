"""The model card exported with a matcher."""

from pathlib import Path

import pytest
from sqlalchemy import Engine, select

from allpairs.annotate.features.projects.projects import update_settings
from allpairs.annotate.features.publish.model_card import base_licence, model_readme
from allpairs.annotate.features.publish.model_export import usage
from allpairs.annotate.features.quality.rounds import read_report
from allpairs.db.domain import Settings
from allpairs.db.schema.engine import writing
from allpairs.db.schema.tables import Project, StoredModel
from tests.helpers.factories import make_project
from tests.helpers.figures.measured import add_matcher, make_audited_project, make_measured_project


def card(engine: Engine, project_id: int, number: int) -> str:
    matcher = next(one for one, _ in read_report(engine, project_id).matchers if one.number == number)
    return model_readme(engine, matcher, "help-desk-round-1", usage(Project(name="Help desk"), matcher))


def test_the_card_says_what_the_model_is_and_how_well_it_does(engine: Engine) -> None:
    project_id = make_measured_project(engine, rounds=4)
    settings = read_report(engine, project_id).settings
    update_settings(
        engine, project_id, settings.model_copy(update={"question": "Same\nthing?", "guidelines": "# Be kind"})
    )
    text = card(engine, project_id, 2)
    for part in (
        "\n# Help desk questions, round 2\n",
        "One list of 180 texts; 30 known positives and 0 known negatives.",
        "120 texts are in the evaluation set",
        "“Same thing?”",
        "  > # Be kind",
        "Trained on 100 labels, 33 of them positives.",
        "\n| 1 | uncertainty | 40 | 40 | 9 | 29 | 2 |\n| 2 | uncertainty | 60 | 60 | 24 | 34 | 2 |\n\n",
        "Exact over all 200,600 pairs of evaluation items, 600 positives.",
        "ngrams 0.420, words 0.100",
        "Hubness correction: 0.25 times",
        "w = 16.0000 and b = -10.0000; p = ½ at a score of 0.6250",
        "allpairs match --model help-desk-round-1 --left texts.csv --threshold 0.6250",
        'Matcher.load("help-desk-round-2")',  # as `card` names this one
        "`all-MiniLM-L6-v2`, which is apache-2.0",
    ):
        assert part in text, part
    assert "| 3 |" not in text  # that batch came later
    evaluation = read_report(engine, project_id).matchers[2][1]
    assert evaluation is not None
    average = evaluation.estimates["average_precision"]["value"]
    assert f"| Average precision | {average:.3f} | exact |" in text


def test_the_bare_cosine_has_figures_of_its_own(engine: Engine) -> None:
    project_id = make_measured_project(engine, rounds=2)
    assert "figures do not hold" in card(engine, project_id, 1)
    measured = {"value": 0.7125, "low": 0.7125, "high": 0.7125, "method": "exact", "labels": 0}
    moves = {"texts": 900, "mean": 0.0123, "in_95_percent_at_most": 0.0456, "most": 0.2}
    with writing(engine) as session:
        row = session.scalars(select(StoredModel).where(StoredModel.number == 1)).one()
        bare = {"score": "cosine", "w": 9.0, "b": -4.5, "threshold": 0.5, "average_precision": measured}
        row.details = row.details | {"bare": bare, "p_moves": moves}
    text = card(engine, project_id, 1)
    assert "| Average precision over all pairs | 0.713 (exact) |" in text
    assert "| p = ½ at a cosine of | 0.5000 |" in text and 'bare["w"] * cosine' in text
    assert "900 texts" in text and "0.012 on average" in text and "0.046 in 95%" in text


def test_a_model_of_two_lists_is_used_with_two_files(engine: Engine) -> None:
    project_id = make_project(engine, ["a", "b"], ["c"])
    add_matcher(engine, project_id, 1, {"pairs": 0, "positives": 0, "estimates": {}, "curve": {}, "histogram": {}})
    text = card(engine, project_id, 1)
    assert "2 × 1 texts" in text and "--left left.csv --right right.csv --threshold" in text
    assert "twice that in the shorter" in text


def test_sampled_figures_have_their_intervals(engine: Engine) -> None:
    text = card(engine, make_audited_project(engine, rounds=2), 1)
    assert "| Average precision | 0.440 | 0.360 to 0.520 |" in text
    assert "0.360 to 0.520, from 200" in text
    assert "| Positives | 1,348 | 1,020 to 1,790 |" in text


def test_what_was_not_measured_is_not_claimed(engine: Engine) -> None:
    text = card(engine, make_audited_project(engine, rounds=2, needed=9), 1)
    assert "not been evaluated" in text and "Average precision" not in text


@pytest.mark.parametrize(
    ("readme", "licence"),
    [("---\nlicense: mit\ntags: []\n---\n# M", "mit"), ("# no head", None), ("---\nlanguage: en\n---\n", None)],
)
def test_the_licence_of_a_base_model_is_what_its_folder_states(
    tmp_path: Path, readme: str, licence: str | None
) -> None:
    (tmp_path / "README.md").write_text(readme)
    assert base_licence(str(tmp_path)) == licence


def test_an_unknown_licence_is_not_guessed(tmp_path: Path) -> None:
    assert base_licence("some/model") is None
    assert base_licence(Settings().encoder) == "apache-2.0"
