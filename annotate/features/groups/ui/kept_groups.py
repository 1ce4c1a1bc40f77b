"""The groups that a project keeps, in short, and what the last changes were, on the page Explore."""

import streamlit as st

from allpairs.annotate.features.groups.groups import ItemGroups
from allpairs.annotate.features.groups.kept_groups import KeptGroupChange, NamedText, change_in_words, read_news
from allpairs.annotate.features.groups.kept_groups_preview import (
    LARGEST,
    GroupsPreview,
    preview_groups,
    preview_in_words,
    update_to_preview,
)
from allpairs.annotate.features.quality.rounds import round_name
from allpairs.annotate.kit.text.clusterings import TITLES
from allpairs.annotate.kit.text.formatting import literal
from allpairs.annotate.kit.text.measures import counted
from allpairs.annotate.kit.ui.state import engine
from allpairs.db.domain import Clustering
from allpairs.db.schema.tables import GroupUpdate

MOST_CHANGES = 20  # changes
NAMED = 5  # texts of a change
NONE_YET = "The project keeps no groups yet: find matches on the page Export, and each group gets an id that stays."


def news(project_id: int) -> None:
    """Draw how the project's groups were made, and what changed last."""
    group_news = read_news(engine(), project_id, MOST_CHANGES)
    if group_news is None:
        st.caption(NONE_YET)
        return
    with st.expander("What changed", icon=":material/history:", key="groups_news"):
        st.caption(_made(group_news.update))
        for title, changes in _by_update(group_news.changes).items():
            st.markdown("\n".join([f"**{title}**", "", *map(_line, changes)]))
        if len(group_news.changes) == MOST_CHANGES:
            st.caption(f"The last {MOST_CHANGES} changes. The REST API has all of them.")


def what_would_change(project_id: int, item_groups: ItemGroups, key: tuple[object, ...]) -> None:
    """Draw what would become of the project's groups, if there are any, by the found ones. key: tells these apart."""
    update = update_to_preview(engine(), project_id)
    if update is None:
        return
    become = _preview(project_id, update, key, item_groups)
    st.caption(preview_in_words(become))
    if become.largest:
        with st.expander("What would change", icon=":material/preview:", key="groups_preview"):
            st.markdown("\n".join(f"- **{change.group}** {change_in_words(change)}" for change in become.largest))
            if len(become.largest) == LARGEST:
                st.caption(f"The {LARGEST} groups with the most texts that come or go.")


@st.cache_data(max_entries=20, show_spinner=False)
def _preview(project_id: int, update: int, key: tuple[object, ...], _item_groups: ItemGroups) -> GroupsPreview:
    """Return the preview; it changes with the project's groups and with the found ones."""
    return preview_groups(engine(), project_id, _item_groups.ids, _item_groups.groups.group_of_text)


def _made(update: GroupUpdate) -> str:
    """Return the numbers of groups and how they were made."""
    p = "" if update.p is None else f" (p {update.p:.3f})"
    clustering = TITLES[Clustering(update.clustering)].lower()
    return (
        f"The project keeps {counted(update.groups, 'group')} of {counted(update.texts, 'text')}: "
        f"{literal(round_name(update.matcher))}, threshold {update.threshold:.4f}{p}, {clustering}. "
        "An id stays with the group that has the most of its texts, and is never given to another one."
    )


def _by_update(changes: list[KeptGroupChange]) -> dict[str, list[KeptGroupChange]]:
    """Return the changes by the moment and the round of their update, the newest first."""
    changes_by_title: dict[str, list[KeptGroupChange]] = {}
    for change in changes:
        title = f"{change.at:%d %b %Y %H:%M}, {literal(round_name(change.round))}"
        changes_by_title.setdefault(title, []).append(change)
    return changes_by_title


def _line(change: KeptGroupChange) -> str:
    texts = [
        *_named("added", change.texts_added, change.added),
        *_named("removed", change.texts_removed, change.removed),
    ]
    return f"- **{change.group}** {change_in_words(change)}" + (f" · {'; '.join(texts)}" if texts else "")


def _named(verb: str, texts: list[NamedText], count: int) -> list[str]:
    """Return the first ids of these texts in words; nothing if there are none."""
    names = [literal(text.id) for text in texts[:NAMED]]
    more = [f"{count - len(names):,} more"] if count > len(names) else []
    return [f"{verb}: {', '.join([*names, *more])}"] if texts else []
