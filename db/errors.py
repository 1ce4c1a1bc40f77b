"""Errors whose message is for users, and the error that stops cancelled work."""


class InputError(Exception):
    """Bad input from a person or a file; the message is one line that says what, where and what to do next."""


class Cancelled(Exception):
    """A person cancelled the work."""
