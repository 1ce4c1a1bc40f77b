"""A table or a query of a database as a file, which is then read as any other."""

import re
from collections.abc import Sequence
from pathlib import Path

from sqlalchemy import create_engine, make_url
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from allpairs.db.corpus.cells import as_text
from allpairs.db.corpus.csv_writer import write_csv
from allpairs.db.errors import InputError

CHUNK = 1_000  # rows in memory
_TABLE = re.compile(r"\w+(\.\w+)?")
_READS = re.compile(r"(?i)\s*(select|with)\b")


def write_query(address: str, query: str, folder: Path) -> Path:
    """Write the rows of a query, or of the table of this name, to a file in the folder; return its path.

    address: of the database, as SQLAlchemy takes it. The transaction only reads. Raises InputError.
    """
    is_table = bool(_TABLE.fullmatch(query))
    if not is_table and not _READS.match(query):
        raise InputError("--query: name a table, or begin with SELECT or WITH")
    path = folder / f"{query if is_table else 'query'}.csv"
    try:
        url = make_url(address)
        if url.get_backend_name() == "sqlite" and not Path(url.database or "").is_file():
            raise InputError(f"{address}: there is no such file; check the path")
        engine = create_engine(url)
        with engine.connect().execution_options(yield_per=CHUNK) as connection:
            if url.get_backend_name() == "sqlite":
                connection.exec_driver_sql("PRAGMA query_only = ON")
            if url.get_backend_name() == "postgresql":
                connection.exec_driver_sql("SET TRANSACTION READ ONLY")
            rows = connection.exec_driver_sql(f"SELECT * FROM {query}" if is_table else query)
            names = list(rows.keys())
            write_csv(path, names, ([*_cells(row, path, names, number)] for number, row in enumerate(rows, 1)))
        engine.dispose()
    except ArgumentError:
        raise InputError("--left: this is no address of a database, such as sqlite:///customers.db") from None
    except (SQLAlchemyError, ImportError) as error:
        raise InputError(f"--query: {str(error).splitlines()[0]}") from None
    return path


def _cells(row: Sequence[object], path: Path, names: Sequence[str], number: int) -> list[str]:
    return [as_text(value, path, number, name) for value, name in zip(row, names, strict=True)]
