"""All commands of `python -m learner`."""

from allpairs.learner.cli.clean import clean
from allpairs.learner.cli.concat import concat
from allpairs.learner.cli.convert import convert
from allpairs.learner.cli.dataset import dataset
from allpairs.learner.cli.evaluate import evaluate
from allpairs.learner.cli.evaluate_groups import evaluate_groups
from allpairs.learner.cli.experiment import experiment
from allpairs.learner.cli.match import match
from allpairs.learner.cli.mistakes import mistakes
from allpairs.learner.cli.pipeline import pipeline
from allpairs.learner.cli.serve_model import serve_model
from allpairs.learner.cli.simulate import simulate
from allpairs.learner.cli.worker import worker
from allpairs.program import program

app = program("Train, measure and use matchers on files; run the app's jobs.")
COMMANDS = (
    clean,
    match,
    evaluate,
    evaluate_groups,
    mistakes,
    simulate,
    experiment,
    pipeline,
    concat,
    dataset,
    convert,
    worker,
    serve_model,
)
for command in COMMANDS:
    app.command()(command)
