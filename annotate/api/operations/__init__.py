"""What each address of the REST API does: it calls the page's service and converts the result to a response model."""

from allpairs.annotate.api.operations import groups, jobs, labels, matching, metrics, projects, raters, texts, webhooks
from allpairs.annotate.kit.api.operation import Call, Operation

OPERATIONS: tuple[Operation, ...] = (
    *projects.OPERATIONS,
    *labels.OPERATIONS,
    *groups.OPERATIONS,
    *texts.OPERATIONS,
    *metrics.OPERATIONS,
    *jobs.OPERATIONS,
    *webhooks.OPERATIONS,
    *matching.OPERATIONS,
    *raters.OPERATIONS,
)
__all__ = ["OPERATIONS", "Call", "Operation"]
