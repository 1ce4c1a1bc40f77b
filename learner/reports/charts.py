"""Charts in Vega-Lite, for pages and for files."""

from pathlib import Path

import altair as alt
import vl_convert

# Colours for every kind of colour vision, on light and dark backgrounds; shapes tell apart rows of the same colour.
COLOURS = ("#2f7fd6", "#d9730d", "#1b9e77", "#a767c9", "#d4567a", "#8c8f2b")
Plot = alt.LayerChart | alt.FacetChart
HEIGHT = 280
VEGA_LITE = ".".join(alt.SCHEMA_VERSION.removeprefix("v").split(".")[:2])


def save_chart(chart: alt.HConcatChart, path: Path) -> None:
    """Save the chart as PNG and SVG; path: without extension."""
    spec = chart.configure_view(stroke=None).configure(background="white").to_dict()
    path.with_name(f"{path.name}.png").write_bytes(vl_convert.vegalite_to_png(spec, vl_version=VEGA_LITE, scale=2))
    path.with_name(f"{path.name}.svg").write_text(
        vl_convert.vegalite_to_svg(spec, vl_version=VEGA_LITE), encoding="utf-8"
    )
