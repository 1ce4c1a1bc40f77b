"""Each role sees only its pages; people and accounts are managed; an identity provider signs people in."""

from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import Engine, select
from streamlit.testing.v1 import AppTest

from allpairs.annotate.frame.access import invitations, logins, people, tokens
from allpairs.annotate.frame.access.provider_groups import groups_from
from allpairs.annotate.frame.access.roles import Right
from allpairs.annotate.frame.access.transactions import allowed
from allpairs.annotate.frame.web.security_headers import LEAVE_SCRIPT
from allpairs.annotate.kit.ui import state
from allpairs.annotate.shell import sign_in
from allpairs.db.domain import Role
from allpairs.db.projects.jobs import STARTING, report_worker
from allpairs.db.schema.engine import as_person, reading, writing
from allpairs.db.schema.tables import Answer, now
from tests.helpers.factories import make_project, make_round
from tests.helpers.machine import ROOT
from tests.helpers.people import PASSWORD, token_of

APP = ROOT / "annotate" / "shell" / "app.py"
ALL = {"overview", "label", "answers", "monitor", "explore", "data", "experiments", "pipelines", "jobs", "projects",
       "new_project", "settings", "history", "people", "rest_api", "account", "clean"}  # fmt: skip
SEEN = {
    None: ALL,  # an administrator of the installation
    Role.ADMINISTRATOR: ALL - {"new_project"},
    Role.ADJUDICATOR: {
        "overview",
        "label",
        "answers",
        "monitor",
        "explore",
        "jobs",
        "projects",
        "rest_api",
        "account",
        "clean",
    },
    Role.ANNOTATOR: {"overview", "label", "answers", "projects", "rest_api", "account"},
    Role.VIEWER: {"overview", "clean", "monitor", "explore", "jobs", "projects", "rest_api", "account"},
}
REFUSED = "Your role does not include this page"


@pytest.fixture
def project(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(state, "REMEMBERED", 0.0)
    project_id = make_project(engine, [f"text {i}" for i in range(8)], name="Mine", auto_train=False)
    make_round(engine, project_id, 4)
    people.add_account(engine, "Root", PASSWORD, now(), administrator=True)
    return project_id


@pytest.fixture
def enter(engine: Engine, project: int, monkeypatch: pytest.MonkeyPatch) -> Callable[..., AppTest]:
    """Return a function that opens the app with this role, or as the installation's administrator without one."""

    def open_(role: Role | None, **parameters: str) -> AppTest:
        name = role.value if role else "Root"
        if role:
            people.add_account(engine, name, PASSWORD, now())
            people.set_role_by_name(engine, name, "Mine", role, now())
        token = logins.log_in(engine, name, PASSWORD, "1.1.1.1", now())
        monkeypatch.setattr(state, "login_token", lambda: token)
        return opened(**parameters)

    return open_


def opened(**parameters: str) -> AppTest:
    page = AppTest.from_file(str(APP), default_timeout=30)
    for name, value in parameters.items():
        page.query_params[name] = value
    return page.run()


def read(page: AppTest) -> str:
    assert not page.exception, page.exception
    return " ".join(str(one.value) for one in (*page.error, *page.title, *page.header, *page.markdown, *page.info))


@pytest.mark.parametrize("role", SEEN)
def test_each_role_sees_its_pages_and_the_others_refuse(enter: Callable[..., AppTest], role: Role | None) -> None:
    page = enter(role, annotator="Somebody else")
    assert REFUSED not in read(page)
    assert [field.label for field in page.sidebar.text_input] == []  # no name to choose
    for file in sorted(ALL - SEEN[role]) + sorted(SEEN[role] & {"overview", "projects", "monitor", "people"}):
        page.switch_page(f"../pages/{file}.py").run()
        assert (REFUSED in read(page)) == (file not in SEEN[role]), file


def test_account_page_without_accounts_and_wrong_addresses(engine: Engine, home: Path) -> None:
    make_project(engine, ["a", "b"], name="Mine")
    page = opened(missing="no/such")
    assert "/no/such" in page.warning[0].value and page.get_by_key("menu") and "missing" not in page.query_params
    with writing(engine) as session:
        report_worker(session, "here", "here", 1, STARTING)
    page.switch_page("../pages/account.py").run()
    assert "there are no accounts" in page.info[0].value and not page.warning and not page.error
    assert any("A worker is starting" in caption.value for caption in page.caption)


def test_nobody_sees_anything_but_the_way_to_the_login(
    engine: Engine, project: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for token in (None, "wrong"):
        monkeypatch.setattr(state, "login_token", lambda token=token: token)
        page = opened(project="Mine")
        assert "not signed in" in read(page) and "Mine" not in read(page)
        assert not page.sidebar.selectbox and not page.button
        body = page.get("html")[0].proto.body
        assert 'href="./login"' in body and 'data-leave="?next="' in body and f"<script>{LEAVE_SCRIPT}</script>" in body


@pytest.mark.parametrize(("role", "shown"), [(Role.ADJUDICATOR, False), (Role.ADMINISTRATOR, True)])
def test_hidden_checks_are_the_administrators_to_see(enter: Callable[..., AppTest], role: Role, shown: bool) -> None:
    page = enter(role).switch_page("../pages/review.py").run()
    read(page)
    assert ("Hidden test pairs" in [one.value for one in page.subheader]) == shown


@pytest.mark.parametrize(("role", "shown"), [(Role.ADMINISTRATOR, False), (None, True)])
def test_worker_files_are_named_by_installation_administrators(
    enter: Callable[..., AppTest], role: Role | None, shown: bool
) -> None:
    page = enter(role).switch_page("../pages/pipelines.py").run()
    read(page)
    labels = [field.label for field in page.text_input]
    assert ("File of questions" in labels, "File of opinions" in labels) == (shown, shown)
    assert any("files on the worker" in one.value for one in page.caption) != shown


def test_the_answer_is_the_logins_whatever_the_address_says(enter: Callable[..., AppTest], engine: Engine) -> None:
    page = enter(Role.ANNOTATOR, annotator="Somebody else")
    page.switch_page("../pages/label.py").run()
    next(button for button in page.button if button.label == "Yes").click().run()
    assert not page.exception
    with reading(engine) as session:
        assert session.scalars(select(Answer.annotator)).all() == ["annotator"]


def test_who_is_disabled_sees_nothing_more(enter: Callable[..., AppTest], engine: Engine) -> None:
    page = enter(Role.VIEWER)
    people.disable(engine, people.id_of(engine, "viewer"), now())
    assert "not signed in" in read(page.run())


def test_a_viewer_is_offered_nothing_that_changes_anything(enter: Callable[..., AppTest]) -> None:
    page = enter(Role.VIEWER)
    for file in ("monitor", "explore", "jobs", "projects"):
        page.switch_page(f"../pages/{file}.py").run()
        assert [button.label for button in page.button] == [], file


def test_roles_are_changed_and_links_made_and_withdrawn(
    enter: Callable[..., AppTest], engine: Engine, project: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    people.add_account(engine, "Anna", PASSWORD, now())
    people.set_role_by_name(engine, "Anna", "Mine", Role.VIEWER, now())
    page = enter(Role.ADMINISTRATOR).switch_page("../pages/people.py").run()
    assert "Everybody" not in read(page)
    by_label = {box.label: box for box in page.selectbox}
    assert by_label["Role of administrator"].disabled
    by_label["Role of Anna"].select(Role.ANNOTATOR).run()
    assert not page.exception and allowed(as_person(engine, people.id_of(engine, "anna")), Right.LABEL, project)
    monkeypatch.setenv("ALLPAIRS_PUBLIC_URL", "https://pairs.example.org")
    page.button(key="invite").click().run()
    token = token_of(page.code[0].value.removeprefix("https://pairs.example.org/"))
    assert invitations.offer_of(engine, token, now()).role == Role.ANNOTATOR
    next(button for button in page.button if button.label == "Revoke").click().run()
    assert not page.code and people.invitations(engine, project, now()) == []


@pytest.mark.parametrize("role", [Role.ANNOTATOR, Role.VIEWER])
def test_the_list_of_projects_shows_figures_to_those_permitted(enter: Callable[..., AppTest], role: Role) -> None:
    page = enter(role).switch_page("../pages/projects.py").run()
    assert ("Average precision" in [one.label for one in page.metric]) == (role == Role.VIEWER)


def test_an_administrator_of_the_installation_keeps_people_out(enter: Callable[..., AppTest], engine: Engine) -> None:
    people.add_account(engine, "Anna", PASSWORD, now())
    anna = people.id_of(engine, "Anna")
    page = enter(None).switch_page("../pages/people.py").run()
    for title, disabled in (("Disable", True), ("Enable", False)):
        page.button(key=f"able_{anna}").click().run()
        assert not page.exception
        row = next(row for row in people.list_people(engine, now()) if row.name == "Anna")
        assert row.disabled == disabled, title
    root = people.id_of(engine, "Root")
    page.button(key=f"able_{root}").click().run()
    assert "last administrator" in page.toast[0].value
    page.button(key=f"enter_{anna}").click().run()
    assert [(row.name, role) for row, role in people.members(engine, 1, now())] == [("Anna", Role.VIEWER)]


def test_one_changes_ones_password_and_logs_out(enter: Callable[..., AppTest], engine: Engine) -> None:
    page = enter(Role.VIEWER).switch_page("../pages/account.py").run()
    for old, again, said in (("wrong", "a new password", "The current password is wrong: type it again."),
                             (PASSWORD, "another one", "The two passwords differ: type them again."),
                             (PASSWORD, "a new password", "")):  # fmt: skip
        page.text_input(key="old_password").input(old)
        page.text_input(key="new_password").input("a new password")
        page.text_input(key="new_password_again").input(again)
        next(button for button in page.button if button.label == "Change password").click().run()
        assert not page.exception
        assert [error.value.replace("\\", "") for error in page.error if "worker" not in error.value] == (
            [said] if said else []
        )
    assert logins.log_in(engine, "viewer", "a new password", "2.2.2.2", now())
    page.run()
    page.button(key="log_out_everywhere").click().run()
    assert "not signed in" in read(page)
    assert next(row.browsers for row in people.list_people(engine, now()) if row.name == "viewer") == 0


def test_one_makes_and_withdraws_tokens_of_ones_own(enter: Callable[..., AppTest], engine: Engine) -> None:
    page = enter(Role.VIEWER).switch_page("../pages/rest_api.py").run()
    page.text_input(key="token_purpose").input("nightly [import](x)")
    page.button_group(key="token_scopes").unselect("label")
    press(page, "Create token")
    token = page.code[0].value
    assert page.code[1].value == f"export ALLPAIRS_TOKEN={token}"
    viewer = people.id_of(engine, "viewer")
    (row,) = tokens.list_tokens(engine, viewer)
    assert tokens.bearer_of(engine, token, "here", now()).name == "viewer" and row.expires_at is not None
    assert row.scopes == ["read"] and ": read; created" in read(page)
    assert "nightly" in read(page) and "never used" in read(page) and token not in read(page)
    page.run()
    assert page.code[0].value.startswith("export") and token not in str(page)  # it is shown once
    assert "last used" in read(page)
    page.button(key=f"withdraw_{row.id}").click().run()
    assert not tokens.list_tokens(engine, viewer) and "nightly" not in read(page)
    press(page, "Create token")
    assert "the token is for" in read(page)
    page.text_input(key="token_purpose").input("nothing")
    page.button_group(key="token_scopes").set_value([])
    press(page, "Create token")
    assert "more of read, label" in read(page)


def press(page: AppTest, label: str) -> None:
    next(button for button in page.button if button.label == label).click().run()


# Providers


@pytest.fixture
def vouched(engine: Engine, project: int, monkeypatch: pytest.MonkeyPatch) -> Callable[..., AppTest]:
    """Return a function that opens the app after sign-in by a provider.

    invited: by the link with this token; age: how many seconds ago.
    """

    def open_(invited: str = "", age: float = 0, **said: str | list[str]) -> AppTest:
        monkeypatch.setattr(state, "login_token", lambda: None)
        monkeypatch.setattr(sign_in, "providers", lambda: {"google": "Google"})
        monkeypatch.setattr(sign_in, "browser", lambda: "browser")
        monkeypatch.setattr(sign_in, "invitation_token", lambda: invited)
        page = AppTest.from_file(str(APP), default_timeout=30)
        page.user = {"is_logged_in": True, "iat": now().timestamp() - age} | said
        return page.run()

    return open_


KNOWN = {"iss": "https://id.example", "sub": "42"}


def ticket_on(page: AppTest) -> str:
    body = page.get("html")[0].proto.body
    return body.partition("/login/ticket/")[2].partition('"')[0]


def test_whom_the_provider_vouches_for_gets_in_if_known(engine: Engine, vouched: Callable[..., AppTest]) -> None:
    people.add_account(engine, "Olga", None, now(), subject=(KNOWN["iss"], KNOWN["sub"]))
    token = logins.redeem_ticket(engine, ticket_on(vouched(**KNOWN)), "browser", now())
    assert token is not None
    guest = logins.guest_of(engine, token, now())
    assert guest is not None and guest.name == "Olga"
    people.disable(engine, guest.person_id, now())
    assert "no account here" in read(vouched(**KNOWN))


@pytest.mark.parametrize(
    ("said", "heard"),
    [
        (KNOWN | {"name": "Olga"}, "ask an administrator of your project for an invitation"),
        (KNOWN | {"email": "Root"}, "ask an administrator of your project for an invitation"),
        ({"sub": "42"}, "did not send an issuer"),
        ({"iss": "https://id.example"}, "did not send an issuer"),
    ],
)
def test_who_is_not_known_hears_what_to_do(vouched: Callable[..., AppTest], said: dict[str, str], heard: str) -> None:
    page = vouched(**said)
    assert heard in read(page).replace("Ask", "ask") and not ticket_on(page)


def test_an_invitation_makes_an_account_without_password(
    engine: Engine, project: int, vouched: Callable[..., AppTest]
) -> None:
    token = token_of(invitations.invite(engine, project, Role.ANNOTATOR, 1, now()))
    page = vouched(token, **KNOWN, name="Root")
    page.button(key="join").click().run()
    assert "is taken" in read(page)
    page.text_input(key="vouched_name").input("Olga").run()
    page.button(key="join").click().run()
    assert logins.redeem_ticket(engine, ticket_on(page), "browser", now()) is not None
    assert [(row.name, role) for row, role in people.members(engine, project, now())] == [("Olga", Role.ANNOTATOR)]
    assert "already used" in read(vouched(token, **KNOWN | {"sub": "43"})).lower()


def test_provider_groups_make_an_account_and_set_roles(
    engine: Engine, project: int, vouched: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch
) -> None:
    labellers = {"issuer": KNOWN["iss"], "name": "labellers", "role": "annotator", "project": "Mine"}
    owners = {"issuer": KNOWN["iss"], "name": "owners", "role": "administrator"}
    monkeypatch.setattr(sign_in, "role_groups", lambda: groups_from([labellers, owners]))
    assert "ask an administrator" in read(vouched(**KNOWN, groups=["others"])).replace("Ask", "ask")
    page = vouched(**KNOWN, name="Olga", groups=["labellers", "others"])
    page.button(key="join").click().run()
    assert logins.redeem_ticket(engine, ticket_on(page), "browser", now()) is not None

    def standing() -> tuple[dict[str, Role], bool]:
        olga = next(row for row in people.list_people(engine, now()) if row.name == "Olga")
        return olga.roles, olga.administrator

    assert standing() == ({"Mine": Role.ANNOTATOR}, False)
    old = vouched(**KNOWN, age=1_000, groups=["owners"])
    assert not ticket_on(old) and "not signed in" in read(old)
    assert standing() == ({"Mine": Role.ANNOTATOR}, False)
    vouched(**KNOWN, groups=["owners"])
    assert standing() == ({}, True)
    vouched(**KNOWN)
    assert standing() == ({}, False)
