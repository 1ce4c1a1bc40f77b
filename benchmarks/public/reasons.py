"""Why Allpairs loses where it does, as far as that is known: the page says it beside each loss."""

MORE = "more labels"  # and a lower average precision
UNKNOWN = "Why is not known."
CROWD = (
    "Until there are non-matches, nothing is trained, and the hubness correction counts against the texts of a large "
    "group, which are each other's neighbours ([log](log.md), 2026-11-27)."
)

# By data set and figure. docs/log.md has the measurements.
LOSSES = {
    ("amazon_google", MORE): "The weights of lexical features, fitted to a few dozen non-matches, swing from round to "
    "round; the encoder does not lose ([log](log.md), 2026-11-27).",
    ("wikiqa", "precision_at_recall_20"): "With 1,000 labels the second stage does it, in the one seed looked into: "
    "0.634 without it, 0.608 with it. It is kept because it loses little over the labels ([log](log.md), 2026-11-27).",
    ("mlquestions", MORE): "The encoder is trained on the cosine alone, and seems to learn what the hubness "
    "correction does already. Trained on the corrected score it gave 0.507 in place of 0.442 with the 1,000 labels of "
    "one seed, but less on WikiQA ([log](log.md), 2026-11-27).",
    ("qqp", "best_f1"): CROWD,
    ("qqp", "b_cubed_f1"): f"{CROWD} With 160 labels it is the second stage (see *more labels*).",
    ("qqp", MORE): "With 160 labels, a quarter of them non-matches, the second stage takes a text's other duplicates "
    "for rivals; from 304 on it gains ([log](log.md), 2026-11-27).",
    ("demo", "b_cubed_f1"): "Without labels ours differs by the hubness correction alone. At its best F1 it finds more "
    "pairs, right and wrong, and each wrong one joins two whole groups ([log](log.md), 2026-11-27).",
}
COUNTED = "Each block of products is read again, to count it by score: the faster the products, the more that weighs."
# By benchmark.
ON_A_PROCESSOR = {
    "training": "A processor spends the time on matrix products. Ours does fewer only where a text occurs twice in a "
    "step.",
    "startup": "Imports take most of it ([log](log.md), 2026-11-27).",
    "search": "Another run on the same day had 0.97.",
    "evaluation": COUNTED,
    "rerank": "The matrix products alone take 0.4 of the plain loop's time ([benchmarks](benchmarks.md)).",
}
ON_A_GPU = {
    "search": "Neighbours were sorted twice, once on the CPU. That is mended, and not measured again.",
    "evaluation": COUNTED,
    "qqp": "Each round tokenizes all texts again ([log](log.md), 2026-11-27).",
}
