"""The model card of an exported matcher: its training data, its figures, how its score is computed and used."""

import json
import re
from pathlib import Path

from sqlalchemy import Engine

from annotate.monitor.rounds import Report, batches_table, read_report, round_name, threshold
from annotate.projects.projects import Contents, project_contents
from annotate.text.measures import TITLES, estimate, in_figures, interval, method_in_words
from db.domain import DEFAULT_ENCODER, Kind, Side, renamed
from db.schema.engine import reading
from db.schema.tables import Evaluation, Matcher, Project

ORGANIZATION = "sentence-transformers"  # the default encoder's organisation on model hubs
LICENCES = {DEFAULT_ENCODER: "apache-2.0", f"{ORGANIZATION}/{DEFAULT_ENCODER}": "apache-2.0"}
FILES = {Kind.SYMMETRIC: "--left texts.csv", Kind.BIPARTITE: "--left left.csv --right right.csv"}
USE = """\
## How to use it

From the command line, with Allpairs: the whole score, for a whole file.

```
python -m learner match --model {folder} {files} --threshold {threshold} --out matches.csv
```

From Python, with sentence-transformers: the cosine only.

```python
{lines}```
"""


def model_readme(engine: Engine, matcher: Matcher, folder: str, lines: str) -> str:
    """Return the README.md of the matcher's folder: YAML for model hubs, then Markdown.

    folder: its name in the exported archive; lines: the Python that uses it.
    """
    with reading(engine) as session:
        project = session.get_one(Project, matcher.project_id)
    report, contents = read_report(engine, project.id), project_contents(engine, project.id)
    parts = [
        _yaml(matcher),
        f"# {_line(project.name)}, {round_name(matcher.number).lower()}\n",
        f"Finds matching pairs: a bi-encoder, trained by active learning in Allpairs, from `{matcher.encoder}`.\n",
        _data(project, contents, report),
        _rounds(report, matcher),
        _figures(report, matcher),
        _score(matcher, project.kind),
        USE.format(folder=folder, files=FILES[Kind(project.kind)], threshold=_number(threshold(matcher)), lines=lines),
        _licence(matcher.encoder),
    ]
    return "\n".join(parts)


def base_licence(encoder: str) -> str | None:
    """Return the licence of a base encoder, by its name or from the README.md of its folder."""
    if encoder in LICENCES:
        return LICENCES[encoder]
    readme = Path(encoder) / "README.md"
    try:
        head = readme.read_text(encoding="utf-8").split("---\n")[1] if readme.is_file() else ""
    except (OSError, UnicodeDecodeError, IndexError):
        return None
    stated = re.search(r"^license: *(\S+) *$", head, re.MULTILINE)
    return stated[1] if stated else None


def _yaml(matcher: Matcher) -> str:
    lines = ["---", "library_name: sentence-transformers", "pipeline_tag: sentence-similarity"]
    base = f"{ORGANIZATION}/{DEFAULT_ENCODER}" if matcher.encoder == DEFAULT_ENCODER else matcher.encoder
    lines += [f"base_model: {json.dumps(base)}", "license: other", "tags:"]
    return "\n".join([*lines, "- sentence-transformers", "- sentence-similarity", "---", ""])


def _data(project: Project, contents: Contents, report: Report) -> str:
    left, right = contents.count(Side.LEFT), contents.count(Side.RIGHT)
    texts = f"one list of {left:,} texts" if project.kind == Kind.SYMMETRIC else f"{left:,} × {right:,} texts"
    gold = f"{contents.gold_positives:,} known positives and {contents.gold_negatives:,} known negatives"
    lines = ["## Data and question", "", f"- {texts[0].upper()}{texts[1:]}; {gold}."]
    lines.append(f"- {contents.kept:,} texts are in the evaluation set; no pair of two of them was used for training.")
    lines.append(f"- The question for annotators: “{_line(report.settings.question)}”")
    if guidelines := report.settings.guidelines.strip():
        lines += ["- Their guidelines:", "", *(f"  > {line}" for line in guidelines.splitlines())]
    return "\n".join([*lines, ""])


def _rounds(report: Report, matcher: Matcher) -> str:
    """Return the batches whose labels the model was trained on."""
    lines = [
        "## Labels and rounds",
        "",
        f"Trained on {matcher.labels:,} labels, {matcher.positives:,} of them positives. The table counts answers in "
        "batches; imported labels are used for training, too.",
        "",
        "| batch | chosen by | pairs | answered | positive | negative | unsure |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    table = batches_table(report)
    for row in table[table["round"] <= matcher.number].itertuples():
        cells = (row.round, row.strategy, row.size, row.answered, row.positives, row.negatives, row.unsure)
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join([*lines, ""])


def _figures(report: Report, matcher: Matcher) -> str:
    evaluation = next((found for one, found in report.measured if one.id == matcher.id), None)
    lines = ["## Evaluation", ""]
    if evaluation is None:
        return "\n".join([*lines, "It has not been evaluated.", ""])
    lines += [_method(evaluation), "", "| over all pairs | value | 95% interval or method |", "| --- | --- | --- |"]
    for measure, title in TITLES.items():
        found = estimate(evaluation, measure)
        if found is not None:
            lines.append(f"| {title} | {in_figures(measure, found.value)} | {interval(measure, found)} |")
    return "\n".join([*lines, ""])


def _method(evaluation: Evaluation) -> str:
    found = estimate(evaluation, "average_precision")
    how = method_in_words("average_precision", found, evaluation) if found else ""
    return f"Average precision: {how} The figures use the whole score, as computed by the command below."


def _score(matcher: Matcher, kind: str) -> str:
    details = renamed(matcher.details)
    lexical, hubness = details.get("lexical", {}), details.get("hubness", 0.0)
    weights = ", ".join(f"{kind} {weight:.3f}" for kind, weight in lexical.items())
    lines = ["## How the score is computed", "", "- Semantic similarity: the cosine of the two vectors."]
    if lexical:
        lines.append(f"- Lexical similarity, beside the cosine at weight 1: {weights}; divided by the total weight.")
    else:
        lines.append("- Lexical similarity: not used.")
    if hubness:
        which, more = ("", "") if kind == Kind.SYMMETRIC else (" of the other list", ", twice that in the shorter list")
        lines.append(
            f"- Hubness correction: {hubness:g} times the mean score of a text and its three nearest texts{which} is "
            f"subtracted from each of the text's scores{more}."
        )
    else:
        lines.append("- Hubness correction: none.")
    lines.append(
        f"- Probability: `p = 1 / (1 + exp(-(w · score + b)))` with w = {_number(matcher.w)} and b = "
        f"{_number(matcher.b)}; p = ½ at a score of {_number(threshold(matcher))}."
    )
    if lexical or hubness:
        lines.append("- The vectors alone give the cosine only: p and the figures do not hold for it.")
    return "\n".join([*lines, "- All these numbers are in `matcher.json`.", ""])


def _licence(encoder: str) -> str:
    known = base_licence(encoder)
    base = f"is {known}" if known else "is unknown: look it up"
    return (
        "## Licence\n\n"
        f"Two licences apply: that of the base model, `{encoder}`, which {base}; and that of the texts and labels it "
        "was trained on, which Allpairs does not know. State both before you share the model.\n"
    )


def _line(text: str) -> str:
    return " ".join(text.split())


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.4f}"
