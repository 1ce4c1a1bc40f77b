"""The figures of Jia, Lewis and Zettlemoyer (2022): Tables 1 to 5, 7, 8 and 10, and the size of the pre-training."""

from allpairs.learner.pipelines.quip.student import QUIP, UNTRAINED
from allpairs.learner.pipelines.quip.uses.sentiment import ANSWERS, MASKED

QUESTIONS = 80_000_000  # generated and labelled once, trained on twice
EPOCHS = 2

SQUAD = "SQuAD"
READING = {  # Table 1, SQuAD's development questions
    "Lee et al. (2021)": (0.783, 0.863),
    "BERT-large cross-encoder": (0.842, 0.911),
    "unsupervised questions": (0.174, 0.249),
    "no question generation": (0.707, 0.794),
    "no teacher": (0.753, 0.847),
    QUIP: (0.852, 0.917),
    "teacher": (0.888, 0.947),
    "cross-encoder student": (0.895, 0.948),
}
IN_DOMAIN = ("HotpotQA", "NaturalQuestions", "NewsQA", SQUAD, "SearchQA", "TriviaQA")
OUT_OF_DOMAIN = ("BioASQ", "DROP", "DuoRC", "RACE", "RelationExtraction", "TextbookQA")
_TABLE7 = {  # exact match and F1 in percent, of the data sets in this order
    "unsupervised questions": (
        (9.5, 16.6),
        (8.0, 15.5),
        (7.6, 14.4),
        (17.5, 25.0),
        (15.4, 21.1),
        (17.6, 23.3),
        (15.3, 19.2),
        (5.9, 9.5),
        (14.1, 17.4),
        (6.5, 11.4),
        (12.7, 22.1),
        (8.9, 13.3),
    ),
    "no question generation": (
        (61.0, 77.5),
        (64.1, 76.4),
        (46.1, 61.5),
        (70.9, 79.6),
        (73.8, 79.8),
        (63.1, 69.0),
        (42.2, 57.2),
        (29.9, 38.3),
        (38.6, 48.6),
        (29.1, 39.8),
        (71.3, 83.5),
        (34.7, 43.6),
    ),
    "no teacher": (
        (52.9, 68.7),
        (57.8, 70.8),
        (41.8, 58.7),
        (75.4, 84.8),
        (64.5, 71.7),
        (71.1, 76.1),
        (40.9, 54.9),
        (33.5, 43.0),
        (44.1, 53.2),
        (31.8, 44.4),
        (70.8, 82.1),
        (37.3, 46.2),
    ),
    QUIP: (
        (61.3, 77.9),
        (63.7, 77.2),
        (52.4, 68.7),
        (85.3, 91.8),
        (68.7, 76.8),
        (72.0, 78.1),
        (51.3, 67.5),
        (46.2, 57.1),
        (53.0, 63.2),
        (39.6, 53.4),
        (75.5, 86.0),
        (50.2, 60.0),
    ),
    "teacher": (
        (66.8, 83.0),
        (70.5, 82.0),
        (58.8, 72.9),
        (89.1, 94.8),
        (78.3, 84.6),
        (73.4, 79.6),
        (58.0, 72.9),
        (55.4, 65.3),
        (55.0, 66.8),
        (44.2, 57.7),
        (78.5, 88.8),
        (58.5, 67.4),
    ),
    "cross-encoder student": (
        (66.3, 82.3),
        (66.5, 79.4),
        (54.4, 70.5),
        (89.6, 94.9),
        (72.1, 80.1),
        (73.4, 79.8),
        (57.3, 72.6),
        (57.5, 68.3),
        (56.2, 67.5),
        (44.8, 58.6),
        (79.5, 89.1),
        (58.4, 67.3),
    ),
}
READING_BY_DATASET = {  # Table 7, likewise from 0 to 1
    model: {
        name: (round(exact / 100, 3), round(f1 / 100, 3))
        for name, (exact, f1) in zip((*IN_DOMAIN, *OUT_OF_DOMAIN), figures, strict=True)
    }
    for model, figures in _TABLE7.items()
}
LAYERS = {  # Table 2, Pearson's r with WMT16's judgements of translations, and the best layer
    UNTRAINED: (0.739, 17),
    "teacher": (0.744, 16),
    "cross-encoder student": (0.753, 16),
    "unsupervised questions": (0.654, 11),
    "no question generation": (0.749, 15),
    "no teacher": (0.726, 19),
    QUIP: (0.764, 20),
}
RANKING = {  # Table 2, AUROC
    "QQP": {
        UNTRAINED: 0.763,
        "teacher": 0.767,
        "cross-encoder student": 0.769,
        "unsupervised questions": 0.747,
        "no question generation": 0.771,
        "no teacher": 0.767,
        QUIP: 0.809,
    },
    "MRPC": {
        UNTRAINED: 0.831,
        "teacher": 0.840,
        "cross-encoder student": 0.847,
        "unsupervised questions": 0.801,
        "no question generation": 0.807,
        "no teacher": 0.831,
        QUIP: 0.849,
    },
    "PAWS-Wiki": {
        UNTRAINED: 0.698,
        "teacher": 0.742,
        "cross-encoder student": 0.751,
        "unsupervised questions": 0.649,
        "no question generation": 0.747,
        "no teacher": 0.780,
        QUIP: 0.830,
    },
    "PAWS-QQP": {
        UNTRAINED: 0.690,
        "teacher": 0.731,
        "cross-encoder student": 0.706,
        "unsupervised questions": 0.580,
        "no question generation": 0.725,
        "no teacher": 0.709,
        QUIP: 0.796,
    },
}
LM_BFF = "LM-BFF (rerun)"
LM_BFF_REPORTED = "LM-BFF (reported)"
CLASSIFYING: dict[str, dict[str, tuple[float | None, float]]] = {  # Table 3, F1: frozen, fine-tuned
    "QQP": {LM_BFF_REPORTED: (None, 0.698), LM_BFF: (None, 0.671), UNTRAINED: (0.644, 0.649), QUIP: (0.689, 0.710)},
    "MRPC": {LM_BFF_REPORTED: (None, 0.778), LM_BFF: (None, 0.765), UNTRAINED: (0.806, 0.844), QUIP: (0.826, 0.866)},
    "PAWS-Wiki": {LM_BFF: (None, 0.607), UNTRAINED: (0.623, 0.657), QUIP: (0.719, 0.751)},
    "PAWS-QQP": {LM_BFF: (None, 0.501), UNTRAINED: (0.506, 0.509), QUIP: (0.630, 0.609)},
}
TAGGING = {  # Table 4, F1 with a random last layer, and with one initialised from questions
    "CoNLL": {
        "Huang et al. (2020)": (0.654, None),
        UNTRAINED: (0.590, None),
        "teacher": (0.689, None),
        "cross-encoder student": (0.634, None),
        "unsupervised questions": (0.582, 0.627),
        "no question generation": (0.664, 0.720),
        "no teacher": (0.677, 0.714),
        QUIP: (0.700, 0.740),
    },
    "WNUT": {
        "Huang et al. (2020)": (0.376, None),
        UNTRAINED: (0.393, None),
        "teacher": (0.430, None),
        "cross-encoder student": (0.394, None),
        "unsupervised questions": (0.260, 0.304),
        "no question generation": (0.422, 0.440),
        "no teacher": (0.407, 0.478),
        QUIP: (0.422, 0.496),
    },
}
TAGGING_AFTER_ALL = {  # Table 10, likewise, trained on all sentences
    "CoNLL": {UNTRAINED: (0.927, None), QUIP: (0.927, 0.928)},
    "WNUT": {UNTRAINED: (0.579, None), QUIP: (0.581, 0.588)},
}
OPINIONS = {  # Table 5, accuracy, the mean of six prompts: calibrated
    "SST-2": {("GPT-3", "contextual calibration"): 0.716, (QUIP, ANSWERS): 0.879},
    "MR": {(QUIP, ANSWERS): 0.819},
    "CR": {(QUIP, ANSWERS): 0.903},
}
CHOSEN = {"SST-2": 0.896, "MR": 0.831, "CR": 0.904}  # Table 5, QuIP by the prompt that is best on SST-2
UNCALIBRATED = {  # likewise, of models not calibrated in appendix A.5; of the untrained encoder, LM-BFF's masked word
    "SST-2": {("cross-encoder student", ANSWERS): 0.833, (UNTRAINED, MASKED): 0.836},
    "MR": {("cross-encoder student", ANSWERS): 0.785, (UNTRAINED, MASKED): 0.808},
    "CR": {("cross-encoder student", ANSWERS): 0.889, (UNTRAINED, MASKED): 0.795},
}
STABILITY = {  # Table 8: F1 on SQuAD, mean AUROC of four data sets, mean F1 of CoNLL and WNUT with questions
    QUIP: (0.917, 0.821, 0.618),
    "concatenated passages": (0.917, 0.818, 0.627),
    "hard labels": (0.915, 0.814, 0.625),
    "two-stage beam": (0.917, 0.821, 0.628),
}
