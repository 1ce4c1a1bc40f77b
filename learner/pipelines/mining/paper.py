"""The figures of Joshi et al. (2022): Tables 1 and 2, and section 7.1."""

from allpairs.learner.light.catalog.mining import READING, SUMMARIES
from allpairs.learner.pipelines.mining.downstream.added import BIENCODER, FULL, SEED_ONLY

ADDED = 500  # mined examples
Printed = dict[tuple[str, int], dict[str, float]]  # by method and number of examples added: measures

DOWNSTREAM: dict[str, Printed] = {
    READING: {
        (SEED_ONLY, 0): {"exact_match": 0.3527, "token_f1": 0.4943},
        (FULL, ADDED): {"exact_match": 0.4939, "token_f1": 0.625},
    },
    SUMMARIES: {
        (SEED_ONLY, 0): {"rouge1": 0.3628, "rouge2": 0.1407, "rougeL": 0.2798},
        (FULL, ADDED): {"rouge1": 0.3767, "rouge2": 0.1486, "rougeL": 0.2944},
    },
}
NOTES = {
    READING: "The paper: BART-large, the development questions of SQuAD 1.1 (Table 1; section 5.4 has F1 48.86 for the "
    "seed).",
    SUMMARIES: "The paper: BART-large, XSum's test documents (Table 2). Others there, from other seeds: BART 35.17 / "
    "13.29 / 27.20, WikiTransfer 37.26 / 14.20 / 28.85, Pegasus 39.07 / 16.44 / 31.27.",
}
COPYING = {  # share of a summary copied from its document
    FULL: {"rouge1": 0.6491, "rouge2": 0.1542, "rougeL": 0.5559},
    BIENCODER: {"rouge1": 0.8221, "rouge2": 0.5166, "rougeL": 0.7592},
    "known": {"rouge1": 0.6685, "rouge2": 0.1794, "rougeL": 0.5982},
}
