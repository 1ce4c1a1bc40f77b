"""The figures of Ju, Yang and Wang (2021): MRR@10 on MS MARCO's passages, Tables 1 and 3, with marked significance."""

from typing import NamedTuple

BASELINES = {"BM25": (0.187, 0.191), "best non-BERT": (0.290, None), "BM25 + BERT-large": (0.372, None)}


class Printed(NamedTuple):
    """A line of Table 1: the best of ten seeds on Dev, and that model on Dev-Rest."""

    backbone: str
    multi: bool
    dev: float
    rest: float


TABLE1 = (
    Printed("T5-base", False, 0.384, 0.380),
    Printed("T5-large", False, 0.395, 0.390),
    Printed("T5-3B", False, 0.398, 0.395),
    Printed("T5-base", True, 0.385, 0.382),
    Printed("T5-large", True, 0.401, 0.393),
    Printed("T5-3B", True, 0.402, 0.396),
)
TABLE3 = {  # views -> mean and standard deviation of five seeds, T5-large, Dev
    "Rank": (0.393, 0.001),
    "Rank + Rank*": (0.391, 0.001),
    "Rank + P2Q": (0.399, 0.001),
    "Rank + Q2P": (0.394, 0.002),
    "Rank + P2Q (swap)": (0.399, 0.001),
    "Rank (swap) + P2Q": (0.394, 0.001),
    "Rank (swap) + P2Q (swap)": (0.395, 0.001),
}
RATE = 0.15
DEPTH = 1_000
