"""`python -m learner`: the worker, the simulator, evaluation and matching, on files alone."""

import sys

from allpairs.learner.cli.commands import app
from allpairs.program import run

if __name__ == "__main__":
    run(app, sys.argv[1:])
