"""Allpairs from Python: score texts with a trained matcher, as it did when it was measured.

Example:
    from allpairs import Matcher

    matcher = Matcher.load("help-desk-round-3")
    matcher.probability(["How do I reset my password?"], ["I forgot my password"])
"""

from allpairs.client import ApiError, Client
from allpairs.matcher import Matcher
from db.errors import InputError

__all__ = ["ApiError", "Client", "InputError", "Matcher"]
