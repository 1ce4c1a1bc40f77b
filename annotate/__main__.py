"""`python -m annotate`: projects, labels, people, the database and the app, without the learner."""

import sys

from allpairs.annotate.cli.commands import app
from allpairs.program import run

if __name__ == "__main__":
    run(app, sys.argv[1:])
