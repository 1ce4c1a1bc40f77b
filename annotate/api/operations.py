"""Every operation of the REST API, feature by feature: each calls the page's service and converts the result."""

from allpairs.annotate.features.clean import api as clean
from allpairs.annotate.features.groups import api as groups
from allpairs.annotate.features.jobs import api as jobs
from allpairs.annotate.features.labels import api as labels
from allpairs.annotate.features.projects import api as projects
from allpairs.annotate.features.publish import api as publish
from allpairs.annotate.features.quality import api as quality
from allpairs.annotate.features.raters import api as raters
from allpairs.annotate.features.texts import api as texts
from allpairs.annotate.features.webhooks import api as webhooks
from allpairs.annotate.kit.api import Operation

OPERATIONS: tuple[Operation, ...] = (
    *projects.OPERATIONS,
    *labels.OPERATIONS,
    *groups.OPERATIONS,
    *clean.OPERATIONS,
    *texts.OPERATIONS,
    *quality.OPERATIONS,
    *jobs.OPERATIONS,
    *webhooks.OPERATIONS,
    *publish.OPERATIONS,
    *raters.OPERATIONS,
)
