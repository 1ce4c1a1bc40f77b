"""The configuration of a bi-encoder trained for retrieval."""

from typing import Literal, Self

from pydantic import Field, model_validator

from allpairs.learner.light.catalog.section import Section


class RetrieverSettings(Section):
    """The bi-encoder: how texts become vectors, and how it is trained."""

    backbone: str = Field(
        "all-MiniLM-L6-v2",
        min_length=1,
        description="A sentence-transformers or Hugging Face name (Joshi et al. 2022: facebook/bart-large), or a "
        "folder.",
    )
    passage_backbone: str | None = Field(
        None,
        min_length=1,
        description="Encoder of the second of two towers; empty: the same (DPR by name: "
        "sentence-transformers/facebook-dpr-question_encoder-single-nq-base, and …-ctx_encoder-… here).",
    )
    towers: Literal[1, 2] = Field(1, description="One encoder for both texts, or one for each.")
    states: Literal["encoder", "decoder"] = Field(
        "encoder", title="Pooled states", description="Of an encoder-decoder (BART): whose states make a text's vector."
    )
    pooling: Literal["model", "mean", "cls"] = Field(
        "model",
        description="A text's vector: as the backbone's folder says (the mean if it says nothing), the mean "
        "of its tokens' vectors, or that of its first token (DPR).",
    )
    dropout: bool = Field(False, description="Train with the dropout of the backbone's configuration (DPR: 0.1).")
    similarity: Literal["cosine", "dot"] = Field("cosine", description="Trained: scaled cosine, or dot product.")
    scale: float = Field(20.0, ge=1, le=1000, description="Factor on the cosine in training: at 1 it cannot be fitted.")
    steps: int = Field(100, ge=1, le=100_000, description="Training steps (Joshi et al. 2022: 100 and 200).")
    batch_size: int = Field(32, ge=2, le=4096, description="Pairs in one step; the texts of the others are negatives.")
    negatives: int = Field(1, ge=0, le=100, description="Further negatives of each pair in a step: random texts.")
    learning_rate: float = Field(2e-5, gt=0, lt=1, description="Learning rate (Joshi et al. 2022: 5e-6 to 5e-5).")
    max_length: int = Field(128, ge=8, le=8192, description="Tokens of a text in training.")

    @property
    def backbones(self) -> list[str]:
        """The encoders that the towers start with."""
        return [self.backbone, *([self.passage_backbone] if self.passage_backbone else [])]

    @model_validator(mode="after")
    def _as_many_towers_as_beginnings(self) -> Self:
        if self.passage_backbone is not None and self.towers == 1:
            raise ValueError(
                "passage_backbone is for a second tower, but towers is 1: choose 2 towers, or leave it empty"
            )
        return self
