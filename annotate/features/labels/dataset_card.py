"""The card of a folder of labels, as Hugging Face's `datasets` reads it: YAML, then Markdown."""

import json
from collections.abc import Mapping

from allpairs.annotate.features.labels.formats import COLUMNS, DESCRIPTIONS, Form
from allpairs.db.domain import Purpose, Settings

CONFIGS = (Form.LABELS, Form.PAIRS, Form.POSITIVES, Form.TRIPLETS)  # the first one is the default
SPLITS = {"train": Purpose.TRAIN, "test": Purpose.AUDIT}
SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))


def dataset_card(project: str, settings: Settings, rows: Mapping[tuple[Form, str], int]) -> str:
    """Return the README.md of the folder. rows: by configuration and split, if a file `form/split.parquet` exists."""
    return "\n".join([*_yaml(project, rows), "", *_words(project, settings, rows)]) + "\n"


def _yaml(project: str, rows: Mapping[tuple[Form, str], int]) -> list[str]:
    total = sum(count for (form, _), count in rows.items() if form == Form.LABELS)
    size = next((name for limit, name in SIZES if total < limit), "1M<n<10M")
    lines = ["---", f"pretty_name: {json.dumps(project)}", "license: unknown", "task_categories:"]
    lines += ["- sentence-similarity", "tags:", "- sentence-transformers", "size_categories:", f"- {size}", "configs:"]
    for form in CONFIGS:
        splits = [split for split in SPLITS if (form, split) in rows]
        if splits:
            lines.append(f"- config_name: {form}")
            lines += ["  default: true"] if form == CONFIGS[0] else []
            lines.append("  data_files:")
            for split in splits:
                lines += [f"  - split: {split}", f"    path: {form}/{split}.parquet"]
    return [*lines, "---"]


def _words(project: str, settings: Settings, rows: Mapping[tuple[Form, str], int]) -> list[str]:
    lines = [
        f"# Labels of {' '.join(project.split())}",
        "",
        "Pairs of texts labelled by people, exported from Allpairs.",
        "",
    ]
    lines += ["The question was:", "", f"> {' '.join(settings.question.split())}", ""]
    lines += [
        "## Configurations",
        "",
        "| name | split | rows | columns | what it is |",
        "| --- | --- | --- | --- | --- |",
    ]
    lines += [
        f"| `{form}` | {split} | {count:,} | {', '.join(COLUMNS[form])} | {DESCRIPTIONS[form]} |"
        for (form, split), count in rows.items()
    ]
    lines += [
        "",
        "`train` holds the training labels. `test` holds the labels of pairs that were sampled for evaluation: do not",
        "train on them. A model chose the pairs of `train` because they are hard or similar: they are not a random",
        "sample of all pairs, so figures computed on them do not hold for all pairs.",
        "",
        "```python",
        "from datasets import load_dataset",
        "",
        f'labels = load_dataset("path/to/this/folder", "{CONFIGS[0]}", split="{next(iter(rows))[1]}")',
        "```",
        "",
        "## Licence",
        "",
        "The texts are under the licence of their source, which Allpairs does not know. Add it to",
        "the first lines of this file before you share the folder.",
    ]
    if settings.guidelines.strip():
        lines += ["", "## Guidelines of the annotators", "", settings.guidelines.strip()]
    return lines
