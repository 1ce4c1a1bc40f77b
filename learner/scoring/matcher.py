"""A matcher on disk: a folder that SentenceTransformer loads, with the output layer in matcher.json."""

import json
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from db.errors import InputError
from db.files.artifacts import held
from db.files.atomic import partial_path
from db.files.checksums import seal
from learner.models.encoder import Encoder, load_encoder
from learner.models.output_layer import OutputLayer
from learner.scoring.score import Blend

FILE = "matcher.json"


@dataclass(frozen=True)
class Matcher:
    """An encoder and, once trained, its output layer; blend: the components of its score."""

    encoder: Encoder
    layer: OutputLayer | None
    blend: Blend = field(default_factory=Blend)


def save_matcher(matcher: Matcher, folder: Path, **details: Any) -> None:
    """Save the matcher to the folder by an atomic write, replacing what is there.

    Its checksums leave out the matcher's own file, to which details are added later.
    """
    partial = partial_path(folder)
    matcher.encoder.save(partial)
    seal(partial)
    layer = matcher.layer
    known: dict[str, Any] = {}
    if layer:
        known = {"w": layer.w, "b": layer.b, "threshold": layer.threshold, "loss": layer.loss}
    known |= {"encoder": matcher.encoder.name, **matcher.blend.as_dict(), **details}
    (partial / FILE).write_text(json.dumps(known, indent=2))
    shutil.rmtree(folder, ignore_errors=True)
    partial.replace(folder)


def load_matcher(name: str, device: str | None = None) -> Matcher:
    """Load the matcher of a folder, or a bare encoder by name or folder, whose cosine ranks pairs without w and b.

    A matcher scores by the distance it was trained with; a bare encoder by its cosine, whatever its folder says.
    """
    with held(Path(name)) as folder:
        known = read_details(folder)
        try:
            layer = OutputLayer(float(known["w"]), float(known["b"])) if "w" in known else None
            blend = Blend.read(known)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise _broken(folder, error) from error
        encoder = load_encoder(name, device)
    return Matcher(encoder.variant(distance=encoder.saved_distance) if known else encoder, layer, blend)


def read_details(folder: Path) -> dict[str, Any]:
    """Return the contents of the matcher's file; empty for a bare encoder. Raises InputError if the file is broken."""
    file = folder / FILE
    try:
        return dict(json.loads(file.read_text())) if file.is_file() else {}
    except (ValueError, TypeError) as error:
        raise _broken(folder, error) from error


def _broken(folder: Path, error: Exception) -> InputError:
    return InputError(f"{folder / FILE} is not a matcher's file ({error!r}): train the model again")


def add_details(folder: Path, **details: Any) -> None:
    """Add these details to the matcher's file."""
    known = read_details(folder)
    partial = folder / f"{FILE}.tmp"
    partial.write_text(json.dumps({**known, **details}, indent=2))
    partial.replace(folder / FILE)
