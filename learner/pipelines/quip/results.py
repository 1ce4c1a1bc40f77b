"""The last stage: what was generated and how fast, and the paper's Tables 1 to 8 and 10 on this run's data."""

from collections import Counter
from itertools import islice
from pathlib import Path
from typing import Any

from allpairs.db.progress import Progress
from allpairs.learner.pipelines.pipeline import Artifact, Run, write_artifacts
from allpairs.learner.pipelines.quip.inputs import Texts
from allpairs.learner.pipelines.quip.paper import EPOCHS, QUESTIONS
from allpairs.learner.pipelines.quip.questions import Question, questions_of, read_written
from allpairs.learner.pipelines.quip.shards import read_shards, read_speed
from allpairs.learner.pipelines.quip.student import skipped
from allpairs.learner.pipelines.quip.tables.entities import report_entities
from allpairs.learner.pipelines.quip.tables.paraphrases import report_paraphrases
from allpairs.learner.pipelines.quip.tables.reading import report_reading
from allpairs.learner.pipelines.quip.tables.sentiment import report_rationales, report_sentiment
from allpairs.learner.pipelines.quip.tables.stability import report_stability
from allpairs.learner.pipelines.report import Report
from allpairs.learner.reports.tables import cell, grid

SECONDS = 86_400  # of a day
SHOWN = 8  # questions as examples
LONGEST = 120  # characters of a text in a table
MADE = {  # timed work: its stage, and how often the paper did it for each question
    "questions written": ("questions", 1),
    "questions labelled": ("targets", 1),
    "questions learned from": ("student", EPOCHS),
}
SMALL = (
    "All figures come from this run's own sizes: compare their order with the paper's, not their values. ± is "
    "one standard error, with n − 1 degrees of freedom."
)


def write_results(run: Run, folder: Path, progress: Progress) -> None:
    """Write tables/, report.md and artifacts.json to the folder."""
    report = Report(folder, "Question-answering infused pre-training (Jia, Lewis and Zettlemoyer 2022)")
    report.text(SMALL)
    for name, why in skipped(run).items():
        report.text(f"Left out: {name}, since {why}.")
    _counts(report, run)
    report_speed(report, run)
    _examples(report, run)
    for part in (
        report_reading,
        report_paraphrases,
        report_entities,
        report_sentiment,
        report_rationales,
        report_stability,
    ):
        part(report, run)
    report.close()
    write_artifacts(folder, _artifacts(run))


def _counts(report: Report, run: Run) -> None:
    texts = Texts(run)
    rows = {"questions to train generator and teacher": len(texts.examples), "passages": len(texts)}
    found = Counter[str]()
    for shard in read_shards(run.of("questions")):
        questions = questions_of(shard)
        found["generated texts without answer or question"] += int(shard["malformed"])
        found["questions"] += len(questions)
        found["distinct questions"] += len({(one.passage, one.question) for one in questions})
        found["answers found in their passage"] += sum(one.start >= 0 for one in questions)
    rows |= found
    body = [[what, f"{n:,}"] for what, n in rows.items()]
    table = [{"what": what, "n": n} for what, n in rows.items()]
    report.table("counts", "From passages to questions", table, grid(["", "n"], body))


def report_speed(report: Report, run: Run) -> None:
    """Report how fast each stage was, and how many days the paper's size would take."""
    rows: list[dict[str, Any]] = []
    for what, (stage, times) in MADE.items():
        speed = read_speed(run.of(stage))
        if speed["done"] and speed["seconds"]:
            each = speed["done"] / speed["seconds"]
            days = QUESTIONS * times / each / SECONDS
            rows.append({"what": what, "n": speed["done"], "seconds": speed["seconds"], "a second": each, "days": days})
    if not rows:
        return
    body = [
        [row["what"], f"{row['n']:,}", f"{row['seconds']:,.0f}", f"{row['a second']:,.1f}", f"{row['days']:,.0f}"]
        for row in rows
    ]
    header = ["", "n", "seconds", "a second", f"days for the paper's {QUESTIONS:,}"]
    report.text(f"The paper: 56 hours on 8 V100 GPUs for {EPOCHS} passes of the student over its questions.")
    report.table("speed", "Speed, and the time that the paper's size would take", rows, grid(header, body))


def _examples(report: Report, run: Run) -> None:
    """Report one question for each of the first passages."""
    first = dict[int, Question]()
    for one in (one for shard in read_written(run.of("questions")) for one in shard):
        first.setdefault(one.passage, one)
        if len(first) == SHOWN:
            break
    passages = enumerate(islice(Texts(run).parts(1), max(first, default=-1) + 1))
    rows = [
        {"answer": first[number].answer, "question": first[number].question, "passage": passage}
        for number, (passage,) in passages
        if number in first
    ]
    if rows:
        body = [[cell(row[name], LONGEST) for name in ("answer", "question", "passage")] for row in rows]
        title = "Questions used for training"
        report.table("questions", title, rows, grid(["answer", "question", "passage"], body, numbers=False))


def _artifacts(run: Run) -> list[Artifact]:
    questions = sum(len(shard) for shard in read_written(run.of("questions")))
    about = {"questions": questions, "passages": len(Texts(run))}
    made = [Artifact("biencoder", "Pre-trained encoder", "student", about)]
    if Texts(run).examples:
        made.append(Artifact("reader", "Teacher", "teacher", {"questions": len(Texts(run).examples)}))
    return made
