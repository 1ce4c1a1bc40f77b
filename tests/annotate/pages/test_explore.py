"""The page Explore, without a browser and without a worker."""

import re
from pathlib import Path

import pytest
from sqlalchemy import Engine, select
from streamlit.testing.v1 import AppTest

from allpairs.annotate.kit.text.formatting import literal
from allpairs.annotate.kit.text.measures import score_in_words
from allpairs.db.domain import AnswerKind, Clustering
from allpairs.db.labels.answers import answer_at_once
from allpairs.db.projects.jobs import EXPLORE, NEXT_ROUND, SEARCH
from allpairs.db.results.job_results import Hit, Search, write_search
from allpairs.db.schema.engine import reading, writing
from allpairs.db.schema.tables import Evaluation, Job, StoredModel, Task, now
from tests.helpers.factories import make_groups, make_project, make_round
from tests.helpers.figures.measured import add_job, add_matcher, add_worker
from tests.helpers.machine import ROOT
from tests.helpers.projects.results import FIGURES, SCORED, explore, item_ids

PAGE = ROOT / "annotate" / "pages" / "explore.py"
HOW = "explore_groups_symmetric_True"  # the choice of a clustering
KNOWN = [(0, 1, 0.9, 1, -1), (0, 2, 0.8, 0, -1), (3, 4, 0.7, -1, 0)]


@pytest.fixture
def project(engine: Engine, home: Path) -> int:
    """Return a project of 8 texts, the last 2 for evaluation; the second of two rounds is prepared; one batch."""
    project_id = make_project(engine, [f"*text* <b>{i}</b>" for i in range(8)], evaluation=2)
    for number in (0, 1, 2):
        add_matcher(engine, project_id, number, FIGURES)
    make_round(engine, project_id, 1)
    explore(engine, project_id, 2, SCORED, KNOWN)
    return project_id


def open_page(view: str = "") -> AppTest:
    page = AppTest.from_file(str(PAGE), default_timeout=30).run()
    if view:
        page.get_by_key("explore_view").set_value(view).run()
    assert not page.exception
    return page


def captions(page: AppTest) -> str:
    return "\n".join(text.value for text in page.caption)


def metrics(page: AppTest) -> dict[str, str]:
    return {metric.label: metric.value for metric in page.metric}


def keys(page: AppTest) -> list[str | None]:
    return [button.key for button in page.button]


def choose_round(page: AppTest, project: int, number: int) -> AppTest:
    page.selectbox(key=f"explore_round_{project}").set_value(number).run()
    assert not page.exception
    return page


def test_without_a_project_or_a_model(engine: Engine, home: Path) -> None:
    assert "no project yet" in open_page().info[0].value
    make_project(engine, ["a", "b"])
    assert "no model yet" in open_page().info[0].value


def jobs_of(engine: Engine) -> list[tuple[str, str]]:
    with reading(engine) as session:
        return [(job.kind, job.state) for job in session.scalars(select(Job).order_by(Job.created_at))]


def end(engine: Engine, state: str) -> None:
    """End the newest job in this state."""
    with writing(engine) as session:
        job = session.scalars(select(Job).order_by(Job.created_at.desc())).first()
        assert job is not None
        job.state, job.error = state, "The disk is full"


def test_a_round_is_prepared_by_itself_once(engine: Engine, project: int) -> None:
    page = open_page()
    assert jobs_of(engine) == []  # the newest round is prepared
    choose_round(page, project, 1)
    assert jobs_of(engine) == [(EXPLORE, "waiting")]
    page.get_by_key("explore_view").set_value("Matches").run()
    assert "prepare_1" not in keys(page) and len(keys(page)) == 1 and "No worker is running" in captions(page)
    assert not page.metric
    open_page()  # somebody else
    end(engine, "failed")
    for again in (page.run(), choose_round(open_page("Matches"), project, 1)):
        assert jobs_of(engine) == [(EXPLORE, "failed")] and again.error[0].value == "The disk is full"
        assert "not prepared" in captions(again)
    assert page.button(key="prepare_1").label == "Try again"
    page.button(key="prepare_1").click().run()
    assert jobs_of(engine) == [(EXPLORE, "failed"), (EXPLORE, "waiting")] and not page.error
    end(engine, "done")  # and yet there is nothing: no endless loop
    assert "prepare_1" in keys(page.run()) and len(jobs_of(engine)) == 2


def test_a_cancelled_preparation_waits_and_a_new_round_does_not(engine: Engine, project: int) -> None:
    choose_round(open_page(), project, 1)
    end(engine, "cancelled")
    page = choose_round(open_page("Matches"), project, 1)
    assert page.button(key="prepare_1").label == "Prepare it" and len(jobs_of(engine)) == 1
    add_matcher(engine, project, 3, FIGURES)
    with writing(engine) as session:
        session.scalars(select(StoredModel).where(StoredModel.number == 3)).one().created_at = now()
    open_page()
    assert jobs_of(engine)[1:] == [(EXPLORE, "waiting")]


def test_how_far_the_preparation_is_and_why_it_failed(engine: Engine, project: int) -> None:
    add_worker(engine)
    add_job(engine, project, "e", kind=EXPLORE, state="running", stage="encode", fraction=0.25)
    bars = [bar.proto.text for bar in open_page("Matches").get("progress")]
    assert bars == ["Preparing: encoding texts, 25%"]
    with writing(engine) as session:
        job = session.get_one(Job, "e")
        job.state, job.error = "failed", "The *encoder* is gone"
    page = open_page("Matches")
    assert page.error[0].value == "The \\*encoder\\* is gone"
    assert "prepare_2" not in keys(page) and metrics(page)  # what was prepared before is still there
    with reading(engine) as session:
        task = session.scalars(select(Task)).one()
    page = open_page("Matches")
    assert "came later" not in captions(page)
    with writing(engine) as session:
        answer_at_once(session, project, "ann", [(task.left_id, task.right_id)], AnswerKind.POSITIVE, "act")
    page = open_page("Matches")
    assert "1 answer came later" in captions(page) and "prepare_2" in keys(page)


def test_matches_with_what_to_expect_of_them(engine: Engine, project: int) -> None:
    page = open_page("Matches")
    assert "7 pairs and 3 known" in captions(page)
    assert metrics(page) == {"Matches": "3", "Estimated precision": "100.0%", "Estimated recall": "25.0%",
                             "p at the threshold": "0.500"}  # fmt: skip
    page.slider(key=page.slider[0].key).set_value(0.3).run()
    assert metrics(page)["Matches"] == "4"
    assert (metrics(page)["Estimated precision"], metrics(page)["Estimated recall"]) == ("50.0%", "100.0%")
    assert "4.0 times rarer" in captions(page)
    assert "drop to 20.0%" in captions(page)


def test_texts_are_shown_as_they_are(project: int) -> None:
    shown = [element.proto.body for element in open_page("Matches").get("html")]
    assert len(shown) == 6
    assert "*text* &lt;b&gt;" in shown[0] and "<mark" in shown[0] and ">0</mark>" in shown[0]


def test_no_figures_without_a_measurement(engine: Engine, project: int) -> None:
    with writing(engine) as session:
        matcher = session.scalars(select(StoredModel).where(StoredModel.number == 2)).one()
        session.delete(session.get_one(Evaluation, matcher.id))
    page = open_page("Matches")
    assert metrics(page)["Estimated precision"] == "–"
    assert "has not been measured" in captions(page)
    assert "not a measurement" in captions(page)


def test_pages_of_matches(engine: Engine, project: int, monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = [(i, j, 0.9 - 0.01 * i - 0.001 * j) for i in range(8) for j in range(i + 1, 8)]
    explore(engine, project, 2, sorted(pairs, key=lambda pair: -pair[2]))
    page = open_page("Matches")
    assert "page 1 of 2" in captions(page) and captions(page).count("score 0.") == 20
    page.number_input[0].set_value(2).run()
    assert captions(page).count("score 0.") == 8
    page.slider[0].set_value(0.89).run()
    assert "page" not in captions(page).split("score")[0].split("prepared")[1]


def test_a_pair_becomes_a_task_by_one_click(engine: Engine, project: int) -> None:
    explore(engine, project, 2, SCORED, KNOWN[:2])
    ids, page = item_ids(engine, project), open_page("Matches")
    page.button(key=f"pick_{project}_{ids[3]}_{ids[4]}").click().run()
    assert "next pair of batch 1" in captions(page)
    with reading(engine) as session:
        first = session.scalars(select(Task).order_by(Task.position).limit(1)).one()
    assert (first.left_id, first.right_id, first.strategy) == (ids[3], ids[4], "picked")
    assert captions(page).count("in the batch") == 2
    assert f"pick_{project}_{ids[0]}_{ids[6]}" not in keys(page)  # half an evaluation pair
    assert f"pick_{project}_{ids[3]}_{ids[4]}" not in keys(page)  # in the batch
    add_job(engine, project, "n", kind=NEXT_ROUND, state="running")
    page = open_page("Matches")
    assert not [key for key in keys(page) if key and key.startswith("pick_")]
    assert "next batch is being prepared" in captions(page)


def test_a_typed_text_is_searched(engine: Engine, project: int) -> None:
    page = open_page()
    assert "Round 2. All texts" in captions(page)
    page.text_area(key="search_text").set_value("new text")
    page.button[0].click().run()
    with reading(engine) as session:
        job = session.scalars(select(Job)).one()
    assert job.kind == SEARCH and f"cancel_{job.id}" in keys(page)
    ids = item_ids(engine, project)
    write_search(project, Search(job.id, 2, "new text", None, [Hit(ids[1], 0.7, 0.6, "price -1.20")]))
    with writing(engine) as session:
        session.get_one(Job, job.id).state = "done"
    page.run()
    assert "score 0.700, p 0.600" in captions(page) and literal("price -1.20") in captions(page)
    assert "“new text”**, round 2" in "\n".join(text.value for text in page.markdown)


def test_an_item_is_found_by_words_and_searched(engine: Engine, project: int) -> None:
    ids, page = item_ids(engine, project), open_page()
    page.get_by_key("search_how").set_value("Text of the project").run()
    page.text_input(key="search_words").set_value("none").run()
    assert "contains all these words" in captions(page)
    page.text_input(key="search_words").set_value("5").run()
    page.button(key=f"search_item_{ids[5]}").click().run()
    with reading(engine) as session:
        job = session.scalars(select(Job)).one()
    write_search(project, Search(job.id, 2, "*text* 5", ids[5], [Hit(ids[1], 0.7, 0.6, "words +2.30")]))
    with writing(engine) as session:
        session.get_one(Job, job.id).state = "done"
    page.run()
    assert not page.exception
    assert f"pick_{project}_{ids[1]}_{ids[5]}" in keys(page) and literal("words +2.30") in captions(page)


def test_before_training_a_search_shows_similarity_and_says_so(engine: Engine, project: int) -> None:
    page = open_page()
    page.text_area(key="search_text").set_value("new text")
    page.button[0].click().run()
    with reading(engine) as session:
        job = session.scalars(select(Job)).one()
    ids = item_ids(engine, project)
    write_search(project, Search(job.id, 0, "new text", None, [Hit(ids[1], 0.7, None, "")]))
    with writing(engine) as session:
        session.get_one(Job, job.id).state = "done"
    page.run()
    assert "similarity 0.700" in captions(page) and "No model is trained" in captions(page)
    assert "What each part adds" not in captions(page)
    assert [score_in_words(0.1, p) for p in (0.0001, 0.9999, 0.5)] == [
        "score 0.100, p < 0.001", "score 0.100, p > 0.999", "score 0.100, p 0.500",
    ]  # fmt: skip


def test_no_text_is_no_search(project: int) -> None:
    page = open_page()
    page.button[0].click().run()
    assert "search text is empty" in page.error[0].value


def open_connected() -> AppTest:
    """Open the tab Groups with connected matches."""
    page = open_page("Groups")
    page.get_by_key(HOW).set_value(Clustering.CONNECTED).run()
    return page


def test_groups_by_another_clustering_and_their_weakest_links(engine: Engine, project: int) -> None:
    page = open_connected()
    assert "1 group of 4 texts" in captions(page)  # gold calls the other match different
    assert [one.label for one in page.expander] == ["Weakest link: score 0.650, p 0.599"]
    assert "Against connected matches" not in captions(page)
    explore(engine, project, 2, [(0, 1, 0.9), (1, 2, 0.8), (4, 5, 0.75), (2, 3, 0.7)], cutoff=1)
    page = open_connected()
    page.get_by_key("groups_order").set_value("Weakest link first").run()
    assert [one.label[:25] for one in page.expander] == ["Weakest link: score 0.700", "Weakest link: score 0.750"]
    page.get_by_key(HOW).set_value(Clustering.AVERAGE).run()
    assert "1 group stays, 1 divides" in captions(page) and len(page.expander) == 3
    assert "- **\\*text\\* " in "\n".join(text.value for text in page.markdown)  # the representative


def test_groups_show_their_ids_and_what_changed(engine: Engine, project: int) -> None:
    explore(engine, project, 2, SCORED)
    assert "keeps no groups yet" in captions(open_connected())
    ids = item_ids(engine, project)
    make_groups(engine, project, [ids[:4], ids[6:8]])
    make_groups(engine, project, [ids[:2], ids[2:5], ids[6:8]], matcher=2, p=0.5)
    page = open_connected()
    assert "**g1 (2 texts), g3 (1 text), g2 (1 text)** · **4 texts**" in captions(page)
    (expander,) = (one for one in page.expander if one.label == "What changed")
    assert "3 groups of 7" in expander.caption[0].value
    (coming,) = (one for one in page.expander if one.label == "What would change")
    said = [line for line in captions(page).splitlines() if line.startswith("If these were the project's groups")]
    assert len(said) == 1 and len(coming.markdown) == 1
    second, first = (one.value.replace("\\", "").splitlines()[2:] for one in expander.markdown)
    made, divided = second
    assert re.fullmatch(r"- \*\*g3\*\* made .* 3 texts, .* g1 .*: left-2, left-3, left-4", made)
    assert re.fullmatch(r"- \*\*g1\*\* divided; .* g3: 4 → 2 texts .*: left-2, left-3", divided)
    assert re.fullmatch(r"- \*\*g2\*\* made .* 2 texts .*: left-6, left-7", first[0])
    assert first[1].startswith("- **g1** made of 4")


def test_mistakes_and_missed_positives(engine: Engine, project: int) -> None:
    page = open_page("Mistakes")
    assert "2 of 2 pairs have p ≥ ½" in captions(page)
    assert captions(page).index("score 0.800") < captions(page).index("score 0.700")
    page.get_by_key("mistakes").set_value("Missed positives").run()
    assert "0 of 1 pair have p < ½" in captions(page) and "score 0.900" in captions(page)
    explore(engine, project, 2, SCORED)
    assert "known to be a non-match" in open_page("Mistakes").info[0].value


def test_two_rounds_are_compared(engine: Engine, project: int) -> None:
    page = open_page("Compare")
    assert jobs_of(engine) == [(EXPLORE, "waiting")] and len(page.get("progress")) == 1  # the other round
    end(engine, "done")
    explore(engine, project, 1, [(0, 1, 0.1), (3, 4, 0.7)], KNOWN, all_pairs=7)
    page = open_page("Compare")
    assert "best 20,000 of each round, 7" in captions(page)
    changes = [text.value.split(" · ")[0] for text in page.caption if "→" in text.value]
    assert (len(changes), changes[0]) == (7, "**p 0.000 → 0.988**")


def test_only_trained_rounds_are_compared(engine: Engine, project: int) -> None:
    explore(engine, project, 0, SCORED)
    page = choose_round(open_page("Compare"), project, 0)
    assert "scores but no probabilities" in page.info[0].value


def test_comparing_takes_two_trained_rounds(engine: Engine, home: Path) -> None:
    project_id = make_project(engine, [f"text {i}" for i in range(8)])
    for number, said in ((0, "there is none yet"), (1, "there is one so far")):
        add_matcher(engine, project_id, number, FIGURES)
        page = open_page("Compare")
        assert said in page.info[0].value


def test_rounds_that_agree_say_so(engine: Engine, project: int) -> None:
    explore(engine, project, 1, [(0, 1, -0.9)])
    explore(engine, project, 2, [(0, 1, -0.9)])
    assert "Round 1 and round 2 give the same" in open_page("Compare").info[0].value
