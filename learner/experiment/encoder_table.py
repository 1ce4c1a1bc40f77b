"""The comparison of encoders as a table: figures of the finished runs, with intervals over labels."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from allpairs.learner.experiment.cell import FINISHED
from allpairs.learner.experiment.encoders import HELD_OUT, LINE, ap_of
from allpairs.learner.experiment.spec import Experiment, cells_of
from allpairs.learner.reports.tables import grid, number

# of the bootstrap over labels
DRAWS = 1_000
TAILS = (0.025, 0.975)
EXPLANATION = (
    "All figures are by the cosine alone. *AP over all pairs*: of the evaluation items, by known pairs, trained on all "
    "labels. *AP on labels*: each label is scored by an encoder trained on the other four fifths, with the bootstrap's "
    "95% interval. *Gain*: over the first encoder, on the same labels. *Near*: the share of positive labels whose "
    "second text is among the ten nearest of the first, before training.\n\n"
    "Labels favour other encoders over the one that chose them, which found them hard; *near* favours that one. "
    "Without known pairs, prefer an encoder that gains on labels and loses nothing on *near*."
)


@dataclass(frozen=True)
class EncoderFigures:
    """What is known of an encoder on a data set: the means of its figures over seeds, and intervals over labels."""

    dataset: str
    row: str
    encoder: str
    figures: dict[str, float]
    interval: tuple[float, float]
    gain: tuple[float, float, float] | None  # over the first row: value, low, high; None for itself

    def as_row(self) -> dict[str, Any]:
        """Return the figures as one line of a table."""
        gain, low, high = self.gain or (None, None, None)
        return {
            "dataset": self.dataset,
            "row": self.row,
            "encoder": self.encoder,
            "all_pairs_ap": None,
            **self.figures,
            "labels_ap_low": self.interval[0],
            "labels_ap_high": self.interval[1],
            "gain": gain,
            "gain_low": low,
            "gain_high": high,
        }


def encoder_figures(experiment: Experiment, out: Path) -> list[EncoderFigures]:
    """Read the finished runs; return the figures of each encoder, the best first: by all pairs, else by labels."""
    figures: list[EncoderFigures] = []
    for dataset in experiment.datasets:
        runs = {row.name: _runs(experiment, out, dataset, row.name) for row in experiment.rows}
        finished = {name: seeds for name, seeds in runs.items() if seeds}
        encoders = {row.name: row.backbone for row in experiment.rows}
        first = next(iter(finished), "")
        lines = [
            _figures(dataset, name, encoders[name], seeds, finished[first] if name != first else None)
            for name, seeds in finished.items()
        ]
        figures += sorted(lines, key=lambda line: -line.figures.get("all_pairs_ap", line.figures["labels_ap"]))
    return figures


Run = tuple[dict[str, float], np.ndarray, np.ndarray]  # figures, scores of labels held out, the labels


def _runs(experiment: Experiment, out: Path, dataset: str, row: str) -> dict[int, Run]:
    """Return the finished runs of a row by seed."""
    runs = {}
    for cell in cells_of(experiment):
        folder = out / cell.folder
        if (cell.dataset, cell.row) == (dataset, row) and (folder / FINISHED).is_file():
            line = json.loads((folder / LINE).read_text(encoding="utf-8"))
            figures = {name: float(value["value"]) for name, value in line.items() if isinstance(value, dict)}
            held_out = json.loads((folder / HELD_OUT).read_text(encoding="utf-8"))
            runs[cell.seed] = figures, np.array(held_out["score"]), np.array(held_out["label"])
    return runs


def _figures(
    dataset: str, row: str, encoder: str, runs: dict[int, Run], first: dict[int, Run] | None
) -> EncoderFigures:
    figures = {name: float(np.mean([run[0][name] for run in runs.values()])) for name in next(iter(runs.values()))[0]}
    resampled = _resampled(runs)
    interval = tuple(np.quantile(resampled, TAILS).tolist())
    gain = None
    if first is not None:
        difference = figures["labels_ap"] - float(np.mean([run[0]["labels_ap"] for run in first.values()]))
        gain = (difference, *np.quantile(resampled - _resampled(first), TAILS).tolist())
    return EncoderFigures(dataset, row, encoder, figures, interval, gain)


def _resampled(runs: dict[int, Run]) -> np.ndarray:
    """Return AP, the mean over seeds, of resampled labels: the same draws for every encoder, (draws,)."""
    label = next(iter(runs.values()))[2]
    rng = np.random.default_rng(0)
    means = list[float]()
    while len(means) < DRAWS:
        drawn = rng.integers(len(label), size=len(label))
        if 0 < label[drawn].sum() < len(label):
            means.append(float(np.mean([ap_of(score[drawn], label[drawn]) for _, score, _ in runs.values()])))
    return np.array(means)


def encoder_markdown(lines: list[EncoderFigures]) -> str:
    """Return the comparison as Markdown."""
    header = [
        "Encoder",
        "AP over all pairs",
        "AP on labels",
        "gain",
        "near",
        "AP on labels before training",
        "texts/s",
        "MB",
    ]
    body = [
        [
            line.encoder,
            number(line.figures.get("all_pairs_ap"), False),
            f"{number(line.figures['labels_ap'], False)} ({line.interval[0]:.3f}–{line.interval[1]:.3f})",
            "" if line.gain is None else f"{line.gain[0]:+.3f} ({line.gain[1]:+.3f} to {line.gain[2]:+.3f})",
            *(number(line.figures[name], False) for name in ("near", "untrained_labels_ap")),
            *(number(line.figures[name], True) for name in ("texts_per_second", "memory")),
        ]
        for line in lines
    ]
    return f"### Encoders\n\n{EXPLANATION}\n\n{grid(header, body)}"
