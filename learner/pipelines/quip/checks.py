"""Check files, model folders and the settings that must fit both, before anything expensive."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from allpairs.db.errors import InputError
from allpairs.learner.backbones.loading import backbone_size
from allpairs.learner.backbones.span_biencoder import SPECIAL
from allpairs.learner.light.catalog.quip import GOLD, QuipConfig
from allpairs.learner.models.model_folder import require_folder
from allpairs.learner.pipelines.mining.texts import ID, TEXT, require_columns
from allpairs.learner.pipelines.pipeline import Run
from allpairs.learner.pipelines.quip.asked import read_questions
from allpairs.learner.pipelines.quip.student import CROSS, TEACHER
from allpairs.learner.pipelines.quip.uses.entities import sentences_of
from allpairs.learner.pipelines.quip.uses.paraphrases import pairs_of
from allpairs.learner.pipelines.quip.uses.rows import TABLES, Rows, read_table

NEED_QUESTIONS = (
    "no question generation",
    TEACHER,
    "no teacher",
    CROSS,
    "hard labels",
    "two-stage beam",
    GOLD,
)
READ: dict[str, Callable[[Rows, Any, int], Any]] = {  # how a use parses its rows; sentiment needs no parsing
    "paraphrases": pairs_of,
    "entities": sentences_of,
}


def check_quip_inputs(run: Run) -> None:
    """Raise InputError if a file or a model folder is unusable, or the settings fit neither."""
    config = run.config
    inputs = run.inputs
    for backbone in (config.generator.backbone, config.teacher.backbone, config.student.backbone):
        require_folder(backbone)
    require_columns(Path(inputs.passages), [ID, TEXT])
    needs = [variant for variant in config.variants if variant in NEED_QUESTIONS]
    if inputs.questions is None and needs:
        raise InputError(
            f"variants: {needs[0]!r} needs questions with answers: set inputs.questions, or leave the variant out"
        )
    _check_questions(inputs)
    for use in TABLES:
        if (name := getattr(inputs, use)) is not None:
            rows = read_table(Path(name), use)
            if use in READ:
                READ[use](rows, getattr(config, use), config.seed)
    _check_sizes(config, ranks=inputs.paraphrases is not None)


def _check_questions(inputs: Any) -> None:
    if inputs.questions is not None:
        read_questions(Path(inputs.questions))
    if inputs.reading is not None and not any(question.answered for question in read_questions(Path(inputs.reading))):
        raise InputError(
            f"{Path(inputs.reading).name}: no question has an answer: choose a file with answers to measure reading"
        )


def _check_sizes(config: QuipConfig, ranks: bool) -> None:
    """Raise InputError if a backbone reads too few tokens, or lacks the layer that ranks paraphrases."""
    needed = config.student.passage_length
    layer = config.paraphrases.layer
    reads = backbone_size(config.student.backbone)[1] - SPECIAL
    if reads < needed:
        raise InputError(
            f"student.passage_length is {needed}, but {config.student.backbone} reads only {reads} tokens: lower it"
        )
    if not ranks or layer is None:
        return
    cross = [config.teacher.backbone] if {TEACHER, CROSS} & {*config.variants} else []
    for backbone in (config.student.backbone, *cross):
        if (layers := backbone_size(backbone)[0]) < layer:
            raise InputError(
                f"paraphrases.layer is {layer}, but the last layer of {backbone} is {layers}: choose a lower one"
            )
