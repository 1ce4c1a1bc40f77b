"""The model card of an exported matcher: its training data, its figures, how its score is computed and used."""

import json
import re
import shlex
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Engine

from allpairs.annotate.features.projects.projects import Contents, project_contents
from allpairs.annotate.features.quality.rounds import MonitorReport, read_report, round_name, threshold
from allpairs.annotate.kit.text.measures import TITLES, estimate, in_figures, interval, method_in_words
from allpairs.db.domain import DEFAULT_ENCODER, Kind, Side
from allpairs.db.estimate import stored_estimate
from allpairs.db.projects.projects import project_of
from allpairs.db.schema.engine import reading
from allpairs.db.schema.tables import Evaluation, Project, StoredModel

AP = "average_precision"
ORGANIZATION = "sentence-transformers"  # the default encoder's organisation on model hubs
LICENCES = {DEFAULT_ENCODER: "apache-2.0", f"{ORGANIZATION}/{DEFAULT_ENCODER}": "apache-2.0"}
FILES = {Kind.SYMMETRIC: "--left texts.csv", Kind.BIPARTITE: "--left left.csv --right right.csv"}
USE = """\
## How to use it

With Allpairs, from Python or for whole files: the score and the probability that the figures above were measured with,
for texts of the project and for others.

```python
{whole}```

```
allpairs match --model {folder} {files} --threshold {threshold} --out matches.csv
```
"""
BARE = """\
## With sentence-transformers alone

The bare cosine is **another score**: without lexical similarity and hubness correction, with a `w`, a `b` and a
threshold of its own, under `bare` in `matcher.json`. The figures above do not hold for it.

| bare cosine | value |
| --- | --- |
| Average precision over all pairs | {figure} |
| p = ½ at a cosine of | {threshold} |

```python
{lines}```
"""


@dataclass(frozen=True)
class Usage:
    """Lines of Python that score a pair with the unpacked model: with its whole score, and with its bare cosine.

    bare: empty for a model that has no output layer for its cosine.
    """

    whole: str
    bare: str


def model_readme(engine: Engine, matcher: StoredModel, folder: str, usage: Usage) -> str:
    """Return the README.md of the matcher's folder: YAML for model hubs, then Markdown.

    folder: its name in the exported archive; usage: the Python that uses it.
    """
    with reading(engine) as session:
        project = project_of(session, matcher.project_id)
    report = read_report(engine, project.id)
    contents = project_contents(engine, project.id)
    parts = [
        _yaml(matcher),
        f"# {_line(project.name)}, {round_name(matcher.number).lower()}\n",
        f"Finds matching pairs: a bi-encoder, trained by active learning in Allpairs, from `{matcher.encoder}`.\n",
        _data(project, contents, report),
        _rounds(report, matcher),
        _figures(report, matcher),
        _score(matcher, project.kind),
        USE.format(folder=folder, files=_files(project), threshold=_number(threshold(matcher)), whole=usage.whole),
        _bare(matcher, usage),
        _licence(matcher.encoder),
    ]
    return "\n".join(parts)


def _files(project: Project) -> str:
    """Return the options that name the files, and the text columns where there are several."""
    columns = (project.text_columns or {}).get(Side.LEFT, ())
    return " ".join([FILES[Kind(project.kind)], *(f"--text-column {shlex.quote(name)}" for name in columns)])


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


def _yaml(matcher: StoredModel) -> str:
    lines = ["---", "library_name: sentence-transformers", "pipeline_tag: sentence-similarity"]
    base = f"{ORGANIZATION}/{DEFAULT_ENCODER}" if matcher.encoder == DEFAULT_ENCODER else matcher.encoder
    lines += [f"base_model: {json.dumps(base)}", "license: other", "tags:"]
    return "\n".join([*lines, "- sentence-transformers", "- sentence-similarity", "---", ""])


def _data(project: Project, contents: Contents, report: MonitorReport) -> str:
    left = contents.count(Side.LEFT)
    right = contents.count(Side.RIGHT)
    texts = f"one list of {left:,} texts" if project.kind == Kind.SYMMETRIC else f"{left:,} × {right:,} texts"
    gold = f"{contents.gold_positives:,} known positives and {contents.gold_negatives:,} known negatives"
    lines = ["## Data and question", "", f"- {texts[0].upper()}{texts[1:]}; {gold}."]
    lines.append(f"- {contents.kept:,} texts are in the evaluation set; no pair of two of them was used for training.")
    lines.append(f"- The question for annotators: “{_line(report.settings.question)}”")
    if guidelines := report.settings.guidelines.strip():
        lines += ["- Their guidelines:", "", *(f"  > {line}" for line in guidelines.splitlines())]
    return "\n".join([*lines, ""])


def _rounds(report: MonitorReport, matcher: StoredModel) -> str:
    """Return the batches whose labels the model was trained on."""
    lines = [
        "## Labels and rounds",
        "",
        f"Trained on {matcher.labels:,} labels, {matcher.positives:,} of them positives. The table counts answers in "
        f"batches; imported labels are used for training, too.{_taught(matcher)}",
        "",
        "| batch | chosen by | pairs | answered | positive | negative | unsure |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    columns = ("round", "strategy", "size", "answered", "positives", "negatives", "unsure")
    for batch, row in zip(report.rounds, report.batches, strict=True):
        if batch.number is not None and batch.number <= matcher.number:
            lines.append(f"| {' | '.join(str(row[column]) for column in columns)} |")
    return "\n".join([*lines, ""])


def _taught(matcher: StoredModel) -> str:
    """Say how many verdicts of a machine rater the model has learned from, if it has."""
    rater = matcher.details.get("rater")
    if not rater:
        return ""
    return (
        f" It has also learned from {rater['verdicts']:,} verdicts of the machine rater “{_line(rater['name'])}” on "
        f"pairs that nobody had answered, each with a weight of {rater['weight']:.2f} beside a label."
    )


def _figures(report: MonitorReport, matcher: StoredModel) -> str:
    evaluation = next((value for model, value in report.measured if model.id == matcher.id), None)
    lines = ["## Evaluation", ""]
    if evaluation is None:
        return "\n".join([*lines, "It has not been evaluated.", ""])
    lines += [_method(evaluation), "", "| over all pairs | value | 95% interval or method |", "| --- | --- | --- |"]
    for measure, title in TITLES.items():
        value = estimate(evaluation, measure)
        if value is not None:
            lines.append(f"| {title} | {in_figures(measure, value.value)} | {interval(measure, value)} |")
    return "\n".join([*lines, ""])


def _method(evaluation: Evaluation) -> str:
    average_precision = estimate(evaluation, "average_precision")
    method = method_in_words("average_precision", average_precision, evaluation) if average_precision else ""
    return f"Average precision: {method} The figures use the whole score, as computed by the command below."


def _score(matcher: StoredModel, kind: str) -> str:
    details = matcher.details
    lexical = details.get("lexical", {})
    hubness = details.get("hubness", 0.0)
    weights = ", ".join(f"{kind} {weight:.3f}" for kind, weight in lexical.items())
    lines = ["## How the score is computed", "", "- Semantic similarity: the cosine of the two vectors."]
    if lexical:
        lines.append(f"- Lexical similarity, beside the cosine at weight 1: {weights}; divided by the total weight.")
    else:
        lines.append("- Lexical similarity: not used.")
    if hubness:
        two_lists = kind != Kind.SYMMETRIC
        lines.append(
            f"- Hubness correction: {hubness:g} times the mean score of a text and its three nearest texts"
            f"{' of the other list' if two_lists else ''} is subtracted from each of the text's scores"
            f"{', twice that in the shorter list' if two_lists else ''}."
        )
    else:
        lines.append("- Hubness correction: none.")
    if details.get("second_stage", {}).get("features"):
        lines.append(
            "- Second stage: the best pairs are scored again by the numbers, prices and rare words that their texts "
            "share or do not share, and by the other candidates of each text."
        )
    lines.append(
        f"- Probability: `p = 1 / (1 + exp(-(w · score + b)))` with w = {_number(matcher.w)} and b = "
        f"{_number(matcher.b)}; p = ½ at a score of {_number(threshold(matcher))}."
    )
    moves = details.get("p_moves")
    if moves:
        lines.append(
            "- A text that the project lacks gets its hubness against a sample of the project's, `reference.npz`. "
            f"Taken as new, {moves['texts']:,.0f} texts of the project saw p of their best pair move by "
            f"{moves['mean']:.3f} on average, and by at most {moves['in_95_percent_at_most']:.3f} in 95% of them."
        )
    return "\n".join([*lines, "- All these numbers are in `matcher.json`.", ""])


def bare_figure(matcher: StoredModel) -> str:
    """Return the average precision of the matcher's bare score, with its interval or method."""
    figure = stored_estimate(matcher.details["bare"], AP)
    return "not measured" if figure is None else f"{in_figures(AP, figure.value)} ({interval(AP, figure)})"


def _bare(matcher: StoredModel, usage: Usage) -> str:
    """Return the section on the bare cosine, with its own figures."""
    bare = matcher.details.get("bare")
    if not bare:
        return "The vectors of the folder alone give the cosine only; p and the figures do not hold for it.\n"
    return BARE.format(figure=bare_figure(matcher), threshold=_number(bare["threshold"]), lines=usage.bare)


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
