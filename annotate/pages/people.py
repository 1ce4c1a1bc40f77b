"""The people of the project and their roles; for administrators of the installation, every account.

While there are no accounts: the form that makes the first one.
"""

from collections.abc import Callable
from itertools import islice

import streamlit as st

from allpairs.annotate.features.team.ui.first_administrator import first_administrator
from allpairs.annotate.frame.access import invitations, people
from allpairs.annotate.frame.access.people import OpenInvitation, PersonRow
from allpairs.annotate.frame.access.roles import ROLES_IN_WORDS, Right
from allpairs.annotate.kit.text.formatting import ago, literal
from allpairs.annotate.kit.ui.errors import told
from allpairs.annotate.kit.ui.paged import draw_page, search_names
from allpairs.annotate.kit.ui.state import current_project, engine, may, site, who_asks
from allpairs.db.domain import Role
from allpairs.db.schema.tables import Project, now

OUT = "not in the project"
SHOWN_LINK = "invitation_link"  # in the session: the newest link, and its project
DAYS = (1, 7, 30)
ROLES = 10  # roles shown of one account
REVOKES = "Also revokes their API tokens."


def main() -> None:
    """Draw the page."""
    st.title("People", anchor=False)
    if not who_asks().login_needed:
        first_administrator()
        return
    project = current_project(engine())
    if project is not None:
        st.caption(literal(project.name))
        member_list(project)
        invitation_form(project)
        with st.expander("What each role may do", icon=":material/info:"):
            st.markdown("\n".join(f"- **{role}**: {description}" for role, description in ROLES_IN_WORDS.items()))
    if may(Right.INSTALL):
        everybody(project)


def member_list(project: Project) -> None:
    """Draw the people of the project, each with the choice of a role."""
    rows = people.members(engine(), project.id, now())
    if not rows:
        st.info("This project has no people yet, apart from the administrators of the whole installation.")
    members_shown = search_names(rows, lambda member: member[0].name, "members")
    draw_page(members_shown, lambda member: _member(project, *member), f"members_page_{project.id}")


def _member(project: Project, person: PersonRow, role: Role) -> None:
    with (
        st.container(border=True, key=f"member_{person.id}"),
        st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"),
    ):
        with st.container(gap="xxsmall", width="content"):
            st.markdown(f"**{literal(person.name)}**", width="content")
            st.caption(_standing(person), width="content")
        key = f"role_{project.id}_{person.id}_{role}"
        is_self = (guest := who_asks().guest) is not None and guest.person_id == person.id
        options = [*Role, OUT]
        st.selectbox(
            f"Role of {literal(person.name)}",
            options,
            options.index(role),
            key=key,
            label_visibility="collapsed",
            width=220,
            disabled=is_self,
            help="You cannot change your own role." if is_self else None,
            on_change=_set_role,
            args=(project.id, person.id, key),
        )


def _standing(person: PersonRow) -> str:
    if person.disabled:
        return "disabled"
    return f"last seen {ago(person.seen_at)}" if person.seen_at else "never signed in"


def _set_role(project_id: int, person_id: int, key: str) -> None:
    chosen = st.session_state[key]
    _try(lambda: people.set_role_of(engine(), person_id, project_id, None if chosen == OUT else Role(chosen), now()))


def invitation_form(project: Project) -> None:
    """Draw the form that makes an invitation link, the newest link, and the unused ones."""
    with st.container(border=True):
        st.subheader("Invite", anchor=False)
        st.caption("A link admits one person, once. Send it safely: whoever has the link can use it.")
        with st.container(horizontal=True, vertical_alignment="bottom"):
            role = st.selectbox("Role", list(Role), list(Role).index(Role.ANNOTATOR), key="invite_role", width=180)
            days = st.selectbox("Valid for", DAYS, 1, format_func=_days, key="invite_days", width=140)
            st.button(
                "Create link",
                key="invite",
                type="primary",
                icon=":material/person_add:",
                on_click=_invite,
                args=(project.id, role, days),
            )
        project_id, link = st.session_state.get(SHOWN_LINK, (0, ""))
        if project_id == project.id:
            st.success("Copy the link now. It will not be shown again.", icon=":material/link:")
            st.code(link, language=None, wrap_lines=True)
        unused = people.invitations(engine(), project.id, now())
        draw_page(unused, lambda invitation: _unused(project.id, invitation), f"invitations_page_{project.id}")


def _unused(project_id: int, invitation: OpenInvitation) -> None:
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        validity = f"valid until {invitation.expires_at:%d %B %H:%M} UTC"
        st.caption(f"Unused: {invitation.role}, by {literal(invitation.made_by)}, {validity}", width="content")
        st.button(
            "Revoke",
            key=f"withdraw_{invitation.id}",
            type="tertiary",
            on_click=_withdraw,
            args=(project_id, invitation.id),
        )


def _days(days: int) -> str:
    return "1 day" if days == 1 else f"{days} days"


def _invite(project_id: int, role: Role, days: int) -> None:
    def act() -> None:
        path = invitations.invite(engine(), project_id, role, days, now())
        st.session_state[SHOWN_LINK] = (project_id, f"{site()}/{path}")

    _try(act)


def _withdraw(project_id: int, invitation_id: int) -> None:
    st.session_state.pop(SHOWN_LINK, None)
    _try(lambda: invitations.withdraw(engine(), project_id, invitation_id, now()))


def everybody(project: Project | None) -> None:
    """Draw every account, whatever its projects, with the buttons that give and revoke access."""
    st.header("Everybody", anchor=False)
    st.caption(
        "Only administrators of the whole installation see this. New accounts come from an invitation link or "
        "`allpairs people add`."
    )
    accounts = search_names(people.list_people(engine(), now()), lambda person: person.name, "everybody")
    draw_page(accounts, lambda person: _person(project, person), "everybody_page")


def _person(project: Project | None, person: PersonRow) -> None:
    with (
        st.container(border=True, key=f"person_{person.id}"),
        st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"),
    ):
        with st.container(gap="xxsmall", width="content"):
            of_all = " · administrator of the installation" if person.administrator else ""
            st.markdown(f"**{literal(person.name)}**", width="content")
            roles = "".join(f" · {literal(name)}: {role}" for name, role in islice(person.roles.items(), ROLES))
            roles += f" · {len(person.roles) - ROLES} more" if len(person.roles) > ROLES else ""
            st.caption(f"{_standing(person)}{of_all}{roles}", width="content")
        with st.container(horizontal=True, width="content"):
            if project is not None and project.name not in person.roles and not person.disabled:
                _button("Add to project", f"enter_{person.id}", _adding(person.id, project.id))
            if person.browsers:
                _button(
                    "Sign out everywhere",
                    f"end_{person.id}",
                    lambda: people.end_all_logins(engine(), person.id, now()),
                    REVOKES,
                )
            if person.disabled:
                _button("Enable", f"able_{person.id}", lambda: people.enable(engine(), person.id, now()))
            else:
                _button("Disable", f"able_{person.id}", lambda: people.disable(engine(), person.id, now()), REVOKES)


def _adding(person_id: int, project_id: int) -> Callable[[], None]:
    """Return the action that adds the person to the project, as a viewer at first."""
    return lambda: people.set_role_of(engine(), person_id, project_id, Role.VIEWER, now())


def _button(title: str, key: str, act: Callable[[], object], effect: str | None = None) -> None:
    st.button(title, key=key, type="tertiary", help=effect, on_click=_try, args=(act,))


def _try(act: Callable[[], object]) -> None:
    """Perform the action, or show why it failed."""
    with told(st.toast):
        act()


main()
