"""Allpairs from Python: score texts with a trained matcher, and measure matchers over all pairs.

Example:
    from allpairs import Matcher

    matcher = Matcher.load("help-desk-round-3")
    matcher.probability(["How do I reset my password?"], ["I forgot my password"])
"""

from pathlib import Path

# An installed package has these folders inside it; in the repository they lie beside it (docs/decisions/0032).
if not (Path(__file__).parent / "db").is_dir():
    __path__.append(str(Path(__file__).parent.parent))

from allpairs.cleaning import CleanList, clean
from allpairs.client import ApiError, Client, RemoteProject
from allpairs.db.errors import InputError
from allpairs.db.estimate import Estimate
from allpairs.figures import draw_audit, evaluate, evaluate_groups, simulate
from allpairs.matcher import Matcher

__all__ = [
    "ApiError",
    "CleanList",
    "Client",
    "Estimate",
    "InputError",
    "Matcher",
    "RemoteProject",
    "clean",
    "draw_audit",
    "evaluate",
    "evaluate_groups",
    "simulate",
]
