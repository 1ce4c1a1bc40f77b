"""`python -m learner`: the worker, the simulator, evaluation and matching, on files alone."""

import os

if __name__ == "__main__":
    # Read once, when torch is loaded: threads that wait by spinning starve the app, which shares the machine.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    from learner.cli import main

    main()
