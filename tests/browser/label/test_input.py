"""What a key or a click means on the labelling card, whatever keyboard, input method or habit a person has."""

from playwright.sync_api import Page, expect

from allpairs.db.domain import AnswerKind
from tests.helpers.browser import PAUSE, MakeDesk, drawn, open_card, settle

P, N, U, S, R = AnswerKind
DOWN = (
    "(element, event) => element.dispatchEvent(new KeyboardEvent('keydown', {bubbles: true, composed: true, ...event}))"
)
NOTE = ".note textarea"


def strike(page: Page, key: str, code: str, **more: object) -> None:
    """Strike a key as a keyboard of another layout does."""
    page.locator("body").evaluate(DOWN, {"key": key, "code": code, **more})


def test_a_note_takes_all_letters_until_it_is_closed(page: Page, make_desk: MakeDesk) -> None:
    desk = make_desk(6)
    open_card(page, desk.url)
    page.keyboard.press("c")
    page.keyboard.type("nihon")
    for key, event in (
        ("Enter", {"isComposing": True}),
        ("Enter", {"keyCode": 229}),
        ("Escape", {"isComposing": True}),
    ):
        page.locator(NOTE).evaluate(DOWN, {"key": key, **event})
        expect(page.locator(NOTE)).to_be_focused()
    page.keyboard.type("1ny")
    page.locator(".question").click()  # to read something again
    expect(page.locator(NOTE)).not_to_be_focused()
    page.keyboard.type("2u s")
    page.locator(NOTE).evaluate("(note) => note.blur()")  # as when the page is drawn anew
    page.keyboard.press("Backspace")
    page.keyboard.type("!")
    expect(page.locator(NOTE)).to_have_value("nihon1ny2u !")
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.insert_text("a" * 1999 + "😀" + "b" * 1000)  # as a paste does
    expect(page.get_by_role("alert").filter(has_text="1002")).to_be_visible()
    assert len(page.locator(NOTE).input_value()) == 1999  # no half of a character
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.insert_text("nihon1ny2u !")
    expect(page.locator(".note-cut")).to_be_hidden()
    assert desk.answers == []
    page.keyboard.press("Enter")
    page.keyboard.press("2")
    page.keyboard.press("c")
    page.locator(".question").click()  # an empty note closes by itself
    page.keyboard.press("1")
    settle(page, 2)
    assert [(answer.answer, answer.note) for answer in desk.answers] == [(N, "nihon1ny2u !"), (P, None)]


def test_keys_of_other_layouts_answer_and_double_clicks_do_not(page: Page, make_desk: MakeDesk) -> None:
    desk = make_desk(14)
    open_card(page, desk.url)
    strike(page, "&", "Digit1")  # AZERTY
    strike(page, "2", "Digit2", shiftKey=True)
    strike(page, "+", "Digit1")  # Czech: larger text, on a key whose digit is an answer
    strike(page, "٢", "Digit2")  # Arabic digits
    strike(page, "т", "KeyN")  # Cyrillic
    strike(page, "3", "Numpad3")
    for key, code, more in (
        ("End", "Numpad1", {}),  # without Num Lock
        ("!", "Digit1", {"shiftKey": True}),
        ("1", "Digit1", {"isComposing": True}),
        ("l", "KeyN", {}),  # Dvorak
        ("1", "Digit1", {"repeat": True}),
    ):
        strike(page, key, code, **more)
    settle(page, 6)
    assert [answer.answer for answer in desk.answers] == [P, N, P, N, N, U]
    for button in (".answers [data-act=positive]", ".answers [data-act=skip]", "[data-act=undo]"):
        page.locator(button).dblclick()
    page.locator(".answers [data-act=negative]").focus()
    for _ in range(4):
        page.keyboard.down("Enter")  # held down, it clicks again and again
    page.keyboard.up("Enter")
    settle(page, 10)
    page.get_by_text("Basic buttons").click()
    drawn(page)
    basic = page.locator(".st-key-without_keyboard").get_by_role("button", name="Unsure")
    basic.dblclick()
    drawn(page)
    assert [answer.answer for answer in desk.answers[6:]] == [P, S, R, N, U]
    page.keyboard.press("?")
    page.locator("[data-change=skip]").click()
    strike(page, "-", "Digit6")  # AZERTY: smaller text, so far
    expect(page.locator("[data-change=skip]")).to_have_text("6")
    page.keyboard.press("Escape")
    strike(page, "-", "Digit6")
    settle(page, 11)
    menu = page.get_by_test_id("stMainMenuButton")
    menu.click()
    expect(page.get_by_role("menu")).to_be_visible()
    page.keyboard.press("1")  # belongs to the menu
    page.keyboard.press("Escape")
    expect(page.get_by_role("menu")).to_be_hidden()
    page.keyboard.press("2")
    settle(page, 12)
    assert [answer.answer for answer in desk.answers[-2:]] == [S, N]


def test_keys_leave_the_sidebar_after_a_project_is_chosen(page: Page, make_desk: MakeDesk) -> None:
    first, second = make_desk(8, name="Chosen first"), make_desk(8, name="Chosen second")
    page.clock.install()
    open_card(page, first.url)
    name = page.get_by_role("textbox", name="Your name")
    for who, count in (("foc", 1), ("foc2", 1), ("foc", 2)):  # the last one was used before in this tab
        name.fill(who)
        name.press("Enter")
        expect(name).not_to_be_focused()
        page.keyboard.press("1")  # before the card of this name is there: it answers nothing
        page.wait_for_url(f"**/label?*annotator={who}")
        drawn(page)
        page.clock.fast_forward(PAUSE)
        page.keyboard.press("2")
        settle(page, count)
    assert [(answer.annotator, answer.answer) for answer in first.answers] == [("foc", N), ("foc2", N), ("foc", N)]
    project = page.get_by_role("combobox", name="Project")
    for title in ("Chosen second", "Chosen first"):
        project.click()
        page.get_by_role("option", name=title).click()
        expect(project).not_to_be_focused()
        expect(page.get_by_role("heading", name=title)).to_be_visible()
        drawn(page)
        page.clock.fast_forward(PAUSE)
        page.keyboard.press("3")
        expect(page.locator(".last")).to_contain_text("Unsure")
    settle(page, 3)
    assert [answer.answer for answer in second.answers] == [U] and first.answers[-1].answer == U
