"""The command line of what computes: the worker, and everything that runs on files alone."""
