"""What each role, and each scope of a token, may do. Pure rules; `transactions.py` applies them."""

from enum import StrEnum

from allpairs.annotate.frame.language.translator import later
from allpairs.db.domain import Role, Scope


class Right(StrEnum):
    """What may be allowed; the value completes “you may not …”."""

    SEE = "see its figures"
    LABEL = "label its pairs"
    ADJUDICATE = "settle its disagreements"
    CHANGE = "change it or export its data"  # settings, imports, jobs, downloads, archive and bin
    PEOPLE = "manage its people"
    INSTALL = "manage the whole installation"  # make projects, disable accounts; no role in a project gives it


MAY: dict[Role, frozenset[Right]] = {
    Role.VIEWER: frozenset({Right.SEE}),
    Role.ANNOTATOR: frozenset({Right.LABEL}),  # not SEE: figures would sway answers
    Role.ADJUDICATOR: frozenset({Right.SEE, Right.LABEL, Right.ADJUDICATE}),
    Role.ADMINISTRATOR: frozenset(set(Right) - {Right.INSTALL}),
}
ROLES_IN_WORDS: dict[Role, str] = {
    Role.ADMINISTRATOR: later("everything in this project: settings, imports, downloads, jobs, people"),
    Role.ADJUDICATOR: later("labels, sees figures, settles disagreements"),
    Role.ANNOTATOR: later("labels, and sees own answers; no figures, which would sway answers"),
    Role.VIEWER: later("sees figures and texts, and changes nothing"),
}
NAMES: dict[Role, str] = {
    Role.ADMINISTRATOR: later("administrator"),
    Role.ADJUDICATOR: later("adjudicator"),
    Role.ANNOTATOR: later("annotator"),
    Role.VIEWER: later("viewer"),
}
# The scope that a token needs to write under a right, beside its person's role. None writes with `read` alone.
WRITES: dict[Right, Scope] = {
    Right.SEE: Scope.TRAIN,  # what is written under it are jobs
    Right.LABEL: Scope.LABEL,
    Right.ADJUDICATE: Scope.LABEL,
    Right.CHANGE: Scope.TRAIN,
    Right.PEOPLE: Scope.ADMINISTER,
    Right.INSTALL: Scope.ADMINISTER,
}


def role_may(role: Role | None, right: Right) -> bool:
    """Return whether this role in a project has the right; without a role, nothing is allowed."""
    return role is not None and right in MAY[role]
