"""The command `allpairs`: everything that `python -m annotate` and `python -m learner` do."""

import sys

import typer

from allpairs.annotate.cli.commands import app as annotate
from allpairs.learner.cli.commands import app as learner
from allpairs.program import program, run


def everything() -> typer.Typer:
    """Return one group with the commands of both."""
    app = program("Find the few matching pairs among billions.")
    commands = [*annotate.registered_commands, *learner.registered_commands]
    app.registered_commands = [command for command in commands if not command.hidden]
    app.registered_groups = annotate.registered_groups
    return app


def main() -> None:
    """Run the command line."""
    run(everything(), sys.argv[1:])


if __name__ == "__main__":
    main()
