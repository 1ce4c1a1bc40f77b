"""The groups of the rows of one list, for its clean list."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from allpairs.db.corpus.cells import shown, with_noun
from allpairs.db.corpus.column_guess import guess_columns
from allpairs.db.corpus.field_kinds import LOOKED_AT, guess_kind
from allpairs.db.corpus.files import TO_BE_FOUND, FileFormat, ReadFile, preview, read_rows
from allpairs.db.corpus.staging import Staging
from allpairs.db.corpus.text_columns import TextColumns, usual_clustering
from allpairs.db.domain import Kind, Side, Split
from allpairs.db.errors import InputError
from allpairs.db.identity import identity
from allpairs.db.progress import Progress, no_progress
from allpairs.learner.data.dataset import make_dataset
from allpairs.learner.data.fields import RecordTexts
from allpairs.learner.files.match import Cut, best_matches, distinct_records
from allpairs.learner.light.clean.files import require_table_paths, table_paths, write_clean_list
from allpairs.learner.light.clean.plan import ListedRow, RowGroup, plan_clean_list
from allpairs.learner.light.clean.rules import USUAL_RULES, CleanRules
from allpairs.learner.light.groups.clusterings import clustered
from allpairs.learner.light.groups.description import described, with_equal_texts
from allpairs.learner.light.groups.links import NEAR_LOGITS, Links
from allpairs.learner.models.encoder import load_encoder
from allpairs.learner.models.output_layer import probability_of
from allpairs.learner.scoring.matcher import PairModel, load_matcher
from allpairs.learner.scoring.untrained import CAREFUL, CAREFUL_P, UNTRAINED, stage_by_columns
from allpairs.learner.search.exact import Pairs

# From this score on, or this p by their columns, pairs look alike where nobody has labelled any.
ALIKE = 0.45
ALIKE_P = 0.1


@dataclass(frozen=True)
class RowGroups:
    """The group of each row that has doubles, by the row's place.

    doubtful: the number of pairs of texts that look alike but are not in one group; trained: whether a trained model
    scored them.
    """

    of_row: dict[int, RowGroup]
    doubtful: int
    trained: bool


def model_for_list(name: str | None = None) -> PairModel:
    """Load the matcher of a folder; without a name the bundled encoder, with the lexical weights that suit lists."""
    return PairModel(load_encoder(), None, UNTRAINED) if name is None else load_matcher(name)


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

    threshold: the lowest score of a match, or where columns agree without a trained model the lowest p; by default that
    of p = 1/2, or without a trained model a careful one. Raises InputError for a model whose score tells nothing.
    """
    filled = [row for row, text in enumerate(records.texts) if identity(text)]
    texts, places_of_filled = distinct_records(records.take(filled))
    places = [[filled[place] for place in of_text] for of_text in places_of_filled]
    n = len(places)
    pairs, p, least = _candidates(model, texts, threshold, progress)
    left = pairs.left
    right = pairs.right
    links = Links(n, left, right, p)
    several_columns = len(records.columns.names[Side.LEFT]) > 1
    group = clustered(links, usual_clustering(Kind.SYMMETRIC, several_columns), least)
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
            sure = 1.0 if equal else weakest if model.layer else None  # nobody has checked a p that labels did not make
            of_row[row] = RowGroup(names.setdefault(number, str(len(names) + 1)), sure)
    return RowGroups(of_row, doubtful, model.layer is not None)


def _candidates(
    model: PairModel, texts: RecordTexts, threshold: float | None, progress: Progress
) -> tuple[Pairs, np.ndarray, float]:
    """Return the pairs down to those that look alike, their p, (n,) float64, and the least p of a match.

    Of a score without probabilities, it stands for p.
    """
    n = len(texts.texts)
    dataset = make_dataset(texts.texts, texts.sides, [Split.EVALUATION] * n, True, np.empty((0, 2)), records=texts)
    encoded = model.encoder.encode(dataset.texts, progress)
    layer = model.layer
    if layer is None:
        if staged := stage_by_columns(dataset, model.vectors(dataset, encoded, progress), progress):
            least = CAREFUL_P if threshold is None else threshold
            p = staged.layer.probability(staged.rescored.pairs.score)
            is_alike = p >= min(least, ALIKE_P)
            return staged.rescored.pairs.take(is_alike), p[is_alike], least
        least_score = CAREFUL if threshold is None else threshold
        alike = ALIKE
    elif layer.threshold is None:
        raise InputError(f"the score of {model.encoder.name} tells nothing: train it on more labels")
    else:
        least_score = layer.threshold if threshold is None else threshold
        alike = layer.threshold - NEAR_LOGITS / layer.w
    lowest = min(least_score, alike)
    pairs = best_matches(model, dataset, encoded, Cut(threshold=lowest), lowest, progress).pairs
    return pairs, probability_of(layer, pairs.score), float(probability_of(layer, np.array([least_score]))[0])


@dataclass(frozen=True)
class CleanChoices:
    """What people choose for a file's clean list. id_column: None for a guess, "" for the numbers of the rows.

    stated: how the file holds its table.
    """

    rules: CleanRules = USUAL_RULES
    id_column: str | None = None
    text_columns: tuple[str, ...] = ()
    threshold: float | None = None
    stated: FileFormat = TO_BE_FOUND


def clean_file(
    path: Path, out: Path, model: PairModel, choices: CleanChoices, progress: Progress = no_progress
) -> dict[str, Any]:
    """Write the clean list of a file, the list marked, and what changed; return what became of its rows.

    Raises InputError for a file that cannot be read, rules that do not fit it, and files that cannot be written.
    """
    require_table_paths(out)
    head = preview(path, LOOKED_AT, choices.stated)
    id_column = (
        guess_columns(head.names, [row.values for row in head.rows]).id
        if choices.id_column is None
        else choices.id_column
    )
    compared = compared_columns(head.names, model, choices.text_columns, id_column)
    choices.rules.require_possible(head.names)
    named = (id_column,) if id_column else ()
    about = ReadFile()
    staged = Staging(keeps_rows=True)
    texts = list[Sequence[str]]()
    columns = (*named, *compared)
    listed = read_rows(path, columns, progress, optional=compared, stated=choices.stated, about=about, whole=True)
    for number, values in listed:
        texts.append(values[len(named) : len(named) + len(compared)])
        staged.add_row(Side.LEFT, values[0].strip() if named else str(number), values[len(named) + len(compared) :])
    groups = group_rows_of_list(model, list_records(texts, compared, model), choices.threshold, progress)
    del texts

    def rows() -> Iterator[ListedRow]:
        return (ListedRow(place, *row) for place, row in enumerate(staged.rows_of(Side.LEFT)))

    plan = plan_clean_list(rows, about.names, groups.of_row, choices.rules)
    progress("writing", 0.0)
    notes = [*about.notes, *plan.notes, *write_clean_list(out, rows, plan, about.format)]
    return {
        "rows": plan.rows,
        "doubles": len(plan.removed),
        "groups": plan.doubled,
        "clean_rows": plan.clean_rows,
        "alike": groups.doubtful,
        "id_column": id_column,
        "compared": list(compared),
        "out": list(map(str, table_paths(out))),
        "notes": notes,
    }


def clean_list_in_words(result: Mapping[str, Any], trained: bool) -> list[str]:
    """Return in sentences what `clean_file` did, and what labels would add."""
    doubles = f"{with_noun(result['doubles'], 'double')} in {with_noun(result['groups'], 'group')}"
    sentences = [
        f"{with_noun(result['rows'], 'row')}, {doubles}: the clean list has {with_noun(result['clean_rows'], 'row')}.",
        f"Compared: {', '.join(result['compared'])}.",
    ]
    if not trained:
        alike = f"{with_noun(result['alike'], 'more pair')} look alike" if result["alike"] else "no others look alike"
        sentences.append(
            f"Nobody has labelled any: only rows that agree well were joined; {alike}. Label 50 pairs with "
            "`allpairs serve`, download the model, and name it by --model: it tells doubles from near misses."
        )
    return sentences
