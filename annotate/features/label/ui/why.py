"""Why a pair was chosen: in words, a plot of its score, and the most similar labelled pairs."""

from collections.abc import Sequence

import streamlit as st

from allpairs.annotate.features.label.pair_reason import Alike, Reasons, RoundScore
from allpairs.annotate.features.label.pick_pair import PICKED
from allpairs.annotate.features.label.ui.pair_view import ANSWERS
from allpairs.annotate.kit.text.formatting import beginning, literal
from allpairs.annotate.kit.ui.language import _, localized_number
from allpairs.db.domain import DesignKind, Purpose
from allpairs.learner.light.catalog import strategy_description, strategy_title


def why(reasons: Reasons) -> None:
    """Draw the reasons."""
    st.markdown(_sentence(reasons))
    if reasons.purpose == Purpose.AUDIT or reasons.strategy == DesignKind.MINED:
        return
    _history(reasons.scores)
    if reasons.alike:
        st.markdown(f"**{_('Most similar labelled pairs, when it was chosen')}**")
        for pair in reasons.alike:
            _labelled(pair)


def _sentence(reasons: Reasons) -> str:
    if reasons.purpose == Purpose.AUDIT:
        return _audit(reasons.batch)
    if reasons.strategy == DesignKind.MINED:
        return _("A mined pair, sampled at random from its rank band. Its label is used for training.")
    description = strategy_description(reasons.strategy)
    parts = [_place(reasons), _chosen(reasons), _(description) if description else ""]
    return " ".join(part for part in parts if part)


def _audit(batch: int | None) -> str:
    if batch is None:
        return _("An audit pair, sampled at random. Its label measures and is never used for training.")
    return _(
        "An audit pair of batch {number}, sampled at random. Its label measures and is never used for training.",
        number=batch,
    )


def _place(reasons: Reasons) -> str:
    """Return the pair's place in its batch or in the reserve."""
    if reasons.rank > reasons.batch_size:
        place = localized_number(reasons.rank - reasons.batch_size)
        return _("Number {place} of the reserve of batch {number}.", place=place, number=reasons.batch)
    values = {
        "place": localized_number(reasons.rank),
        "size": localized_number(reasons.batch_size),
        "number": reasons.batch,
    }
    return _("Number {place} of the {size} pairs of batch {number}.", **values)


def _chosen(reasons: Reasons) -> str:
    """Return which strategy chose the pair, with which model, and when; or that a person did."""
    if reasons.strategy == PICKED:
        return _("Queued by a person, not by a strategy.")
    values = {
        "strategy": literal(strategy_title(reasons.strategy)),
        "date": f"{reasons.put_up_at:%Y-%m-%d}",
        "number": reasons.chosen_by,
    }
    if reasons.chosen_by:
        return _("Chosen by **{strategy}** with the model of round {number} on {date}.", **values)
    return _("Chosen by **{strategy}** with the pre-trained encoder on {date}.", **values)


def _history(scores: Sequence[RoundScore]) -> None:
    if len(scores) == 1:
        first_score = _(
            "Its score was {score} when it was chosen. Later rounds will add theirs here.", score=_scored(scores[0])
        )
        st.markdown(first_score)
        return
    from allpairs.annotate.features.label.ui.score_chart import score_chart  # Altair is slow to import, and few ask

    course = _(
        "Its score was {score} when it was chosen, and {newest} in round {number}.",
        score=_scored(scores[0]),
        newest=_scored(scores[-1]),
        number=scores[-1].number,
    )
    st.markdown(course)
    rounds = [_("{score} in round {number}", score=localized_number(s.score, ".3f"), number=s.number) for s in scores]
    score_chart(scores, _("Score of this pair by round: {scores}.", scores=", ".join(rounds)))


def _scored(score: RoundScore) -> str:
    return f"**{localized_number(score.score, '.3f')}**" + (
        "" if score.p is None else f" (p {localized_number(score.p, '.2f')})"
    )


def _labelled(pair: Alike) -> None:
    label = _(ANSWERS[pair.answer]) if pair.answer else _("label removed")
    st.caption(_("{label} · similarity {n}", label=label, n=localized_number(pair.alike, ".2f")))
    st.text(f"{beginning(pair.left)}\n{beginning(pair.right)}")
