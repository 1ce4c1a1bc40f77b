"""The effects of changed settings, mentioned only if there are any."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Engine

from allpairs.annotate.features.settings.progress import Situation, situation_of
from allpairs.annotate.features.settings.setting_effects import implications
from allpairs.db.domain import Settings
from tests.helpers.factories import make_project, make_round
from tests.helpers.figures.measured import add_job, make_audited_project, make_measured_project

FRESH = Situation(items=300, labels=0, batch=0, matcher=None, gold=True, measured_items=90, at_work=False)
SEEDED = replace(FRESH, labels=12, batch=1, matcher=0)
TRAINED = replace(FRESH, labels=325, batch=5, matcher=4)
AUDITED = replace(TRAINED, gold=False)


def said(now: Situation, old: dict[str, Any] | None = None, **new: Any) -> str:
    start = Settings.model_validate(old or {})
    return " ".join(implications(start, start.model_copy(update=new), now)).replace("\\", "")


@pytest.mark.parametrize("now", [FRESH, SEEDED, TRAINED, AUDITED])
def test_no_change_implies_nothing(now: Situation) -> None:
    assert said(now) == ""
    assert said(replace(now, at_work=True)) == ""


@pytest.mark.parametrize(
    ("now", "old", "new"),
    [
        (FRESH, {}, {"question": "Same?"}),  # nobody has answered the old one
        (TRAINED, {"growth_kind": "constant"}, {"growth": 3.0}),  # batches do not grow
        (TRAINED, {"strategy": "random"}, {"neighbours": 7, "search": "exact"}),  # it searches none
        (TRAINED, {}, {"audit_every": 3}),  # known pairs measure
        (replace(AUDITED, measured_items=0), {}, {"audit_every": 3, "target_precision": 0.9}),  # nothing measures
        (FRESH, {}, {"warm_start": True}),  # there is no model to go on from
    ],
)
def test_fields_without_effect_are_not_mentioned(now: Situation, old: dict[str, Any], new: dict[str, Any]) -> None:
    assert said(now, old, **new) == ""


@pytest.mark.parametrize(
    ("now", "old", "new", "words"),
    [
        (TRAINED, {}, {"overlap": 0.2}, "20% of the pairs go to 2 annotators"),
        (TRAINED, {}, {"double_check": True}, "go to a second annotator"),
        (TRAINED, {}, {"encoder": "bge"}, "All 300 texts are encoded again by bge"),
        (TRAINED, {}, {"encoder": "bge"}, "of rounds 1 to 4 belong to all-MiniLM-L6-v2 and stay"),
        (SEEDED, {}, {"encoder": "bge"}, "with the next batch, those of bge"),
        (
            TRAINED,
            {},
            {"hubness": 0.1},
            "hubness correction changes from 0.25 to 0.1. Scores change from the next round",
        ),
        (SEEDED, {}, {"hubness": 0.1}, "figures before training are recomputed"),
        (
            TRAINED,
            {},
            {"lexical": False},
            "Lexical features are no longer used in models trained from now on. Scores change",
        ),
        (
            TRAINED,
            {},
            {"first": 80},
            "From batch 6 on, batches have 608, 911, 1,367 pairs instead of 304, 456, 683. Batch 5 stays",
        ),
        (
            TRAINED,
            {},
            {"second_stage": "off"},
            "from now on have no second stage. Scores change from the next round on",
        ),
        (FRESH, {}, {"second_stage": "on"}, "Models trained from now on have a second stage."),
        (FRESH, {}, {"growth": 2.0}, "From batch 1 on, batches have 40, 80, 160 pairs instead of 40, 60, 90."),
        (
            AUDITED,
            {},
            {"audit_every": 0},
            "audit pairs: none instead of one pair in 6. Then only audit batches",
        ),
        (TRAINED, {}, {"target_precision": 0.9}, "precision with 0.9 instead of 0.8, at once"),
        (AUDITED, {}, {"target_precision": 0.9}, "with the next update of the figures"),
        (TRAINED, {}, {"question": "Same?", "guidelines": "x"}, "new question and guidelines at once; 325 labels"),
        (TRAINED, {}, {"strategy": "adaptive-retrieval"}, "Adaptive retrieval applies from batch 6 on"),
        (
            SEEDED,
            {},
            {"first_batch": "most-similar"},
            "until a model is trained. The pairs that the",
        ),
        (
            SEEDED,
            {"strategy": "uncertainty-stated"},
            {"strategy": "stated"},
            "once a model is trained; until then pairs are chosen as before",
        ),
        (TRAINED, {}, {"strategy": "static-retrieval"}, "300 texts are encoded by the pre-trained encoder"),
        (TRAINED, {}, {"neighbours": 200}, "200 nearest neighbours of each text instead of 100: more candidates"),
        (TRAINED, {}, {"search": "faiss-hnsw"}, "by faiss-hnsw instead of auto, which misses some"),
        (TRAINED, {}, {"per_text": 1}, "at most 1 pair of one text"),
        (TRAINED, {"control_share": 0.1}, {"control_share": 0.0}, "None of the next batch is sampled at random"),
        (TRAINED, {}, {"epochs": 4, "seed": 1}, "about 2 times as long"),
        (TRAINED, {}, {"epochs": 4, "batch_size": 8}, "epochs and pairs per training step. Earlier models stay"),
        (TRAINED, {}, {"warm_start": True}, "continues from the last one"),
        (TRAINED, {}, {"auto_train": False}, "waits until somebody presses"),
        (replace(TRAINED, at_work=True), {}, {"first": 80}, "A job is running"),
    ],
)
def test_an_effect_is_said(now: Situation, old: dict[str, Any], new: dict[str, Any], words: str) -> None:
    assert words in said(now, old, **new)


def test_an_effect_on_no_job_needs_no_wait() -> None:
    assert "A job is running" not in said(replace(TRAINED, at_work=True), question="Same?")


@given(st.sampled_from(sorted(Settings.model_fields)), st.sampled_from([FRESH, SEEDED, TRAINED, AUDITED]))
def test_every_line_is_a_sentence(name: str, now: Situation) -> None:
    default = Settings.model_fields[name].default
    other = {bool: lambda: not default, int: lambda: default + 2, float: lambda: default + 0.05, str: lambda: "other"}
    if name in (
        "strategy",
        "first_batch",
        "search",
        "growth_kind",
        "initialization",
        "pooling",
        "distance",
        "second_stage",
        "rater_use",
    ):
        return
    for line in implications(Settings(), Settings().model_copy(update={name: other[type(default)]()}), now):
        assert line[0].isupper() or line[0].isdigit()
        assert line.endswith(".")
        assert "None" not in line


def test_the_situation_is_read_from_the_project(engine: Engine) -> None:
    gold = make_measured_project(engine, "Gold")
    assert situation_of(engine, gold) == Situation(180, 325, 4, 4, True, 120, False)
    audited = make_audited_project(engine, "Audited", rounds=1)
    add_job(engine, audited)
    assert situation_of(engine, audited) == Situation(180, 0, 0, 0, False, 120, True)
    fresh = make_project(engine, ["a", "b", "c"], name="Fresh")
    make_round(engine, fresh, 2)
    assert situation_of(engine, fresh) == Situation(3, 0, 1, None, False, 0, False)
