"""The last stage: what was generated and how fast, and the paper's Tables 1 to 8 and 10 on this run's data."""

from collections import Counter
from itertools import islice
from pathlib import Path
from typing import Any

from allpairs.db.progress import Progress
from allpairs.learner.pipelines.pipeline import Artifact, Run, write_artifacts
from allpairs.learner.pipelines.quip.inputs import QuipTexts
from allpairs.learner.pipelines.quip.paper import EPOCHS, QUESTIONS
from allpairs.learner.pipelines.quip.questions import Question, read_written, shard_questions
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
EXAMPLES = 8  # questions as examples
LONGEST = 120  # characters of a text in a table
TIMED = {  # timed work: its stage, and how often the paper did it for each question
    "questions written": ("questions", 1),
    "questions labelled": ("targets", 1),
    "questions learned from": ("student", EPOCHS),
}
SMALL = (
    "All figures come from this run's own sizes: compare their order with the paper's, not their values. ± is "
    "one standard error, with n − 1 degrees of freedom."
)


def write_quip_results(run: Run, folder: Path, progress: Progress) -> None:
    """Write tables/, report.md and artifacts.json to the folder."""
    report = Report(folder, "Question-answering infused pre-training (Jia, Lewis and Zettlemoyer 2022)")
    report.text(SMALL)
    for name, reason in skipped(run).items():
        report.text(f"Left out: {name}, since {reason}.")
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
    texts = QuipTexts(run)
    rows = {"questions to train generator and teacher": len(texts.examples), "passages": len(texts)}
    totals = Counter[str]()
    for shard in read_shards(run.of("questions")):
        questions = shard_questions(shard)
        totals["generated texts without answer or question"] += int(shard["malformed"])
        totals["questions"] += len(questions)
        totals["distinct questions"] += len({(question.passage, question.question) for question in questions})
        totals["answers found in their passage"] += sum(question.start >= 0 for question in questions)
    report.counts("From passages to questions", [*rows.items(), *totals.items()])


def report_speed(report: Report, run: Run) -> None:
    """Report how fast each stage was, and how many days the paper's size would take."""
    rows: list[dict[str, Any]] = []
    for label, (stage, times) in TIMED.items():
        speed = read_speed(run.of(stage))
        if speed["done"] and speed["seconds"]:
            rate = speed["done"] / speed["seconds"]
            days = QUESTIONS * times / rate / SECONDS
            rows.append(
                {"what": label, "n": speed["done"], "seconds": speed["seconds"], "a second": rate, "days": days}
            )
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
    for question in (question for shard in read_written(run.of("questions")) for question in shard):
        first.setdefault(question.passage, question)
        if len(first) == EXAMPLES:
            break
    passages = enumerate(islice(QuipTexts(run).parts(1), max(first, default=-1) + 1))
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
    figures = {"questions": questions, "passages": len(QuipTexts(run))}
    artifacts = [Artifact("biencoder", "Pre-trained encoder", "student", figures)]
    if QuipTexts(run).examples:
        artifacts.append(Artifact("reader", "Teacher", "teacher", {"questions": len(QuipTexts(run).examples)}))
    return artifacts
