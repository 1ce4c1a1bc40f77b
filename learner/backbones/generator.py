"""Text-to-text generation: a network reads one text and writes another, such as a question from a passage.

BART and T5 by name or folder; an encoder (a BERT, such as the bundled MiniLM) gets a small decoder. Sources:
Kulshreshtha et al. (2021) (question generation, and its negative log-likelihood as a critic), Joshi et al. (2022)
(summaries), and Jia, Lewis and Zettlemoyer (2022).
"""

import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from transformers import AutoConfig, GenerationConfig

from allpairs.db.errors import InputError
from allpairs.db.progress import Progress, no_progress
from allpairs.learner.backbones.encoder_decoder import load_pair, with_new_decoder
from allpairs.learner.backbones.length_batches import descend_together
from allpairs.learner.backbones.loading import load_tokenizer, longest
from allpairs.learner.backbones.pointer import PointerModel
from allpairs.learner.light.catalog.backbones import GeneratorSettings
from allpairs.learner.models.cross_encoder_input import BUDGETS, SMALL_BUDGET, length_blocks
from allpairs.learner.models.loading import NO_CODE, loading, require_numbers
from allpairs.learner.models.model_folder import forget_code
from allpairs.learner.models.tokens import padded, token_ids
from allpairs.learner.models.watch import Watch
from allpairs.learner.runtime.device import Portable, default_device, fast_reading, fast_training, seeded
from allpairs.learner.runtime.engine import default_engine
from allpairs.learner.runtime.protocol import Engine, Work, slices

IGNORED = -100  # the label of padding, which has no loss
WRITERS = {"cuda": 512}  # texts written at once, times beams; few on a CPU
FEW_WRITERS = 40
WRITTEN = 512  # texts of a part; each part draws from a seed of its own


@dataclass(frozen=True)
class TextGenerator(Portable):
    """A network with an encoder and a decoder, and their tokenizer."""

    model: Any
    tokenizer: Any

    @property
    def device(self) -> torch.device:
        return torch.device(self.model.device)

    @property
    def start(self) -> int:
        """The token that the decoder starts with."""
        return int(self.model.generation_config.decoder_start_token_id)

    def save(self, folder: Path) -> None:
        """Save the generator for `load_generator(folder)` and `AutoModelForSeq2SeqLM`."""
        self.model.save_pretrained(folder)
        self.tokenizer.save_pretrained(folder)
        forget_code(folder)


@dataclass(frozen=True)
class TokenPairs:
    """Token ids of the source texts, and of the target texts with their end token."""

    sources: list[list[int]]
    targets: list[list[int]]

    @property
    def lengths(self) -> np.ndarray:
        """The number of tokens of each pair, (n,) int64."""
        return np.array([len(s) + len(t) for s, t in zip(self.sources, self.targets, strict=True)], dtype=np.int64)


def load_generator(
    name: str, decoder_layers: int = 2, seed: int = 0, device: str | None = None, copying: bool = False
) -> TextGenerator:
    """Load the generator of that hub name or folder; an encoder gets a new decoder, initialised from the seed.

    copying: a new decoder may copy words of its source; one that is loaded copies if it did when saved. Raises
    InputError where it cannot be loaded.
    """
    target = torch.device(device or default_device())
    with loading(name) as source, seeded(seed, target):
        tokenizer = load_tokenizer(source)
        is_encoder = AutoConfig.from_pretrained(source, **NO_CODE).model_type == "bert"
        model = with_new_decoder(source, tokenizer, decoder_layers, copying) if is_encoder else load_pair(source)
        require_numbers(model)
        if model.generation_config.decoder_start_token_id is None:
            raise ValueError("its configuration has no decoder_start_token_id: add one, or name another model")
        return TextGenerator(model.to(target).eval(), tokenizer)


def with_token(generator: TextGenerator, token: str, seed: int) -> TextGenerator:
    """Add the text to the generator's vocabulary as one token, its vector drawn from the seed; return the generator."""
    tokenizer = generator.tokenizer
    reader = generator.model
    tokenizer.add_tokens([token], special_tokens=True)
    if reader.config.model_type == "encoder-decoder":  # only source texts contain the token
        reader = reader.get_encoder()
    if len(tokenizer) > reader.get_input_embeddings().num_embeddings:
        with seeded(seed, generator.device):
            reader.resize_token_embeddings(len(tokenizer))
    return generator


def train_generator(
    generator: TextGenerator,
    sources: Sequence[str],
    targets: Sequence[str],
    settings: GeneratorSettings,
    progress: Progress = no_progress,
    watch: Watch | None = None,
) -> None:
    """Train the generator in place, by the mean cross-entropy of a step's target tokens.

    As many processes train as the environment says; each calls watch, which may use the generator. Raises InputError
    without pairs.
    """
    if not len(sources):
        raise InputError("there are no pairs: training a generator needs texts and what to write from them")
    losses = _TextLosses(generator, tokenize_pairs(generator, sources, targets, settings))
    new = ("decoder.", "pointer.") if generator.model.config.model_type == "encoder-decoder" else ()
    descend_together(losses, settings, progress, dict.fromkeys(new, settings.decoder_rate), watch)


@dataclass(frozen=True)
class _TextLosses:
    """As `RowLosses`: a row is a pair of texts, with a loss for each target token."""

    generator: TextGenerator
    texts: TokenPairs

    @property
    def network(self) -> nn.Module:
        return self.generator.model

    @property
    def lengths(self) -> np.ndarray:
        return self.texts.lengths

    @property
    def weights(self) -> np.ndarray:
        return np.array([len(target) for target in self.texts.targets])

    def loss(self, rows: np.ndarray) -> Tensor:
        with fast_training(self.generator.device):
            return losses_of(self.generator, self.texts, rows).sum()


def nll(
    generator: TextGenerator,
    sources: Sequence[str],
    targets: Sequence[str],
    settings: GeneratorSettings,
    progress: Progress = no_progress,
) -> np.ndarray:
    """Return the mean negative log-likelihood of each target's tokens given its source, (n,) float32, without dropout.

    The end token counts. A pair's value does not depend on the other pairs.
    """
    values = np.empty(len(sources), dtype=np.float32)
    if not len(sources):
        return values
    texts = tokenize_pairs(generator, sources, targets, settings)
    generator.model.eval()
    count = 0
    with torch.inference_mode():
        for rows in length_blocks(texts.lengths, BUDGETS.get(generator.device.type, SMALL_BUDGET)):
            losses = losses_of(generator, texts, rows).sum(dim=1).cpu().numpy()
            values[rows] = losses / [len(texts.targets[i]) for i in rows]
            count += len(rows)
            progress("read", count / len(values))
    return values


def token_losses(logits: Tensor, labels: Tensor) -> Tensor:
    """Return the negative log-likelihood of each label (…), float32, 0 for padding; logits (…, words)."""
    losses = nn.functional.cross_entropy(
        logits.float().flatten(0, -2), labels.flatten(), ignore_index=IGNORED, reduction="none"
    )
    return losses.view(labels.shape)


def generate(
    generator: TextGenerator,
    sources: Sequence[str],
    settings: GeneratorSettings,
    progress: Progress = no_progress,
    seed: int = 0,
    engine: Engine | None = None,
) -> list[str]:
    """Return the text written from each source, in order: the best of a beam search, or one drawn from the seed."""
    return [text for (text,) in generate_several(generator, sources, 1, settings, progress, seed, engine)]


def generate_several(
    generator: TextGenerator,
    sources: Sequence[str],
    copies: int,
    settings: GeneratorSettings,
    progress: Progress = no_progress,
    seed: int = 0,
    engine: Engine | None = None,
) -> list[list[str]]:
    """Return this many texts written from each source, in order: each drawn by itself, or the best of a beam search.

    Every source is read once.
    """
    order = sorted(range(len(sources)), key=lambda i: len(sources[i]))  # similar lengths are written together
    size = max(1, WRITTEN // copies)
    parts = [([sources[i] for i in order[part]], seed + part.start * copies) for part in slices(len(sources), size)]
    parts_written = (engine or default_engine()).map(_writing, (generator, copies, settings), parts, "write", progress)
    written = dict(zip(order, (texts for part_texts in parts_written for texts in part_texts), strict=True))
    return [written[i] for i in range(len(sources))]


def _writing(
    generator: TextGenerator, copies: int, settings: GeneratorSettings
) -> Work[tuple[list[str], int], list[list[str]]]:
    """Return the work that runs `generate_several` on a part of the sources with a seed."""
    return lambda part, progress: _write(generator, part[0], copies, settings, progress, part[1])


def _write(
    generator: TextGenerator,
    sources: Sequence[str],
    copies: int,
    settings: GeneratorSettings,
    progress: Progress,
    seed: int,
) -> list[list[str]]:
    read = tokens_of(generator, sources, settings.source_length)
    written: list[list[str]] = [[] for _ in sources]
    config = decoding(generator, settings)
    count = 0
    config.num_return_sequences = copies
    generator.model.eval()
    with torch.inference_mode(), seeded(seed, generator.device):
        for rows in _batches(read, writers(generator, max(config.num_beams, copies))):
            inputs = inputs_of(generator, [read[i] for i in rows])
            with fast_reading(generator.device):
                ids = generator.model.generate(**inputs, generation_config=config)
            texts = generator.tokenizer.batch_decode(ids, skip_special_tokens=True)
            for i, text in enumerate(texts):
                written[rows[i // copies]].append(text.strip())
            count += len(rows)
            progress("write", count / len(sources))
    return written


def decoding(generator: TextGenerator, settings: GeneratorSettings) -> GenerationConfig:
    """Return the decoding configuration: the generator's own ids for special tokens, the rest by the settings."""
    config = copy.deepcopy(generator.model.generation_config)
    sample = settings.decoding == "sample"
    config.update(
        do_sample=sample,
        num_beams=1 if sample else settings.beams,
        no_repeat_ngram_size=settings.no_repeat,
        length_penalty=settings.length_penalty,
        early_stopping=False,
        min_length=0,
        max_length=None,
        max_new_tokens=longest(generator.model.config, generator.tokenizer, settings.target_length),
        top_k=settings.top_k if sample else None,
        top_p=settings.top_p if sample else None,
        temperature=None,
    )
    return config


def tokenize_pairs(
    generator: TextGenerator, sources: Sequence[str], targets: Sequence[str], settings: GeneratorSettings
) -> TokenPairs:
    """Tokenize both; a target that begins with the decoder's first token (BERT's [CLS]) continues after it."""
    written = tokens_of(generator, targets, settings.target_length)
    written = [ids[1:] if ids[0] == generator.start and len(ids) > 1 else ids for ids in written]
    return TokenPairs(tokens_of(generator, sources, settings.source_length), written)


def tokens_of(generator: TextGenerator, texts: Sequence[str], length: int) -> list[list[int]]:
    """Return the token ids of each text, with special tokens, truncated to this length."""
    return token_ids(generator.tokenizer, texts, longest(generator.model.config, generator.tokenizer, length))


def writers(generator: TextGenerator, beams: int) -> int:
    """Return how many texts are written at once."""
    return max(1, WRITERS.get(generator.device.type, FEW_WRITERS) // beams)


def _batches(tokens: Sequence[list[int]], size: int) -> Iterator[list[int]]:
    """Yield positions of texts of similar length, `size` at a time."""
    order = sorted(range(len(tokens)), key=lambda i: len(tokens[i]))
    return (order[start : start + size] for start in range(0, len(order), size))


def inputs_of(generator: TextGenerator, tokens: list[list[int]]) -> dict[str, Tensor]:
    """Return ids and mask, (n, t) each, on the generator's device."""
    ids, mask = padded(tokens, generator.tokenizer.pad_token_id, generator.device)
    return {"input_ids": ids, "attention_mask": mask}


def losses_of(generator: TextGenerator, texts: TokenPairs, rows: np.ndarray) -> Tensor:
    """Return the negative log-likelihood of each target token of these rows, given those before it, (n, t).

    Padding has 0.
    """
    logits, labels = logits_of(generator, texts, rows)
    written = labels != IGNORED
    return torch.zeros(labels.shape, device=labels.device).masked_scatter(
        written, token_losses(logits, labels[written])
    )


def logits_of(generator: TextGenerator, texts: TokenPairs, rows: np.ndarray) -> tuple[Tensor, Tensor]:
    """Return the logits (m, words) of the m target tokens of these rows, row after row, and the labels (n, t).

    Where a single word is a target beside a whole text, most of (n, t) is padding: the output layer, which spans the
    whole vocabulary, is not run on padding.
    """
    written = [torch.tensor(texts.targets[i]) for i in rows]
    labels = nn.utils.rnn.pad_sequence(written, batch_first=True, padding_value=IGNORED).to(generator.device)
    before = torch.nn.functional.pad(labels[:, :-1], (1, 0), value=generator.start)
    before = before.masked_fill(before == IGNORED, generator.tokenizer.pad_token_id)
    inputs = inputs_of(generator, [texts.sources[i] for i in rows])
    real = labels != IGNORED
    if isinstance(generator.model, PointerModel):
        inputs["written"] = real
    hook = generator.model.get_output_embeddings().register_forward_pre_hook(lambda _, states: (states[0][real],))
    try:
        with fast_reading(generator.device):
            logits = generator.model(**inputs, decoder_input_ids=before, use_cache=False).logits
    finally:
        hook.remove()
    return logits, labels
