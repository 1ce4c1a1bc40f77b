"""The groups of the rows of one list, for its clean list."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from allpairs.db.corpus.cells import shown, with_noun
from allpairs.db.corpus.field_kinds import LOOKED_AT, guess_kind
from allpairs.db.corpus.text_columns import TextColumns
from allpairs.db.domain import Clustering, Side, Split
from allpairs.db.errors import InputError
from allpairs.db.identity import identity
from allpairs.db.progress import Progress, no_progress
from allpairs.learner.data.dataset import make_dataset
from allpairs.learner.data.fields import RecordTexts
from allpairs.learner.files.match import Cut, best_matches, distinct_records
from allpairs.learner.light.clean.plan import CleanPlan, RowGroup
from allpairs.learner.light.groups.clusterings import clustered
from allpairs.learner.light.groups.description import described, with_equal_texts
from allpairs.learner.light.groups.links import Links
from allpairs.learner.models.encoder import load_encoder
from allpairs.learner.scoring.matcher import PairModel
from allpairs.learner.scoring.score import Blend

# Without labels: the score, from which value on pairs are joined, and from which on they look alike. docs/log.md has
# what they find in five lists.
UNTRAINED = Blend(0.0, {"ngrams": 0.5, "words": 1.0, "numbers": 0.5})
CAREFUL = 0.85
ALIKE = 0.7
LOWEST_P_LOGIT = -2.0  # of pairs that count in the mean p between two groups: 12 %


@dataclass(frozen=True)
class RowGroups:
    """The group of each row that has doubles, by the row's place.

    doubtful: the number of pairs of texts that look alike but are not in one group.

    trained: whether a trained model scored them.
    """

    of_row: dict[int, RowGroup]
    doubtful: int
    trained: bool


def untrained_model() -> PairModel:
    """Return the bundled encoder with the weights of lexical similarity that suit lists without labels."""
    return PairModel(load_encoder(), None, UNTRAINED)


def compared_columns(
    columns: Sequence[str], model: PairModel, chosen: Sequence[str] = (), id_column: str = ""
) -> tuple[str, ...]:
    """Return the columns to compare: those that are chosen, or those of the model, or all but the ids.

    Raises InputError for one that the list lacks.
    """
    usual = [column for column in columns if column and column != id_column]
    of_model = model.columns.names[Side.LEFT] if model.columns else ()
    compared = tuple(chosen or of_model or usual or columns)
    if missing := [column for column in compared if column not in columns]:
        who = "the model compares" if not chosen else "you name"
        listed = ", ".join(map(shown, columns[:20])) + (", …" if len(columns) > 20 else "")
        raise InputError(f"{who} column {shown(missing[0])}, and the list has {listed}: rename one, or choose columns")
    return compared


def list_records(rows: Sequence[Sequence[str]], columns: Sequence[str], model: PairModel) -> RecordTexts:
    """Return the rows of these columns as records, in which a trained model knows the kinds of its columns."""
    kinds = tuple(guess_kind(name, [row[place] for row in rows[:LOOKED_AT]]) for place, name in enumerate(columns))
    known = TextColumns({Side.LEFT: tuple(columns)}, {Side.LEFT: kinds} if len(columns) > 1 else {})
    return RecordTexts.of_rows(rows, Side.LEFT, known if model.layer is None else known.of_model(model.columns))


def group_rows_of_list(
    model: PairModel, records: RecordTexts, threshold: float | None = None, progress: Progress = no_progress
) -> RowGroups:
    """Return the groups of the rows of one list; rows of equal texts are always in one.

    threshold: the lowest score of a match; by default that where p is one half, or without a trained model a careful
    one. Raises InputError for a model whose score tells nothing.
    """
    filled = [row for row, text in enumerate(records.texts) if identity(text)]
    texts, places_of_filled = distinct_records(records.take(filled))
    places = [[filled[place] for place in of_text] for of_text in places_of_filled]
    n = len(places)
    usual = _usual_threshold(model)
    least_score = usual if threshold is None else threshold
    layer = model.layer
    looked_at = min(least_score, ALIKE if layer is None else (LOWEST_P_LOGIT - layer.b) / layer.w)
    left, right, score = _scored_pairs(model, texts, looked_at, progress) if n > 1 else _nothing()
    if layer is None:
        links = Links(n, left, right, score).at_least(least_score)
        group = clustered(links, Clustering.CONNECTED, least_score)
    else:
        links = Links(n, left, right, layer.probability(score))
        group = clustered(links, Clustering.AVERAGE, float(layer.probability(np.array([least_score]))[0]))
    groups = with_equal_texts(described(links, links.p, group), np.array(list(map(len, places)), dtype=np.int64))
    apart = groups.group_of_text[left] != groups.group_of_text[right]
    doubtful = int((apart | (groups.group_of_text[left] < 0)).sum())
    group_of_row = {row: int(groups.group_of_text[text]) for text, rows in enumerate(places) for row in rows}
    names = dict[int, str]()
    of_row = dict[int, RowGroup]()
    for row in sorted(group_of_row):
        number = group_of_row[row]
        if number >= 0:
            weakest = float(groups.weakest[number])
            equal = np.isnan(weakest)
            sure = 1.0 if equal else weakest if model.layer else None
            of_row[row] = RowGroup(names.setdefault(number, str(len(names) + 1)), sure)
    return RowGroups(of_row, doubtful, model.layer is not None)


def _usual_threshold(model: PairModel) -> float:
    if model.layer is None:
        return CAREFUL
    if model.layer.threshold is None:
        raise InputError(f"the score of {model.encoder.name} tells nothing: train it on more labels")
    return model.layer.threshold


def _scored_pairs(
    model: PairModel, texts: RecordTexts, threshold: float, progress: Progress
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    splits = [Split.EVALUATION] * len(texts.texts)
    dataset = make_dataset(texts.texts, texts.sides, splits, True, np.empty((0, 2)), records=texts)
    encoded = model.encoder.encode(dataset.texts, progress)
    pairs = best_matches(model, dataset, encoded, Cut(threshold=threshold), threshold, progress).pairs
    return pairs.left, pairs.right, pairs.score.astype(np.float64)


def _nothing() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    none = np.empty(0, dtype=np.int64)
    return none, none, np.empty(0)


def clean_list_in_words(plan: CleanPlan, groups: RowGroups) -> list[str]:
    """Return in sentences what became of the list, and what labels would add."""
    doubles = with_noun(len(plan.removed), "double")
    told = f"{with_noun(plan.rows, 'row')}, {doubles} in {with_noun(plan.doubled, 'group')}"
    sentences = [f"{told}: the clean list has {with_noun(plan.clean_rows, 'row')}."]
    if not groups.trained:
        doubtful = with_noun(groups.doubtful, "more pair")
        alike = f"{doubtful} look alike" if groups.doubtful else "no others look alike"
        sentences.append(
            f"Without labels only rows that are nearly the same were joined; {alike}. Label 50 pairs with "
            "`allpairs serve`, and give its model by --model: it tells doubles from near misses."
        )
    return [*sentences, *plan.notes]
