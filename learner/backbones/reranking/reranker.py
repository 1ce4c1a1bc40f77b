"""A re-ranker: it reads a query and a passage and writes `true` or `false`; its confidence is the pair's score.

Source: Ju, Yang and Wang (2021), section 2. It is a generator (T5 by name, or an encoder with a small decoder), so it
can learn other tasks besides: trained to write a passage's query, it generates queries as well.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.func import functional_call

from allpairs.db.errors import InputError
from allpairs.db.files.artifacts import held
from allpairs.db.progress import Progress, no_progress, part_of
from allpairs.learner.backbones.generator import TextGenerator, load_generator
from allpairs.learner.backbones.pointer import PointerModel
from allpairs.learner.backbones.reranking.fusion import Fused, load_fused
from allpairs.learner.backbones.reranking.reading import FILE, Reading, encoder_to_read, load_reading
from allpairs.learner.backbones.reranking.templates import FALSE, TRUE, VIEWS, Template, Tokens, around, distinct_pieces
from allpairs.learner.models.cross_encoder_input import BUDGETS, SMALL_BUDGET, length_blocks
from allpairs.learner.models.tokens import padded
from allpairs.learner.runtime.device import fast_reading
from allpairs.learner.runtime.engine import default_engine
from allpairs.learner.runtime.protocol import Engine, Work

LEAST = 256  # pairs for which distributing the model to workers pays
CHUNK = 8_192  # pairs sorted by length together, between two progress reports


@dataclass(frozen=True)
class Reranker:
    """A generator, how it reads a pair, and the first stage that its score is joined with, if there is one."""

    generator: TextGenerator
    reading: Reading
    fused: Fused | None = None

    @property
    def writes_queries(self) -> bool:
        """Whether it was trained to write a passage's query."""
        return self.reading.second in ("p2q", "p2q-swap")

    def save(self, folder: Path) -> None:
        """Save the re-ranker for `load_reranker(folder)`, and its bare generator for `load_generator(folder)`."""
        self.generator.save(folder)
        source = VIEWS[str(self.reading.second)].source if self.writes_queries else None
        (folder / FILE).write_text(json.dumps({**asdict(self.reading), "writes": source}), encoding="utf-8")
        if self.fused is not None:
            self.fused.save(folder)


def is_reranker(name: str) -> bool:
    """Return whether the name is a folder that `Reranker.save` wrote."""
    return (Path(name).expanduser() / FILE).is_file()


def load_reranker(name: str, device: str | None = None) -> Reranker:
    """Load the re-ranker of that folder. Raises InputError where it cannot be loaded."""
    with held(Path(name).expanduser()) as folder:
        if not is_reranker(name):
            raise InputError(f"there is no re-ranker in {name}: name a folder that a pipeline made")
        generator = load_generator(str(folder.resolve()), device=device)
        return Reranker(generator, load_reading(folder), load_fused(folder))


def prefix_of(generator: TextGenerator) -> Tokens:
    """Return the tokens that precede the first written one."""
    before, _ = around(generator.tokenizer)
    return [generator.start, *(id_ for id_ in before if id_ != generator.start)]


def truth_tokens(tokenizer: Any) -> tuple[int, int]:
    """Return the first tokens of `true` and of `false` (T5: 1176, 6136). Raises InputError where they are the same."""
    true, false = (tokenizer(word, add_special_tokens=False)["input_ids"][0] for word in (TRUE, FALSE))
    if true == false:
        raise InputError(
            f"the tokenizer begins {TRUE!r} and {FALSE!r} with the same token, so no score can be read: use another "
            "model"
        )
    return true, false


def truth_logits(
    reranker: Reranker,
    queries: Sequence[str],
    passages: Sequence[str],
    pairs: np.ndarray,
    progress: Progress = no_progress,
    engine: Engine | None = None,
) -> np.ndarray:
    """Return the logits of `true` and `false` as the first written token, (n, 2) float32, of each pair (n, 2) of rows.

    Each distinct text is tokenized once, pairs of similar length are read together, and no pair's value depends on the
    others, unless it is read in int8. On a GPU the encoder computes in bfloat16; the decoder's single step is float32
    everywhere, so that close scores do not become ties.
    """
    engine = engine or default_engine()
    rows = [pairs[part] for part in engine.parts(len(pairs), LEAST, CHUNK)]
    parts = [([queries[row] for row in part[:, 0]], [passages[row] for row in part[:, 1]]) for part in rows]
    unfused = replace(reranker, fused=None)  # which is all that a worker needs
    return np.concatenate(list(engine.map(_judging, [unfused], parts, "score", progress)))


def _judging(reranker: Reranker) -> Work[tuple[list[str], list[str]], np.ndarray]:
    """Return the work that runs `truth_logits` on queries and their passages."""

    def work(part: tuple[list[str], list[str]], progress: Progress) -> np.ndarray:
        sources = _sources(reranker, *part)
        values = np.empty((len(sources), 2), dtype=np.float32)
        count = 0
        reranker.generator.model.eval()
        for rows, logits in _read(reranker, sources):
            values[rows] = logits
            count += len(rows)
            progress("score", count / len(sources))
        return values

    return work


def scores_of(logits: np.ndarray) -> np.ndarray:
    """Return the scores (n,) float64 of logits (…, 2): true minus false, in P(true)'s order but without ties."""
    return logits[..., 0].astype(np.float64) - logits[..., 1]


def pair_scores(
    reranker: Reranker,
    queries: Sequence[str],
    passages: Sequence[str],
    pairs: np.ndarray,
    progress: Progress = no_progress,
) -> np.ndarray:
    """Return the score (n,) float64 of each pair (n, 2) of rows, joined with the first stage's if there is one."""
    if reranker.fused is None:
        return scores_of(truth_logits(reranker, queries, passages, pairs, progress))
    first = reranker.fused.first.of(queries, passages, pairs, part_of(progress, 0.0, 0.1))
    rerank_scores = scores_of(truth_logits(reranker, queries, passages, pairs, part_of(progress, 0.1, 1.0)))
    return reranker.fused.fusion.join(first, rerank_scores)


def _sources(reranker: Reranker, queries: Sequence[str], passages: Sequence[str]) -> list[Tokens]:
    tokenizer = reranker.generator.tokenizer
    template = Template(reranker.reading.view, tokenizer, reranker.reading.source_length)
    query_pieces = distinct_pieces(tokenizer, queries)
    passage_pieces = distinct_pieces(tokenizer, passages)
    return [
        template.tokens(query_pieces[query], passage_pieces[passage])
        for query, passage in zip(queries, passages, strict=True)
    ]


def _read(reranker: Reranker, sources: list[Tokens]) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield positions of sources of similar length, and their logits (k, 2)."""
    generator = reranker.generator
    device = reranker.generator.device
    lengths = np.array([len(source) for source in sources], dtype=np.int64)
    words = list(truth_tokens(generator.tokenizer))
    copies = isinstance(generator.model, PointerModel)
    parameters = {} if copies else _rows_of(generator.model, words)  # what is copied counts among all words
    prefix = torch.tensor([prefix_of(generator)], device=device)
    encoder = encoder_to_read(generator.model.get_encoder(), reranker.reading, device)
    with torch.inference_mode():
        for rows in length_blocks(lengths, BUDGETS.get(device.type, SMALL_BUDGET)):
            ids, mask = padded([sources[row] for row in rows], generator.tokenizer.pad_token_id, device)
            with fast_reading(device):
                read = encoder(input_ids=ids, attention_mask=mask)
            read.last_hidden_state = read.last_hidden_state.float()
            inputs = {
                "encoder_outputs": read,
                "attention_mask": mask,
                "use_cache": False,
                "decoder_input_ids": prefix.expand(len(rows), -1),
            }
            inputs |= {"decoder_source_ids": ids} if copies else {}
            logits = functional_call(generator.model, parameters, kwargs=inputs, tie_weights=False).logits[:, -1]
            yield rows, (logits[:, words] if copies else logits).float().cpu().numpy()


def _rows_of(model: Any, words: Sequence[int]) -> dict[str, torch.Tensor]:
    """Return the output layer's parameters, by their names in the model, for these words alone."""
    output = model.get_output_embeddings()
    name = next(name for name, module in model.named_modules() if module is output)
    parameters = {f"{name}.{part}": values[list(words)] for part, values in output.named_parameters(recurse=False)}
    if (bias := getattr(model, "final_logits_bias", None)) is not None:  # BART keeps it outside the layer
        parameters["final_logits_bias"] = bias[:, list(words)]
    return parameters
