"""Every operation of the REST API, feature by feature: each calls the page's service and converts the result."""

from allpairs.annotate.features.groups import operations as groups
from allpairs.annotate.features.jobs import operations as jobs
from allpairs.annotate.features.labels import operations as labels
from allpairs.annotate.features.projects import operations as projects
from allpairs.annotate.features.publish import operations as publish
from allpairs.annotate.features.quality import operations as quality
from allpairs.annotate.features.raters import operations as raters
from allpairs.annotate.features.texts import operations as texts
from allpairs.annotate.features.webhooks import operations as webhooks
from allpairs.annotate.kit.api.operation import Operation

OPERATIONS: tuple[Operation, ...] = (
    *projects.OPERATIONS,
    *labels.OPERATIONS,
    *groups.OPERATIONS,
    *texts.OPERATIONS,
    *quality.OPERATIONS,
    *jobs.OPERATIONS,
    *webhooks.OPERATIONS,
    *publish.OPERATIONS,
    *raters.OPERATIONS,
)
