"""Talks with programs outside: none holds its caller for longer than a deadline, and each wait hears a cancel."""
