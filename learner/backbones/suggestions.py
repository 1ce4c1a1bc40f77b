"""Several questions about one text: the likeliest and some drawn at random, each once."""

from learner.backbones.generator import TextGenerator, generate, nll
from learner.catalog.backbones import GeneratorSettings

DRAWS = 3  # for each suggestion that is wanted: some are the same


def suggest(
    generator: TextGenerator, text: str, n: int, settings: GeneratorSettings, seed: int = 0
) -> list[tuple[str, float]]:
    """At most n different questions about the text with their mean negative log-likelihoods, the likeliest first."""
    likeliest = generate(generator, [text], settings.model_copy(update={"decoding": "beam"}))
    drawing = settings.model_copy(update={"decoding": "sample"})
    drawn = generate(generator, [text] * (DRAWS * n), drawing, seed=seed)
    different: dict[str, str] = {}
    for question in (*likeliest, *drawn):
        if question:
            different.setdefault(question.lower().rstrip(" ?"), question)
    questions = list(different.values())
    losses = nll(generator, [text] * len(questions), questions, settings).tolist()
    return sorted(zip(questions, losses, strict=True), key=lambda pair: pair[1])[:n]
