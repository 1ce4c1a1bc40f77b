"""The text generator: every architecture trains; likelihoods; beams and samples; a decoder made from an encoder."""

from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
import torch
from torch import nn
from transformers import AutoModelForSeq2SeqLM, EncoderDecoderModel

from allpairs.db.errors import InputError
from allpairs.learner.backbones.beams import beginnings, continued
from allpairs.learner.backbones.generator import (
    TextGenerator,
    decoding,
    generate,
    generate_several,
    load_generator,
    nll,
    token_losses,
    train_generator,
    with_token,
)
from allpairs.learner.light.catalog.backbones import GeneratorSettings
from tests.helpers.tiny import tiny_encoder
from tests.helpers.tiny_backbones import WRITERS, tiny_backbone

THINGS = ("red apples", "blue boats", "old green cars", "cats", "very small dogs", "tall trees")
SOURCES = [f"{thing} are sold here" + " and there" * (i % 3) for i, thing in enumerate(THINGS)]
TARGETS = [f"where are {thing} sold ?" for thing in THINGS]
LEARNT = {"bert": 70, "bart": 70, "t5": 110}  # steps
FAST = GeneratorSettings(
    batch_size=6, weight_decay=0, decoder_rate=1, learning_rate=1e-2, source_length=32, target_length=12,
    beams=3, decoder_layers=1,
)  # fmt: skip


def fresh(tmp_path: Path, architecture: str = "bert", seed: int = 0) -> TextGenerator:
    folder = tiny_backbone(tmp_path, architecture, [*SOURCES, *TARGETS])
    return load_generator(str(folder), FAST.decoder_layers, seed=seed, device="cpu")


def trained(tmp_path: Path, architecture: str, steps: int) -> TextGenerator:
    generator = fresh(tmp_path, architecture)
    train_generator(generator, SOURCES, TARGETS, FAST.model_copy(update={"steps": steps}))
    return generator


@pytest.mark.parametrize("architecture", WRITERS)
def test_every_shape_learns_and_its_folder_writes_alike(tmp_path: Path, architecture: str) -> None:
    before = nll(fresh(tmp_path, architecture), SOURCES, TARGETS, FAST)
    generator = trained(tmp_path, architecture, LEARNT[architecture])
    seen: list[tuple[str, float]] = []
    written = generate(generator, SOURCES, FAST, lambda stage, done: seen.append((stage, done)))
    assert written == TARGETS
    assert seen[-1] == ("write", 1.0)
    assert generate(generator, SOURCES[::-1], FAST) == TARGETS[::-1]
    after = nll(generator, SOURCES, TARGETS, FAST)
    assert after.max() < 0.5 < before.min()
    generator.save(tmp_path / "saved")
    AutoModelForSeq2SeqLM.from_pretrained(tmp_path / "saved")
    again = load_generator(str(tmp_path / "saved"), device="cpu")
    np.testing.assert_allclose(nll(again, SOURCES, TARGETS, FAST), after, atol=1e-5)
    assert generate(again, SOURCES, FAST) == TARGETS


@pytest.mark.filterwarnings("ignore:Version v4.12.0")  # the library speaks to those who trained with older ones
@pytest.mark.parametrize("architecture", WRITERS)
def test_a_likelihood_is_the_librarys_and_independent_of_others(tmp_path: Path, architecture: str) -> None:
    generator = fresh(tmp_path, architecture)
    targets = [*TARGETS[1:], "cats"]  # not one that was learnt, and of very different lengths
    together = nll(generator, SOURCES, targets, FAST)
    alone = [nll(generator, [s], [t], FAST)[0] for s, t in zip(SOURCES, targets, strict=True)]
    assert together.dtype == np.float32
    np.testing.assert_allclose(together, alone, rtol=1e-4)
    np.testing.assert_allclose(nll(generator, SOURCES[::-1], targets[::-1], FAST), together[::-1], rtol=1e-4)
    for source, target, found in zip(SOURCES, targets, together, strict=True):
        labels = generator.tokenizer(target, return_tensors="pt").input_ids
        labels = labels[:, 1:] if architecture == "bert" else labels
        inputs = generator.tokenizer(source, return_tensors="pt")
        with torch.inference_mode():
            wanted = generator.model(input_ids=inputs.input_ids, labels=labels).loss
        assert float(found) == pytest.approx(float(wanted), rel=1e-4)


def test_losses_by_hand() -> None:
    """Log-probabilities −1.2, −0.3, −0.5, −0.9 have a perplexity of 2.064731; the others are 1/2, 1/4, 1/5."""
    first, second = torch.tensor([-1.2, -0.3, -0.5, -0.9]).exp(), torch.tensor([0.5, 0.25, 0.2, 0.9])
    logits = torch.stack([torch.stack([p, 1 - p], dim=-1).log() for p in (first, second)])
    losses = token_losses(logits, torch.tensor([[0, 0, 0, 0], [0, 0, 0, -100]]))
    assert float(losses[0].mean().exp()) == pytest.approx(2.064731, abs=1e-6)
    assert float(losses[1].sum()) == pytest.approx(3.6888794541)
    assert float(losses[1].sum() / 3) == pytest.approx(1.2296264847)


def test_every_token_counts_the_same_in_any_training_batch(tmp_path: Path) -> None:
    """A step's loss is the mean over its tokens however it is split: memory limits change only the rounding."""
    found = []
    for budget in (10_000, 20):
        generator = fresh(tmp_path, "t5")
        for module in generator.model.modules():
            module.p = 0.0  # dropout is drawn part by part
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("allpairs.learner.backbones.length_batches.SMALL_BUDGET", budget)
            train_generator(generator, SOURCES, TARGETS, FAST.model_copy(update={"steps": 1, "learning_rate": 1e-4}))
        found.append(nll(generator, SOURCES, TARGETS, FAST))
    np.testing.assert_allclose(found[0], found[1], rtol=1e-3)


def test_no_three_tokens_come_twice(tmp_path: Path) -> None:
    generator = fresh(tmp_path, "t5")

    def banned(settings: GeneratorSettings) -> list[int]:
        """Return the tokens that may not follow 5 6 7 8 5 6."""
        config = decoding(generator, settings.model_copy(update={"beams": 1}))
        config.update(max_new_tokens=1, output_scores=True, return_dict_in_generate=True)
        read = generator.tokenizer(SOURCES[0], return_tensors="pt").input_ids
        said = torch.tensor([[generator.start, 5, 6, 7, 8, 5, 6]])
        found = generator.model.generate(input_ids=read, decoder_input_ids=said, generation_config=config)
        return torch.nonzero(torch.isneginf(found.scores[0][0])).flatten().tolist()

    assert banned(FAST) == [7]
    assert banned(FAST.model_copy(update={"no_repeat": 0})) == []


def test_beams_find_what_is_at_least_as_likely(tmp_path: Path) -> None:
    generator = trained(tmp_path, "bart", 30)
    unknown = ["red dogs are sold here", "old small blue cats are sold"]
    config = {"length_penalty": 0.0, "no_repeat": 0}
    losses = []
    for beams in (1, 6):
        settings = FAST.model_copy(update={**config, "beams": beams})
        written = generate(generator, unknown, settings)
        tokens = [len(ids) for ids in generator.tokenizer(written)["input_ids"]]
        losses.append(nll(generator, unknown, written, settings) * tokens)
    assert (losses[1] <= losses[0] + 1e-4).all()


def test_draws_come_from_the_seed_and_leave_other_draws_alone(tmp_path: Path) -> None:
    generator = fresh(tmp_path, "bart")
    settings = FAST.model_copy(update={"decoding": "sample", "top_k": 5})
    torch.manual_seed(7)
    expected = torch.rand(1)
    torch.manual_seed(7)
    one, two, other = (generate(generator, SOURCES, settings, seed=seed) for seed in (1, 1, 2))
    assert one == two != other
    assert torch.equal(torch.rand(1), expected)
    likeliest = generate(generator, SOURCES, settings.model_copy(update={"decoding": "beam", "beams": 1}))
    assert generate(generator, SOURCES, settings.model_copy(update={"top_k": 1})) == likeliest
    assert generate(generator, SOURCES, settings.model_copy(update={"top_k": 0, "top_p": 1e-6})) == likeliest


@pytest.mark.parametrize("architecture", ["bert", "bart"])
def test_several_texts_are_written_from_each_source(tmp_path: Path, architecture: str) -> None:
    generator = fresh(tmp_path, architecture)
    draw = FAST.model_copy(update={"decoding": "sample", "top_k": 5})
    drawn = generate_several(generator, SOURCES, 6, draw, seed=1)
    assert [len(texts) for texts in drawn] == [6] * len(SOURCES)
    assert all(len(set(texts)) > 1 for texts in drawn)
    surest = generate_several(generator, SOURCES, 3, draw.model_copy(update={"top_k": 1}))
    likeliest = generate(generator, SOURCES, FAST.model_copy(update={"beams": 1}))
    assert surest == [[text] * 3 for text in likeliest]


def test_a_seed_fixes_decoder_and_training(tmp_path: Path) -> None:
    few = FAST.model_copy(update={"steps": 3})
    torch.manual_seed(7)
    expected = torch.rand(1)
    found = []
    for seed in (1, 1, 2):
        generator = fresh(tmp_path, seed=seed)
        torch.manual_seed(7)  # whatever the process drew before
        train_generator(generator, SOURCES, TARGETS, few)
        assert torch.equal(torch.rand(1), expected)
        found.append(nll(generator, SOURCES, TARGETS, few))
    np.testing.assert_array_equal(found[0], found[1])
    assert not np.allclose(found[0], found[2])


def test_a_new_decoder_begins_as_the_encoder(tmp_path: Path) -> None:
    folder = str(tiny_encoder(tmp_path, [*SOURCES, *TARGETS], layers=4))
    model = load_generator(folder, 2, device="cpu").model
    encoder, decoder = model.encoder, model.decoder
    assert len(decoder.bert.encoder.layer) == 2
    originals = (encoder.encoder.layer[0], encoder.encoder.layer[2])
    for layer, original in zip(decoder.bert.encoder.layer, originals, strict=True):
        for part in ("attention", "intermediate", "output"):
            for name, values in getattr(original, part).state_dict().items():
                assert torch.equal(getattr(layer, part).state_dict()[name], values)
    words = encoder.embeddings.word_embeddings.weight
    assert torch.equal(decoder.bert.embeddings.word_embeddings.weight, words)
    assert decoder.get_output_embeddings().weight is decoder.bert.embeddings.word_embeddings.weight
    ids = model.generation_config
    assert (ids.decoder_start_token_id, ids.eos_token_id, ids.pad_token_id) == (2, 3, 0)


def test_what_cannot_be_is_refused_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no folder"):
        load_generator(str(tmp_path / "none"))
    with pytest.raises(InputError, match="cannot be loaded") as refused:
        load_generator(str(tiny_backbone(tmp_path, "xlnet", SOURCES)))
    assert "\n" not in str(refused.value)
    generator = fresh(tmp_path)
    with pytest.raises(InputError, match="there are no pairs"):
        train_generator(generator, [], [], FAST)
    assert nll(generator, [], [], FAST).shape == (0,)
    assert generate(generator, [], FAST) == []


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_the_bundled_encoder_learns_to_ask(real_data: Path) -> None:
    rows = pq.read_table(real_data / "mlquestions" / "dev.parquet").to_pylist()
    taught, held = rows[:200], rows[200:300]
    settings = GeneratorSettings(source_length=128, target_length=32, batch_size=16)
    generator = load_generator(settings.backbone, settings.decoder_layers)

    def loss() -> float:
        found = nll(generator, [r["passage"] for r in held], [r["question"] for r in held], settings)
        return float(found.mean())

    before = loss()
    train_generator(generator, [r["passage"] for r in taught], [r["question"] for r in taught], settings)
    assert loss() < before - 2
    assert all(generate(generator, [r["passage"] for r in held[:5]], settings))


@pytest.mark.parametrize("architecture", WRITERS)
def test_an_added_token_is_read_as_one_and_changes_little_else(tmp_path: Path, architecture: str) -> None:
    before = nll(fresh(tmp_path, architecture), SOURCES, TARGETS, FAST)
    generator = with_token(fresh(tmp_path, architecture), "<mined>", seed=1)
    more = nll(generator, SOURCES, TARGETS, FAST) - before  # where both sides share their words, it may be written too
    assert (more > -1e-5).all() and more.max() < (1e-5 if architecture == "bert" else 0.3)
    plain, marked = (generator.tokenizer(text)["input_ids"] for text in ("cats", "<mined> cats"))
    assert len(marked) == len(plain) + 1
    lot = [f"<mined> {source}" for source in SOURCES]
    train_generator(generator, [*SOURCES, *lot], [*TARGETS, *TARGETS[::-1]], FAST.model_copy(update={"steps": 3}))
    changed = nll(generator, lot, TARGETS, FAST)
    assert np.isfinite(changed).all() and (changed != nll(generator, SOURCES, TARGETS, FAST)).all()
    assert len(generate(generator, lot, FAST)) == len(lot)


@pytest.mark.parametrize("architecture", ["bert", "t5"])
def test_beams_end_at_a_sign_and_go_on_from_there(tmp_path: Path, architecture: str) -> None:
    targets = [f"{thing} | where are {thing} sold ?" for thing in THINGS]
    folder = tiny_backbone(tmp_path, architecture, [*SOURCES, *targets])
    generator = load_generator(str(folder), FAST.decoder_layers, device="cpu")
    settings = FAST.model_copy(update={"steps": LEARNT[architecture], "target_length": 16, "no_repeat": 0})
    train_generator(generator, SOURCES, targets, settings)
    found = beginnings(generator, SOURCES, "|", 4, settings)
    assert all(thing in answers for thing, answers in zip(THINGS, found, strict=True))
    assert sum(thing == answers[0] for thing, answers in zip(THINGS, found, strict=True)) >= 5
    assert all(len(set(answers)) == len(answers) <= 4 and "|" not in "".join(answers) for answers in found)
    begun = [f"{thing} |" for thing in THINGS]  # of one word to three
    written = continued(generator, SOURCES, begun, settings)
    assert all(text.startswith(beginning) for text, beginning in zip(written, begun, strict=True))
    assert sum(text == target for text, target in zip(written, targets, strict=True)) >= 5
    other = continued(generator, SOURCES[:1], ["cats |"], settings)[0]
    assert other.startswith("cats |") and len(other) > len("cats |")
    assert continued(generator, [], [], settings) == []
    with pytest.raises(InputError, match="no token for '§'"):
        beginnings(generator, SOURCES, "§", 4, settings)


@pytest.mark.parametrize("architecture", ["bert", "pointer", "bart", "t5"])
def test_recomputed_activations_give_the_same_weights(tmp_path: Path, architecture: str) -> None:
    found, calls = [], Counter[bool]()
    for recompute in (False, True):
        folder = tmp_path / str(recompute)
        generator = pointing(folder) if architecture == "pointer" else fresh(folder, architecture)
        for part in generator.model.modules():
            if isinstance(part, nn.Linear):
                part.register_forward_hook(lambda *_, recompute=recompute: calls.update([recompute]))
        train_generator(generator, SOURCES, TARGETS, FAST.model_copy(update={"steps": 3, "recompute": recompute}))
        found.append(torch.cat([one.detach().ravel() for one in generator.model.parameters()]))
    assert torch.allclose(*found, atol=2e-3)
    assert calls[True] > 1.5 * calls[False]  # all layers, but not the output layer


def pointing(folder: Path) -> TextGenerator:
    source = tiny_backbone(folder, "bert", [*SOURCES, *TARGETS])
    return load_generator(str(source), 1, device="cpu", copying=True)


def test_a_pointer_learns_copies_and_is_the_same_when_loaded(tmp_path: Path) -> None:
    generator = pointing(tmp_path)
    train_generator(generator, SOURCES, TARGETS, FAST.model_copy(update={"steps": 70}))
    assert generate(generator, SOURCES, FAST) == TARGETS
    found = nll(generator, SOURCES, TARGETS, FAST)
    alone = [nll(generator, [s], [t], FAST)[0] for s, t in zip(SOURCES, TARGETS, strict=True)]
    np.testing.assert_allclose(found, alone, rtol=1e-3, atol=1e-5)
    assert continued(generator, SOURCES[:2], ["where are red", "where are"], FAST) == TARGETS[:2]
    generator.save(tmp_path / "saved")
    again = load_generator(str(tmp_path / "saved"), device="cpu")
    np.testing.assert_allclose(nll(again, SOURCES, TARGETS, FAST), found, atol=1e-5)
    assert generate_several(again, SOURCES, 3, FAST.model_copy(update={"decoding": "sample", "top_k": 1})) == [
        [text] * 3 for text in TARGETS
    ]


def test_a_pointer_that_never_writes_copies_the_sources_words(tmp_path: Path) -> None:
    generator = with_token(pointing(tmp_path), "<mined>", seed=1)
    gate = generator.model.pointer.gate
    read = generator.tokenizer(["<mined> cats are sold", "cats"], padding=True, return_tensors="pt")
    inputs = {"input_ids": read.input_ids, "attention_mask": read.attention_mask}
    said = torch.tensor([[generator.start]] * 2)
    with torch.inference_mode():
        gate.bias.fill_(-50.0)
        copied = generator.model(**inputs, decoder_input_ids=said).logits.exp()[:, -1]
        torch.testing.assert_close(copied.sum(-1), torch.ones(2))
        words = copied.shape[-1]  # the decoder does not know the new token
        for row, ids in enumerate(read.input_ids.tolist()):
            seen = {word for word in ids if word < words and word != generator.tokenizer.pad_token_id}
            assert set(torch.nonzero(copied[row] > 1e-6).flatten().tolist()) == seen
        gate.bias.fill_(50.0)
        written = generator.model(**inputs, decoder_input_ids=said).logits[:, -1]
        plain = EncoderDecoderModel.forward(generator.model, **inputs, decoder_input_ids=said).logits[:, -1]
    torch.testing.assert_close(written, plain.log_softmax(-1), atol=1e-4, rtol=1e-4)
