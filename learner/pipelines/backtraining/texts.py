"""The first stage: check the inputs, cut them to the wanted amounts, and copy them into files for the other stages."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from allpairs.db.errors import InputError
from allpairs.db.identity import identity
from allpairs.db.progress import Progress
from allpairs.learner.models.model_folder import require_folder
from allpairs.learner.pipelines.backtraining.domain import in_domain
from allpairs.learner.pipelines.backtraining.files import (
    DomainText,
    PassageQuestion,
    read_domain_texts,
    read_passage_questions,
    require_pairs,
    require_texts,
)
from allpairs.learner.pipelines.pipeline import Run

LEAST_PAIRS = 4
DEV_SHARE = 5  # without development pairs, one in this many source pairs becomes one
TEXTS = "texts"


@dataclass(frozen=True)
class Data:
    """The texts of a run, read from its first stage; all of them are in memory."""

    folder: Path

    @cached_property
    def source(self) -> list[PassageQuestion]:
        """The source pairs."""
        return self._pairs("source_pairs")

    @cached_property
    def dev(self) -> list[PassageQuestion]:
        """The development pairs."""
        return self._pairs("dev_pairs")

    @cached_property
    def test(self) -> list[PassageQuestion]:
        """The test pairs; the development pairs if there are none."""
        return self._pairs("test_pairs") or self.dev

    @property
    def has_test(self) -> bool:
        """Whether there are test pairs besides the development pairs."""
        return bool(self._pairs("test_pairs"))

    @cached_property
    def supervised(self) -> list[PassageQuestion]:
        """The pairs of the upper bound."""
        return self._pairs("supervised_pairs")

    @cached_property
    def source_test(self) -> list[PassageQuestion]:
        """The source domain's test pairs."""
        return self._pairs("source_test")

    @cached_property
    def questions(self) -> list[DomainText]:
        """The questions of the target domain, each once."""
        return [DomainText(**text) for text in self._read("questions")]

    @cached_property
    def passages(self) -> list[DomainText]:
        """The passages of the target domain, each once."""
        return [DomainText(**text) for text in self._read("passages")]

    @cached_property
    def candidates(self) -> dict[str, int]:
        """The passages to search for test passages, each with its number of copies."""
        return {text: count for text, count in self._read("candidates")}  # noqa: C416  (of JSON's lists)

    @property
    def about(self) -> dict[str, Any]:
        """Figures of the reading, by name."""
        figures: dict[str, Any] = self._read("about")
        return figures

    def _pairs(self, name: str) -> list[PassageQuestion]:
        return [PassageQuestion(**pair) for pair in self._read(name)]

    def _read(self, name: str) -> Any:
        return json.loads((self.folder / f"{name}.json").read_text(encoding="utf-8"))


def domain_data(run: Run) -> Data:
    """Return the texts that the run's first stage has read."""
    return Data(run.of(TEXTS))


def check_domain_inputs(run: Run) -> None:
    """Raise InputError if a file lacks a column, or the configuration is impossible."""
    inputs = run.inputs
    config = run.config
    for backbone in (config.generator.backbone, *config.retriever.backbones):
        require_folder(backbone)
    if "supervised" in config.variants and inputs.supervised_pairs is None:
        raise InputError("variants: supervised needs inputs.supervised_pairs: set it, or leave the variant out")
    pairs = ("source_pairs", "dev_pairs", "test_pairs", "supervised_pairs", "source_test")
    for path in (getattr(inputs, name) for name in pairs):
        if path is not None:
            require_pairs(Path(path))
    lists = {"questions": inputs.questions, "passages": inputs.passages, "test_passages": inputs.test_passages}
    for name, path in lists.items():
        if path is not None:
            require_texts(Path(path), name.removeprefix("test_"))
    n = len(read_passage_questions(Path(inputs.source_pairs)))
    if n < LEAST_PAIRS:
        raise InputError(
            f"{Path(inputs.source_pairs).name}: {n} pairs, but at least {LEAST_PAIRS} are needed: add some"
        )


def read_domain_inputs(run: Run, folder: Path, progress: Progress) -> None:
    """Write pairs and lists to the folder."""
    inputs = run.inputs
    config = run.config
    rng = np.random.default_rng(config.seed)
    amounts = config.amounts
    pairs = {
        name: read_passage_questions(Path(path)) if (path := getattr(inputs, name)) else []
        for name in ("source_pairs", "dev_pairs", "test_pairs", "supervised_pairs", "source_test")
    }
    progress("reading", 0.3)
    if not pairs["dev_pairs"]:
        dev_count = max(2, len(pairs["source_pairs"]) // DEV_SHARE)
        mixed = [pairs["source_pairs"][row] for row in rng.permutation(len(pairs["source_pairs"]))]
        pairs["dev_pairs"] = mixed[:dev_count]
        pairs["source_pairs"] = mixed[dev_count:]
    tested = {identity(pair.question) for pair in pairs["test_pairs"]}
    measured = tested | {identity(pair.question) for pair in pairs["dev_pairs"]}
    for name, excluded in (("source_pairs", measured), ("supervised_pairs", tested)):
        pairs[name] = [pair for pair in pairs[name] if identity(pair.question) not in excluded]
    for name in ("source_pairs", "dev_pairs", "test_pairs"):
        pairs[name] = _some(pairs[name], getattr(amounts, name), rng)
    pairs["source_test"] = _some(pairs["source_test"], amounts.test_pairs, rng)  # as many as in the target domain
    for name, known in pairs.items():
        _write(folder, name, [asdict(pair) for pair in known])
    questions = [
        pair for pair in read_domain_texts(Path(inputs.questions), "questions") if identity(pair.text) not in measured
    ]
    progress("reading", 0.6)
    sorting: dict[str, Any] = {}
    if inputs.question_labels is not None:
        chosen, accuracy = in_domain(questions, Path(inputs.question_labels), config, progress)
        sorting = {"questions before sorting": len(questions), "accuracy of sorting": accuracy}
        questions = [pair for pair, stays in zip(questions, chosen, strict=True) if stays]
    passages = read_domain_texts(Path(inputs.passages), "passages")
    for kind, texts in (("questions", questions), ("passages", passages)):
        if len(texts) < 2:
            raise InputError(f"{len(texts)} {kind} are left, but at least 2 are needed: add more")
    candidates = _candidates(run, pairs, passages, rng)
    _write(folder, "candidates", list(candidates.items()))
    _write(folder, "questions", [asdict(pair) for pair in _some(questions, amounts.questions, rng)])
    _write(folder, "passages", [asdict(pair) for pair in _some(passages, amounts.passages, rng)])
    _write(folder, "about", sorting)


def _candidates(
    run: Run, pairs: dict[str, list[PassageQuestion]], passages: Sequence[DomainText], rng: np.random.Generator
) -> Counter[str]:
    """Return the passages to search in, with their numbers of copies: the known ones, and other random ones."""
    path = run.inputs.test_passages
    copies = Counter(
        text.text for text in (read_domain_texts(Path(path), "passages", each_once=False) if path else passages)
    )
    known = dict.fromkeys(identity(pair.passage) for pair in (*pairs["dev_pairs"], *pairs["test_pairs"]))
    distractors = [text for text in copies if text not in known]
    chosen = [*known, *_some(distractors, run.config.amounts.test_passages, rng)]
    return Counter({text: copies.get(text, 1) for text in chosen})


def _some(values: Sequence[Any], n: int | None, rng: np.random.Generator) -> list[Any]:
    """Return n random values in their order, or all if there are no more."""
    if n is None or n >= len(values):
        return list(values)
    return [values[row] for row in np.sort(rng.choice(len(values), n, replace=False))]


def _write(folder: Path, name: str, content: Any) -> None:
    (folder / f"{name}.json").write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
