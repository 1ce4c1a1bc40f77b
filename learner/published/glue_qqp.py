"""QQP as in GLUE: its split of the pairs is kept, so that questions of dev pairs may be in train pairs too.

Source: Wang et al. (2019); the check of Mussmann, Jia and Liang (2020), appendix A.4.
"""

from pathlib import Path

from allpairs.db.corpus.cells import with_noun
from allpairs.db.errors import InputError
from allpairs.learner.published.qqp import duplicate_label
from allpairs.learner.published.quora import read_quora
from allpairs.learner.published.released import GivenPair, Options, Released, Text

FILES = {"train": "train.tsv", "dev": "dev.tsv"}  # test.tsv has no labels


def read_glue_qqp(path: Path, options: Options) -> Released:
    """Read train.tsv and dev.tsv of the folder: dev pairs are gold, and train pairs are labels. Raises InputError."""
    questions: dict[str, str] = {}
    parts: dict[str, str] = {}
    pairs: dict[str, list[GivenPair]] = {}
    notes = []
    for part, name in FILES.items():
        file = path / name
        if not file.is_file():
            raise InputError(f"{path}: this folder has no {name}: name the folder QQP of GLUE")
        rows, broken = read_quora(file)
        pairs[part] = []
        for number, row in enumerate(rows, 2):
            for question, text in ((row.qid1, row.question1), (row.qid2, row.question2)):
                if text.strip():
                    questions.setdefault(question, text)
                    parts[question] = part
            if row.qid1 in questions and row.qid2 in questions:
                pairs[part].append(GivenPair(row.qid1, row.qid2, duplicate_label(row.label, file, number)))
        if left_out := len(rows) + broken - len(pairs[part]):
            notes.append(f"Left out of {name}: {with_noun(left_out, 'row')} without six cells or two questions.")
    notes.append("The split is of pairs: measure with --held-out gold.csv what was trained on labels.csv.")
    left = [Text(*question) for question in questions.items()]
    return Released("glue_qqp", left, None, pairs["dev"], parts, notes=notes, labels=pairs["train"])
