"""The files of the README's simulations, made from the published data sets.

    python -m benchmarks.datasets [--out out/data]

Reads `ALLPAIRS_DATA`, else ../shared/data. WikiQA: train and test questions, all distinct sentences, the published
split of the questions. QQP: the questions and stated duplicates of the development part.
"""

import argparse
import os
from pathlib import Path

import pandas as pd

from benchmarks.common import ROOT


def main() -> None:
    """Nothing; writes the files."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("out/data"))
    out = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    data = Path(os.environ.get("ALLPAIRS_DATA", ROOT.parent / "shared" / "data"))
    for name, table in {**wikiqa(data), **qqp(data), **amazon_google(data)}.items():
        table.to_csv(out / name, index=False)


def wikiqa(data: Path) -> dict[str, pd.DataFrame]:
    """Questions, sentences, gold pairs and split; titles are left out, as most train rows have none."""
    rows = pd.read_parquet(data / "wikiqa" / "wikiqa.parquet")
    questions = rows.drop_duplicates("question_id")
    sentences = rows[["sentence"]].drop_duplicates().reset_index(drop=True)
    sentences["id"] = [f"s{i}" for i in range(len(sentences))]
    id_of = dict(zip(sentences.sentence, sentences.id, strict=True))
    right = rows[rows.label == 1]
    used = questions[questions.split != "dev"]
    split = used.split.map({"train": "train", "test": "evaluation"})
    return {
        "wikiqa_questions.csv": questions[["question_id", "question"]].set_axis(["id", "text"], axis=1),
        "wikiqa_sentences.csv": sentences[["id", "sentence"]].set_axis(["id", "text"], axis=1),
        "wikiqa_gold.csv": pd.DataFrame({"id1": right.question_id, "id2": right.sentence.map(id_of)}),
        "wikiqa_split.csv": pd.DataFrame({"id": used.question_id, "side": "left", "split": split}),
    }


def qqp(data: Path) -> dict[str, pd.DataFrame]:
    """Questions and stated duplicates of the development part."""
    questions = pd.read_parquet(data / "qqp" / "questions.parquet")
    duplicates = pd.read_parquet(data / "qqp" / "duplicates.parquet")
    return {
        "qqp_questions.csv": questions[questions.split == "dev"][["id", "text"]],
        "qqp_gold.csv": duplicates[duplicates.split == "dev"][["id1", "id2"]],
    }


def amazon_google(data: Path) -> dict[str, pd.DataFrame]:
    """Both lists and the matches, as they are."""
    folder = data / "amazon_google"
    return {f"amazon_google_{name}.csv": pd.read_csv(folder / f"{name}.csv.gz") for name in ("left", "right", "gold")}


if __name__ == "__main__":
    main()
