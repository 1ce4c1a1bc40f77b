"""The configuration of question-answering infused pre-training (Jia, Lewis and Zettlemoyer 2022), with its defaults."""

import re
from typing import Literal, Self

from pydantic import Field, field_validator, model_validator

from allpairs.learner.light.catalog.backbones import GeneratorSettings, ReaderSettings, Training
from allpairs.learner.light.catalog.section import Section

HEADS = "heads.safetensors"  # in a student's folder, beside its encoder: the heads that find answers

Variant = Literal[
    "no question generation",
    "teacher",
    "no teacher",
    "cross-encoder student",
    "unsupervised questions",
    "concatenated passages",
    "hard labels",
    "two-stage beam",
    "gold answers",
]
GOLD: Variant = "gold answers"
PROMPTS = {  # questions for kinds of entities, as in the paper
    "O": "What is a generic object ?",
    "PER": "Who is a person ?",
    "person": "Who is a person ?",
    "LOC": "What is a location ?",
    "location": "What is a location ?",
    "ORG": "What is an organization ?",
    "MISC": "What is a miscellaneous entity ?",
    "corporation": "What is a corporation ?",
    "product": "What is a product ?",
    "creative-work": "What is a creative work ?",
    "group": "What is a group ?",
}


class QuipInputs(Section):
    """The files that it reads: tables as CSV, TSV, JSON Lines or Parquet; questions also as MRQA's or SQuAD's files.

    Each of them may be compressed with gzip.
    """

    passages: str = Field(description="Texts to write questions for: columns id and text.")
    questions: str | None = Field(
        None,
        description="Questions with answers to train generator and teacher on: MRQA's JSON Lines, SQuAD's JSON, or "
        "a table with the columns x, answer, passage. Without it questions are noisy sentences of the passages, "
        "and there is no teacher.",
    )
    reading: str | None = Field(
        None,
        description="Questions to measure reading with, likewise; never trained on. With a column dataset, or the "
        "headers of joined MRQA files, each data set is measured by itself too.",
    )
    paraphrases: str | None = Field(
        None,
        description="Pairs of sentences: columns dataset, split (train or test), x, y, label (1 or 0). A few of train "
        "are trained on.",
    )
    entities: str | None = Field(
        None,
        description="Sentences with entities: columns dataset, split (train or test), tokens and tags (IOB2), both "
        "separated by blanks.",
    )
    sentiment: str | None = Field(None, description="Opinions: columns dataset, text, label (1: positive, 0).")


class QuestionGenerator(GeneratorSettings):
    """The model that writes an answer, and a question for it, from a passage."""

    learning_rate: float = Field(3e-5, gt=0, lt=1, description="Highest learning rate of pre-trained weights.")
    epochs: int = Field(3, ge=1, le=1000, description="Passes over the examples.")
    target_length: int = Field(96, ge=4, le=8192, description="Tokens of answer and question.")
    decoding: Literal["beam", "sample"] = Field(
        "sample", description="Drawn at random (the paper), or the most likely."
    )
    no_repeat: int = Field(0, ge=0, le=20, description="No sequence of this many tokens may repeat; 0: all may.")
    top_k: int = Field(0, ge=0, le=100_000, description="Draw from this many most likely tokens; 0: all.")
    top_p: float = Field(0.6, gt=0, le=1, description="Draw from the most likely tokens with this share (nucleus).")
    each: int = Field(10, ge=1, le=1000, title="Questions", description="Questions for each passage.")


class Teacher(ReaderSettings):
    """The cross-encoder that reads passage and question together, and finds the answer."""

    learning_rate: float = Field(3e-5, gt=0, lt=1, description="Highest learning rate.")
    steps: int | None = Field(None, ge=1, le=1_000_000, description="Training steps; empty: passes.")
    question_length: int = Field(50, ge=4, le=4096, description="Tokens of a question; the rest is cut off.")
    stride: int = Field(128, ge=0, le=4096, description="Tokens by which two windows of a long passage overlap.")
    best: int = Field(8, ge=1, le=512, description="Number of probabilities to keep, for first and for last tokens.")
    renormalise: bool = Field(False, description="Renormalise the kept probabilities to sum to 1 (the paper does not).")


class Student(Training):
    """The bi-encoder to pre-train: it reads passages and questions apart."""

    backbone: str = Field(
        "all-MiniLM-L6-v2",
        min_length=1,
        description="A Hugging Face name (the paper: roberta-large), or a folder.",
    )
    learning_rate: float = Field(1e-5, gt=0, lt=1, description="Highest learning rate of pre-trained weights.")
    head_rate: float = Field(1.0, gt=0, le=10_000, description="Factor on the learning rate for the new heads.")
    batch_size: int = Field(8, ge=1, le=4096, description="Passages in one step, each with all its questions.")
    epochs: int = Field(2, ge=1, le=1000, description="Passes over the passages.")
    passage_length: int = Field(456, ge=8, le=8192, description="Tokens of a passage: as many whole sentences as fit.")
    question_length: int = Field(50, ge=4, le=4096, description="Tokens of a question; the rest is cut off.")
    window_step: int = Field(328, ge=1, le=8192, description="Tokens from one window of a long passage to the next.")
    longest_answer: int = Field(17, ge=1, le=1000, description="Tokens of an answer.")

    @model_validator(mode="after")
    def _windows_overlap(self) -> Self:
        if self.window_step > self.passage_length:
            raise ValueError(
                f"window_step is {self.window_step}, but passage_length is {self.passage_length}: tokens between "
                "windows would not be read; lower window_step"
            )
        return self


class Paraphrases(Section):
    """Ranking and classifying paraphrases by BERTScore."""

    layer: int | None = Field(
        None,
        ge=1,
        le=200,
        description="Layer whose vectors are compared. Empty: the one whose scores correlate best with the labels of "
        "pairs of the training part (the paper: with WMT16's judgements).",
    )
    judged: int = Field(200, ge=2, le=100_000, description="Training pairs used to choose the layer.")
    layers: int = Field(8, ge=1, le=200, description="Number of last layers whose scores the classifier uses.")
    shots: int = Field(16, ge=1, le=10_000, description="Pairs of each class to train a classifier on.")
    seeds: list[int] = Field([13, 21, 42, 87, 100], min_length=1, max_length=100, description="Seeds of the splits.")
    fine_tune: bool = Field(True, description="Train the encoder too, not only the classifier on top.")
    learning_rate: float = Field(1e-5, gt=0, lt=1, description="Learning rate, if the encoder is trained too.")
    epochs: int = Field(20, ge=1, le=1000, description="Passes over the few pairs.")
    batch_size: int = Field(16, ge=2, le=4096, description="Pairs in one step.")
    most: int | None = Field(
        None, ge=2, le=1_000_000, description="Pairs to measure with, drawn at random; empty: all."
    )


class Entities(Section):
    """Entity tagging, trained on a few sentences."""

    prompts: dict[str, str] = Field(
        PROMPTS,
        description="The question for a kind of entity, added to the known ones or replacing one; DATASET:KIND is for "
        "that data set alone. A kind without a question gets “What is a KIND ?”.",
    )
    shots: int = Field(5, ge=1, le=10_000, description="Sentences with each kind of entity to train on.")
    seeds: list[int] = Field([0, 1, 2, 3, 4], min_length=1, max_length=100, description="Seeds of the splits.")
    learning_rate: float = Field(2e-5, gt=0, lt=1, description="Highest learning rate.")
    epochs: int = Field(200, ge=1, le=1000, description="Passes over the few sentences.")
    full_epochs: int = Field(
        0,
        ge=0,
        le=1000,
        description="Passes over all training sentences, by further models of the first seed (the paper: 3); 0: none.",
    )
    batch_size: int = Field(8, ge=1, le=4096, description="Sentences in one step.")
    most: int | None = Field(
        None, ge=2, le=1_000_000, description="Sentences to measure with, drawn at random; empty: all."
    )

    @field_validator("prompts")
    @classmethod
    def _beside_the_known(cls, prompts: dict[str, str]) -> dict[str, str]:
        return PROMPTS | prompts

    def prompts_of(self, dataset: str) -> dict[str, str]:
        """Return the question for each kind of entity in the data set."""
        mark = f"{dataset}:"
        prompts = {
            name.removeprefix(mark): question for name, question in self.prompts.items() if name.startswith(mark)
        }
        return self.prompts | prompts


class Sentiment(Section):
    """Sentiment classification by two questions, and the words that show it."""

    prompts: list[str] = Field(
        [
            "Why is it good? | Why is it bad?",
            "Why is this movie good? | Why is this movie bad?",
            "Why is it great? | Why is it terrible?",
            "What makes this movie good? | What makes this movie bad?",
            "What is the reason this movie is good? | What is the reason this movie is bad?",
            "What is the reason this movie is great? | What is the reason this movie is terrible?",
        ],
        min_length=1,
        max_length=100,
        description="Questions for a positive | for a negative opinion.",
    )
    topics: dict[str, str] = Field(
        {"CR": "product"},
        description="What a data set's opinions are about: its word replaces “movie” in the questions.",
    )
    words: list[str] = Field(
        ["the", "be", "to", "of", "and", "a", "in", "that", "have", "I"],
        min_length=1,
        description="Neutral words: each question's score on them is its baseline, which is subtracted.",
    )
    rationale: int = Field(5, ge=1, le=100, description="Tokens of a rationale.")
    most: int | None = Field(
        None, ge=2, le=1_000_000, description="Opinions to measure with, drawn at random; empty: all."
    )

    @model_validator(mode="after")
    def _two_questions(self) -> Self:
        bad = next((prompt for prompt in self.prompts if len([q for q in prompt.split("|") if q.strip()]) != 2), None)
        if bad is not None:
            raise ValueError(f"{bad!r} is not a pair of questions: write “positive | negative”")
        return self

    def prompts_of(self, dataset: str) -> list[str]:
        """Return the questions for the data set's opinions."""
        return [re.sub(r"\bmovie\b", self.topics.get(dataset, "movie"), prompt) for prompt in self.prompts]


class QuipConfig(Section):
    """How an encoder is pre-trained by question answering, and what it is tested on."""

    seed: int = Field(0, ge=0, le=2**31 - 1, description="Seed of everything random.")
    passages: int | None = Field(
        None, ge=1, le=100_000_000, description="Passages to use, drawn at random; empty: all."
    )
    questions: int | None = Field(
        None, ge=2, le=100_000_000, description="Questions with answers to train on, drawn at random; empty: all."
    )
    reading: int | None = Field(
        None, ge=1, le=100_000_000, description="Questions to measure reading with, drawn at random; empty: all."
    )
    shard: int = Field(
        64,
        ge=1,
        le=1_000_000,
        description="Fewest passages in each saved file, what a stopped run repeats; at most 500 files.",
    )
    variants: list[Variant] = Field(
        [],
        max_length=20,
        description="Variants to train and measure too: no question generation, teacher, no teacher, cross-encoder "
        "student, unsupervised questions, concatenated passages, hard labels, two-stage beam, gold answers (known "
        "questions in place of written ones). Each takes about as long as the student.",
    )
    generator: QuestionGenerator = Field(default_factory=QuestionGenerator)
    teacher: Teacher = Field(default_factory=Teacher)
    student: Student = Field(default_factory=Student)
    paraphrases: Paraphrases = Field(default_factory=Paraphrases)
    entities: Entities = Field(default_factory=Entities)
    sentiment: Sentiment = Field(default_factory=Sentiment)

    @model_validator(mode="after")
    def _teacher_reads_it_whole(self) -> Self:
        least = self.student.passage_length + self.teacher.question_length + 4
        if self.teacher.max_length < least:
            raise ValueError(
                f"teacher.max_length is {self.teacher.max_length}, but passage_length, question_length and 4 add up to "
                f"{least}: the teacher would not read whole passages; raise it, or lower student.passage_length"
            )
        return self
