"""The figures of Jia, Lewis and Zettlemoyer (2022): Tables 1 to 5 and 8, and the size of the pre-training."""

from allpairs.learner.pipelines.quip.student import QUIP, UNTRAINED
from allpairs.learner.pipelines.quip.uses.sentiment import ANSWERS, MASKED

QUESTIONS = 80_000_000  # generated and labelled once, trained on twice
EPOCHS = 2

READING = {  # Table 1, SQuAD's development questions
    "unsupervised questions": (0.174, 0.249), "no question generation": (0.707, 0.794), "no teacher": (0.753, 0.847),
    QUIP: (0.852, 0.917), "teacher": (0.888, 0.947), "cross-encoder student": (0.895, 0.948),
}  # fmt: skip
RANKING = {  # Table 2, AUROC
    "QQP": {
        UNTRAINED: 0.763, "teacher": 0.767, "cross-encoder student": 0.769, "unsupervised questions": 0.747,
        "no question generation": 0.771, "no teacher": 0.767, QUIP: 0.809,
    },
    "MRPC": {
        UNTRAINED: 0.831, "teacher": 0.840, "cross-encoder student": 0.847, "unsupervised questions": 0.801,
        "no question generation": 0.807, "no teacher": 0.831, QUIP: 0.849,
    },
}  # fmt: skip
CLASSIFYING = {  # Table 3, F1: frozen, fine-tuned
    "QQP": {UNTRAINED: (0.644, 0.649), QUIP: (0.689, 0.710)},
    "MRPC": {UNTRAINED: (0.806, 0.844), QUIP: (0.826, 0.866)},
}
TAGGING = {  # Table 4, F1 with a random last layer, and with one initialised from questions
    "CoNLL": {
        UNTRAINED: (0.590, None), "teacher": (0.689, None), "cross-encoder student": (0.634, None),
        "unsupervised questions": (0.582, 0.627), "no question generation": (0.664, 0.720),
        "no teacher": (0.677, 0.714), QUIP: (0.700, 0.740),
    },
    "WNUT": {
        UNTRAINED: (0.393, None), "teacher": (0.430, None), "cross-encoder student": (0.394, None),
        "unsupervised questions": (0.260, 0.304), "no question generation": (0.422, 0.440),
        "no teacher": (0.407, 0.478), QUIP: (0.422, 0.496),
    },
}  # fmt: skip
OPINIONS = {  # Table 5, accuracy, the mean of six prompts: calibrated
    "SST-2": {(QUIP, ANSWERS): 0.879},
    "MR": {(QUIP, ANSWERS): 0.819},
}
UNCALIBRATED = {  # likewise, of models not calibrated in appendix A.5; of the untrained encoder, LM-BFF's masked word
    "SST-2": {("cross-encoder student", ANSWERS): 0.833, (UNTRAINED, MASKED): 0.836},
    "MR": {("cross-encoder student", ANSWERS): 0.785, (UNTRAINED, MASKED): 0.808},
}
STABILITY = {  # Table 8: F1 on SQuAD, mean AUROC of four data sets, mean F1 of CoNLL and WNUT with questions
    QUIP: (0.917, 0.821, 0.618), "concatenated passages": (0.917, 0.818, 0.627), "hard labels": (0.915, 0.814, 0.625),
    "two-stage beam": (0.917, 0.821, 0.628),
}  # fmt: skip
