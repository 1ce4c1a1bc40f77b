"""Who is in the project, and what each may do; for administrators of the installation, everybody with an account."""

from collections.abc import Callable

import streamlit as st

from annotate.access import invitations, people
from annotate.access.people import PersonRow
from annotate.access.roles import ABOUT, Right
from annotate.text.formatting import ago, literal
from annotate.ui.state import current_project, engine, may, who_asks
from db.domain import Role
from db.errors import InputError
from db.schema.tables import Project, now

OUT = "out of the project"
SHOWN_LINK = "invitation_link"  # in the session: the link that was made last, and of which project
DAYS = (1, 7, 30)


def main() -> None:
    """Nothing; draws the page."""
    st.title("People", anchor=False)
    project = current_project(engine())
    if project is not None:
        st.caption(literal(project.name))
        members(project)
        invite(project)
        with st.expander("What the roles may do", icon=":material/info:"):
            st.markdown("\n".join(f"- **{role}**: {about}" for role, about in ABOUT.items()))
    if may(Right.INSTALL):
        everybody(project)


def members(project: Project) -> None:
    """Nothing; draws who is in the project, with the choice of each one's role."""
    found = people.members(engine(), project.id, now())
    if not found:
        st.info("Nobody was let into this project yet, apart from the administrators of the whole installation.")
    for person, role in found:
        with st.container(border=True, key=f"member_{person.id}"):
            _member(project, person, role)


def _member(project: Project, person: PersonRow, role: Role) -> None:
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        with st.container(gap="xxsmall", width="content"):
            st.markdown(f"**{literal(person.name)}**", width="content")
            st.caption(_standing(person), width="content")
        key = f"role_{project.id}_{person.id}_{role}"
        mine = (guest := who_asks().guest) is not None and guest.person_id == person.id
        options = [*Role, OUT]
        st.selectbox(
            f"Role of {literal(person.name)}", options, options.index(role), key=key, label_visibility="collapsed",
            width=220, disabled=mine, help="Nobody changes their own role." if mine else None,
            on_change=_set_role, args=(project.id, person.id, key),
        )  # fmt: skip


def _standing(person: PersonRow) -> str:
    if person.disabled:
        return "disabled"
    return f"last seen {ago(person.seen_at)}" if person.seen_at else "not logged in"


def _set_role(project_id: int, person_id: int, key: str) -> None:
    chosen = st.session_state[key]
    _try(lambda: people.set_role(engine(), person_id, project_id, None if chosen == OUT else Role(chosen), now()))


def invite(project: Project) -> None:
    """Nothing; draws what makes a link that lets somebody in, the link made last, and those that nobody has used."""
    with st.container(border=True):
        st.subheader("Invite", anchor=False)
        st.caption("A link lets one person in, once. Send it by a way that you trust: whoever has it comes in.")
        with st.container(horizontal=True, vertical_alignment="bottom"):
            role = st.selectbox("Role", list(Role), list(Role).index(Role.ANNOTATOR), key="invite_role", width=180)
            days = st.selectbox("Good for", DAYS, 1, format_func=_days, key="invite_days", width=140)
            st.button("Make a link", key="invite", type="primary", icon=":material/person_add:", on_click=_invite,
                      args=(project.id, role, days))  # fmt: skip
        project_id, link = st.session_state.get(SHOWN_LINK, (0, ""))
        if project_id == project.id:
            st.success("The link is shown only now: copy it.", icon=":material/link:")
            st.code(link, language=None, wrap_lines=True)
        for one in people.invitations(engine(), project.id, now()):
            with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
                about = f"Not used yet: {one.role}, by {literal(one.made_by)}, good until {one.until:%d %B %H:%M} UTC"
                st.caption(about, width="content")
                st.button("Withdraw", key=f"withdraw_{one.id}", type="tertiary", on_click=_withdraw,
                          args=(project.id, one.id))  # fmt: skip


def _days(days: int) -> str:
    return "1 day" if days == 1 else f"{days} days"


def _invite(project_id: int, role: Role, days: int) -> None:
    def act() -> None:
        path = invitations.invite(engine(), project_id, role, days, now())
        st.session_state[SHOWN_LINK] = (project_id, f"{_site()}/{path}")

    _try(act)


def _site() -> str:
    """Where this browser reaches the app."""
    url = st.context.url or ""
    return "/".join(url.split("/")[:3])


def _withdraw(project_id: int, invitation_id: int) -> None:
    st.session_state.pop(SHOWN_LINK, None)
    _try(lambda: invitations.withdraw(engine(), project_id, invitation_id, now()))


def everybody(project: Project | None) -> None:
    """Nothing; draws everybody with an account, whatever their projects, and what lets them in or keeps them out."""
    st.header("Everybody", anchor=False)
    st.caption("Only administrators of the whole installation see this. Accounts are made by a link, or by "
               "`python -m annotate people add`.")  # fmt: skip
    for person in people.list_people(engine(), now()):
        with st.container(border=True, key=f"person_{person.id}"):
            _person(project, person)


def _person(project: Project | None, person: PersonRow) -> None:
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        with st.container(gap="xxsmall", width="content"):
            of_all = " · administrator of the installation" if person.administrator else ""
            st.markdown(f"**{literal(person.name)}**", width="content")
            roles = "".join(f" · {literal(name)}: {role}" for name, role in person.roles.items())
            st.caption(f"{_standing(person)}{of_all}{roles}", width="content")
        with st.container(horizontal=True, width="content"):
            if project is not None and project.name not in person.roles and not person.disabled:
                _button("Add to the project", f"enter_{person.id}", _adding(person.id, project.id))
            if person.browsers:
                _button("End logins", f"end_{person.id}", lambda: people.end_all_logins(engine(), person.id, now()))
            if person.disabled:
                _button("Enable", f"able_{person.id}", lambda: people.enable(engine(), person.id, now()))
            else:
                _button("Disable", f"able_{person.id}", lambda: people.disable(engine(), person.id, now()))


def _adding(person_id: int, project_id: int) -> Callable[[], None]:
    """What lets the person into the project, at first to look."""
    return lambda: people.set_role(engine(), person_id, project_id, Role.VIEWER, now())


def _button(title: str, key: str, act: Callable[[], object]) -> None:
    st.button(title, key=key, type="tertiary", on_click=_try, args=(act,))


def _try(act: Callable[[], object]) -> None:
    """Nothing; the act is done, or it is said why not."""
    try:
        act()
    except InputError as error:
        st.toast(literal(f"{str(error)[0].upper()}{str(error)[1:]}."), icon=":material/error:")


main()
