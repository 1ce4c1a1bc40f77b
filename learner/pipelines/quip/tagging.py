"""Few-shot entity tagging, with a last layer initialised from questions.

Source: Jia, Lewis and Zettlemoyer (2022), section 3.3.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from seqeval.metrics import f1_score
from seqeval.metrics.sequence_labeling import get_entities
from torch import Tensor, nn

from allpairs.db.progress import Progress, no_progress, part_of
from allpairs.learner.backbones.length_batches import descend
from allpairs.learner.backbones.loading import MANY, longest
from allpairs.learner.backbones.span_biencoder import SpanBiencoder
from allpairs.learner.backbones.token_encoder import TokenEncoder
from allpairs.learner.light.catalog.backbones import Training
from allpairs.learner.light.catalog.quip import Entities
from allpairs.learner.runtime.device import fast_training, seeded

OUTSIDE = "O"
IGNORED = -100  # the label of tokens that do not begin a word
SPREAD = 0.02  # standard deviation of a random last layer


@dataclass(frozen=True)
class Sentences:
    """Words of sentences, and the tag of each word."""

    words: list[list[str]]
    tags: list[list[str]]

    def __len__(self) -> int:
        return len(self.words)

    def take(self, rows: Sequence[int]) -> "Sentences":
        """Return the sentences at these rows."""
        return Sentences([self.words[i] for i in rows], [self.tags[i] for i in rows])


def few_sentences(sentences: Sentences, shots: int, seed: int) -> list[int]:
    """Return positions of sentences that hold each kind of entity in at least `shots` of them, ascending.

    They are drawn at random, the rarest kind first; if fewer sentences have a kind, all of those.
    """
    kinds = [{kind for kind, *_ in get_entities(tags)} for tags in sentences.tags]
    count = {kind: sum(kind in sentence_kinds for sentence_kinds in kinds) for kind in sorted(set().union(*kinds))}
    order = np.random.default_rng(seed).permutation(len(sentences)).tolist()
    chosen = set[int]()
    for kind in sorted(count, key=lambda kind: count[kind]):
        missing = shots - sum(kind in kinds[i] for i in chosen)
        chosen |= set([i for i in order if kind in kinds[i] and i not in chosen][: max(0, missing)])
    return sorted(chosen)


def tags_of(sentences: Sentences) -> list[str]:
    """Return O, and B and I of each kind, in a fixed order."""
    kinds = sorted({tag[2:] for tags in sentences.tags for tag in tags if tag != OUTSIDE})
    return [OUTSIDE, *(f"{mark}-{kind}" for kind in kinds for mark in "BI")]


def question_rows(biencoder: SpanBiencoder, tags: Sequence[str], prompts: Mapping[str, str]) -> Tensor:
    """Return a last layer's rows (tags, d): each tag's question under the start head, normalised.

    B and I of a kind have the same row.
    """
    kinds = [tag if tag == OUTSIDE else tag[2:] for tag in tags]
    questions = [" " + prompts.get(kind, f"What is a {kind} ?") for kind in kinds]  # with the released code's space
    return nn.functional.normalize(biencoder.asked_many(questions, MANY)[0], dim=1).detach().clone()


def few_shot_f1(
    encoder: TokenEncoder,
    few: Sentences,
    test: Sentences,
    settings: Entities,
    seed: int,
    rows: Tensor | None = None,
    tags: Sequence[str] | None = None,
    progress: Progress = no_progress,
) -> float:
    """Return the F1 of the test sentences' entities; the encoder is trained in place. rows: initial last layer."""
    tags = list(tags or tags_of(few))
    model = _Tagger(encoder, len(tags), rows, seed)
    ids, labels = _read(encoder, few, tags)
    training = Training(
        learning_rate=settings.learning_rate,
        batch_size=settings.batch_size,
        epochs=settings.epochs,
        warm_up=0,
        weight_decay=0,
        seed=seed,
    )
    descend(_TagLosses(model, ids, labels), training, part_of(progress, 0.0, 0.7))
    return entity_f1(_tagged(model, encoder, test, tags), test.tags)


def entity_f1(predicted: Sequence[Sequence[str]], right: Sequence[Sequence[str]]) -> float:
    """Return the F1 over the entities of all sentences; an I without a B begins an entity, as in CoNLL's script."""
    return float(f1_score(right, predicted, zero_division=0))


class _Tagger(nn.Module):
    """An encoder and a linear layer of scores for each tag."""

    def __init__(self, encoder: TokenEncoder, tags: int, rows: Tensor | None, seed: int) -> None:
        super().__init__()
        self.encoder = encoder.model
        self.reader = encoder
        with seeded(seed, encoder.device):
            self.last = nn.Linear(encoder.model.config.hidden_size, tags).to(encoder.device)
            nn.init.normal_(self.last.weight, std=SPREAD)
            nn.init.zeros_(self.last.bias)
        if rows is not None:
            self.last.weight.data.copy_(rows)

    def forward(self, ids: Sequence[list[int]]) -> Tensor:
        logits: Tensor = self.last(self.reader.vectors(*self.reader.padded(ids)))
        return logits


@dataclass(frozen=True)
class _TagLosses:
    """As `RowLosses`: a row is a sentence, with a loss for each word."""

    network: _Tagger
    ids: list[list[int]]
    labels: list[list[int]]

    @property
    def lengths(self) -> np.ndarray:
        return np.array([len(row) for row in self.ids], dtype=np.int64)

    @property
    def weights(self) -> np.ndarray:
        return np.array([sum(label != IGNORED for label in row) for row in self.labels])

    def loss(self, rows: np.ndarray) -> Tensor:
        device = self.network.reader.device
        with fast_training(device):
            logits = self.network([self.ids[i] for i in rows]).float()
        labels = [torch.tensor(self.labels[i]) for i in rows]
        padded = nn.utils.rnn.pad_sequence(labels, batch_first=True, padding_value=IGNORED).to(device)
        return nn.functional.cross_entropy(
            logits.flatten(0, 1), padded.flatten(), ignore_index=IGNORED, reduction="sum"
        )


def _read(encoder: TokenEncoder, sentences: Sentences, tags: Sequence[str]) -> tuple[list[list[int]], list[list[int]]]:
    """Return the sentences' tokens and their labels: the first token of each word has the word's tag."""
    number = {tag: index for index, tag in enumerate(tags)}
    columns = _columns(encoder, sentences.words)
    labels = [
        [number[row[word]] if first else IGNORED for word, first in _firsts(words)]
        for row, words in zip(sentences.tags, columns[1], strict=True)
    ]
    return columns[0], labels


def _tagged(model: _Tagger, encoder: TokenEncoder, sentences: Sentences, tags: Sequence[str]) -> list[list[str]]:
    """Return the likeliest tag of each word; O for words beyond the longest text."""
    ids, columns = _columns(encoder, sentences.words)
    tagged = [[OUTSIDE] * len(words) for words in sentences.words]
    with torch.inference_mode():
        for rows in encoder.blocks(ids):
            best = model([ids[i] for i in rows]).argmax(dim=2).tolist()
            for row, numbers in zip(rows, best, strict=True):
                for place, (word, first) in enumerate(_firsts(columns[row])):
                    if first:
                        tagged[row][word] = tags[numbers[place]]
    return tagged


def _columns(encoder: TokenEncoder, words: Sequence[list[str]]) -> tuple[list[list[int]], list[list[int]]]:
    """Return token ids, and the word of each token, or −1. A word is tokenised as if after a space."""
    limit = longest(encoder.model.config, encoder.tokenizer, MANY)
    texts = [" " + " ".join(row) for row in words]
    read = encoder.tokenizer(texts, truncation=True, max_length=limit, return_offsets_mapping=True)
    starts = [np.cumsum([1, *(len(word) + 1 for word in row)])[:-1] for row in words]
    placed = [
        [int(np.searchsorted(begin, b - 1, "right")) - 1 if a < b else -1 for a, b in places]
        for begin, places in zip(starts, read["offset_mapping"], strict=True)
    ]
    return list(read["input_ids"]), placed


def _firsts(words: Sequence[int]) -> list[tuple[int, bool]]:
    """Return each token's word, and whether the token is the word's first."""
    return [(word, word >= 0 and word != before) for word, before in zip(words, [-1, *words], strict=False)]
