"""A plot of one pair's score by round."""

from collections.abc import Sequence

import altair as alt
import pandas as pd

from allpairs.annotate.features.label.pair_reason import RoundScore
from allpairs.annotate.kit.charts import MATCHER, tooltips
from allpairs.annotate.kit.ui.figure import figure
from allpairs.annotate.kit.ui.language import _


def score_chart(scores: Sequence[RoundScore], description: str) -> None:
    """Draw a line of the score by round."""
    table = pd.DataFrame([{"round": score.number, "score": score.score, "p": score.p} for score in scores])
    line = alt.Chart(table, height=140).encode(
        x=alt.X("round:O", title=_("Round")),
        y=alt.Y("score:Q", title=_("Score"), scale=alt.Scale(zero=False)),
        tooltip=tooltips({"round": (_("Round"), "d"), "score": (_("Score"), ".3f"), "p": ("p", ".2f")}),
    )
    points = line.mark_point(color=MATCHER, filled=True, size=70, opacity=1)
    figure(alt.layer(line.mark_line(color=MATCHER), points), description)
