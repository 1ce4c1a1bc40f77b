"""The files of QuIP's example: passages, questions, and the data that measure a pre-trained encoder.

Training questions come from 70 % of SQuAD's articles. The other articles' questions measure reading; none of their
passages is among the passages. QQP marks only duplicates, so as many other pairs are made here: each question with the
one most similar to it (by TF-IDF) that is not marked as its duplicate. About 19 % of QQP's duplicates are unmarked, so
some of these pairs are labelled wrongly.
"""

from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.feature_extraction.text import TfidfVectorizer

from allpairs.db.identity import identity

LEARNED = 0.7  # share of SQuAD's articles
TESTED = 1_000  # questions that measure reading
PAIRS = 1_000  # of QQP: duplicates in each part
NEAR = 20  # nearest questions to search for a non-duplicate


def quip_tables(data: Path) -> dict[str, pd.DataFrame]:
    """Return the tables by name, made from the published data sets in the folder."""
    squad = pd.concat([pd.read_parquet(path) for path in sorted((data / "squad").glob("*.parquet"))])
    titles = np.random.default_rng(0).permutation(sorted(squad["title"].unique()))
    inside = squad["title"].isin(titles[: round(LEARNED * len(titles))])
    machine = pd.read_parquet(data / "mlquestions" / "passages.parquet")["passage"].map(identity)
    passages = pd.Series(pd.concat([squad[inside]["context"], machine]).unique())
    tested = squad[~inside].sample(TESTED, random_state=0)
    return {
        "passages": pd.DataFrame({"id": [f"p{row}" for row in range(len(passages))], "text": passages}),
        "questions": _asked(squad[inside]),
        "reading": _asked(tested),
        "paraphrases": pd.concat([_mrpc(data / "mrpc"), _qqp(data / "qqp")]),
        "entities": pd.concat([_tagged(data / "conll2003", "CoNLL"), _tagged(data / "wnut17", "WNUT")]),
        "sentiment": pd.concat(
            [_opinions(data / "sst2" / "dev.parquet", "SST-2"), _opinions(data / "mr" / "mr.parquet", "MR")]
        ),
    }


def _asked(table: pd.DataFrame) -> pd.DataFrame:
    rows = pd.DataFrame({"x": table["question"], "answer": table["answers"], "passage": table["context"]})
    return rows.explode("answer").drop_duplicates()


def _mrpc(folder: Path) -> pd.DataFrame:
    parts = {name: pd.read_parquet(folder / f"{name}.parquet") for name in ("train", "test")}
    tables = [
        pd.DataFrame({"split": name, "x": part["sentence1"], "y": part["sentence2"], "label": part["label"]})
        for name, part in parts.items()
    ]
    return pd.concat(tables).assign(dataset="MRPC")


def _qqp(folder: Path) -> pd.DataFrame:
    """Return duplicates of each part, the published dev part as test, and as many near non-duplicates."""
    questions = pd.read_parquet(folder / "questions.parquet").set_index("id")
    duplicates = pd.read_parquet(folder / "duplicates.parquet")
    parts = []
    for part, split in (("train", "train"), ("dev", "test")):
        mine = questions[questions["split"] == part]["text"]
        stated = duplicates[duplicates["split"] == part]
        drawn = stated.sample(PAIRS, random_state=0)
        known = set(zip(stated["id1"], stated["id2"], strict=True)) | set(
            zip(stated["id2"], stated["id1"], strict=True)
        )
        right = list(zip(drawn["id1"], drawn["id2"], strict=True))
        wrong = _near(mine, known)
        rows = [(*pair, 1) for pair in right] + [(*pair, 0) for pair in wrong]
        table = pd.DataFrame(rows, columns=["x", "y", "label"])
        parts.append(table.assign(split=split, x=table["x"].map(mine), y=table["y"].map(mine)))
    return pd.concat(parts).assign(dataset="QQP")


def _near(texts: pd.Series, known: set[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return pairs of ids: random questions, each with the nearest that is not known to be its duplicate."""
    vectors = TfidfVectorizer(token_pattern=r"\w+").fit_transform(texts)
    drawn = np.random.default_rng(0).permutation(len(texts))[:PAIRS]
    found = []
    for at, row in zip(drawn, (vectors[drawn] @ vectors.T).toarray(), strict=True):
        near = np.argsort(-row, kind="stable")[:NEAR]
        others = [int(i) for i in near if i != at and (texts.index[at], texts.index[i]) not in known]
        found.append((texts.index[at], texts.index[others[0]]))
    return found


def _tagged(folder: Path, name: str) -> pd.DataFrame:
    parts = [pd.read_parquet(folder / f"{split}.parquet").assign(split=split) for split in ("train", "test")]
    table = pd.concat(parts)
    return pd.DataFrame(
        {
            "dataset": name,
            "split": table["split"],
            "tokens": table["tokens"].map(_joined),
            "tags": table["tags"].map(_joined),
        }
    )


def _joined(words: np.ndarray) -> str:
    """Return the words joined by spaces; white space inside a word becomes spaces as well."""
    return " ".join("_".join(str(word).split()) or "_" for word in words)


def _opinions(path: Path, name: str) -> pd.DataFrame:
    table = pd.read_parquet(path)
    return pd.DataFrame({"dataset": name, "text": table["sentence"].str.strip(), "label": table["label"]})
