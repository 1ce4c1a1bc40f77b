"""Encoders: from text to vectors, unit vectors for cosines, and loading them from folders."""

import hashlib
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path

import numpy as np
import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.models import Normalize, Pooling, StaticEmbedding, Transformer
from torch import Tensor

from allpairs.db.domain import DEFAULT_ENCODER, Distance
from allpairs.db.errors import InputError
from allpairs.db.identity import identity
from allpairs.db.progress import Progress, no_progress
from allpairs.learner.models.loading import NO_CODE, SAFETENSORS, loading, require_all_weights, require_numbers
from allpairs.learner.models.model_folder import forget_code
from allpairs.learner.models.tokens import Tokens, padded, token_ids
from allpairs.learner.runtime.device import Portable, default_device, fast_reading, usable_device
from allpairs.learner.runtime.engine import default_engine
from allpairs.learner.runtime.protocol import Engine, Work

LEAST = 1_000  # texts for which distributing the model to workers pays
MANY = 10**9  # tokens
CHUNK = 20_000  # texts whose tokens are in memory at once
SIMILARITY: dict[Distance, str] = {"cosine": "cosine", "dot": "dot", "l2": "euclidean"}  # the library's names


def load_encoder(name: str = DEFAULT_ENCODER, device: str | None = None) -> "Encoder":
    """Load the encoder of that hub name or folder, in evaluation mode. Raises InputError if it cannot be loaded."""
    chosen = default_device() if device is None else usable_device(device)
    with loading(name, "encoder") as source:
        # The library warns that a plain Hugging Face encoder gets mean pooling, which is what the paper does.
        model = SentenceTransformer(source, device=chosen, **NO_CODE, model_kwargs={**SAFETENSORS})
        require_numbers(model)
        require_all_weights(model, Path(source))
    if _is_dpr(model):
        raise InputError(
            f"encoder {name!r} is in DPR's own format, which has no token vectors: name its version for "
            "sentence-transformers, such as sentence-transformers/facebook-dpr-ctx_encoder-single-nq-base"
        )
    return Encoder(model, name)


def _is_dpr(model: SentenceTransformer) -> bool:
    """Return whether it was loaded from a folder of transformers' DPR classes, which pool in their own way."""
    config = getattr(getattr(model[0], "auto_model", None), "config", None)
    return getattr(config, "model_type", None) == "dpr"


class Encoder(Portable):
    """A sentence-transformers model with mean pooling or its own; without dropout unless its training switches it on.

    Its vectors have length 1 if texts are compared by their cosine, otherwise the length that the model gives them.
    Source: Mussmann, Jia and Liang (2020), appendix A.1.
    """

    def __init__(self, model: SentenceTransformer, name: str, distance: Distance = "cosine") -> None:
        self.model = model.eval()  # evaluation mode even in training, since it switches dropout off
        self.name = name
        self.distance = distance

    def variant(
        self, pooling: str = "model", distance: Distance = "cosine", max_length: int | None = None
    ) -> "Encoder":
        """Return this encoder, sharing its weights, with another pooling (mean, cls, max) or for another distance.

        max_length: the most tokens of a text that both read from now on, unless the model's own limit is lower.
        Raises InputError if it has no token vectors to pool.
        """
        if max_length is not None and not self.is_static:
            self.model.max_seq_length = min(max_length, self.model.max_seq_length or max_length)
        if (pooling, distance) == ("model", self.distance):
            return self
        modules = list(self.model.children())
        if pooling != "model":
            if not isinstance(modules[0], Transformer):
                raise InputError(f"encoder {self.name!r} has no token vectors: leave its pooling as the model says")
            modules = [modules[0], Pooling(modules[0].get_embedding_dimension(), pooling)]
        if distance != "cosine":
            modules = [module for module in modules if not isinstance(module, Normalize)]
        return Encoder(SentenceTransformer(modules=modules, device=str(self.device)), self.name, distance)

    @property
    def saved_distance(self) -> Distance:
        """The distance named in the model's folder; cosine if it names none that is known here."""
        known = {similarity: distance for distance, similarity in SIMILARITY.items()}
        return known.get(str(self.model.similarity_fn_name), "cosine")

    @property
    def device(self) -> torch.device:
        return torch.device(self.model.device)

    @property
    def dimension(self) -> int:
        """The length of its vectors."""
        return int(self.model.get_embedding_dimension() or 0)

    @property
    def budget(self) -> int:
        """Tokens of one forward pass: small blocks stay in a CPU's cache, a GPU wants large ones."""
        return 65_536 if self.device.type == "cuda" else 1_024

    def tokenize(self, texts: Sequence[str], max_length: int | None = None) -> Tokens:
        """Return token ids of each text, special tokens included, truncated at `max_length` or the model's limit."""
        limit = min(max_length or self.most_tokens, self.most_tokens)
        # a static embedding is a mean over any number of tokens, none of them special
        return token_ids(self.model.tokenizer, list(map(identity, texts)), limit, special=not self.is_static)

    def _tells_nothing(self, ids: Sequence[int]) -> bool:
        """Return whether the token ids are all special or unknown: the network would see such texts as one."""
        return self._signs.issuperset(ids)

    @cached_property
    def _signs(self) -> frozenset[int]:
        """The ids of special tokens, the one for unknown words included."""
        return frozenset(getattr(self.model.tokenizer, "all_special_ids", ()))

    def count_longer(self, texts: Sequence[str]) -> int:
        """Return how many texts have more tokens than it reads."""
        limit = self.most_tokens
        long = [identity(text) for text in texts if len(text) > limit]  # no token has less than a letter
        tokens = token_ids(self.model.tokenizer, long, limit + 1, special=not self.is_static)
        return sum(len(ids) > limit for ids in tokens)

    @property
    def most_tokens(self) -> int:
        """The most tokens of a text that it reads; a static embedding reads any number."""
        return int(min(self.model.max_seq_length or 512, MANY))

    @property
    def pads_left(self) -> bool:
        """Whether texts are padded at their start."""
        return bool(self.model.tokenizer.padding_side == "left")

    @property
    def is_static(self) -> bool:
        """Whether its vectors are means of fixed token vectors, without a network (a static embedding)."""
        return isinstance(self.model[0], StaticEmbedding)

    def embed(self, tokens: Sequence[list[int]]) -> Tensor:
        """Return vectors of shape (len(tokens), dimension), float32, in the order given; keeps gradients."""
        order = sorted(range(len(tokens)), key=lambda i: len(tokens[i]))
        parts = [self._forward([tokens[i] for i in block]) for block in self._blocks(order, tokens)]
        inverse = torch.empty(len(order), dtype=torch.long)
        inverse[torch.tensor(order)] = torch.arange(len(order))
        return torch.cat(parts)[inverse.to(self.device)]

    def encode(
        self, texts: Sequence[str], progress: Progress = no_progress, engine: Engine | None = None
    ) -> np.ndarray:
        """Return vectors of shape (len(texts), dimension), float32, in the order of the texts."""
        vectors = np.empty((len(texts), self.dimension), dtype=np.float32)
        for part, part_vectors in self.encode_parts(texts, progress, engine):
            vectors[part] = part_vectors
        return vectors

    def encode_parts(
        self, texts: Sequence[str], progress: Progress = no_progress, engine: Engine | None = None
    ) -> Iterator[tuple[slice, np.ndarray]]:
        """Yield the same part by part: which texts, and their vectors."""
        engine = engine or default_engine()
        parts = engine.parts(len(texts), LEAST, CHUNK)
        results = engine.map(_encoding, [self], [texts[part] for part in parts], "encode", progress)
        return zip(parts, results, strict=True)

    def encode_part(self, texts: Sequence[str], progress: Progress) -> np.ndarray:
        """Do `encode` for few texts, whose tokens fit in memory at once, in this process."""
        vectors = np.empty((len(texts), self.dimension), dtype=np.float32)
        tokens = self.tokenize(texts)
        order = sorted(range(len(tokens)), key=lambda i: len(tokens[i]))
        total = sum(map(len, tokens))
        count = 0
        unread = [row for row, ids in enumerate(tokens) if self._tells_nothing(ids)]
        with torch.inference_mode():
            for block in self._blocks(order, tokens):
                vectors[block] = self._forward([tokens[i] for i in block]).cpu().numpy()
                count += sum(len(tokens[i]) for i in block)
                progress("encode", count / max(1, total))
        for row in unread:
            vectors[row] = stand_in(texts[row], float(np.linalg.norm(vectors[row])), self.dimension)
        return vectors

    def save(self, folder: Path) -> None:
        """Save the encoder for `SentenceTransformer(folder)`, with its distance as similarity."""
        self.model.similarity_fn_name = SIMILARITY[self.distance]
        self.model.save(str(folder), create_model_card=False)
        forget_code(folder)

    def _blocks(self, order: Sequence[int], tokens: Sequence[list[int]]) -> Iterator[list[int]]:
        """Yield runs of `order` (sorted by length) of at most `budget` tokens, padding included."""
        block: list[int] = []
        for i in order:
            if block and len(tokens[i]) * (len(block) + 1) > self.budget:
                yield block
                block = []
            block.append(i)
        if block:
            yield block

    def _forward(self, tokens: Sequence[list[int]]) -> Tensor:
        return self.vectors(self._inputs(tokens))

    def vectors(self, inputs: dict[str, Tensor]) -> Tensor:
        """Return the vectors (n, dimension) float32 of n padded texts on its device; keeps gradients."""
        with fast_reading(self.device):
            vectors = self.model(inputs)["sentence_embedding"].float()
        return torch.nn.functional.normalize(vectors, dim=-1) if self.distance == "cosine" else vectors

    def _inputs(self, tokens: Sequence[list[int]]) -> dict[str, Tensor]:
        if self.is_static:
            offsets = np.cumsum([0, *map(len, tokens)])[:-1]
            ids = torch.tensor([token for text_tokens in tokens for token in text_tokens], dtype=torch.long)
            return {"input_ids": ids.to(self.device), "offsets": torch.from_numpy(offsets).to(self.device)}
        tokenizer = self.model.tokenizer
        ids, mask = padded(tokens, tokenizer.pad_token_id, self.device, left=self.pads_left)
        return {"input_ids": ids, "attention_mask": mask}


def stand_in(text: str, length: float, dimension: int) -> np.ndarray:
    """Return a vector (dimension,) float32 for a text that an encoder cannot read: equal for equal texts alone.

    A text that nobody can read has none: 0.
    """
    normal = identity(text)
    if not normal:
        return np.zeros(dimension, dtype=np.float32)
    seed = hashlib.sha256(normal.encode("utf-8", "surrogatepass")).digest()[:8]
    drawn = np.random.default_rng(int.from_bytes(seed)).standard_normal(dimension)
    return (drawn * (length / np.linalg.norm(drawn))).astype(np.float32)


def _encoding(encoder: Encoder) -> Work[Sequence[str], np.ndarray]:
    return encoder.encode_part
