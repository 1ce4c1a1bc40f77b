"""What the strip says of answers that are not stored yet, and that it is true."""

from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from tests.helpers.browser import MakeDesk, drawn

# As the card keeps them: of project, annotator and tasks.
KEEP = """([project, tasks]) => tasks.forEach((task, n) => {
    const event = { key: `key-${n}`, task_id: task, answer: "positive", seconds: 1, note: "", at: new Date(), n }
    localStorage.setItem(`allpairs:${project}:me:key-${n}`, JSON.stringify(event))
})"""
Reply = dict[str, Any]


@pytest.fixture
def strip_of(page: Page, make_desk: MakeDesk) -> Any:
    """Return a function that keeps three answers in the browser, and the strip above the page Projects."""
    desk = make_desk(3)
    page.goto(f"{desk.url.partition('/label')[0]}/projects")
    drawn(page)
    page.clock.install()

    def keep() -> tuple[Any, Any]:
        page.evaluate(KEEP, [desk.project_id, [task.id for task in desk.tasks]])
        return desk, page.locator("#allpairs-strip")

    return keep


def wait(page: Page, seconds: int) -> None:
    """Let time pass for the scripts of the page, and for what they ask the app."""
    for _ in range(seconds):
        page.clock.run_for(1_000)
        page.evaluate("fetch('./healthz').then((answer) => answer.text())")


def test_the_strip_says_why_answers_are_not_stored(page: Page, strip_of: Any) -> None:
    replies: list[tuple[Reply, str]] = [
        ({"status": 401, "body": "not signed in"}, "3 answers were not saved: you are signed out"),
        (
            {"status": 507, "body": '{"detail": "The disk is full"}', "content_type": "application/problem+json"},
            "The disk is full",
        ),
        ({"status": 503, "body": "no healthy upstream", "content_type": "text/plain"}, "Connection lost. 3 answers"),
        ({"status": 502, "body": "<h1>Bad Gateway</h1>", "content_type": "text/html"}, "Connection lost. 3 answers"),
        (
            {"json": {"stored": [], "refused": {f"key-{n}": "this pair is gone" for n in range(3)}}},
            "3 answers were not saved: this pair is gone",
        ),
    ]
    reply = dict(replies[0][0])
    page.route("**/answers/*", lambda route: route.fulfill(**reply))
    _, strip = strip_of()
    for one, said in replies:
        reply.clear()
        reply.update(one)
        wait(page, 8)
        expect(strip).to_contain_text(said)


def test_the_strip_is_never_empty(page: Page, make_desk: MakeDesk) -> None:
    desk = make_desk(1)
    page.route_web_socket("**/_stcore/stream", lambda socket: socket.close())
    page.route("**/answers/*", lambda route: route.fulfill(status=401))
    page.route("**/proxy-report/socket", lambda route: None)  # the server takes its time
    page.clock.install()
    page.goto(f"{desk.url.partition('/label')[0]}/projects")
    expect(page.get_by_test_id("stApp")).to_be_attached()
    page.evaluate(KEEP, [desk.project_id, [task.id for task in desk.tasks]])
    wait(page, 12)
    expect(page.locator("#allpairs-strip")).to_contain_text("1 answer was not")


def test_a_proxy_that_takes_few_answers_gets_fewer(page: Page, strip_of: Any) -> None:
    def answer(route: Route) -> None:
        if len(route.request.post_data_json["events"]) > 1:
            route.fulfill(status=413, body="<h1>Too large</h1>", content_type="text/html")
        else:
            route.continue_()

    page.route("**/answers/*", answer)
    desk, strip = strip_of()
    for _ in range(60):
        wait(page, 1)
        if len(desk.answers) == 3:
            break
    expect(strip).to_be_hidden()
    assert len(desk.answers) == 3
