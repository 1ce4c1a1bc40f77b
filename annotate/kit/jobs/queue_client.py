"""A client of the job queue, which DBOS keeps."""

from dbos import DBOS, DBOSClient, DBOSPortableJSONSerializer

from allpairs.db.files.private import private_files
from allpairs.db.schema.engine import jobs_url


class QueueClient(DBOSClient):
    """A client of the queue, whose tables are created where they are missing."""

    def __init__(self) -> None:
        with private_files():
            DBOS.migrate(jobs_url())
        super().__init__(system_database_url=jobs_url(), serializer=DBOSPortableJSONSerializer())

    close = DBOSClient.destroy
