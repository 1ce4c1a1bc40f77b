"""The tables. Answers and events are append-only; everything else is written only by its owner."""

from allpairs.db.schema.tables.base import Base, Instant, now
from allpairs.db.schema.tables.checks import Check, CheckAnswer, FastAnswers, FastAnswersTask
from allpairs.db.schema.tables.groups import GroupChange, GroupedItem, GroupMove, GroupUpdate, PairDecision
from allpairs.db.schema.tables.jobs import Job, MatchServer, Worker
from allpairs.db.schema.tables.labels import Answer, Design, Lease, PairLabel, Round, Task
from allpairs.db.schema.tables.lists import ListRow, ListVersion
from allpairs.db.schema.tables.models import Evaluation, Publication, ShadowCounts, StoredModel
from allpairs.db.schema.tables.people import ApiToken, Event, Invitation, Login, LoginAttempt, Membership, Person
from allpairs.db.schema.tables.projects import Gold, Identifier, IdentifierChange, Item, Project, TextChange
from allpairs.db.schema.tables.raters import MachineRater, PairVerdict
from allpairs.db.schema.tables.studies import Rating, Study, StudyUnit
from allpairs.db.schema.tables.webhooks import Delivery, Notice, Webhook

__all__ = [
    "Answer",
    "ApiToken",
    "Base",
    "Check",
    "CheckAnswer",
    "Delivery",
    "Design",
    "Evaluation",
    "Event",
    "FastAnswers",
    "FastAnswersTask",
    "Gold",
    "GroupChange",
    "GroupMove",
    "GroupUpdate",
    "GroupedItem",
    "Identifier",
    "IdentifierChange",
    "Instant",
    "Invitation",
    "Item",
    "Job",
    "Lease",
    "ListRow",
    "ListVersion",
    "Login",
    "LoginAttempt",
    "MachineRater",
    "MatchServer",
    "Membership",
    "Notice",
    "PairDecision",
    "PairLabel",
    "PairVerdict",
    "Person",
    "Project",
    "Publication",
    "Rating",
    "Round",
    "ShadowCounts",
    "StoredModel",
    "Study",
    "StudyUnit",
    "Task",
    "TextChange",
    "Webhook",
    "Worker",
    "now",
]
