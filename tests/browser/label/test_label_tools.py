"""Labelling tools in a real browser: custom keys, notes, text size, several candidates at once."""

import re

import pytest
from playwright.sync_api import BrowserContext, Page, expect
from sqlalchemy import delete, select, update

from allpairs.db.domain import AnswerKind, DesignKind
from allpairs.db.labels.answers import current_labels
from allpairs.db.labels.tasks import mark_likely
from allpairs.db.schema.engine import reading, writing
from allpairs.db.schema.tables import Item, Task
from tests.helpers.browser import PHONE, MakeDesk, Picture, drawn, open_card, settle, shown
from tests.helpers.factories import make_audit_batch, make_design

P, N, U, S, R = AnswerKind
RIGHT = [f"Passage {i} says something about the matter at hand." for i in range(6)]


def answers(page: Page) -> list[str]:
    return page.locator(".candidate-text").all_text_contents()


@pytest.mark.slow
def test_half_a_minute_offline_loses_nothing(page: Page, context: BrowserContext, make_desk: MakeDesk) -> None:
    desk = make_desk(40)
    open_card(page, desk.url)
    context.set_offline(True)
    for _ in range(30):
        page.keyboard.press("2", delay=1_000)
    context.set_offline(False)
    settle(page, 30)
    assert desk.labels == [N] * 30 + [None] * 10
    assert len(desk.answers) == 30


def test_answers_can_be_undone_after_a_reload(page: Page, make_desk: MakeDesk) -> None:
    desk = make_desk(6)
    open_card(page, desk.url)
    first = shown(page)
    for key in ("1", "2", "3"):
        page.keyboard.press(key)
    settle(page, 3)
    page.reload()
    expect(page.locator("[data-act=undo]")).to_be_enabled(timeout=15_000)
    drawn(page)  # while the page is drawn anew, a key may be lost
    for _ in range(3):
        page.keyboard.press("z")
    assert shown(page) == first
    expect(page.locator("[data-act=undo]")).to_be_disabled()
    page.keyboard.press("2")
    settle(page, 4)
    expect(page.locator(".counts")).to_have_text("Batch 1: 1 of 6 answered · 0 positive")
    assert desk.labels == [N] + [None] * 5


def test_a_note_is_stored_with_the_answer(page: Page, make_desk: MakeDesk) -> None:
    desk = make_desk(3)
    open_card(page, desk.url)
    expect(page.locator(".note")).to_be_hidden()
    page.keyboard.press("c")
    page.keyboard.type("1 of 2: the dates differ")
    page.keyboard.press("Enter")
    expect(page.locator(".note")).to_be_visible()
    page.keyboard.press("2")
    expect(page.locator(".note")).to_be_hidden()
    page.keyboard.press("c")
    page.keyboard.type("dropped")
    page.keyboard.press("Escape")
    expect(page.locator(".note")).to_be_hidden()
    page.keyboard.press("1")
    settle(page, 2)
    assert [(answer.answer, answer.note) for answer in desk.answers] == [(N, "1 of 2: the dates differ"), (P, None)]
    page.keyboard.press("z")
    page.keyboard.press("z")
    expect(page.locator(".note textarea")).to_have_value("1 of 2: the dates differ")


def test_keys_can_be_changed_and_stay_changed(page: Page, make_desk: MakeDesk) -> None:
    desk = make_desk(6)
    open_card(page, desk.url)
    page.keyboard.press("?")
    page.locator("[data-change=positive]").click()
    expect(page.locator("[data-change=positive]")).to_have_text("Press a key …")
    page.keyboard.press("n")  # so far this has meant no
    expect(page.locator("[data-change=positive]")).to_have_text("N")
    expect(page.locator("[data-change=negative]")).to_have_text("2")
    page.get_by_role("button", name="Close").click()
    page.keyboard.press("n")
    settle(page, 1)
    page.reload()
    expect(page.get_by_role("button", name="Yes, positive: key N")).to_be_visible(timeout=15_000)
    page.keyboard.press("n")
    page.keyboard.press("1")  # means nothing any more
    page.keyboard.press("?")
    page.get_by_role("button", name="Reset to defaults").click()
    page.keyboard.press("Escape")
    page.keyboard.press("n")
    settle(page, 2)
    assert desk.labels == [P, P, N, None, None, None]


def test_the_text_grows_and_stays_so(page: Page, make_desk: MakeDesk) -> None:
    desk = make_desk(2)
    open_card(page, desk.url)
    expect(page.get_by_text("Group by left text")).to_have_count(0)  # of one list

    def size() -> float:
        return float(page.locator("[data-side=left]").evaluate("(box) => parseFloat(getComputedStyle(box).fontSize)"))

    before = size()
    page.keyboard.press("+")
    page.get_by_role("button", name="Larger text").click()
    assert size() == pytest.approx(before * 1.15**2, rel=0.01)
    page.reload()
    expect(page.locator(".pair")).to_be_visible(timeout=15_000)
    assert size() == pytest.approx(before * 1.15**2, rel=0.01)
    page.keyboard.press("-")
    page.keyboard.press("-")
    assert size() == before


def test_the_pace_counts_no_idle_time(page: Page, make_desk: MakeDesk) -> None:
    page.clock.install()
    desk = make_desk(30)
    open_card(page, desk.url)
    for seconds in (2, 2, 4, 600, 600, 600):
        page.clock.fast_forward(seconds * 1_000)
        page.keyboard.press("2")
    expect(page.locator(".pace")).to_have_text(re.compile("60.0 s .* 24 min"))


def test_right_to_left_texts_begin_at_the_right(page: Page, make_desk: MakeDesk) -> None:
    desk = make_desk(1, texts=["ما هي عاصمة فرنسا؟", "What is the capital of France?"])
    open_card(page, desk.url)
    direction = "(box) => getComputedStyle(box).direction"
    sides = [page.locator(f"[data-side={side}]") for side in ("left", "right")]
    assert [side.evaluate(direction) for side in sides] == ["rtl", "ltr"]


def test_all_that_answer_are_marked_at_once(page: Page, make_desk: MakeDesk) -> None:
    desk = make_desk(12, texts=["Who wrote it?", "When was it?"], right=RIGHT)
    open_card(page, desk.url)
    page.get_by_text("Group by left text").click()
    expect(page.locator(".candidate-text")).to_have_count(6)
    expect(page.locator("[data-side=asked]")).to_have_text("Who wrote it?")
    for key in ("2", "5", "3", "3"):
        page.keyboard.press(key)
    page.locator(".candidate-unsure").first.click()
    expect(page.locator("[data-act=submit]")).to_contain_text("2 of 6 match")
    page.keyboard.press("y")  # one key for all of them would be pressed by mistake
    page.locator("[data-side=asked]").click()
    page.keyboard.press("Enter")
    expect(page.locator("[data-side=asked]")).to_have_text("When was it?")
    settle(page, 6)
    assert desk.labels[:6] == [U, P, N, N, P, N]
    page.keyboard.press("n")
    settle(page, 12)
    assert desk.labels[6:] == [N] * 6
    page.keyboard.press("z")
    page.keyboard.press("z")
    expect(page.locator("[data-side=asked]")).to_have_text("Who wrote it?")
    pressed = page.locator(".candidate-text[aria-pressed=true]").all_text_contents()
    assert pressed == [RIGHT[1], RIGHT[4]]
    page.keyboard.press("s")
    settle(page, 30)
    assert desk.labels == [None] * 12
    assert [answer.answer for answer in desk.answers[-6:]] == [S] * 6


def test_candidates_on_a_phone(page: Page, make_desk: MakeDesk) -> None:
    page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    desk = make_desk(6, texts=["Who wrote it?"], right=RIGHT)
    open_card(page, desk.url)
    page.get_by_text("Group by left text").click()
    page.locator(".candidate-text").nth(1).click()
    page.locator("[data-act=submit]").click()
    settle(page, 6)
    assert desk.labels == [N, P, N, N, N, N]
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


def test_an_entity_audit_is_answered_text_by_text(page: Page, make_desk: MakeDesk, picture: Picture) -> None:
    texts = [
        "How do I reset my password?",
        "I forgot my password, what now?",
        "Where is the car park?",
        "Can I change the name on my ticket?",
        "My password does not work any more",
    ]
    desk = make_desk(0, texts=texts, name="Help desk", question="Do these ask for the same thing?", evaluation=5)
    make_design(desk.engine, desk.project_id, DesignKind.ENTITIES)
    make_audit_batch(desk.engine, desk.project_id, 10, DesignKind.ENTITIES)
    with writing(desk.engine) as session:  # the last text is drawn: the right one of its four pairs
        last = session.scalars(select(Item).where(Item.text == texts[-1]).order_by(Item.id.desc())).first()
        assert last is not None
        session.execute(delete(Task).where(Task.project_id == desk.project_id, Task.right_id != last.id))
        session.execute(update(Task).where(Task.project_id == desk.project_id).values(turned=True))
    page.goto(desk.url)
    page.get_by_text("Entity audit (4 left)").click()
    expect(page.locator("[data-side=asked]")).to_have_text(texts[-1], timeout=15_000)
    assert set(answers(page)) == set(texts[:-1])
    for wanted in texts[:2]:
        page.locator(".candidate-text", has_text=wanted).click()
    picture(page, "entity-audit")
    page.locator("[data-act=submit]").click()
    expect(page.locator(".empty")).to_contain_text("entity audit is complete", timeout=15_000)
    with reading(desk.engine) as session:
        labels = {label.left_id: label.answer for label in current_labels(session, desk.project_id)}
        named = {item: session.get_one(Item, item).text for item in labels}
    assert {named[item] for item, answer in labels.items() if answer == P} == set(texts[:2]) and len(labels) == 4


def test_the_likely_sentence_of_a_passage_is_in_sight(page: Page, make_desk: MakeDesk) -> None:
    sentence = "The book was written by Mary."
    passage = " ".join(
        [f"Sentence {i} tells of something else at some length." for i in range(60)] + [sentence] + ["End."]
    )
    desk = make_desk(1, texts=["Who wrote the book?"], right=[passage])
    start = passage.index(sentence)
    with writing(desk.engine) as session:
        mark_likely(session, {desk.tasks[0].id: (start, start + len(sentence))})
    open_card(page, desk.url)
    likely = page.locator("[data-side=right] mark.likely")
    expect(likely).to_have_text(sentence)
    expect(likely).to_be_in_viewport()
    assert page.locator("mark.differs").count() == 0
    assert page.locator("[data-side=right]").text_content() == passage


def test_how_candidates_and_answers_look(page: Page, make_desk: MakeDesk, picture: Picture) -> None:
    question = "How do I get a refund for a ticket that I bought twice?"
    right = [
        "Refunds are paid to the card that was used, within thirty days of the journey.",
        "The train leaves at noon.",
        "A ticket bought twice is refunded once you send us both numbers.",
        "Our offices are closed on Sundays.",
    ]
    desk = make_desk(4, texts=[question], right=right, name="Help desk", question="Does the text answer the question?")
    open_card(page, desk.url)
    page.get_by_text("Group by left text").click()
    page.locator(".candidate-text").nth(2).click()
    picture(page, "candidates")
    page.locator("[data-act=submit]").click()
    settle(page, 4)
    page.goto(desk.url.replace("/label?", "/answers?"))
    expect(page.get_by_text("4 answers")).to_be_visible(timeout=15_000)
    picture(page, "answers")
