"""An installation of a command's own, which the environment names."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.helpers.services.servers import running_postgres


@contextmanager
def installation(database: str) -> Iterator[Path]:
    """Yield a folder with an installation of its own, which the environment names."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ |= {"ALLPAIRS_HOME": str(folder / "home"), "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
        os.environ.pop("ALLPAIRS_DATABASE_URL", None)
        if database == "sqlite":
            yield folder
            return
        (folder / "server").mkdir()
        with running_postgres(folder / "server") as url:
            os.environ["ALLPAIRS_DATABASE_URL"] = url
            yield folder
