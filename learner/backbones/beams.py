"""Beam search of a generator: the most likely texts of a source, and the most likely ones with a given beginning.

Source: Jia, Lewis and Zettlemoyer (2022), appendix A.7 (answers first, then a question for each).
"""

from collections.abc import Sequence

import numpy as np
import torch

from allpairs.db.errors import InputError
from allpairs.db.progress import Progress, no_progress
from allpairs.learner.backbones.generator import TextGenerator, decoding, inputs_of, tokenize_pairs, tokens_of, writers
from allpairs.learner.light.catalog.backbones import GeneratorSettings
from allpairs.learner.runtime.device import fast_reading


def beginnings(
    generator: TextGenerator,
    sources: Sequence[str],
    stop: str,
    n: int,
    settings: GeneratorSettings,
    progress: Progress = no_progress,
) -> list[list[str]]:
    """Return, for each source, what its n most likely texts have before this separator: distinct, most likely first.

    Texts without the separator are skipped, so there may be fewer. Raises InputError where the separator is not a
    token.
    """
    read = tokens_of(generator, sources, settings.source_length)
    results = [[""]] * len(sources)
    config = decoding(generator, settings.model_copy(update={"decoding": "beam", "beams": max(n, settings.beams)}))
    ends = config.eos_token_id if isinstance(config.eos_token_id, list) else [config.eos_token_id]
    config.update(num_return_sequences=n, eos_token_id=[_token_of(generator, stop), *ends])
    count = 0
    with torch.inference_mode():
        for rows in _batches(np.array([len(ids) for ids in read]), writers(generator, config.num_beams)):
            inputs = inputs_of(generator, [read[i] for i in rows])
            with fast_reading(generator.device):
                ids = generator.model.generate(**inputs, generation_config=config)
            texts = generator.tokenizer.batch_decode(ids, skip_special_tokens=True)
            for place, row in enumerate(rows):
                results[row] = _before(texts[place * n : (place + 1) * n], stop)
            count += len(rows)
            progress("write answers", count / len(sources))
    return results


def continued(
    generator: TextGenerator,
    sources: Sequence[str],
    begun: Sequence[str],
    settings: GeneratorSettings,
    progress: Progress = no_progress,
) -> list[str]:
    """Return the most likely text of each source that begins with the given text, its beginning included."""
    if not len(sources):
        return []
    texts = tokenize_pairs(generator, sources, begun, settings)
    written = [""] * len(sources)
    before = [[generator.start, *ids[:-1]] for ids in texts.targets]  # without the last token, which would end the text
    config = decoding(generator, settings.model_copy(update={"decoding": "beam"}))
    count = 0
    with torch.inference_mode():
        # Decoder prompts cannot be padded, so texts whose beginnings have equally many tokens are written together.
        for rows in _batches(np.array([len(ids) for ids in before]), writers(generator, config.num_beams), equal=True):
            inputs = inputs_of(generator, [texts.sources[i] for i in rows])
            prompts = torch.tensor([before[i] for i in rows], device=generator.device)
            with fast_reading(generator.device):
                ids = generator.model.generate(**inputs, decoder_input_ids=prompts, generation_config=config)
            for row, text in zip(rows, generator.tokenizer.batch_decode(ids, skip_special_tokens=True), strict=True):
                written[row] = text.strip()
            count += len(rows)
            progress("write questions", count / len(sources))
    return written


def _before(texts: Sequence[str], stop: str) -> list[str]:
    """Return the distinct texts that precede the separator."""
    distinct: dict[str, str] = {}
    for text in texts:
        before, sign, _ = text.partition(stop)
        if sign and before.strip():
            distinct.setdefault(before.strip().lower(), before.strip())
    return list(distinct.values())


def _token_of(generator: TextGenerator, sign: str) -> int:
    ids = generator.tokenizer(f" {sign}", add_special_tokens=False)["input_ids"]
    if len(ids) != 1 or ids[0] == generator.tokenizer.unk_token_id:
        raise InputError(f"the generator's tokenizer has no token for {sign!r}: name another generator.backbone")
    return int(ids[0])


def _batches(lengths: np.ndarray, size: int, equal: bool = False) -> list[list[int]]:
    """Return batches of positions of similar lengths, (n,), or of equal ones, with at most `size` in a batch."""
    order = np.argsort(lengths, kind="stable")
    parts = np.split(order, np.flatnonzero(np.diff(lengths[order])) + 1) if equal else [order]
    return [part[start : start + size].tolist() for part in parts for start in range(0, len(part), size)]
