"""The wheel, installed outside the repository: the app serves its pages, and a pair is labelled."""

import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest
from playwright.sync_api import Page

from scripts.try_package import build, label, serving


def test_a_pair_is_labelled_from_the_wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, page: Page) -> None:
    """`python -m scripts.try_package` does the same with nothing but the wheel and what it asks for, and trains."""
    env, home = tmp_path / "env", tmp_path / "home"
    venv.create(env, with_pip=False)
    (others,) = env.glob("lib/python*/site-packages")
    # Other packages are those of the tests. Its own .pth, with the repository, is not read from there.
    (others / "others.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")
    install = [sys.executable, "-m", "pip", "--python", str(env / "bin" / "python"), "install", "--quiet", "--no-deps"]
    subprocess.run([*install, "--force-reinstall", str(build(tmp_path))], check=True)
    monkeypatch.setenv("ALLPAIRS_WORKER", "0")
    with serving(env, home) as url:
        assert label(page, url, set(), pairs=2) > 0
    listed = subprocess.run(
        [env / "bin" / "allpairs", "project", "list"], cwd=home, capture_output=True, text=True, check=True,
        env={"ALLPAIRS_HOME": str(home / ".allpairs")},
    )  # fmt: skip
    assert listed.stdout.splitlines()[1].split()[-4:-1] == ["0", "2", "0"], listed.stdout
