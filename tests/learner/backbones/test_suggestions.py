"""A run's generator suggests questions about a passage: the job, the service, and the page."""

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, select

from allpairs.annotate.features.papers import suggested_questions
from allpairs.annotate.kit.jobs import open_jobs as jobs
from allpairs.db.errors import InputError
from allpairs.db.files.json_file import write_json
from allpairs.db.projects.jobs import SUGGEST, add_job
from allpairs.db.results.job_results import Suggestion, SuggestionRequest
from allpairs.db.results.pipelines import ARTIFACTS, pipeline_folder, results_folder, stored_outputs
from allpairs.db.results.result_file import read_result
from allpairs.db.schema.engine import reading, writing
from allpairs.db.schema.tables import Item
from allpairs.learner.backbones.generator import load_generator, nll
from allpairs.learner.backbones.suggestions import filled, suggest_questions
from allpairs.learner.jobs import suggest as steps
from allpairs.learner.light.catalog.backbones import GeneratorSettings
from tests.helpers.factories import make_project
from tests.helpers.figures.measured import add_job as add_row
from tests.helpers.machine import ROOT
from tests.helpers.pages import open_page as opened
from tests.helpers.projects.pipelines import finished_run
from tests.helpers.tiny_backbones import tiny_backbone

PASSAGES = ["blue cats are sold here", "red dogs live in the house", "old hens lay small eggs"]
NUMBER = 3  # of the generator among what the run made
open_page = partial(opened, ROOT / "annotate" / "pages" / "pipelines.py")


@pytest.fixture
def project(engine: Engine, home: Path) -> int:
    """Return a project with two questions, three passages, and a run that made a generator, a random T5."""
    project_id = make_project(engine, ["what is sold", "who lives there"], right=PASSAGES)
    finished_run(engine, project_id, "r")
    folder = tiny_backbone(results_folder("r"), "t5", PASSAGES)
    folder.rename(results_folder("r") / "generator")
    add_generator("results/generator")
    return project_id


def add_generator(path: str, **about: str) -> None:
    made = [*stored_outputs("r")[:NUMBER], {"kind": "generator", "title": "Generator", "path": path, "about": about}]
    (results_folder("r") / ARTIFACTS).write_text(json.dumps(made))


def passages(engine: Engine, project_id: int) -> list[int]:
    with reading(engine) as session:
        mine = select(Item.id).where(Item.project_id == project_id, Item.text.in_(PASSAGES))
        return list(session.scalars(mine.order_by(Item.id)))


def run(engine: Engine, project_id: int, asked: SuggestionRequest) -> str:
    with writing(engine) as session:
        job_id = add_job(session, project_id, SUGGEST).id
    return steps.ask_generator(job_id, project_id, asked.run_id, asked.number, asked.item_id, 3)


def test_suggestions_differ_and_the_likeliest_comes_first(project: int) -> None:
    generator = load_generator(str(results_folder("r") / "generator"), device="cpu")
    settings = GeneratorSettings(target_length=6, beams=2)
    found = suggest_questions(generator, PASSAGES[0], 4, settings, seed=1)
    questions, losses = [question for question, _ in found], [loss for _, loss in found]
    assert len(set(questions)) == len(questions) == 4 and losses == sorted(losses)
    assert losses == pytest.approx(nll(generator, [PASSAGES[0]] * 4, questions, settings).tolist(), rel=1e-4)
    assert found == suggest_questions(generator, PASSAGES[0], 4, settings, seed=1)


def test_of_a_long_passage_only_the_passage_is_cut(project: int) -> None:
    generator = load_generator(str(results_folder("r") / "generator"), device="cpu")
    form = "red dogs {passage} live in the house"
    count = len(generator.tokenizer(form.replace("{passage}", ""))["input_ids"])
    long = " ".join(["blue cats"] * 100)
    found = filled(generator, form, long, count + 4)
    assert found == "red dogs blue cats blue cats live in the house"
    assert len(generator.tokenizer(found)["input_ids"]) == count + 4
    assert filled(generator, form, "old hens", 512) == "red dogs old hens live in the house"
    assert filled(generator, form, long, 2) == "red dogs  live in the house"


def test_a_prompt_is_no_longer_than_the_network_reads(tmp_path: Path) -> None:
    folder = tiny_backbone(tmp_path, "bart", PASSAGES)  # which has 80 positions
    generator = load_generator(str(folder), device="cpu")
    found = filled(generator, "red dogs {passage} live in the house", " ".join(["blue cats"] * 100), 512)
    assert len(generator.tokenizer(found)["input_ids"]) == 80


def test_the_job_leaves_questions_in_the_runs_folder(engine: Engine, project: int) -> None:
    asked = SuggestionRequest("r", NUMBER, passages(engine, project)[0])
    assert read_result(asked.path, list[Suggestion]) is None
    assert run(engine, project, asked) == "3 questions"
    found = read_result(asked.path, list[Suggestion])
    assert found is not None and len(found) == 3 and asked.path.is_relative_to(pipeline_folder("r"))
    add_generator("results/generator", reads="red dogs {passage}")  # what it reads is another text then
    run(engine, project, asked)
    assert read_result(asked.path, list[Suggestion]) != found


def test_what_is_not_there_is_refused(engine: Engine, project: int) -> None:
    other = make_project(engine, ["a", "b"], name="Other")
    item = passages(engine, project)[0]
    with pytest.raises(InputError, match="made no generator"):
        run(engine, project, SuggestionRequest("r", 1, item))
    with pytest.raises(InputError, match="not in the project"):
        run(engine, other, SuggestionRequest("r", NUMBER, item))
    with pytest.raises(InputError, match="not a generator"):
        suggested_questions.request_suggestions(engine, project, SuggestionRequest("r", 1, item))
    with pytest.raises(InputError, match="project has no run r"):
        suggested_questions.request_suggestions(engine, other, SuggestionRequest("r", NUMBER, item))


def test_passages_are_found_by_their_words(engine: Engine, project: int) -> None:
    assert [item.text for item in suggested_questions.passages_with(engine, project, "")] == PASSAGES
    assert [item.text for item in suggested_questions.passages_with(engine, project, "HOUSE red")] == [PASSAGES[1]]
    one_list = make_project(engine, ["a house", "b"], name="One")
    assert [item.text for item in suggested_questions.passages_with(engine, one_list, "house")] == ["a house"]


@pytest.fixture
def page(engine: Engine, project: int, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return the page with the generator's section open; the queue only records requests."""

    def request(engine: Engine, project_id: int, kind: str, *arguments: int, **options: object) -> str:
        _, _, item_id, count = arguments
        return add_row(engine, project_id, f"ask-{item_id}-{count}", kind=kind)

    monkeypatch.setattr(suggested_questions, "request_apart", request)
    page = open_page()
    page.session_state[f"suggest_r_{NUMBER}"] = True
    return page.run()


def test_a_passage_is_chosen_and_its_questions_read(engine: Engine, project: int, page: Any) -> None:
    item = passages(engine, project)[2]
    page.text_input(key=f"suggest_r_{NUMBER}_words").set_value("hens").run()
    assert page.selectbox(key=f"suggest_r_{NUMBER}_passage_{item}").value == item
    page.button(key=f"suggest_r_{NUMBER}_ask_{item}").click().run()
    assert not page.exception
    assert [bar.proto.text for bar in page.get("progress")] == ["Asking: waiting for a worker"]
    with writing(engine) as session:
        session.merge(jobs.Job(id=f"ask-{item}-5", project_id=project, kind=SUGGEST, state="done"))
    write_json(
        SuggestionRequest("r", NUMBER, item).path,
        [Suggestion("what do hens lay", 1.2), Suggestion("who lays *eggs*", 2.0)],
    )
    page.run()
    shown = "\n".join(element.value for element in page.markdown)
    assert "1. what do hens lay\n1. who lays \\*eggs\\*" in shown and not page.get("progress")
    page.text_input(key=f"suggest_r_{NUMBER}_words").set_value("nothing of the kind").run()
    assert any("No passage" in caption.value for caption in page.caption)
