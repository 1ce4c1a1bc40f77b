"""The command line of the learner: help, failures, and `python -m learner`."""

import runpy
import sys
from typing import Any

import pytest

from tests.helpers.files.simulated import Files
from tests.helpers.services.commands import Run, learn


def test_the_module_runs_the_command_line(twins: Files, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    command = ["match", "--model", twins.encoder, *twins.items, "--top", 10**8, "--out", twins.folder / "m.csv"]
    monkeypatch.setattr(sys, "argv", ["learner", *map(str, command)])
    monkeypatch.setenv("OMP_WAIT_POLICY", "PASSIVE")  # which the module sets for good
    with pytest.raises(SystemExit) as stopped:
        runpy.run_module("learner", run_name="__main__")
    said = capsys.readouterr()
    assert "20,000,000" in Run(int(str(stopped.value.code)), said.out, said.err).refused()


@pytest.mark.parametrize("command", ["worker", "simulate", "evaluate", "match"])
def test_every_command_has_help_with_an_example(command: str) -> None:
    run = learn(command, "--help")
    assert run.code == 0
    assert f"Example: allpairs {command}" in " ".join(run.out.split())


def test_without_a_command_the_help_is_shown() -> None:
    run = learn()
    assert run.code == 0
    assert "simulate" in run.out


def test_what_is_not_bad_input_fails_with_one_line(monkeypatch: pytest.MonkeyPatch, twins: Files) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("first line\nsecond line")

    monkeypatch.setattr("allpairs.learner.files.evaluate.evaluate_corpus", broken)
    run = learn("evaluate", "--model", twins.encoder, *twins.known)
    assert (run.code, run.out, run.err) == (1, "", "error: RuntimeError: first line second line\n")
