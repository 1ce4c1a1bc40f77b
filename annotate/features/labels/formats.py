"""The formats of exported labels: what each is for, its columns and its rows."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import cycle, islice, zip_longest
from typing import Any

from allpairs.annotate.features.labels.checksum_chain import CHAIN, chained
from allpairs.db.corpus.equal_texts import further_ids, id_pairs
from allpairs.db.domain import AnswerKind, Kind, Purpose
from allpairs.db.labels.audits import AuditLabel
from allpairs.db.labels.labels import LabelRow
from allpairs.db.schema.tables import Design, MachineRater, PairVerdict

NUMBERS = {AnswerKind.POSITIVE: 1, AnswerKind.NEGATIVE: 0}  # unsure has none


class Form(StrEnum):
    """The formats of an export."""

    LABELS = "labels"
    HISTORY = "history"
    PAIRS = "pairs"
    POSITIVES = "positives"
    TRIPLETS = "triplets"
    AUDIT = "audit"
    IMPLIED = "implied"
    VERDICTS = "verdicts"


DESCRIPTIONS = {
    Form.LABELS: "The current label of each pair, in a row for each pair of ids that has its texts: ids, texts, label, "
    "annotator, time, why the pair was chosen, and "
    "whether one of its texts has been withdrawn.",
    Form.HISTORY: "Every answer ever given, with corrections, skips and undone ones; `counts` is 1 for current labels. "
    "Each row has a checksum over itself and the rows before it: `labels verify` detects any change.",
    Form.PAIRS: "Training data for sentence-transformers: two texts and 1 or 0 (ContrastiveLoss, CoSENTLoss).",
    Form.POSITIVES: "Training data for sentence-transformers: anchor and positive (MultipleNegativesRankingLoss).",
    Form.TRIPLETS: "Training data for sentence-transformers: anchor, positive and negative, where labels share a text "
    "(TripletLoss, MultipleNegativesRankingLoss).",
    Form.AUDIT: "Audit labels, with the sampling probability of each pair: for `allpairs evaluate --audit`.",
    Form.IMPLIED: "Unlabelled pairs whose label follows from others by transitivity, as used in training; "
    "`implied` is 1 for a match. They are not labels of people, so they cannot be imported.",
    Form.VERDICTS: "What machine raters said of each pair: rater, verdict, probability, version of the prompt, time "
    "and cost. No other export has them; they are not labels of people, so they cannot be imported.",
}
_PROVENANCE = {
    "annotator": str,
    "round": int,
    "strategy": str,
    "score": float,
    "created_at": str,
    "purpose": str,
    "note": str,
    "model": int,
    "guidelines": str,
}
_TEXTS = {"id1": str, "id2": str, "text1": str, "text2": str}
_ALSO = {"also1": str, "also2": str}  # where a row stands for a pair of texts: their other ids, as JSON
_PAIR = _TEXTS | {"label": int, "answer": str}
COLUMNS: dict[Form, dict[str, type]] = {
    Form.LABELS: _PAIR | _PROVENANCE | {"withdrawn": int},
    Form.HISTORY: _PAIR | _PROVENANCE | {"seconds": float, "counts": int} | _ALSO | CHAIN,
    Form.PAIRS: {"sentence1": str, "sentence2": str, "label": int},
    Form.POSITIVES: {"anchor": str, "positive": str},
    Form.TRIPLETS: {"anchor": str, "positive": str, "negative": str},
    Form.AUDIT: {"id1": str, "id2": str, "label": int, "inclusion": float, "stratum": int, "size": int, "band": int}
    | {"verdict": int, "read": int, "called": int}
    | _ALSO,
    Form.IMPLIED: _TEXTS | {"implied": int},
    Form.VERDICTS: _TEXTS
    | {"rater": str, "number": int, "verdict": str, "p": float, "prompt": str, "created_at": str, "cost": float}
    | _ALSO,
}


@dataclass(frozen=True)
class LabelExport:
    """The answers of a project to write, and their items' ids, all of each, and texts."""

    kind: Kind
    rows: list[LabelRow]
    audits: list[AuditLabel]
    designs: list[Design]
    ids: dict[int, list[str]]
    texts: dict[int, str]
    implied: Sequence[tuple[int, int, bool]] = ()  # for the implied format: pairs, and whether they match
    verdicts: Sequence[tuple[PairVerdict, MachineRater]] = ()  # for the format of that name
    withdrawn: frozenset[int] = frozenset()  # withdrawn items

    def of(self, purpose: Purpose) -> "LabelExport":
        """Return only the labels of this purpose."""
        rows = [row for row in self.rows if row.purpose == purpose]
        return replace(self, rows=rows)

    def has_gone(self, row: LabelRow) -> bool:
        """Return whether a text of the pair has been withdrawn."""
        return row.left_id in self.withdrawn or row.right_id in self.withdrawn

    @property
    def training(self) -> list[LabelRow]:
        """The labels used for training: not for measuring, and without withdrawn texts."""
        return [row for row in self.of(Purpose.TRAIN).rows if not self.has_gone(row)]


def table(labels: LabelExport, form: Form) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of the format, in its columns."""
    return _TABLES[form](labels)


def _labels(labels: LabelExport) -> Iterator[tuple[Any, ...]]:
    for row in labels.rows:
        for names in _all_texts(labels, row.left_id, row.right_id):
            yield *names, *_answer(row), int(labels.has_gone(row))


def _history(labels: LabelExport) -> Iterator[tuple[Any, ...]]:
    rows = [
        (
            *_texts(labels, row.left_id, row.right_id),
            *_answer(row),
            row.seconds,
            int(row.counts),
            *_also(labels, row.left_id, row.right_id),
        )
        for row in labels.rows
    ]
    return chained(list(COLUMNS[Form.HISTORY]), rows)


def _answer(row: LabelRow) -> tuple[Any, ...]:
    origin = row.annotator, row.round, row.strategy, row.score, row.created_at.isoformat(), row.purpose.value
    answer = NUMBERS.get(row.answer), row.answer.value
    return *answer, *origin, row.note, row.model, row.guidelines


def _texts(labels: LabelExport, left: int, right: int) -> tuple[str, str, str, str]:
    return labels.ids[left][0], labels.ids[right][0], labels.texts[left], labels.texts[right]


def _all_texts(labels: LabelExport, left: int, right: int) -> Iterator[tuple[str, str, str, str]]:
    """Yield the same for every pair of ids that the pair of texts stands for."""
    for left_id, right_id in id_pairs(labels.ids, left, right):
        yield left_id, right_id, labels.texts[left], labels.texts[right]


def _also(labels: LabelExport, left: int, right: int) -> tuple[str, str]:
    return further_ids(labels.ids[left]), further_ids(labels.ids[right])


def _pairs(labels: LabelExport) -> Iterator[tuple[Any, ...]]:
    for row in labels.training:
        if row.answer in NUMBERS:
            yield labels.texts[row.left_id], labels.texts[row.right_id], NUMBERS[row.answer]


def _positives(labels: LabelExport) -> Iterator[tuple[Any, ...]]:
    return (pair[:2] for pair in _pairs(labels) if pair[2])


def _triplets(labels: LabelExport) -> Iterator[tuple[Any, ...]]:
    """Yield every positive and negative of each anchor at least once; anchors that lack either yield nothing."""
    partners: dict[int, dict[AnswerKind, list[int]]] = {}
    for row in labels.training:
        for anchor, partner in _anchored(row, labels.kind):
            partners.setdefault(anchor, {}).setdefault(row.answer, []).append(partner)
    for anchor, by_answer in partners.items():
        positives = by_answer.get(AnswerKind.POSITIVE, [])
        negatives = by_answer.get(AnswerKind.NEGATIVE, [])
        for positive, negative in _combined(positives, negatives):
            yield labels.texts[anchor], labels.texts[positive], labels.texts[negative]


def _anchored(row: LabelRow, kind: Kind) -> Iterable[tuple[int, int]]:
    directions = (row.left_id, row.right_id), (row.right_id, row.left_id)
    return directions if kind == Kind.SYMMETRIC else directions[:1]


def _combined(positives: list[int], negatives: list[int]) -> Iterator[tuple[int, int]]:
    length = max(len(positives), len(negatives))
    return islice(zip(cycle(positives), cycle(negatives), strict=False), length)


def _audit(labels: LabelExport) -> Iterator[tuple[Any, ...]]:
    """Yield the sampled pairs with their strata in the design that the last update of the figures used."""
    measured = [design for design in labels.designs if "sample" in design.details]
    if not measured:
        return
    newest = measured[-1]
    answers = {(label.left_id, label.right_id): label.answer for label in labels.audits}
    rated = newest.details.get("rated") or {"said": [], "read": [], "called": []}  # said: 0 no, 1 yes, 2 not read
    drawn = zip_longest(newest.details["sample"], rated["said"])
    for (left, right, stratum, inclusion), verdict in drawn:
        if answers.get((left, right)) in NUMBERS:
            label = NUMBERS[answers[left, right]]
            details = newest.strata[stratum]
            band = details.get("band", stratum) + 1
            by_rater = (None, None, None)
            if verdict is not None:
                by_rater = verdict if verdict < 2 else None, rated["read"][stratum], rated["called"][stratum]
            first = labels.ids[left][0], labels.ids[right][0]
            yield *first, label, inclusion, stratum, details["size"], band, *by_rater, *_also(labels, left, right)


def _implied(labels: LabelExport) -> Iterator[tuple[Any, ...]]:
    for left, right, match in labels.implied:
        yield from ((*names, int(match)) for names in _all_texts(labels, left, right))


def _verdicts(labels: LabelExport) -> Iterator[tuple[Any, ...]]:
    for verdict, rater in labels.verdicts:
        pair = verdict.left_id, verdict.right_id
        answer = rater.setup["name"], rater.number, str(verdict.verdict), verdict.p, verdict.prompt
        yield *_texts(labels, *pair), *answer, verdict.at.isoformat(), verdict.cost, *_also(labels, *pair)


_TABLES: dict[Form, Callable[[LabelExport], Iterator[tuple[Any, ...]]]] = {
    Form.LABELS: _labels,
    Form.HISTORY: _history,
    Form.PAIRS: _pairs,
    Form.POSITIVES: _positives,
    Form.TRIPLETS: _triplets,
    Form.AUDIT: _audit,
    Form.IMPLIED: _implied,
    Form.VERDICTS: _verdicts,
}
