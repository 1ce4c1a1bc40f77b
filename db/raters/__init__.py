"""Machine raters and their verdicts, which are kept apart from people's answers."""
