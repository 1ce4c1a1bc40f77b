"""`python -m learner`: the worker, the simulator, evaluation and matching, on files alone."""

from learner.cli import main

if __name__ == "__main__":
    main()
