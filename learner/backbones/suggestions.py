"""Distinct questions about one text: the most likely ones and some drawn at random."""

from allpairs.learner.backbones.generator import TextGenerator, generate, generate_several, nll
from allpairs.learner.backbones.loading import longest
from allpairs.learner.backbones.reranking.templates import PASSAGE
from allpairs.learner.light.catalog.backbones import GeneratorSettings

DRAWS = 3  # for each suggestion, since some draws are the same


def filled(generator: TextGenerator, form: str, passage: str, length: int) -> str:
    """Fill the passage into the form within the given number of tokens; only the passage is truncated."""
    tokenizer = generator.tokenizer
    room = longest(generator.model.config, tokenizer, length) - len(tokenizer(form.replace(PASSAGE, ""))["input_ids"])
    read = tokenizer(passage, add_special_tokens=False, return_offsets_mapping=True, verbose=False)
    ends = [end for _, end in read["offset_mapping"][: max(0, room)]]
    return form.replace(PASSAGE, passage[: ends[-1] if ends else 0])


def suggest_questions(
    generator: TextGenerator, text: str, n: int, settings: GeneratorSettings, seed: int = 0
) -> list[tuple[str, float]]:
    """Return up to n distinct questions about the text and their mean negative log-likelihoods, most likely first."""
    likeliest = generate(generator, [text], settings.model_copy(update={"decoding": "beam"}))
    drawing = settings.model_copy(update={"decoding": "sample"})
    (drawn,) = generate_several(generator, [text], DRAWS * n, drawing, seed=seed)
    different: dict[str, str] = {}
    for question in (*likeliest, *drawn):
        if question:
            different.setdefault(question.lower().rstrip(" ?"), question)
    questions = list(different.values())
    losses = nll(generator, [text] * len(questions), questions, settings).tolist()
    return sorted(zip(questions, losses, strict=True), key=lambda pair: pair[1])[:n]
