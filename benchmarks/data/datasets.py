"""Write the files of the README's simulations from the published data sets.

    python -m benchmarks.data.datasets [--out out/data]

Reads `ALLPAIRS_DATA`, else ../shared/data, through `learner.published`. WikiQA: train and test questions, all distinct
sentences, the published split of the questions, positives only. QQP: the questions and given duplicates of the
development part, which are split anew. Amazon–Google: both lists, without a split, as one text and as title,
manufacturer and price. `wikiqa_small`: the development questions to train and the test questions to measure, with only
their own sentences. `wikiqa_sample`: a sixth of the training questions and half of the test questions, with their
sentences and given negatives. `qqp_small`: 5,000 of QQP's development questions, whole groups of duplicates.
`mlquestions_*`: for few-shot mining, 100 of the development pairs as seed, the other development questions and all
passages as lists, and the test pairs. `squad_*`: the same for reading comprehension, ten articles to mine in and 500
questions of others to test. `backtraining_*`: for back-training, Natural Questions and SQuAD as source pairs and 500 of
the former to test, MLQuestions' unpaired questions and passages, half of its development pairs to choose by, the other
half for the upper bound, and the test pairs. For re-ranking the judgements of training and of test questions are
separate: `wikiqa_train_*` and `wikiqa_test_*` (with given negatives), `mlquestions_train_*` (all development pairs) and
`mlquestions_test_*`, each `queries` and `gold`. `quip_*`: for QuIP, SQuAD's other articles and MLQuestions' passages,
and the data that measure an encoder (benchmarks/data/quip_datasets.py).
"""

import argparse
import os
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from allpairs.db.corpus import graph
from allpairs.db.identity import identity
from allpairs.learner.published import ADAPTERS, Options, Titles
from allpairs.learner.published.released import Released, tables_of, write_csv_table
from benchmarks.common import ROOT
from benchmarks.data.quip_datasets import quip_tables

SMALL = 5_000  # questions of qqp_small
SEEDS = 100  # pairs of mlquestions_seed and squad_seed
ARTICLES = 10  # of squad: articles to mine in
ASKED = 500  # of squad: questions to test; pairs of backtraining_source_test


def main() -> None:
    """Write the files."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("out/data"))
    out = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    data = Path(os.environ.get("ALLPAIRS_DATA", ROOT.parent / "shared" / "data"))
    wikiqa = ADAPTERS["wikiqa"](data / "wikiqa", Options(titles=Titles.NEVER))
    positives = replace(wikiqa, gold=[pair for pair in wikiqa.gold if pair.label])
    files = {"left": "questions", "right": "sentences", "gold": "gold", "split": "split"}
    _write(positives, files, out)
    _write(_small_wikiqa(wikiqa), files, out)
    _write(_sample_of_wikiqa(wikiqa), files, out)
    for part in ("train", "test"):
        asked = [(text.id, text.text) for text in wikiqa.left if wikiqa.parts[text.id] == part]
        pd.DataFrame(asked, columns=["id", "text"]).to_csv(out / f"wikiqa_{part}_queries.csv", index=False)
        rows = [(pair.id1, pair.id2, int(pair.label)) for pair in wikiqa.gold if wikiqa.parts[pair.id1] == part]
        pd.DataFrame(rows, columns=["id1", "id2", "label"]).to_csv(out / f"wikiqa_{part}_gold.csv", index=False)
    qqp = _part(ADAPTERS["qqp"](data / "qqp", Options()), "dev")
    _write(qqp, {"left": "questions", "gold": "gold"}, out)
    _write(_small_qqp(qqp), {"left": "questions", "gold": "gold"}, out)
    amazon_google = ADAPTERS["amazon_google"](data / "amazon_google", Options())
    _write(amazon_google, {"left": "left", "right": "right", "gold": "gold"}, out)
    for side in ("left", "right"):
        add_columns(out / f"amazon_google_{side}.csv")
    for name, table in _mlquestions(data / "mlquestions").items():
        table.to_csv(out / f"mlquestions_{name}.csv", index=False)
    for name, table in _backtraining(data).items():
        table.to_csv(out / f"backtraining_{name}.csv", index=False)
    for name, table in _squad(data / "squad").items():
        table.to_csv(out / f"squad_{name}.csv", index=False)
    for name, table in quip_tables(data).items():
        table.to_csv(out / f"quip_{name}.csv", index=False)


def add_columns(path: Path) -> None:
    """Add to a list of products the columns that its texts were joined of: title, manufacturer and price."""
    table = pd.read_csv(path, dtype=str, keep_default_na=False)
    records = []
    for text in table["text"]:
        title, *others = text.split(" | ")
        price = others.pop() if others and re.match(r"\d+(\.\d+)?( |$)", others[-1]) else ""
        records.append((title, " | ".join(others), price))
    table[["title", "manufacturer", "price"]] = records
    table.to_csv(path, index=False)


def _part(released: Released, part: str) -> Released:
    """Return one part of a list by itself."""
    return replace(
        released,
        left=[text for text in released.left if released.parts[text.id] == part],
        gold=[pair for pair in released.gold if released.parts[pair.id1] == part],
    )


def _small_wikiqa(wikiqa: Released) -> Released:
    """Return the questions of dev, as train, and of test, and the sentences judged for them; positives only."""
    parts = {name: "train" if part == "dev" else part for name, part in wikiqa.parts.items() if part != "train"}
    small = _with_questions(wikiqa, "wikiqa_small", parts)
    return replace(small, gold=[pair for pair in small.gold if pair.label])


def _sample_of_wikiqa(wikiqa: Released) -> Released:
    """Return a random sixth of the training questions, half of test, and the sentences judged for them."""
    rng = np.random.default_rng(0)
    parts = {}
    for part, share in (("train", 1 / 6), ("test", 1 / 2)):
        asked = rng.permutation([name for name, of in wikiqa.parts.items() if of == part])
        parts |= dict.fromkeys(asked[: round(len(asked) * share)].tolist(), part)
    return _with_questions(wikiqa, "wikiqa_sample", parts)


def _with_questions(wikiqa: Released, name: str, parts: dict[str, str]) -> Released:
    """Return these questions, by id, and the sentences judged for them."""
    gold = [pair for pair in wikiqa.gold if pair.id1 in parts]
    judged = {pair.id2 for pair in gold}
    left = [text for text in wikiqa.left if text.id in parts]
    right = [text for text in wikiqa.right or [] if text.id in judged]
    return replace(wikiqa, name=name, left=left, right=right, gold=gold, parts=parts)


def _small_qqp(qqp: Released) -> Released:
    """Return about 5,000 questions: random groups of duplicates, each whole."""
    row = {text.id: at for at, text in enumerate(qqp.left)}
    group = graph.components(len(qqp.left), ((row[pair.id1], row[pair.id2]) for pair in qqp.gold if pair.label))
    names, which, sizes = np.unique(group, return_inverse=True, return_counts=True)
    drawn = np.random.default_rng(0).permutation(len(names))
    few = np.isin(which, drawn[np.cumsum(sizes[drawn]) <= SMALL])
    kept = {text.id for text, is_kept in zip(qqp.left, few.tolist(), strict=True) if is_kept}
    return replace(
        qqp,
        name="qqp_small",
        left=[text for text in qqp.left if text.id in kept],
        gold=[pair for pair in qqp.gold if pair.id1 in kept and pair.id2 in kept],
        parts={name: part for name, part in qqp.parts.items() if name in kept},
    )


def _mlquestions(folder: Path) -> dict[str, pd.DataFrame]:
    """Return seed pairs, both lists, known pairs and test pairs; texts that differ only in white space are one."""
    dev, test = (_pairs(pd.read_parquet(folder / f"{part}.parquet")) for part in ("dev", "test"))
    passages = pd.Series(pd.read_parquet(folder / "passages.parquet")["passage"].map(identity).unique())
    number = {text: f"p{row}" for row, text in enumerate(passages)}
    drawn = np.random.default_rng(0).permutation(len(dev))
    seed = dev.iloc[drawn[:SEEDS]]
    others = dev.iloc[np.sort(drawn[SEEDS:])]
    questions = pd.Series([text for text in others["x"].unique() if text not in set(seed["x"])])
    asked = {text: f"q{row}" for row, text in enumerate(questions)}
    known = others[others["x"].isin(asked)]
    return {
        "seed": seed,
        "questions": pd.DataFrame({"id": questions.map(asked), "text": questions}),
        "passages": pd.DataFrame({"id": passages.map(number), "text": passages}),
        "gold": pd.DataFrame({"id1": known["x"].map(asked), "id2": known["y"].map(number)}).drop_duplicates(),
        "test": test,
        **_asked_of(_unasked(dev, test), "train", number),
        **_asked_of(test, "test", number),
    }


def _unasked(pairs: pd.DataFrame, test: pd.DataFrame) -> pd.DataFrame:
    """Return the pairs whose question is in no test pair: MLQuestions' two parts share three questions."""
    return pairs[~pairs["x"].str.lower().isin(test["x"].str.lower())]


def _asked_of(pairs: pd.DataFrame, part: str, number: dict[str, str]) -> dict[str, pd.DataFrame]:
    """Return the distinct questions of the pairs with ids, and their passages by id."""
    asked = {text: f"{part}-{row}" for row, text in enumerate(pairs["x"].unique())}
    gold = pd.DataFrame({"id1": pairs["x"].map(asked), "id2": pairs["y"].map(number)})
    return {
        f"{part}_queries": pd.DataFrame({"id": asked.values(), "text": asked.keys()}),
        f"{part}_gold": gold.drop_duplicates(),
    }


def _backtraining(data: Path) -> dict[str, pd.DataFrame]:
    """Return pairs of the source and of the target domain, and the latter's lists with copied passages."""
    folder = data / "mlquestions"
    rng = np.random.default_rng(0)
    dev, test = (_pairs(pd.read_parquet(folder / f"{part}.parquet")) for part in ("dev", "test"))
    natural = _pairs(pd.read_parquet(folder / "natural_questions.parquet")).assign(answer="")
    natural = natural.iloc[rng.permutation(len(natural))]
    squad = pd.concat([pd.read_parquet(path) for path in sorted((data / "squad").glob("*.parquet"))])
    asked = _asked(squad.assign(answers=[answers[0] for answers in squad["answers"]])).rename(columns={"passage": "y"})
    questions = pd.read_parquet(folder / "questions_unaligned.parquet")["question"].map(identity).drop_duplicates()
    measured = {text.lower() for text in (*dev["x"], *test["x"])}
    passages = pd.read_parquet(folder / "passages.parquet")["passage"]
    drawn = rng.permutation(len(dev))
    return {
        "source": pd.concat([natural.iloc[ASKED:], asked])[["x", "y", "answer"]],
        "source_test": natural.iloc[:ASKED][["x", "y"]],
        "questions": pd.DataFrame({"text": [text for text in questions if text.lower() not in measured]}),
        "passages": pd.DataFrame({"id": [f"p{row}" for row in range(len(passages))], "text": passages}),
        "dev": dev.iloc[np.sort(drawn[len(dev) // 2 :])],
        "supervised": _unasked(dev.iloc[np.sort(drawn[: len(dev) // 2])], test),
        "test": test,
    }


def _squad(folder: Path) -> dict[str, pd.DataFrame]:
    """Return seed pairs, questions, passages, known answers, and test pairs from other articles."""
    found = pd.concat([pd.read_parquet(path) for path in sorted(folder.glob("*.parquet"))])
    rng = np.random.default_rng(0)
    titles = rng.permutation(sorted(found["title"].unique()))
    inside = found[found["title"].isin(titles[:ARTICLES])]
    drawn = rng.permutation(len(inside))
    seed = inside.iloc[drawn[:SEEDS]]
    others = inside.iloc[np.sort(drawn[SEEDS:])]
    number = {text: f"p{row}" for row, text in enumerate(inside["context"].unique())}
    known = others.assign(passage=others["context"].map(number)).explode("answers")
    test = found[~found["title"].isin(titles[:ARTICLES])].sample(ASKED, random_state=0).explode("answers")
    return {
        "seed": _asked(seed.assign(answers=[answers[0] for answers in seed["answers"]])),
        "questions": pd.DataFrame({"id": others["id"], "text": others["question"]}),
        "passages": pd.DataFrame({"id": number.values(), "text": number.keys()}),
        "gold": pd.DataFrame(
            {"id1": known["id"], "id2": known["passage"], "answer": known["answers"]}
        ).drop_duplicates(),
        "test": _asked(test),
    }


def _asked(table: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame({"x": table["question"], "answer": table["answers"], "passage": table["context"]})


def _pairs(table: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame({"x": table["question"].map(identity), "y": table["passage"].map(identity)})


def _write(released: Released, names: dict[str, str], out: Path) -> None:
    """Write these tables of the data set to the folder under the names in the README's commands."""
    tables, _ = tables_of(released, "test")
    for table, name in names.items():
        write_csv_table(tables[table], out / f"{released.name}_{name}.csv")


if __name__ == "__main__":
    main()
