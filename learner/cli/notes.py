"""What people should know of the files that a command reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from allpairs.db.corpus.corpus import Corpus
    from allpairs.learner.files.evaluate import Model


def print_notes(model: Model, corpus: Corpus) -> None:
    """Print the notes of the files to stderr, and how many texts are longer than what the model reads."""
    from allpairs.learner.files.long_texts import long_texts_in_words

    for note in filter(None, [*corpus.notes, long_texts_in_words(model, [item.text for item in corpus.items])]):
        typer.echo(note, err=True)
