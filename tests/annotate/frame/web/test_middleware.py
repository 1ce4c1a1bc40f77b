"""Who gets a response: cookies, forms, the auth middleware before every address, and public pages."""

import re
from datetime import timedelta
from pathlib import Path

import pytest
import streamlit
from sqlalchemy import Engine
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect
from streamlit.proto.BackMsg_pb2 import BackMsg

from allpairs.annotate.frame.access import logins, people
from allpairs.annotate.frame.access.addresses import base_path, is_own, public_urls
from allpairs.annotate.frame.language.catalog import ENGLISH
from allpairs.annotate.frame.web import frame, login_forms, middleware
from allpairs.annotate.frame.web import security_headers as headers
from allpairs.annotate.frame.web.login_routes import safe_next
from allpairs.db.domain import Role
from allpairs.db.errors import InputError
from allpairs.db.people.logins import ROTATED
from allpairs.db.projects.matchers import matchers_of
from allpairs.db.schema.engine import reading
from tests.helpers.factories import make_project
from tests.helpers.figures.measured import make_measured_project
from tests.helpers.people import PASSWORD, Clock, at, make_person
from tests.helpers.web import COOKIE, PAGE, SITE, Open, connect, log_in, opened, person_in

RERUN = BackMsg(rerun_script={}).SerializeToString()
FORM = {"Origin": SITE}


# The log-in form


def test_a_login_sets_a_cookie_that_no_script_reads(site: TestClient, engine: Engine) -> None:
    person_id = make_person(engine, "Anna")
    answer = log_in(site, next_="/monitor?project=Mine")
    assert (answer.status_code, answer.headers["location"]) == (303, "/monitor?project=Mine")
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith(f"{COOKIE}=") and "domain" not in cookie.lower()
    assert {"HttpOnly", "Secure", "Path=/", "SameSite=lax"} <= set(re.split("; ", cookie))
    assert person_in(site) == person_id
    assert site.get("/login").headers["location"] == "/"


def test_without_tls_the_cookie_is_hidden_but_not_secure(open_site: Open, engine: Engine) -> None:
    make_person(engine, "Anna")
    site = open_site("http://192.168.0.3:8501")
    cookie = log_in(site).headers["set-cookie"]
    assert cookie.startswith("allpairs=") and "HttpOnly" in cookie and "Secure" not in cookie
    assert person_in(site) is not None


def test_a_token_planted_before_sign_in_is_worthless_after(site: TestClient, engine: Engine) -> None:
    make_person(engine, "Anna"), make_person(engine, "Eve")
    eves = logins.log_in(engine, "Eve", PASSWORD, "1.1.1.1", at())
    site.cookies.set(COOKIE, eves)
    log_in(site)
    assert site.cookies.get(COOKIE, domain="pairs.example.org") not in (None, eves)
    assert logins.guest_of(engine, eves, at()) is None
    other = TestClient(site.app, base_url=SITE, client=("127.0.0.1", 1), follow_redirects=False)
    other.cookies.set("allpairs", logins.log_in(engine, "Eve", PASSWORD, "1.1.1.1", at()))
    assert person_in(other) is None  # over TLS only the cookie counts that no other host can set


def test_the_token_is_replaced_when_it_is_old(site: TestClient, engine: Engine, clock: Clock) -> None:
    person_id = make_person(engine, "Anna")
    log_in(site)
    first = site.cookies[COOKIE]
    clock.wait(ROTATED - timedelta(seconds=1))
    assert "set-cookie" not in site.get("/", headers=PAGE).headers
    clock.wait(timedelta(seconds=1))
    assert "set-cookie" not in site.get("/download/x").headers  # only a page that a person opens
    assert site.get("/", headers=PAGE).headers["set-cookie"].startswith(f"{COOKIE}=")
    assert site.cookies[COOKIE] != first and person_in(site) == person_id
    clock.wait(timedelta(minutes=2))
    thief = TestClient(site.app, base_url=SITE, cookies={COOKIE: first}, follow_redirects=False)
    assert person_in(thief) is None and person_in(site) == person_id


def test_it_is_known_when_somebody_was_here_last(site: TestClient, engine: Engine, clock: Clock) -> None:
    make_person(engine, "Anna")
    log_in(site)
    for minutes, known in ((9, 0), (9, 18)):
        clock.wait(timedelta(minutes=minutes))
        site.get("/", headers=PAGE)
        assert [row.seen_at for row in people.list_people(engine, clock())] == [at(known)]


def test_a_wrong_password_says_nothing_of_the_name(site: TestClient, engine: Engine) -> None:
    make_person(engine, "Anna")
    said = [log_in(site, name, "wrong").text.replace(name, "") for name in ("Anna", "Zelda")]
    assert said[0] == said[1] and "password is wrong" in said[0]
    assert log_in(site, "<script>alert(1)</script>", "wrong").text.count("<script") == 0


def test_too_many_failures_are_told_how_long_to_wait(site: TestClient, engine: Engine) -> None:
    make_person(engine, "Anna")
    assert [log_in(site, password="wrong").status_code for _ in range(5)] == [401] * 5
    answer = log_in(site)
    assert answer.status_code == 429 and "in 15 minutes" in answer.text
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize(
    "headers",
    [{"Origin": "https://evil.example"}, {"Origin": "null"}, {"Origin": ""}, {"Origin": "https://pairs.example.org:444"},
     {"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}, {}],
)  # fmt: skip
def test_a_form_from_another_site_is_refused(site: TestClient, engine: Engine, headers: dict[str, str]) -> None:
    make_person(engine, "Anna")
    answer = site.post("/login", data={"name": "Anna", "password": PASSWORD}, headers=headers)
    assert answer.status_code == 403 and "set-cookie" not in answer.headers
    ours = site.post("/login", data={"name": "Anna", "password": PASSWORD}, headers={"Sec-Fetch-Site": "same-origin"})
    assert ours.status_code == 303


def test_a_form_that_is_too_long_is_not_read(site: TestClient) -> None:
    assert site.post("/login", data={"name": "x" * 30_000}, headers=FORM).status_code == 413


@pytest.mark.parametrize(
    "wanted",
    ["https://evil.example", "//evil.example", "/\\evil.example", "\\\\evil.example", "/\t/evil.example", "/\n/x",
     "javascript:alert(1)", "evil", "", "/login", " //evil.example"],
)  # fmt: skip
def test_nobody_is_sent_to_another_site(wanted: str) -> None:
    assert safe_next(wanted) == "/"


def test_one_is_sent_to_where_one_wanted_to_go() -> None:
    for wanted in ("/", "/monitor", "/?project=A%20%26%20B", "/label?project=x&round=1"):
        assert safe_next(wanted) == wanted


def test_pages_before_the_login_run_no_script_and_refuse_frames(site: TestClient) -> None:
    for address in ("/login", "/invitation/nothing", "/login/ticket/nothing"):
        policy = site.get(address).headers["content-security-policy"]
        assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy
        assert site.get(address).headers["cache-control"] == "no-store"


# Headers


def test_every_answer_says_what_the_browser_may_do(open_site: Open, engine: Engine) -> None:
    make_person(engine, "Anna")
    alone, site = open_site("http://localhost:8501", forced=False), open_site()
    for browser, address in ((site, "/login"), (site, "/monitor"), (site, "/static/js/x.js"), (site, "/media/x"),
                             (site, "/healthz"), (alone, "/"), (alone, "/download/labels/1")):  # fmt: skip
        said = browser.get(address).headers
        assert said["x-content-type-options"] == "nosniff" and said["x-frame-options"] == "DENY"
        assert said["referrer-policy"] == said["cross-origin-opener-policy"] == "same-origin"
        assert "camera=()" in said["permissions-policy"] and said["cache-control"] == "no-store"
        rules = dict(rule.split(" ", 1) for rule in said["content-security-policy"].split("; "))
        assert rules["default-src"] == rules["frame-ancestors"] == rules["base-uri"] == "'none'"
        assert not {"'unsafe-inline'", "'unsafe-eval'", "*", "https:", "data:"} & set(
            rules.get("script-src", "").split()
        )
        assert ("strict-transport-security" in said) == (browser is site)  # only over TLS


def test_an_answer_keeps_its_own_headers(site: TestClient) -> None:
    assert site.get("/login").headers["content-security-policy"] == login_forms.POLICY
    assert len(site.get("/login").headers.get_list("content-security-policy")) == 1


def test_the_frame_has_no_other_script_than_the_policy_allows() -> None:
    index = (Path(streamlit.__file__).parent / "static" / "index.html").read_text()
    for page, allowed in ((index, headers.FRAME_SCRIPT), (frame.framed(index, ENGLISH), headers.APP_SCRIPT)):
        scripts = re.findall(r"<script([^>]*)>(.*?)</script>", page, re.S)
        run = [
            body for attributes, body in scripts if "src=" not in attributes and "application/json" not in attributes
        ]
        assert run == [allowed]


@pytest.mark.parametrize("script", frame.SCRIPTS, ids=lambda script: script.name)
def test_scripts_work_below_a_path(script: Path) -> None:
    assert re.findall(r"(?:from |import |fetch\(|href = )[\"'`]/[^\"'`]*", script.read_text("utf-8")) == []


# The middleware


def test_without_a_login_nothing_of_ours_is_answered(site: TestClient, engine: Engine) -> None:
    make_person(engine, "Anna")
    answer = site.get("/monitor?project=A+B", headers=PAGE)
    assert (answer.status_code, answer.headers["location"]) == (303, "/login?next=%2Fmonitor%3Fproject%3DA%2BB")
    for address in ("/download/labels/1", "/download/matchers/1", "/media/x.csv", "/_stcore/metrics", "/component/x"):
        assert site.get(address, headers=PAGE if "down" not in address else {}).status_code == 401
    assert site.put("/_stcore/upload_file/1/2").status_code == 401
    assert site.post("/", headers=PAGE).status_code == 401
    for address in ("/healthz", "/login", "/static/js/x.js", "/_stcore/health"):
        assert site.get(address).status_code == 200


def test_disabled_or_logged_out_people_get_nothing_at_once(site: TestClient, engine: Engine) -> None:
    person_id = make_person(engine, "Anna")
    log_in(site)
    assert site.get("/media/x").json() == {"person": person_id}
    make_person(engine, "Root", administrator=True)
    people.disable(engine, person_id, at())
    assert site.get("/media/x").status_code == 401 and person_in(site) is None


@pytest.fixture
def measured(engine: Engine) -> int:
    """Return the id of a project with a model; Anna administers it, Ben views it, Carl is in another project."""
    project_id = make_measured_project(engine, "Mine", rounds=1)
    other = make_project(engine, ["a", "b"], name="Other")
    for name, where, role in (("Anna", project_id, "administrator"), ("Ben", project_id, "viewer"),
                              ("Carl", other, "administrator")):  # fmt: skip
        make_person(engine, name, where, Role(role))
    return project_id


def test_downloads_are_for_administrators_of_that_project(open_site: Open, engine: Engine, measured: int) -> None:
    with reading(engine) as session:
        matcher = matchers_of(session, measured)[0].id
    addresses = (f"/download/labels/{measured}", f"/download/projects/{measured}?models=0",
                 f"/download/matches/{measured}", f"/download/matchers/{matcher}")  # fmt: skip
    found = {}
    for name in ("Anna", "Ben", "Carl"):
        site = open_site()
        log_in(site, name)
        found[name] = [site.get(address).status_code for address in addresses]
    assert found["Anna"][:2] == [200, 200]
    assert found["Ben"] == [403] * 4
    assert found["Carl"] == [404] * 4


# Somebody alone


@pytest.mark.parametrize(
    ("base", "address", "headers", "status"),
    [
        ("http://localhost:8501", "127.0.0.1", {}, 200),
        ("http://127.0.0.1:8501", "::1", {}, 200),
        ("http://localhost:8501", "192.168.0.9", {}, 403),
        ("http://evil.example:8501", "127.0.0.1", {}, 403),
        ("http://localhost:8501", "127.0.0.1", {"X-Forwarded-For": "1.2.3.4"}, 403),
        ("http://localhost:8501", "127.0.0.1", {"X-Real-IP": "1.2.3.4"}, 403),
        ("http://localhost:8501", "127.0.0.1", {"Forwarded": "for=1.2.3.4"}, 403),
    ],
)
def test_without_accounts_only_the_machine_itself_is_answered(
    open_site: Open, base: str, address: str, headers: dict[str, str], status: int
) -> None:
    site = open_site(base, forced=False, address=address)
    assert site.get("/", headers=headers).status_code == status
    if status == 200:
        with connect(site, **headers) as socket:
            assert socket.receive_json()["cookies"] == {}
    else:
        assert "people add NAME --administrator" in site.get("/", headers=headers).text
        with pytest.raises(WebSocketDisconnect), connect(site, **headers):
            pass


def test_a_proxy_that_is_not_trusted_is_named_once(
    open_site: Open, engine: Engine, caplog: pytest.LogCaptureFixture
) -> None:
    make_person(engine, "Anna")
    asked: list[tuple[str, dict[str, str]]] = [
        ("10.0.0.1", {"X-Forwarded-For": "203.0.113.9"}), ("10.0.0.2", {"X-Forwarded-Proto": "https, http"}),
        ("203.0.113.9", {"X-Forwarded-For": "203.0.113.9"}), ("10.0.0.3", {}),
    ]  # fmt: skip
    for peer, sent in asked:
        site = open_site("http://pairs.example.org", address=peer)
        for _ in range(3):
            site.get("/login", headers=sent)
    told = [record.getMessage().split()[0] for record in caplog.records if "FORWARDED_ALLOW_IPS" in record.getMessage()]
    assert told == ["10.0.0.1", "10.0.0.2"]


def test_the_first_account_ends_the_life_without_login(open_site: Open, engine: Engine) -> None:
    site = open_site("http://localhost:8501", forced=False)
    with connect(site) as socket:
        opened(socket)
        socket.send_bytes(RERUN)
        assert socket.receive_text() == "rerun_script"
        make_person(engine, "Anna", administrator=True)
        with pytest.raises(WebSocketDisconnect):
            socket.receive_text()
    assert site.get("/", headers=PAGE).headers["location"] == "/login"


# Providers


def test_the_way_over_a_provider(open_site: Open, engine: Engine, link: str) -> None:
    people.add_account(engine, "Olga", None, at(), subject=("https://id.example", "42"))
    site = open_site(ways={"google": "Google"})
    assert 'href="/?log_in=google">Sign in with Google' in site.get("/login").text
    assert site.get("/", headers=PAGE).status_code == 303
    assert site.get("/?log_in=google", headers=PAGE).json() == {"person": 0}
    invited = site.get(link).headers["set-cookie"]
    assert invited.startswith("allpairs_invitation=") and "HttpOnly" in invited
    site.cookies.set("_streamlit_user", "signed by Streamlit")
    site.cookies.set("_streamlit_user_1", "in two pieces")
    assert site.get("/", headers=PAGE).json() == {"person": 0}  # the page may ask who vouches
    assert site.get("/monitor", headers=PAGE).status_code == 303
    browser = middleware.cookies.browser_of(dict(site.cookies))
    ticket = logins.ticket_for(engine, "https://id.example", "42", browser, at())
    stranger = open_site()
    stranger.cookies.set("_streamlit_user", "another")
    assert stranger.get(f"/login/ticket/{ticket}").status_code == 403
    answer = site.get(f"/login/ticket/{ticket}")
    assert (answer.status_code, answer.headers["location"]) == (303, link)  # where they were invited
    assert person_in(site) == people.id_of(engine, "Olga")
    deleted = [one.partition("=")[0] for one in answer.headers.get_list("set-cookie") if "Max-Age=0" in one]
    assert deleted == ["_streamlit_user", "_streamlit_user_1", "allpairs_invitation"]  # they would outlast the login


# Addresses


@pytest.mark.parametrize(
    "wrong",
    [
        "pairs.example.org",
        "https://[",
        "https://x:abc",
        "https://u:p@x",
        "https://x,",
        "https://x/y?z",
        "https://x//y",
        "https://x:70000",
        "https://x/y",
    ],
)
def test_a_public_address_is_one_that_a_browser_can_name(monkeypatch: pytest.MonkeyPatch, wrong: str) -> None:
    monkeypatch.setenv("ALLPAIRS_PUBLIC_URL", f"https://A.example:443/ {wrong}")
    with pytest.raises(InputError, match="ALLPAIRS_PUBLIC_URL has"):
        public_urls()
    monkeypatch.setenv("ALLPAIRS_PUBLIC_URL", "https://A.example:443/ http://[::1]:8501")
    assert public_urls() == ("https://a.example", "http://[::1]:8501") and base_path() == ""
    monkeypatch.setenv("ALLPAIRS_PUBLIC_URL", "https://A.example/Our/pairs http://b.example:8501/Our/pairs/")
    assert public_urls() == ("https://a.example/Our/pairs", "http://b.example:8501/Our/pairs")
    assert base_path() == "/Our/pairs" and is_own("http://b.example:8501", "x") and not is_own("http://b.example", "x")
