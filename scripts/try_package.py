"""Build the wheel, install it in an empty environment, and use it as a stranger would.

`python -m scripts.try_package` serves the app from the wheel, answers the demo's pairs in a browser, waits until the
model is trained, downloads it, and scores the next batch's pairs in a fresh process: their p must be the app's. Prints
the sizes and times. The answers are those of the demo's known pairs.
"""

import argparse
import csv
import json
import os
import sqlite3
import subprocess
import sys
import time
import venv
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.request import urlretrieve

from playwright.sync_api import Page, expect, sync_playwright

from allpairs import Client
from benchmarks.browser import browser_path
from benchmarks.scale.app_process import free_port, wait_for

ROOT = Path(__file__).parent.parent
DEMO = ROOT / "annotate" / "demo"
PROJECT = "Help desk (demo)"
TOLERANCE = 1e-4  # of p; the app scores in batches of other sizes
LONGEST = 600.0  # seconds for a model to be trained
SCORE = """
import json, sys
from allpairs import Matcher
left, right = json.load(sys.stdin)
print(json.dumps(Matcher.load(sys.argv[1]).probability(left, right).tolist()))
"""


def build(folder: Path) -> Path:
    """Return the wheel, built into the folder."""
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    _run([*pip, "--wheel-dir", folder, ROOT])
    (wheel,) = folder.glob("*.whl")
    return wheel


def environment(folder: Path, wheel: Path, requirements: Sequence[str]) -> dict[str, Any]:
    """Install the wheel in an empty environment in this folder; return its size and times."""
    began = time.perf_counter()
    venv.create(folder, with_pip=True)
    _run([_program(folder, "python"), "-m", "pip", "install", "--quiet", wheel, *requirements])
    seconds = time.perf_counter() - began
    size = sum(path.lstat().st_size for path in folder.rglob("*") if path.is_file())
    timed = "import time; t = time.perf_counter(); import allpairs; print(time.perf_counter() - t)"
    imported = float(_run([_program(folder, "python"), "-c", timed], cwd=folder))
    return {"install_seconds": round(seconds), "installed_MB": round(size / 1e6), "import_seconds": round(imported, 3)}


@contextmanager
def serving(folder: Path, home: Path) -> Iterator[str]:
    """Serve the app of the environment; yield its address."""
    port = free_port()
    command = [_program(folder, "allpairs"), "serve", "--port", str(port)]
    home.mkdir()
    process = subprocess.Popen(command, cwd=home, env=_variables(home), stderr=subprocess.DEVNULL)
    url = f"http://localhost:{port}"
    try:
        wait_for(f"{url}/readyz", LONGEST)
        yield url
    finally:
        process.terminate()
        process.wait(60)


def label(page: Page, url: str, known: set[frozenset[str]], pairs: int) -> float:
    """Answer this many pairs on the page; return the seconds until the first one was answered."""
    began = time.perf_counter()
    first = 0.0
    page.goto(f"{url}/label")
    for number in range(pairs):
        expect(page.locator(".pair .text").nth(1)).not_to_be_empty(timeout=120_000)
        texts = page.locator(".pair .text").all_inner_texts()
        page.keyboard.press("1" if frozenset(texts) in known else "2")
        if number + 1 < pairs:
            expect(page.locator(".pair .text")).not_to_have_text(texts, timeout=60_000)
        first = first or time.perf_counter() - began
    page.wait_for_timeout(2_000)  # the last answer is on its way
    return first


def next_batch(home: Path) -> tuple[int, list[tuple[str, str, float]]]:
    """Return the trained matcher's id, and the texts and p of the batch that it chose; 0 until there is one."""
    query = """
        SELECT l.text, r.text, t.p, rounds.matcher_id
        FROM tasks t JOIN items l ON l.id = t.left_id JOIN items r ON r.id = t.right_id
        JOIN rounds ON rounds.id = t.round_id WHERE t.p IS NOT NULL"""
    with closing(sqlite3.connect(home / ".allpairs" / "allpairs.db")) as rows:
        found = rows.execute(query).fetchall()
    return (found[0][3] if found else 0), [(left, right, p) for left, right, p, _ in found]


def scored(folder: Path, model: Path, pairs: Sequence[tuple[str, str, float]]) -> float:
    """Return the greatest difference of p between the app and a fresh process."""
    texts = json.dumps([[left for left, _, _ in pairs], [right for _, right, _ in pairs]])
    said = _run([_program(folder, "python"), "-c", SCORE, model], cwd=model, given=texts)
    return max(abs(p - of_app) for p, (_, _, of_app) in zip(json.loads(said), pairs, strict=True))


def try_package(work: Path, requirements: Sequence[str], pairs: int) -> dict[str, Any]:
    """Do all of it in the folder; return what was measured."""
    env = work / "env"
    home = work / "home"
    wheel = build(work)
    found = {"wheel_kB": round(wheel.stat().st_size / 1e3), **environment(env, wheel, requirements)}
    with serving(env, home) as url:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=browser_path(), args=["--no-sandbox"])
            found["first_label_seconds"] = round(label(browser.new_page(), url, _known(), pairs), 1)
        project = Client(url).project(PROJECT)
        _wait("the first round", lambda: all(job["state"] == "done" for job in project.jobs()))
        began = time.perf_counter()
        project.train()
        _wait("a trained model", lambda: next_batch(home)[0])
        found["trained_after_seconds"] = round(time.perf_counter() - began, 1)
        matcher, batch = next_batch(home)
        urlretrieve(f"{url}/download/matchers/{matcher}", work / "model.zip")
    with zipfile.ZipFile(work / "model.zip") as archive:
        archive.extractall(work / "model")
    (model,) = {path.parent for path in (work / "model").rglob("matcher.json")}
    found |= {"pairs": len(batch), "greatest_difference_of_p": scored(env, model, batch)}
    return found


def _known() -> set[frozenset[str]]:
    with (DEMO / "questions.csv").open(encoding="utf-8") as file:
        texts = {row["id"]: row["text"] for row in csv.DictReader(file)}
    with (DEMO / "gold.csv").open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["label"] == "1"]
    return {frozenset((texts[row["id1"]], texts[row["id2"]])) for row in rows}


def _program(folder: Path, name: str) -> Path:
    return folder / ("Scripts" if sys.platform == "win32" else "bin") / name


def _variables(home: Path) -> dict[str, str]:
    mine = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    return {**mine, "HF_HUB_OFFLINE": "1", "ALLPAIRS_HOME": str(home / ".allpairs")}


def _run(command: Sequence[object], cwd: Path | None = None, given: str | None = None) -> str:
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        input=given,
        env=_variables(cwd or ROOT),
        stdout=subprocess.PIPE,
        encoding="utf-8",
        check=True,
    )
    return done.stdout


def _wait(what: str, reached: Any) -> None:
    end = time.monotonic() + LONGEST
    while not reached():
        if time.monotonic() > end:
            raise SystemExit(f"{what} did not come within {LONGEST:.0f} s")
        time.sleep(1)


def main() -> None:
    """Print what was measured as JSON; exit with 1 if p is not the app's."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("requirements", nargs="*", help="what pip is to install beside it, such as torch==2.13.0")
    parser.add_argument("--pairs", type=int, default=40, help="pairs to answer, the size of a batch")
    arguments = parser.parse_args()
    with TemporaryDirectory() as work:
        found = try_package(Path(work), arguments.requirements, arguments.pairs)
    print(json.dumps(found, indent=2))
    if found["greatest_difference_of_p"] > TOLERANCE:
        raise SystemExit("p in a fresh process is not the app's")


if __name__ == "__main__":
    main()
