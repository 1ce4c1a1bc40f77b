"""A matcher on disk: a folder that SentenceTransformer loads, with the output layer in matcher.json."""

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from allpairs.db.corpus.text_columns import TextColumns
from allpairs.db.errors import InputError
from allpairs.db.files.artifacts import held
from allpairs.db.files.atomic import partial_path
from allpairs.db.files.checksums import seal
from allpairs.db.progress import Progress, no_progress
from allpairs.learner.data.dataset import Dataset
from allpairs.learner.data.lexical_features import KINDS, Lexicon, lexicon_by
from allpairs.learner.models.encoder import Encoder, load_encoder
from allpairs.learner.models.output_layer import OutputLayer
from allpairs.learner.scoring.reference import FILE as REFERENCE
from allpairs.learner.scoring.reference import Reference, read_reference, referred, save_reference, with_known
from allpairs.learner.scoring.score import Blend, blended
from allpairs.learner.search.inner_product import Space
from allpairs.learner.search.rescored import NOTHING, Rescored
from allpairs.learner.second_stage.field_features import FieldFeatures
from allpairs.learner.second_stage.rescore import PairFeatures, best_dataset_pairs, features_of, rescore
from allpairs.learner.second_stage.second_stage import SecondStage

FILE = "matcher.json"
# in a matcher's details
SECOND_STAGE = "second_stage"
COLUMNS = "columns"
CURVE = ("score", "precision")  # of a matcher's measured curve, what is read


@dataclass(frozen=True)
class PairModel:
    """What scores pairs: an encoder and, once trained, its output layer; blend: the components of its first score.

    second: its second stage, if it has one; reference: what the score needs of the corpus that it was trained on, where
    it needs any; columns: the text columns of that corpus, if it had several; curve: precision and recall by score,
    where they were measured.
    """

    encoder: Encoder
    layer: OutputLayer | None
    blend: Blend = field(default_factory=Blend)
    second: SecondStage | None = None
    reference: Reference | None = None
    columns: TextColumns | None = None
    curve: dict[str, list[float]] | None = None

    @property
    def space(self) -> Space:
        """The space of `vectors`."""
        return Space(self.encoder.distance, offset=True)

    @property
    def needs_all(self) -> bool:
        """Whether the score of two texts depends on the other texts of the dataset."""
        return (self.blend.needs_all or self.second is not None) and self.reference is None

    def vectors(self, dataset: Dataset, encoded: np.ndarray, progress: Progress = no_progress) -> np.ndarray:
        """Return blended vectors (texts, d) of a dataset; encoded: (texts, e), by the matcher's encoder.

        By the reference: the same score wherever a pair is. A matcher without one learns from the dataset itself.
        """
        if self.reference is None:
            return blended(dataset, encoded, self.blend, self.encoder.distance, progress)
        left = dataset.left
        right = dataset.right
        whole = np.zeros((len(encoded), encoded.shape[1] + self.blend.extra), dtype=np.float32)
        for rows, of_left in [(left, True)] if dataset.symmetric else [(left, True), (right, False)]:
            whole[rows] = self.vectors_of([dataset.texts[row] for row in rows], encoded[rows], of_left)
        return whole

    def vectors_of(self, texts: Sequence[str], encoded: np.ndarray, of_left: bool) -> np.ndarray:
        """Return blended vectors (texts, d) of any texts of the left list, or of the right one.

        encoded: (texts, e), by the matcher's encoder. The score must not need all texts of a dataset.
        """
        if self.reference is not None:
            return referred(self.reference, self.blend, texts, encoded, of_left, self.encoder.distance)
        assert not self.needs_all
        return self.blend.joined(encoded, None)

    def rescored(self, dataset: Dataset, vectors: np.ndarray, progress: Progress = no_progress) -> Rescored:
        """Return the pairs of a dataset that the second stage scores again; vectors: (texts, d), blended.

        A text of the matcher's corpus competes with its candidates there, another one with those of the dataset.
        """
        if self.second is None:
            return NOTHING
        pairs = best_dataset_pairs(dataset, vectors, self.space, self.second.floor, progress)
        return rescore(self.second, pairs, self.pair_features(dataset, vectors, progress), len(dataset.texts))

    def pair_features(self, dataset: Dataset, vectors: np.ndarray, progress: Progress = no_progress) -> PairFeatures:
        """Return the features of a dataset's pairs, as `rescored` has them."""
        one_list = dataset.symmetric if self.reference is None else self.reference.one_list
        fields = self.second.fields(dataset.fields) if self.second else FieldFeatures((), {})
        features = features_of(dataset, vectors, self.space, self.lexicon(dataset), one_list, fields, progress)
        if self.reference is None:
            return features
        return replace(features, competition=with_known(self.reference, dataset.texts, features.competition))

    def lexicon(self, dataset: Dataset) -> Lexicon:
        """Return the lexical features of a dataset's texts, by the terms that the score goes by."""
        terms = self.reference and self.reference.terms
        return lexicon_by(terms, dataset.texts) if terms else dataset.lexicon


def save_matcher(matcher: PairModel, folder: Path, **details: Any) -> None:
    """Save the matcher to the folder by an atomic write, replacing what is there.

    Its checksums leave out the matcher's own file, to which details are added later.
    """
    partial = partial_path(folder)
    matcher.encoder.save(partial)
    if matcher.reference:
        save_reference(matcher.reference, partial)
        details = matcher.reference.as_dict() | details
    seal(partial)
    layer = matcher.layer
    known: dict[str, Any] = {}
    if layer:
        known = {"w": layer.w, "b": layer.b, "threshold": layer.threshold, "loss": layer.loss}
    second = {} if matcher.second is None else {SECOND_STAGE: matcher.second.as_dict()}
    columns = {COLUMNS: matcher.columns.as_dict()} if matcher.columns else {}
    known |= {"encoder": matcher.encoder.name, **matcher.blend.as_dict(), **second, **columns, **details}
    (partial / FILE).write_text(json.dumps(known, indent=2), encoding="utf-8")
    shutil.rmtree(folder, ignore_errors=True)
    partial.replace(folder)


def load_matcher(name: str, device: str | None = None) -> PairModel:
    """Load the matcher of a folder, or a bare encoder by name or folder, whose cosine ranks pairs without w and b.

    A matcher scores by the distance it was trained with; a bare encoder by its cosine, whatever its folder says.
    """
    with held(Path(name)) as folder:
        known = read_details(folder)
        try:
            parts = _parts_of(known)
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:
            raise _broken(folder, error) from error
        encoder = load_encoder(name, device)
        reference = read_reference(folder)
        if read_details(folder) != known:
            raise InputError(f"another model was written to {name} while it was loaded: load it again")
    matcher = PairModel(
        encoder.variant(distance=encoder.saved_distance) if known else encoder, reference=reference, **parts
    )
    _require_fit(matcher, folder)
    return matcher


def _parts_of(known: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parts of the score that a matcher's file describes. Raises the errors of reading a broken one."""
    layer = OutputLayer(float(known["w"]), float(known["b"])) if "w" in known else None
    blend = Blend.read(known)
    second = known.get(SECOND_STAGE, {})
    stage = SecondStage.read(second) if "features" in second else None
    curve = {name: list(map(float, known["curve"][name])) for name in CURVE} if known.get("curve") else None
    numbers: list[Any] = [
        [layer.w, layer.b] if layer else [],
        [blend.hubness, *blend.lexical.values()],
        *(curve or {}).values(),
    ]
    if stage is not None:
        numbers += [[stage.floor, stage.slope, stage.bias], stage.mean, stage.weight, 1 / stage.deviation]
        numbers += [[stage.agreement.odds], *stage.agreement.weights.values()] if stage.agreement else []
    if not all(np.isfinite(row).all() for row in numbers) or len(set(map(len, (curve or {}).values()))) > 1:
        raise ValueError("what is no number")
    if unknown := set(blend.lexical) - set(KINDS):
        raise ValueError(f"an unknown kind of similarity, {unknown.pop()!r}")
    return {
        "layer": layer,
        "blend": blend,
        "second": stage,
        "columns": TextColumns.read(known.get(COLUMNS)),
        "curve": curve,
    }


def _require_fit(matcher: PairModel, folder: Path) -> None:
    """Raise InputError unless a trained matcher has the reference that it needs, of its own vectors and scores."""
    if matcher.layer is not None and matcher.needs_all:
        raise InputError(
            f"{folder} lacks {REFERENCE}, which its score needs: download the model again, or train it again"
        )
    if matcher.reference is None:
        return
    width = matcher.encoder.dimension + matcher.blend.extra
    for side in (matcher.reference.left, matcher.reference.right):
        staged = matcher.second is None or len(side.near) == len(side.known)
        if (len(side.sample) and side.sample.shape[1] != width) or not staged:
            raise InputError(f"{folder / REFERENCE} is of another model: download the model again, or train it again")
    if matcher.blend.lexical and matcher.reference.terms is None:
        raise InputError(f"{folder / REFERENCE} has no terms, which the score needs: train the model again")


def columns_in(folder: Path) -> TextColumns | None:
    """Return the text columns of a matcher's file, if it has any. Raises InputError if they are broken."""
    try:
        return TextColumns.read(read_details(folder).get(COLUMNS))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise _broken(folder, error) from error


def add_reference(reference: Reference, folder: Path) -> None:
    """Add the reference to a matcher's folder, and its checksum."""
    save_reference(reference, folder)
    seal(folder, [folder / REFERENCE])
    add_details(folder, **reference.as_dict())


def read_details(folder: Path) -> dict[str, Any]:
    """Return the contents of the matcher's file; empty for a bare encoder. Raises InputError if the file is broken."""
    file = folder / FILE
    try:
        return dict(json.loads(file.read_text(encoding="utf-8"))) if file.is_file() else {}
    except (ValueError, TypeError, RecursionError) as error:
        raise _broken(folder, error) from error


def _broken(folder: Path, error: Exception) -> InputError:
    return InputError(f"{folder / FILE} is not a matcher's file ({error!r}): train the model again")


def add_details(folder: Path, **details: Any) -> None:
    """Add these details to the matcher's file."""
    known = read_details(folder)
    partial = folder / f"{FILE}.tmp"
    partial.write_text(json.dumps({**known, **details}, indent=2), encoding="utf-8")
    partial.replace(folder / FILE)
