"""The command `convert`."""

from pathlib import Path
from typing import Annotated

import typer

from allpairs.db.errors import InputError
from allpairs.learner.cli.options import Json
from allpairs.learner.runtime.progress_output import print_result

FILES = ["*.json", "*.txt", "*.model", "pytorch_model*.bin"]  # of a hub's model; weights of other kinds stay there


def convert(
    model: Annotated[str, typer.Argument(help="A model's folder with pytorch_model.bin, or a name on the hub.")],
    out: Annotated[Path, typer.Option(help="New folder for the model with model.safetensors.")],
    json: Json = False,
) -> None:
    """Convert a model's weights from PyTorch's format to safetensors, which Allpairs loads.

    PyTorch's format can hold code. The weights are read in a process of their own, by a reader that accepts tensors
    alone. Security holes have been found in it before: convert only models that you trust.

    Example: allpairs convert facebook/bart-large --out models/bart-large
    """
    from allpairs.learner.models.convert_weights import convert_weights

    tensors = convert_weights(_folder(model), out)
    if json:
        print_result({"model": model, "out": str(out), "tensors": tensors}, None)
    else:
        typer.echo(f"{tensors:,} tensors are in {out}: name this folder as the model")


def _folder(model: str) -> Path:
    """Return the model's folder, fetched from the hub if there is none of that name."""
    if (folder := Path(model).expanduser()).is_dir():
        return folder
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError

    try:
        return Path(snapshot_download(model, allow_patterns=FILES))
    except (HfHubHTTPError, HFValidationError, LocalEntryNotFoundError, OSError) as error:
        problem = f"there is no folder {model}, and it could not be downloaded from the hub ({type(error).__name__})"
        raise InputError(f"{problem}: name a model's folder") from None
