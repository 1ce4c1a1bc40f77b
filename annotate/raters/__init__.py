"""A project's machine rater: set up, asked, ended, resumed; what it costs and what it is worth."""
