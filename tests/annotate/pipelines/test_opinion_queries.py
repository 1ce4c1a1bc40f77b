"""A run's encoder answers questions about typed texts, with rationales: the job, the service, and the page."""

import shutil
from functools import partial
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Engine

from allpairs.annotate.pipelines import opinion_queries as opinions
from allpairs.annotate.pipelines.runs import made_by
from allpairs.db.errors import InputError
from allpairs.db.projects.jobs import OPINIONS, add_job
from allpairs.db.results.opinions import MOST, Opinion, Opinions, read_opinions, write_opinions
from allpairs.db.results.pipelines import pipeline_folder
from allpairs.db.schema.engine import writing
from allpairs.db.schema.tables import Job
from allpairs.learner.backbones.opinions import opinions_of
from allpairs.learner.backbones.span_biencoder import load_biencoder
from allpairs.learner.catalog.quip import HEADS, QuipConfig
from allpairs.learner.jobs import opinions as steps
from tests.helpers.factories import make_project
from tests.helpers.figures.measured import add_job as add_row
from tests.helpers.pages import open_page as opened
from tests.helpers.paths import ROOT
from tests.helpers.projects.opinions import PROMPTS, quip_run
from tests.helpers.tiny_backbones import tiny_backbone

RUN = "r"
TEXTS = ["the fair is good and cheap", "so bad it costs dollars", "it is what it is and so on and on"]
open_page = partial(opened, ROOT / "annotate" / "pages" / "pipelines.py")


@pytest.fixture
def project(engine: Engine, home: Path) -> int:
    project_id = make_project(engine, ["one", "two"])
    quip_run(engine, project_id, RUN)
    (pipeline_folder(RUN) / "student").mkdir()
    (pipeline_folder(RUN) / "student" / HEADS).touch()
    return project_id


def real_encoder() -> None:
    """Write a random encoder that can be loaded as the run's."""
    folder = pipeline_folder(RUN) / "student"
    shutil.rmtree(folder)
    bare = tiny_backbone(pipeline_folder(RUN), "bert", [*TEXTS, *PROMPTS])
    load_biencoder(str(bare), device="cpu").save(folder)


def run(engine: Engine, project_id: int, number: int = 0, prompt: str = PROMPTS[0]) -> str:
    with writing(engine) as session:
        job_id = add_job(session, project_id, OPINIONS).id
    steps.read(job_id, project_id, RUN, number, TEXTS, prompt)
    return job_id


def test_the_job_tells_opinions_by_the_questions_it_is_asked(engine: Engine, project: int) -> None:
    real_encoder()
    found = read_opinions(RUN, run(engine, project))
    assert found is not None and (found.positive, found.negative) == ("Why is it good?", "Why is it bad?")
    assert [one.text for one in found.found] == TEXTS
    assert all(0 <= one.start < one.end <= len(one.text) for one in found.found)
    assert all(len(one.text[one.start : one.end].split()) <= 5 for one in found.found)
    biencoder = load_biencoder(str(pipeline_folder(RUN) / "student"), device="cpu")
    whole = opinions_of(biencoder, PROMPTS[0], TEXTS, QuipConfig())
    np.testing.assert_allclose([one.margin for one in found.found], whole.margins, atol=1e-5)
    assert [one.positive for one in found.found] == (whole.predicted() == 1).tolist()
    turned = read_opinions(RUN, run(engine, project, prompt="Why is it bad? | Why is it good?"))
    assert turned is not None
    np.testing.assert_allclose([one.margin for one in turned.found], -whole.margins, atol=1e-5)


def test_what_is_not_there_is_refused(engine: Engine, project: int) -> None:
    other = make_project(engine, ["a", "b"], name="Other")
    with pytest.raises(InputError, match=f"this project has no run {RUN}"):
        run(engine, other)
    with pytest.raises(InputError, match=f"{RUN} made no encoder"):
        run(engine, project, number=1)
    (pipeline_folder(RUN) / "student" / HEADS).unlink()
    with pytest.raises(InputError, match=f"{RUN} made no encoder"):
        run(engine, project)
    assert not opinions.answers(made_by(RUN)[0])
    with pytest.raises(InputError, match="this encoder cannot answer questions"):
        opinions.ask(engine, project, RUN, 0, "a text", "Why?", "Why not?")


@pytest.mark.parametrize(
    ("lines", "positive", "negative", "problem"),
    [
        (" \n ", "Why?", "Why not?", "there is no text to read: type one"),
        ("a\n" * 101, "Why?", "Why not?", "there are 101 texts, but the limit is 100"),
        ("a\n" + "b" * 2_001, "Why?", "Why not?", "text 2 has 2,001 characters, but the limit is 2,000"),
        ("a", " ", "Why not?", "the question for a positive opinion is missing"),
        ("a", "Why?", "n" * 301, "the question for a negative opinion has 301 characters"),
        ("a", "Why? | Or not?", "Why not?", r"contains the character \|"),
        ("a", "Why?", " why?", "the two questions are the same"),
    ],
)
def test_bad_input_is_said(
    engine: Engine, project: int, lines: str, positive: str, negative: str, problem: str
) -> None:
    with pytest.raises(InputError, match=problem):
        opinions.ask(engine, project, RUN, 0, lines, positive, negative)


def test_few_results_are_kept(home: Path) -> None:
    for at in range(MOST + 2):
        write_opinions(RUN, f"job-{at}", Opinions("Why?", "Why not?", [Opinion("a", 0.5, 0, 1)]))
    kept = [at for at in range(MOST + 2) if read_opinions(RUN, f"job-{at}") is not None]
    assert len(kept) == MOST and MOST + 1 in kept


@given(st.text("ab <>&\"'/é", max_size=40), st.integers(0, 40), st.integers(0, 40))
def test_the_text_stands_in_the_page_as_it_was_typed(text: str, start: int, end: int) -> None:
    html = opinions.marked(Opinion(text, 0.1, start, end))
    bare = html.replace("<mark>", "", 1).replace("</mark>", "", 1)
    assert "<" not in bare and ">" not in bare and unescape(bare) == text
    if start < end:
        assert unescape(html.split("<mark>")[1].split("</mark>")[0]) == text[start:end]


@pytest.fixture
def page(engine: Engine, project: int, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return the page with the section open; the queue only records requests."""

    def request(engine: Engine, project_id: int, run_id: str, number: int, texts: list[str], prompt: str) -> str:
        return add_row(engine, project_id, f"{len(texts)} {prompt}", kind=OPINIONS)

    monkeypatch.setattr(opinions, "request_opinions", request)
    page = open_page()
    page.session_state[f"opinions_{RUN}_0"] = True
    return page.run()


def test_questions_begin_as_configured_and_can_be_changed(engine: Engine, project: int, page: Any) -> None:
    key = f"opinions_{RUN}_0"
    assert page.text_input(key=f"{key}_0_positive").value == "Why is it good?"
    page.selectbox(key=f"{key}_prompt").set_value(1).run()
    assert page.text_input(key=f"{key}_1_negative").value == "What is poor?"
    page.text_input(key=f"{key}_1_positive").set_value("What  is great?")
    page.text_area(key=f"{key}_texts").set_value("a <b>fine</b> day & night\n\nso *dull*")
    page.button(key=f"{key}_ask").click().run()
    assert not page.exception
    job_id = "2 What is great? | What is poor?"
    assert [bar.proto.text for bar in page.get("progress")] == ["Reading: waiting for a worker"]
    with writing(engine) as session:
        session.merge(Job(id=job_id, project_id=project, kind=OPINIONS, state="done"))
    found = [Opinion("a <b>fine</b> day & night", 0.5, 5, 9), Opinion("so *dull*", -1.25, 3, 9)]
    write_opinions(RUN, job_id, Opinions("What is great?", "What is poor?", found))
    page.run()
    shown = "".join(element.proto.body for element in page.get("html"))
    assert "<b>Positive</b> (0.50): <i>What is great?</i>" in shown
    assert "a &lt;b&gt;<mark>fine</mark>&lt;/b&gt; day &amp; night" in shown
    assert "<b>Negative</b> (1.25): <i>What is poor?</i>" in shown and "so <mark>*dull*</mark>" in shown
    page.text_area(key=f"{key}_texts").set_value(" ")
    page.button(key=f"{key}_ask").click().run()
    (error,) = page.error
    assert "There is no text to read" in error.value
