"""What every command line shares: `allpairs`, and its parts `python -m annotate` and `python -m learner`."""

import logging
import os
import sys
from collections.abc import Sequence
from typing import Annotated, NoReturn

import typer

from allpairs.db.errors import InputError
from allpairs.db.version import VERSION

# How a file holds its table, where that is not to be found in it.
SeparatorOption = Annotated[
    str, typer.Option("--separator", help="What separates the cells. [default: found in the file]")
]
EncodingOption = Annotated[
    str,
    typer.Option("--encoding", help="The encoding of a text file, such as cp1252. [default: found in the file]"),
]
SheetOption = Annotated[str, typer.Option("--sheet", help="The sheet of a workbook. [default: the first with rows]")]


def group(help_text: str) -> typer.Typer:
    """Return a group of commands."""
    return typer.Typer(help=help_text, add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


def program(help_text: str) -> typer.Typer:
    """Return a group that also has --version."""
    app = group(help_text)

    @app.callback(help=help_text)
    def _(
        version: Annotated[
            bool, typer.Option("--version", help="Print the version.", is_eager=True, callback=_say_version)
        ] = False,
    ) -> None:
        pass

    return app


def _say_version(is_asked: bool) -> None:
    if is_asked:
        print(f"allpairs {VERSION}")
        raise typer.Exit


def run(app: typer.Typer, arguments: Sequence[str]) -> NoReturn:
    """Run the command line; without arguments show its help.

    Exits with code 0, 1 (failed) or 2 (bad input), and prints an error in one line.
    """
    _prepare()
    try:
        raise SystemExit(app(list(arguments) or ["--help"], standalone_mode=False))
    except InputError as error:
        _fail(str(error), 2)
    except typer.TyperException as error:
        _fail(error.format_message(), error.exit_code)
    except Exception as error:  # a traceback is of no use to whoever typed the command
        from allpairs.db.maintenance.error_messages import in_words  # which loads SQLAlchemy

        logging.getLogger(__name__).debug("traceback", exc_info=True)
        _fail(in_words(error) or f"{type(error).__name__}: {error}", 1)


def _prepare() -> None:
    """Set what libraries read when they are loaded."""
    # Threads that wait by spinning starve the app, which shares the machine.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "true")
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")


def _fail(message: str, code: int) -> NoReturn:
    print("error: " + " ".join(message.split()), file=sys.stderr)
    raise SystemExit(code)
