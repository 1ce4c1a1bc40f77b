"""The rows that a benchmark reports, and the table of docs/benchmarks.md made from them."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
RESULTS, OTHER_RESULTS, GPU_RESULTS = (
    ROOT / "docs" / f"{name}.json" for name in ("benchmarks", "other_processor", "gpu")
)
# Module of each benchmark, which has `measure(quick) -> rows`. To add a benchmark, add a line.
BENCHMARKS = {
    "encode": "speed.encode",
    "search": "speed.search",
    "evaluation": "speed.evaluation",
    "training": "speed.training",
    "rerank": "speed.rerank",
    "engines": "speed.engines",
    "startup": "speed.startup",
    "latency": "speed.latency",
    "pages": "speed.pages",
    "load": "scale.load",
    "import_rows": "speed.import_rows",
}
# What a GPU is for: `python -m benchmarks.gpu` runs these, the last two nothing else.
GPU = {name: BENCHMARKS[name] for name in ("encode", "search", "evaluation", "training", "rerank")} | {
    "bfloat16": "speed.bfloat16",
    "qqp": "scale.qqp_scale",
}
BEGIN = "<!-- figures: rewritten by a script -->"
END = "<!-- end of figures -->"
HEADER = ("what", "peer or floor", "ours", "ratio", "target", "met", "when, where")


@dataclass(frozen=True)
class Row:
    """One line of the table: medians of repeats, in words; the ratio is against the peer or floor in the same run."""

    what: str
    ours: str
    target: str
    met: bool
    peer: str = "–"
    ratio: float | None = None


Measure = Callable[[bool], list[Row]]  # quick -> rows


def stored(path: Path = RESULTS) -> dict[str, dict[str, Any]]:
    """Return each benchmark's last report, by name."""
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def store(name: str, rows: Sequence[Row], about: Mapping[str, Any], path: Path = RESULTS) -> None:
    """Keep the rows as the benchmark's newest."""
    results = stored(path) | {name: {**about, "rows": [asdict(row) for row in rows]}}
    path.write_text(json.dumps(results, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def table(results: Mapping[str, Mapping[str, Any]], order: Sequence[str]) -> str:
    """Return the figures as a Markdown table, benchmarks in this order, with the command of each below."""
    names = [name for name in order if name in results]
    lines = [HEADER, tuple("---" for _ in HEADER)]
    lines += [_line(Row(**row), results[name]) for name in names for row in results[name]["rows"]]
    rows = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return rows + "\n\n" + "\n".join(f"- {name}: `{results[name]['command']}`" for name in names)


def _line(row: Row, about: Mapping[str, str]) -> tuple[str, ...]:
    where = f"{about['date']}, {about['machine']}, load {about['load']}"
    return row.what, row.peer, row.ours, ratio(row), row.target, "yes" if row.met else "**no**", where


def ratio(row: Row) -> str:
    """Return the ratio in words, with three digits."""
    return "–" if row.ratio is None else f"{row.ratio:#.3g}".rstrip(".")


def rewrite(text: str, figures: str) -> str:
    """Return the page with these figures between its marks.

    Raises ValueError if the marks are missing.
    """
    pattern = re.compile(f"{re.escape(BEGIN)}.*?{re.escape(END)}", re.DOTALL)
    if not pattern.search(text):
        raise ValueError(f"the page has no marks for the table: put {BEGIN} and {END} where it belongs")
    return pattern.sub(lambda _: f"{BEGIN}\n{figures}\n{END}", text)
