"""QuIP (Jia, Lewis and Zettlemoyer 2022): passages → questions → a teacher's labels → a bi-encoder → its evaluation."""

from allpairs.learner.pipelines.pipeline import RESULTS, Pipeline, Stage
from allpairs.learner.pipelines.quip.checks import check_quip_inputs
from allpairs.learner.pipelines.quip.inputs import read_quip_inputs
from allpairs.learner.pipelines.quip.questions import train_writer, write_questions
from allpairs.learner.pipelines.quip.results import write_quip_results
from allpairs.learner.pipelines.quip.student import train_student
from allpairs.learner.pipelines.quip.teacher import label_questions, train_teacher
from allpairs.learner.pipelines.quip.uses.stage import measure_uses
from allpairs.learner.pipelines.quip.variants import train_quip_variants

PIPELINE = Pipeline(
    check_quip_inputs,
    [
        Stage("texts", 0.01, read_quip_inputs),
        Stage("generator", 0.08, train_writer),
        Stage("questions", 0.15, write_questions, goes_on=True),
        Stage("teacher", 0.08, train_teacher),
        Stage("targets", 0.1, label_questions, goes_on=True),
        Stage("student", 0.12, train_student),
        Stage("variants", 0.2, train_quip_variants, goes_on=True),
        Stage("uses", 0.27, measure_uses, goes_on=True),
        Stage(RESULTS, 0.01, write_quip_results),
    ],
)
