"""How the models that pipelines build on are trained and used. Defaults are the papers' where they give one."""

from typing import Literal, Self

from pydantic import Field, model_validator

from allpairs.learner.light.catalog.section import Section


class Training(Section):
    """How a pre-trained model is trained further."""

    learning_rate: float = Field(3e-5, gt=0, lt=1, description="Highest learning rate.")
    batch_size: int = Field(32, ge=1, le=4096, description="Examples in one training step.")
    epochs: int = Field(3, ge=1, le=1000, description="Passes over the examples.")
    steps: int | None = Field(None, ge=1, le=1_000_000, description="Training steps, instead of passes.")
    warm_up: float = Field(0.06, ge=0, le=1, description="Share of the steps over which the rate rises; then it falls.")
    weight_decay: float = Field(0.01, ge=0, lt=1, description="Weight decay.")
    recompute: bool = Field(
        False,
        title="Save memory",
        description="Compute activations again in the backward pass instead of keeping them: for large models; a third "
        "more time.",
    )
    seed: int = Field(0, ge=0, le=2**31 - 1, description="Seed of new layers, order and dropout.")


class ReaderSettings(Training):
    """The reader that finds the answer to a question in a passage (Joshi et al. 2022: 200 steps)."""

    backbone: str = Field(
        "all-MiniLM-L6-v2",
        min_length=1,
        description="A Hugging Face name (the paper: facebook/bart-large), or a folder.",
    )
    learning_rate: float = Field(5e-5, gt=0, lt=1, description="Highest learning rate (the paper: 5e-6 to 5e-5).")
    steps: int | None = Field(200, ge=1, le=1_000_000, description="Training steps; empty: passes.")
    max_length: int = Field(
        512, ge=32, le=8192, description="Tokens of question and passage; longer ones are read in windows."
    )
    stride: int = Field(128, ge=0, le=4096, description="Tokens by which two windows of a passage overlap.")
    question_length: int = Field(64, ge=4, le=4096, description="Tokens of a question; the rest is cut off.")
    longest_answer: int = Field(
        17, ge=1, le=1000, description="Maximum tokens of an answer (Jia, Lewis and Zettlemoyer 2022: 17)."
    )

    @model_validator(mode="after")
    def _windows_move(self) -> Self:
        least = self.question_length + self.stride + 8
        if self.max_length < least:
            raise ValueError(
                f"max_length is {self.max_length}, but question_length, stride and 8 add up to {least}: windows would "
                "hold nothing new; raise max_length or lower the others"
            )
        return self


class GeneratorSettings(Training):
    """The model that writes a text from a text, such as a question from a passage (Kulshreshtha et al. 2021)."""

    backbone: str = Field(
        "all-MiniLM-L6-v2",
        min_length=1,
        description="A Hugging Face name (the papers: facebook/bart-base, t5-base), or a folder; an encoder gets a new "
        "decoder.",
    )
    decoder_layers: int = Field(2, ge=1, le=48, description="Layers of a new decoder.")
    copying: bool = Field(
        False, description="A new decoder can copy words of the source text (pointer-generator, See et al. 2017)."
    )
    learning_rate: float = Field(1e-5, gt=0, lt=1, description="Highest learning rate of pre-trained weights.")
    decoder_rate: float = Field(
        50.0, gt=0, le=1000, description="Factor on the learning rate for an encoder's new decoder."
    )
    epochs: int = Field(5, ge=1, le=1000, description="Passes over the examples.")
    source_length: int = Field(512, ge=8, le=8192, description="Tokens of a source text.")
    target_length: int = Field(150, ge=4, le=8192, description="Tokens of a written text.")
    decoding: Literal["beam", "sample"] = Field("beam", description="The most likely text, or one drawn at random.")
    beams: int = Field(5, ge=1, le=100, description="Beams of the beam search.")
    no_repeat: int = Field(3, ge=0, le=20, description="No sequence of this many tokens may repeat; 0: all may.")
    length_penalty: float = Field(1.0, ge=-10, le=10, description="Above 0 prefers longer texts; beams only.")
    top_k: int = Field(50, ge=0, le=100_000, description="Draw from this many most likely tokens; 0: all.")
    top_p: float = Field(1.0, gt=0, le=1, description="Draw from the most likely tokens with this share (nucleus).")
