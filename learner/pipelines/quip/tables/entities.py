"""Tables 4 and 10: entities tagged after few sentences, and after all."""

from allpairs.learner.pipelines.pipeline import Run
from allpairs.learner.pipelines.quip import paper
from allpairs.learner.pipelines.quip.tables.cells import report_f1
from allpairs.learner.pipelines.quip.uses.entities import FULL, QUESTIONS, STANDARD
from allpairs.learner.pipelines.quip.uses.stage import figures_of
from allpairs.learner.pipelines.report import Report


def report_entities(report: Report, run: Run) -> None:
    """Report Table 4, if entities were measured, and Table 10, if all sentences were learned from."""
    measured = figures_of(run, "entities")
    for name, title, ways, figures in (
        ("table4", "Table 4: few-shot entity tagging", (STANDARD, QUESTIONS), paper.TAGGING),
        (
            "table10",
            "Table 10: entities after all sentences",
            (f"{STANDARD}, {FULL}", f"{QUESTIONS}, {FULL}"),
            paper.TAGGING_AFTER_ALL,
        ),
    ):
        printed = {
            (dataset, model, way): values[column]
            for dataset, models in figures.items()
            for model, values in models.items()
            for column, way in enumerate(ways)
        }
        report_f1(report, name, title, measured, ways, printed)
