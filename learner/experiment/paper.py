"""The figures printed in Mussmann, Jia and Liang (2020), Tables 1 to 6, to compare with ours.

Keyed by table, data set and row as in our tables; rates are fractions of 1 where the paper prints per cent.
"""

from collections.abc import Callable, Mapping

Figures = Mapping[str, float]

AP = "average_precision"
PRECISION = "precision_at_recall_20"
POSITIVES = "positives"
PAIRS = "pairs"
NEGATIVES = "stated_negatives"
NEAR = "near_negatives"
ACCURACY = "stated_accuracy"
F1 = "stated_f1"
MAP = "question_map"
PAIR_F1 = "pair_f1"
PAPER_BACKBONES = BERT, XLNET, ROBERTA, ALBERT = (
    "bert-base-uncased",
    "xlnet-base-cased",
    "roberta-base",
    "albert-base-v2",
)


def _rates(*names: str) -> Callable[..., Figures]:
    """Return a function that turns a line of a table, in per cent, into fractions by these names."""

    def line(*values: float) -> Figures:
        return {name: round(value / 100, 5) for name, value in zip(names, values, strict=True)}

    return line


def _counts(positives: int, pairs: float, negatives: int, near: float | None = None) -> Figures:
    """Return a line of Table 1; near negatives of QQP count both orders of a pair, so they are far more than ours."""
    return {POSITIVES: positives, PAIRS: pairs, NEGATIVES: negatives, **({} if near is None else {NEAR: near})}


_ranked = _rates(PRECISION, AP)
_qqp = _rates(ACCURACY, F1, PRECISION, AP)
_wikiqa = _rates(MAP, PAIR_F1, PRECISION, AP)
_two_models = _rates(f"cosine_{PRECISION}", f"cosine_{AP}", f"concat_{PRECISION}", f"concat_{AP}")

PAPER: Mapping[str, Mapping[str, Mapping[str, Figures]]] = {
    "table1": {
        "qqp": {
            "train": _counts(124_625, 38e9, 132_796),
            "dev": _counts(60_510, 8.8e9, 61_645, 13.1e6),
            "test": _counts(43_413, 8.5e9, 60_575, 12.8e6),
        },
        "wikiqa": {
            "train": _counts(1_040, 56e6, 19_320),
            "dev": _counts(140, 7.8e6, 2_593, 29_511),
            "test": _counts(293, 17e6, 5_872, 63_136),
        },
    },
    "table2": {
        "qqp": {
            BERT: _qqp(82.5, 77.3, 3.0, 2.4),
            XLNET: _qqp(83.0, 77.9, 1.7, 1.4),
            ROBERTA: _qqp(84.4, 80.2, 2.5, 2.0),
            ALBERT: _qqp(79.6, 73.0, 3.5, 1.9),
        },
        "wikiqa": {
            BERT: _wikiqa(79.9, 45.9, 6.5, 2.4),
            XLNET: _wikiqa(80.5, 46.7, 1.0, 1.0),
            ROBERTA: _wikiqa(84.6, 53.6, 3.4, 2.3),
            ALBERT: _wikiqa(78.2, 41.8, 0.7, 0.9),
        },
    },
    "table3": {
        "qqp": {
            "random": _ranked(4.7, 2.8),
            "stated": _ranked(29.3, 15.4),
            "static-retrieval": _ranked(49.2, 25.1),
            "adaptive-retrieval": _ranked(59.1, 32.4),
            "uncertainty": _ranked(60.2, 32.5),
        },
        "wikiqa": {
            "random": _ranked(1.3, 1.3),
            "stated": _ranked(0.7, 2.2),
            "static-retrieval": _ranked(13.9, 8.2),
            "adaptive-retrieval": _ranked(27.1, 15.1),
            "uncertainty": _ranked(32.4, 20.1),
        },
    },
    "table4": {
        "qqp": {
            "random": {POSITIVES: 1},
            "static-retrieval": {POSITIVES: 16_422},
            "adaptive-retrieval": {POSITIVES: 103_181},
            "uncertainty": {POSITIVES: 87_594},
        },
        "wikiqa": {
            "random": {POSITIVES: 1},
            "static-retrieval": {POSITIVES: 169},
            "adaptive-retrieval": {POSITIVES: 757},
            "uncertainty": {POSITIVES: 742},
        },
    },
    "table5": {
        "qqp": {"stratified-match": _ranked(35.1, 19.0), "stratified-all-positives": _ranked(41.6, 22.2)},
        "wikiqa": {"stratified-match": _ranked(13.2, 8.5), "stratified-all-positives": _ranked(13.7, 9.1)},
    },
    "table6": {
        "qqp": {
            "stated": _two_models(29.3, 15.4, 3.0, 2.4),
            "static-retrieval": _two_models(49.2, 25.1, 4.6, 1.9),
            "stratified-match": _two_models(35.1, 19.0, 29.0, 16.4),
            "uncertainty": _two_models(60.2, 32.5, 23.6, 8.9),
        },
    },
}


def printed(table: str, dataset: str | None, row: str) -> Figures:
    """Return the figures of this row in the paper's table, by measure; empty if it has no such row."""
    return PAPER.get(table, {}).get(dataset or "", {}).get(row, {})
