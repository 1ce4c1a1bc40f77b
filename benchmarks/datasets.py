"""The files of the README's simulations, made from the published data sets.

    python -m benchmarks.datasets [--out out/data]

Reads `ALLPAIRS_DATA`, else ../shared/data, through `learner.adapters`. WikiQA: train and test questions, all distinct
sentences, the published split of the questions, positives only. QQP: the questions and stated duplicates of the
development part, which are split anew. Amazon–Google: both lists, without a split.
"""

import argparse
import os
from dataclasses import replace
from pathlib import Path

from benchmarks.common import ROOT
from learner.adapters import ADAPTERS, Options, Titles
from learner.adapters.released import Released, tables_of, write_table


def main() -> None:
    """Nothing; writes the files."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("out/data"))
    out = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    data = Path(os.environ.get("ALLPAIRS_DATA", ROOT.parent / "shared" / "data"))
    wikiqa = ADAPTERS["wikiqa"](data / "wikiqa", Options(titles=Titles.NEVER))
    positives = replace(wikiqa, gold=[pair for pair in wikiqa.gold if pair.label])
    _write(positives, {"left": "questions", "right": "sentences", "gold": "gold", "split": "split"}, out)
    qqp = ADAPTERS["qqp"](data / "qqp", Options())
    _write(_part(qqp, "dev"), {"left": "questions", "gold": "gold"}, out)
    amazon_google = ADAPTERS["amazon_google"](data / "amazon_google", Options())
    _write(amazon_google, {"left": "left", "right": "right", "gold": "gold"}, out)


def _part(released: Released, part: str) -> Released:
    """One part of a list by itself."""
    return replace(
        released,
        left=[text for text in released.left if released.parts[text.id] == part],
        gold=[pair for pair in released.gold if released.parts[pair.id1] == part],
    )


def _write(released: Released, names: dict[str, str], out: Path) -> None:
    """Nothing; the folder holds these tables of the data set under the names of the README's commands."""
    tables, _ = tables_of(released, "test")
    for table, name in names.items():
        write_table(tables[table], out / f"{released.name}_{name}.csv")


if __name__ == "__main__":
    main()
