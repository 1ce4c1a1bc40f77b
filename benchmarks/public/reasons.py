"""Why Allpairs loses where it does, as far as that is known: the page says it beside each loss."""

MORE = "more labels"  # and a lower average precision
UNKNOWN = "Why is not known."
CROWD = (
    "Without labels, and with 64 where all are matches, so that nothing is trained, the hubness correction does part "
    "of it in the seed looked into: probably because the texts of a large group are each other's neighbours "
    "([log](log.md), 2026-11-27). With more labels why is not known."
)

# By data set and figure. docs/log.md has the measurements.
LOSSES = {
    ("amazon_google", MORE): "In seed 0 the weights of lexical features, fitted to 6 non-matches with 64 labels and to "
    "31 with 160, swing from round to round; the encoder does not lose ([log](log.md), 2026-11-27).",
    ("wikiqa", "precision_at_recall_20"): "Training on the corrected score did part of it in three seeds: with 160 to "
    "520 labels it took 0.007 to 0.027, and with 1,000 it gave 0.055 ([log](log.md), 2026-11-27). The rest is not "
    "known.",
    ("qqp", "best_f1"): CROWD,
    ("qqp", "b_cubed_f1"): CROWD,
    ("qqp", MORE): "In two seeds, before the training on the corrected score, the second stage cost 0.013 and 0.002 "
    "with 160 labels and gained in both from 304 on: it seems to take a text's other duplicates for rivals "
    "([log](log.md), 2026-11-27).",
    ("demo", "b_cubed_f1"): "Without labels ours differs by the hubness correction alone. At its best F1 it finds more "
    "pairs, right and wrong, and a wrong one joins two whole groups ([log](log.md), 2026-11-27). With labels why is "
    "not known.",
}
# By benchmark, for each place where it ran.
ON_A_PROCESSOR = {
    "training": "A processor spends the time on matrix products. Ours does fewer only where a text occurs twice in a "
    "step.",
    "rerank": "In float32 the matrix products alone took 0.4 of the plain loop's time in another run "
    "([benchmarks](benchmarks.md)). Why int8 is not faster is not known.",
    "startup": "Of 4.0 to 4.6 seconds of the processor, imports take about 2.8 ([log](log.md), 2026-11-27).",
}
OTHER_TEXTS = f"{UNKNOWN} It read other texts than the first table (the demo's, numbered): do not compare the ratios."
ON_THE_OTHER = {
    "encode": OTHER_TEXTS,
    "training": OTHER_TEXTS,
    "search": f"{UNKNOWN} Another run on the same day had a ratio of 0.97.",
}
ON_A_GPU = {
    "search": "Neighbours were sorted twice, once on the CPU. This is fixed, but not measured again.",
    "qqp": "Training takes most of it; encoding tokenizes all texts again in each round ([log](log.md), 2026-11-27).",
}
