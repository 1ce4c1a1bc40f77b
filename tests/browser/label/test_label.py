"""The labelling card in a real browser: nothing is lost, nothing is labelled twice, texts appear unchanged."""

import re
from datetime import timedelta

import pytest
from playwright.sync_api import BrowserContext, Page, WebSocketRoute, expect
from sqlalchemy import update

from allpairs.db.domain import AnswerKind
from allpairs.db.schema.engine import writing
from allpairs.db.schema.tables import Job, now
from tests.helpers.browser import PAUSE, PHONE, SCREENS, App, MakeDesk, Picture, drawn, open_card, press, settle, shown
from tests.helpers.factories import make_audit_batch, make_design, make_round

KEPT = "Object.keys(localStorage).filter((key) => /^allpairs:\\d/.test(key)).length"
P, N, U, S, R = AnswerKind  # positive, negative, unsure, skip, retract


def hold(page: Page, key: str, downs: int, until: str = "") -> None:
    """Hold a key until the card says this, or so many times as a held key repeats."""
    complete = page.locator(".empty", has_text=until)
    for _ in range(downs):
        page.keyboard.down(key)  # the second time without up: the browser sees a key that repeats
        if until and complete.is_visible():
            break
    page.keyboard.up(key)


def test_a_held_key_answers_one_pair_or_each_that_was_shown(page: Page, make_desk: MakeDesk) -> None:
    desk = make_desk(61)
    open_card(page, desk.url)
    hold(page, "2", 20)
    settle(page, 1)
    page.keyboard.press("?")
    page.get_by_label("Holding a key").check()
    page.keyboard.press("Escape")
    hold(page, "2", 5_000, "Batch 1 is complete")
    settle(page, 61)
    assert len(desk.answers) == 61 and desk.labels == [N] * 61


def test_sixty_presses_thirty_milliseconds_apart(page: Page, make_desk: MakeDesk) -> None:
    desk = make_desk(60, reserve=10)
    open_card(page, desk.url)
    keys, meaning = ["1", "n", "u"], [P, N, U]
    for i in range(60):
        press(page, keys[i % 3])
    settle(page, 60)
    assert len(desk.answers) == 60
    assert desk.labels == [meaning[i % 3] for i in range(60)] + [None] * 10
    expect(page.locator(".counts")).to_have_text("Batch 1: 60 of 60 answered · 20 positive")


def test_undo_goes_back_as_far_as_wanted(page: Page, make_desk: MakeDesk) -> None:
    desk = make_desk(5)
    open_card(page, desk.url)
    first = shown(page)
    expect(page.locator("[data-act=undo]")).to_be_disabled()
    for key in ("1", "1", "s", "z", "Backspace", "z"):
        page.keyboard.press(key)
    assert shown(page) == first
    page.keyboard.press("z")  # nothing is left to undo
    page.keyboard.press("2")
    settle(page, 7)
    assert [answer.answer for answer in desk.answers] == [P, P, S, R, R, R, N]
    assert desk.labels == [N, None, None, None, None]
    page.locator("[data-act=undo]").click()
    expect(page.locator(".counts")).to_have_text("Batch 1: 0 of 5 answered · 0 positive")
    settle(page, 8)
    assert desk.labels == [None] * 5


def test_a_skipped_pair_comes_back_at_the_end(page: Page, make_desk: MakeDesk) -> None:
    desk = make_desk(3, reserve=3)
    open_card(page, desk.url)
    first = shown(page)
    for key in ("s", "2", "2"):
        page.keyboard.press(key)
    settle(page, 3)
    assert shown(page) == first
    expect(page.locator(".last")).to_contain_text("Last answer: No")


def test_a_reload_in_the_middle_loses_nothing(page: Page, make_desk: MakeDesk) -> None:
    desk = make_desk(30)
    open_card(page, desk.url)
    for _ in range(12):
        page.keyboard.press("2")
    page.reload()
    expect(page.locator(".counts")).to_have_text("Batch 1: 12 of 30 answered · 0 positive", timeout=15_000)
    page.keyboard.press("1")
    expect(page.locator(".counts")).to_have_text("Batch 1: 13 of 30 answered · 1 positive")
    expect(page.locator(".saved")).to_have_text("All saved")
    assert desk.labels == [N] * 12 + [P] + [None] * 17
    assert len(desk.answers) == 13


def test_offline_answers_are_stored_after_reconnection(
    page: Page, context: BrowserContext, make_desk: MakeDesk
) -> None:
    desk = make_desk(30)
    open_card(page, desk.url)
    context.set_offline(True)
    for _ in range(8):
        page.keyboard.press("1")
    page.keyboard.press("z")
    expect(page.locator(".saved")).to_contain_text("kept in this browser", timeout=15_000)
    strip = page.locator("#allpairs-strip")
    expect(strip).to_contain_text("safe in this browser", timeout=15_000)
    assert len(desk.answers) < 9  # the connection may have ended a moment after the first key
    context.set_offline(False)
    settle(page, 9)
    expect(strip).to_be_hidden()
    assert desk.labels == [P] * 7 + [None] * 23
    assert len(desk.answers) == 9


def test_answers_of_a_closed_tab_are_stored_by_the_next_one(
    page: Page, context: BrowserContext, make_desk: MakeDesk
) -> None:
    desk = make_desk(30)
    open_card(page, desk.url)
    context.set_offline(True)
    for _ in range(6):
        page.keyboard.press("2")
    expect(page.locator(".saved")).to_contain_text("kept in this browser", timeout=15_000)
    stored = len(desk.answers)  # the connection may have ended a moment after the first key
    page.close()
    context.set_offline(False)
    assert stored < 6
    again = context.new_page()  # whichever page it shows
    open_card(again, desk.url)
    expect(again.locator(".counts")).to_have_text("Batch 1: 6 of 30 answered · 0 positive")
    assert desk.labels == [N] * 6 + [None] * 24
    assert again.evaluate(KEPT) == 0


def test_a_slow_card_shows_no_pair_that_is_answered_meanwhile(
    page: Page, context: BrowserContext, make_desk: MakeDesk
) -> None:
    desk, late = make_desk(30), list[tuple[WebSocketRoute, str | bytes]]()
    open_card(page, desk.url)
    context.set_offline(True)
    for _ in range(3):
        page.keyboard.press("2")
    page.close()
    context.set_offline(False)
    slow = True

    def relay(browser: WebSocketRoute) -> None:
        server = browser.connect_to_server()
        server.on_message(lambda message: late.append((browser, message)) if slow else browser.send(message))
        browser.on_message(server.send)

    again = context.new_page()
    again.route_web_socket(re.compile("_stcore/stream"), relay)
    again.goto(desk.url)  # drawn at once; what the last page kept is stored after two seconds
    again.wait_for_function(f"() => {KEPT} === 0", timeout=15_000)
    slow = False
    for browser, message in late:
        browser.send(message)
    expect(again.locator(".pair")).to_be_visible(timeout=30_000)
    drawn(again)
    again.wait_for_timeout(PAUSE)
    again.keyboard.press("1")
    settle(again, 1)
    assert desk.labels == [N, N, N, P] + [None] * 26 and len(desk.answers) == 4


def test_a_clock_set_back_neither_delays_nor_reorders_answers(
    page: Page, context: BrowserContext, make_desk: MakeDesk
) -> None:
    desk = make_desk(5)
    page.clock.install(time=now() + timedelta(hours=5))
    open_card(page, desk.url)
    context.set_offline(True)
    page.wait_for_timeout(500)  # until the connection has ended
    page.keyboard.press("1")
    page.clock.set_system_time(now())
    page.keyboard.press("z")
    page.close()
    context.set_offline(False)
    again = context.new_page()
    again.goto(desk.url.replace("/label?", "/monitor?"))
    again.wait_for_function(f"() => {KEPT} === 0", timeout=15_000)
    assert [answer.answer for answer in desk.answers] == [P, R]


@pytest.mark.parametrize("times", [2, pytest.param(20, marks=pytest.mark.slow)])
def test_who_leaves_the_page_leaves_no_answer_behind(page: Page, make_desk: MakeDesk, times: int) -> None:
    desk = make_desk(5 * times)
    page.goto(desk.url)
    for time in range(1, times + 1):
        expect(page.locator(".pair")).to_be_visible(timeout=30_000)
        for _ in range(5):
            page.keyboard.press("2", delay=100)  # ten a second, with the time between
        if time % 2:
            page.get_by_role("link", name="Monitor").click()
        else:
            page.goto(desk.url.replace("/label?", "/monitor?"))
        page.wait_for_url("**/monitor?*")
        page.wait_for_function(f"() => {KEPT} === 0", timeout=15_000)
        assert len(desk.answers) == 5 * time
        page.get_by_role("link", name="Label", exact=True).click()
    assert desk.labels == [N] * 5 * times


# The card sends an answer before it knows of the click: it asks for its next pairs after the next page was asked for.
LEAVE = """() => {
    document.querySelector(".st-key-menu a[href^='/monitor']").click()
    document.dispatchEvent(new KeyboardEvent("keydown", { key: "2", code: "Digit2", bubbles: true }))
}"""


def test_an_answer_while_leaving_does_not_break_the_next_page(page: Page, make_desk: MakeDesk) -> None:
    desk = make_desk(10)
    page.goto(desk.url)
    for time in range(1, 4):
        expect(page.locator(".pair")).to_be_visible(timeout=30_000)
        drawn(page)
        page.evaluate(LEAVE)
        expect(page.get_by_role("heading", name="Monitor", exact=True)).to_be_visible()
        page.wait_for_function(f"() => {KEPT} === 0", timeout=15_000)
        drawn(page)
        expect(page.get_by_role("heading", name="Monitor", exact=True)).to_be_visible()
        assert len(desk.answers) == time
        page.get_by_role("link", name="Label", exact=True).click()


@pytest.mark.slow
def test_a_restart_of_the_app_loses_nothing(page: Page, app: App, make_desk: MakeDesk) -> None:
    desk = make_desk(30)
    open_card(page, desk.url)
    page.keyboard.press("1")
    settle(page, 1)
    app.kill()
    for _ in range(5):
        page.keyboard.press("2")
    app.start()
    settle(page, 6)
    expect(page.locator(".card")).to_have_count(1)
    assert desk.labels == [P] + [N] * 5 + [None] * 24
    assert len(desk.answers) == 6


def test_two_tabs_of_one_annotator_agree(page: Page, context: BrowserContext, make_desk: MakeDesk) -> None:
    desk = make_desk(20)
    open_card(page, desk.url)
    other = context.new_page()
    open_card(other, desk.url)
    for _ in range(10):
        other.keyboard.press("2")
    settle(other, 10)
    for _ in range(5):
        for tab, key in ((page, "1"), (other, "2")):
            tab.keyboard.press(key)
            tab.wait_for_timeout(100)  # nobody is faster in two tabs at once
    settle(page, 5)
    settle(other, 15)
    expect(page.locator(".empty")).to_contain_text("Batch 1 is complete")
    assert len(desk.answers) == 20 and sorted(map(str, desk.labels)) == [str(N)] * 15 + [str(P)] * 5


def test_keys_rest_while_one_types_or_holds_a_modifier(page: Page, make_desk: MakeDesk) -> None:
    desk = make_desk(5)
    open_card(page, desk.url)
    page.get_by_label("Your name").click()
    page.keyboard.type("12yns")
    page.keyboard.press("Escape")
    page.locator(".question").click()
    drawn(page)  # with the new name
    for key in ("Control+1", "Alt+1", "Meta+1"):
        page.keyboard.press(key)
    page.keyboard.press("3")
    settle(page, 1)
    assert [answer.answer for answer in desk.answers] == [U]


def test_differences_help_and_guidelines(page: Page, make_desk: MakeDesk) -> None:
    desk = make_desk(2, texts=["change my password", "reset my password", "x"], guidelines="Think **twice**.")
    open_card(page, desk.url)
    guidelines = page.get_by_text("Think twice.")
    expect(guidelines).to_be_visible()
    assert page.locator(".text mark").all_text_contents() == ["change", "reset"]
    underlined = "(mark) => getComputedStyle(mark).textDecorationLine"
    assert page.locator(".text mark").first.evaluate(underlined) == "underline"
    page.keyboard.press("d")
    assert page.locator(".text mark").first.evaluate(underlined) == "none"
    page.keyboard.press("?")
    expect(page.locator(".help")).to_be_visible()
    page.keyboard.press("1")  # behind the overlay nothing is answered
    page.keyboard.press("Escape")
    expect(page.locator(".help")).to_be_hidden()
    page.keyboard.press("g")
    expect(guidelines).to_be_hidden()
    page.reload()
    expect(page.locator(".pair")).to_be_visible(timeout=15_000)
    expect(guidelines).to_be_hidden()  # it stays as it was left
    page.keyboard.press("g")
    expect(guidelines).to_be_visible()
    assert desk.answers == []
    page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    page.keyboard.press("g")
    page.keyboard.press("g")
    expect(page.locator(".guidelines:modal")).to_be_visible()
    page.keyboard.press("1")  # behind it nothing is answered
    page.keyboard.press("Escape")
    expect(guidelines).to_be_hidden()
    assert desk.answers == []
    page.keyboard.press("1")
    settle(page, 1)


def test_audit_pairs_are_answered_like_others_and_show_scores(page: Page, make_desk: MakeDesk) -> None:
    desk = make_desk(0, evaluation=10)
    make_design(desk.engine, desk.project_id)
    make_round(desk.engine, desk.project_id, 6, audits=(1, 4))
    open_card(page, desk.url)
    expect(page.get_by_text("Audit batch")).to_have_count(0)
    assert "score" not in page.locator(".card").inner_text()
    page.keyboard.press("1")
    expect(page.locator(".last")).to_have_text("Last answer: Yes · score 0.95")
    assert "score" not in page.locator(".pair").inner_text()
    assert "audit" not in page.content()
    page.keyboard.press("1")
    expect(page.locator(".last")).to_have_text(re.compile("Yes .* audit pair"))
    page.keyboard.press("z")
    for _ in range(5):
        page.keyboard.press("2")
    settle(page, 8)
    expect(page.locator(".counts")).to_have_text(re.compile(r"Batch 1: 6 of 6 .* 4 \+ 2 .* 1 positive"))
    assert desk.labels == [P] + [N] * 5


def test_an_audit_batch_is_labelled_to_its_end_before_the_batch(page: Page, make_desk: MakeDesk) -> None:
    desk = make_desk(2, reserve=4, evaluation=10)
    make_design(desk.engine, desk.project_id)
    make_audit_batch(desk.engine, desk.project_id, 3)
    page.clock.install()
    open_card(page, desk.url)
    batch = shown(page)
    page.keyboard.press("s")
    page.get_by_role("radio", name="Audit batch (3 left)").click()
    expect(page.locator(".counts")).to_have_text(re.compile("Audit batch: 0 of 3 .* 0 positive"))
    expect(page.locator("[data-act=undo]")).to_be_disabled()
    page.clock.fast_forward(PAUSE)
    assert shown(page) != batch
    for key in ("1", "z", "2", "2", "1"):
        page.keyboard.press(key)
    expect(page.locator(".empty")).to_contain_text("audit batch is complete")
    settle(page, 6)
    expect(page.get_by_role("link", name="See the figures")).to_be_visible()
    expect(page.get_by_test_id("stProgress").get_by_text("Updating the figures")).to_be_visible()
    assert [label for label in desk.labels if label] == [N, N, P]
    page.get_by_role("radio", name="Batch", exact=True).click()
    expect(page.locator(".counts")).to_have_text(re.compile(r"Batch 1: 0 of 2 .* 0 positive \(1 in"))
    expect(page.get_by_role("radio")).to_have_count(0)
    page.clock.fast_forward(PAUSE)
    page.keyboard.press("2")
    settle(page, 7)
    assert desk.labels[:2] == [None, N]


HOSTILE = [
    "<b>bold</b><script>window.hacked = 1</script><img src=x onerror='window.hacked = 1'>",
    "**md** _md_ $x^2$ :smile: :red[no] [a](http://b) `code` \\ &amp; # h\n\n- list",
    "مرحبا بالعالم 👩‍👩‍👧 " + "\u202e" + "abc",
    "W" * 5000,
    "word " * 1000,
]


def test_texts_appear_as_they_are(page: Page, make_desk: MakeDesk) -> None:
    desk = make_desk(9, texts=HOSTILE, name="<i>$x$ :smile:</i>", question="**Same** <b>$x$</b> :smile:?")
    open_card(page, desk.url)
    expect(page.locator(".question")).to_have_text("**Same** <b>$x$</b> :smile:?")
    texts = set()
    for _ in range(9):
        texts.add(shown(page))
        page.keyboard.press("2")
    assert texts == {(HOSTILE[i], HOSTILE[j]) for i in range(5) for j in range(i + 1, 5)} - {(HOSTILE[3], HOSTILE[4])}
    settle(page, 9)
    assert page.evaluate("window.hacked") is None
    heading = page.get_by_role("heading").first.inner_text()
    assert heading.replace("\u2060", "") == "<i>$x$ :smile:</i>"  # without the invisible joiners


def test_long_texts_scroll_in_their_box(page: Page, make_desk: MakeDesk) -> None:
    desk = make_desk(1, texts=HOSTILE[3:])
    open_card(page, desk.url)
    for screen in SCREENS:
        screen.apply(page)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        for side in ("left", "right"):
            box = page.locator(f"[data-side={side}]")
            assert box.evaluate("(box) => box.scrollWidth <= box.clientWidth && box.scrollHeight > box.clientHeight")


def test_on_a_phone_texts_are_stacked_and_answers_fit_a_thumb(page: Page, make_desk: MakeDesk) -> None:
    desk = make_desk(5)
    page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    open_card(page, desk.url)
    left, right = (page.locator(f"[data-side={side}]").bounding_box() for side in ("left", "right"))
    assert left is not None and right is not None
    assert right["y"] >= left["y"] + left["height"]
    for button in page.locator(".answers button").all():
        box = button.bounding_box()
        assert box is not None and box["height"] >= 48 and box["width"] >= 120
        assert box["y"] + box["height"] <= PHONE["height"]
    page.get_by_role("button", name="Yes, positive: key 1").click()
    settle(page, 1)
    assert desk.labels == [P] + [None] * 4


def test_the_next_batch_appears_by_itself(page: Page, make_desk: MakeDesk) -> None:
    desk = make_desk(2)
    open_card(page, desk.url)
    for _ in range(4):
        page.keyboard.press("2")  # twice with nothing on the screen
    settle(page, 2)
    expect(page.locator(".empty")).to_contain_text("Batch 1 is complete")
    make_round(desk.engine, desk.project_id, 3)
    expect(page.locator(".counts")).to_have_text("Batch 2: 0 of 3 answered · 0 positive", timeout=10_000)
    page.keyboard.press("1")
    settle(page, 3)
    assert desk.labels == [N, N, P, None, None]


def test_a_complete_batch_asks_for_the_next_and_uses_the_reserve(page: Page, make_desk: MakeDesk) -> None:
    desk = make_desk(2, reserve=4, auto_train=True)
    open_card(page, desk.url)
    page.keyboard.press("2")
    page.keyboard.press("2")
    expect(page.get_by_test_id("stProgress").get_by_text("Preparing the next batch")).to_be_visible(timeout=15_000)
    expect(page.locator(".counts")).to_have_text("Batch 1: 2 of 2 answered · 0 positive")
    expect(page.locator(".pair")).to_be_visible()
    expect(page.locator(".pace")).to_contain_text("extra pairs")
    with writing(desk.engine) as session:
        session.execute(update(Job).values(state="running", fraction=0.5, seconds_left=130.0))
    expect(page.get_by_test_id("stProgress")).to_have_count(1)  # of the training: the card counts the batch
    expect(page.get_by_test_id("stProgress")).to_contain_text("about 2 min left")
    page.keyboard.press("1")
    settle(page, 3)
    expect(page.locator(".counts")).to_have_text(re.compile(r"Batch 1: 2 of 2 .* 1 extra .* 0 positive \(1 in"))
    make_round(desk.engine, desk.project_id, 2)
    expect(page.locator(".counts")).to_have_text(re.compile(r"Batch 2: 0 of 2 .* 0 positive \(1 in"), timeout=10_000)


def test_pairs_of_others_are_not_shown_and_the_page_says_so(
    page: Page, context: BrowserContext, make_desk: MakeDesk
) -> None:
    desk = make_desk(1)
    open_card(page, f"{desk.url}&annotator=ann")
    other = context.new_page()
    other.goto(f"{desk.url}&annotator=bob")
    expect(other.locator(".empty")).to_contain_text("Other annotators have", timeout=15_000)
    expect(other.locator(".empty")).to_contain_text("free in 10 minutes")


def test_how_the_card_looks(page: Page, make_desk: MakeDesk, picture: Picture) -> None:
    texts = ["I forgot my password. How can I change it?", "How do I reset my password?", "Where are my invoices?",
             "How do I download an invoice?", "Can I pay by bank transfer?"]  # fmt: skip
    desk = make_desk(8, texts=texts, name="Help desk", question="Do these questions ask the same?")
    open_card(page, desk.url)
    for key in "12z":
        page.keyboard.press(key)
    settle(page, 3)
    picture(page, "label")
