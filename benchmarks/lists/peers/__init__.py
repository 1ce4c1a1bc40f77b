"""Other tools on a messy list, each run in an environment of its own."""
