"""The last stage: the paper's tables and figures from this run's results, beside the paper's own."""

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from allpairs.db.progress import Progress
from allpairs.learner.pipelines.backtraining import drawing, paper
from allpairs.learner.pipelines.backtraining.best import BEST, PAIRS, QUESTIONS, best_model_of, model_of, titled
from allpairs.learner.pipelines.backtraining.lists import BACK, SELF
from allpairs.learner.pipelines.backtraining.records import IterationRecord, records_at, records_of
from allpairs.learner.pipelines.backtraining.source import GENERATOR, RETRIEVER
from allpairs.learner.pipelines.backtraining.tables import table4, table5, table6
from allpairs.learner.pipelines.backtraining.texts import Data, domain_data
from allpairs.learner.pipelines.backtraining.types import TYPES, Tagger, by_patterns, learned_tagger
from allpairs.learner.pipelines.pipeline import RESULTS, Artifact, Run, write_artifacts
from allpairs.learner.pipelines.report import Report
from allpairs.learner.reports.means import mean_of
from allpairs.learner.reports.tables import NONE, grid
from allpairs.learner.runtime.device import default_device
from allpairs.learner.runtime.memory import peak_memory

TEST_QUESTIONS = "test-questions.jsonl"  # in the folder of the results
COMPARED = ("bleu_1", "accuracy_at_1", "accuracy_at_40")  # measures that compare back-training with self-training


def write_backtraining_results(run: Run, folder: Path, progress: Progress) -> None:
    """Write tables/, figures/, report.md and artifacts.json to the folder."""
    data = domain_data(run)
    records = records_of(run)
    report = Report(folder, "Back-training (Kulshreshtha et al. 2021)")
    _counts(report, data)
    if not data.has_test:
        report.text(
            "There are no test pairs: figures are of the development pairs, which also chose models and thresholds."
        )
    _verdict(report, records)
    table4(report, run, records)
    table5(report, records)
    table6(report, records)
    drawing.source_and_target(report, run)
    drawing.perplexities(report, records)
    drawing.distributions(report, records)
    path = run.inputs.question_types
    tagger = learned_tagger(Path(path), run.config.retriever.backbone) if path else by_patterns
    _types(report, data, records, tagger, "a classifier" if path else "patterns")
    drawing.confusions(report, data, records, tagger, TYPES if path is None else ())
    _cost(report, records)
    report.close()
    write_artifacts(folder, [*_artifacts(run, data), write_test_questions(folder, data, records)])


def _counts(report: Report, data: Data) -> None:
    rows: list[tuple[str, float]] = [
        ("source pairs", len(data.source)),
        ("questions", len(data.questions)),
        ("passages", len(data.passages)),
        ("development pairs", len(data.dev)),
        ("test pairs", len(data.test)),
        ("passages to search in", sum(data.candidates.values())),
        ("distinct passages to search in", len(data.candidates)),
        ("pairs of the upper bound", len(data.supervised)),
        *data.about.items(),
    ]
    report.counts("Pairs and texts", rows)


def _verdict(report: Report, records: Sequence[IterationRecord]) -> None:
    """Report which scheme was better, without filters, in the first iteration."""
    back, self_trained = (
        {record.seed: record.test for record in records_at(records, scheme, 1)} for scheme in (BACK, SELF)
    )
    seeds = back.keys() & self_trained.keys()
    lines = [
        verdict([(back[seed][name], self_trained[seed][name]) for seed in seeds], paper.TITLES[name])
        for name in COMPARED
        if seeds
    ]
    if lines:
        report.text("**Back-training against self-training, one iteration, no filter.** " + " ".join(lines))


def verdict(figures: Sequence[tuple[float, float]], title: str) -> str:
    """Return a sentence on whether back-training beats self-training over the same seeds, with an interval."""
    gain = mean_of([100 * (back - self_training) for back, self_training in figures])
    ours_mean, theirs_mean = (mean_of([100 * pair[side] for pair in figures]).value for side in (0, 1))
    means = f"{title}: {ours_mean:.2f} against {theirs_mean:.2f}, "
    if gain.low is None or gain.high is None:
        return f"{means}a difference of {gain.value:+.2f} (one seed, so no interval)."
    better = "back-training is better" if gain.low > 0 else "self-training is better" if gain.high < 0 else None
    words = better or "the difference is not significant"
    interval = f"{gain.low:+.2f} to {gain.high:+.2f}, {len(figures)} seeds"
    return f"{means}a difference of {gain.value:+.2f} ({interval}): {words}."


def _types(report: Report, data: Data, records: Sequence[IterationRecord], tagger: Tagger, assigner: str) -> None:
    """Report the paper's Table 2, and the types of the first seed's generated questions."""
    texts = {
        "source": [record.question for record in data.source],
        "target": [record.text for record in data.questions],
    }
    seed = records[0].seed
    for record in records:
        if record.seed == seed and record.iteration <= 1:
            texts[f"by {record.variant}"] = record.written
    counts = {name: Counter(tagger(questions)) for name, questions in texts.items()}
    names = list(dict.fromkeys([*TYPES, *(kind for kinds in counts.values() for kind in kinds)]))
    rows = []
    body = []
    for kind in names:
        shares = {name: kinds[kind] / max(1, kinds.total()) for name, kinds in counts.items()}
        printed = dict(zip(("source", "target"), paper.TABLE2.get(kind, ()), strict=False))
        rows.append({"type": kind, **shares, **{f"{name}_paper": printed.get(name) for name in ("source", "target")}})
        body.append(
            [
                kind,
                *(f"{100 * share:.0f}" for share in shares.values()),
                *(f"{printed.get(name, NONE)}" for name in ("source", "target")),
            ]
        )
    header = ["", *texts, "source, paper", "target, paper"]
    report.text(f"{paper.TYPES_NOTE} Here {assigner} assigned the types; in the paper a person labelled 200 questions.")
    report.table("table2", "Table 2: types of questions, percent", rows, grid(header, body))


def _cost(report: Report, records: Sequence[IterationRecord]) -> None:
    rows = []
    body = []
    for variant, iteration in dict.fromkeys((record.variant, record.iteration) for record in records):
        runs = records_at(records, variant, iteration)
        minutes = sum(record.seconds for record in runs) / len(runs) / 60
        pairs = [
            round(sum(record.log(kind)["pairs"] for record in runs) / len(runs)) for kind in (GENERATOR, RETRIEVER)
        ]
        rows.append(
            {
                "variant": variant,
                "iteration": iteration,
                "generator_pairs": pairs[0],
                "retriever_pairs": pairs[1],
                "minutes": minutes,
            }
        )
        body.append([f"{variant}, {iteration}", *(f"{n:,}" for n in pairs), f"{minutes:.1f}"])
    peak = peak_memory() / 2**30
    report.text(
        f"Device: {default_device()}. Peak memory of the process that ended the run: {peak:.1f} GiB. The first "
        "iteration's lists are made once for all variants, but counted in each."
    )
    header = ["variant, iteration", "generator pairs", "retriever pairs", "minutes per seed"]
    report.table("cost", "Pairs and time", rows, grid(header, body))


def write_test_questions(folder: Path, data: Data, records: Sequence[IterationRecord]) -> Artifact:
    """Write each first-seed model's questions about the test passages, with the known ones, for raters."""
    seed = records[0].seed
    written = {titled(record.variant, record.iteration): record.written for record in records if record.seed == seed}
    with (folder / TEST_QUESTIONS).open("w", encoding="utf-8") as file:
        for number, pair in enumerate(data.test):
            questions = {model: texts[number] for model, texts in written.items()}
            row = {"passage": pair.passage, "reference": pair.question, "questions": questions}
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
    figures = {"passages": len(data.test), "models": len(written)}
    return Artifact("test-questions", "Questions about the test passages", f"{RESULTS}/{TEST_QUESTIONS}", figures)


def _artifacts(run: Run, data: Data) -> list[Artifact]:
    best = {kind: best_model_of(run, kind) for kind in (GENERATOR, RETRIEVER)}
    retriever, generator = (model_of(best[kind], kind).relative_to(run.folder) for kind in (RETRIEVER, GENERATOR))
    with (run.of(BEST) / PAIRS).open() as file:
        pairs = sum(1 for _ in file)
    written = min(len(data.passages), run.config.wanted)
    return [
        Artifact("pairs", "Questions with their passages", f"{BEST}/{PAIRS}", {"pairs": pairs}),
        Artifact("biencoder", "Bi-encoder", str(retriever), {"from": best[RETRIEVER].title}),
        Artifact("generator", "Question generator", str(generator), {"from": best[GENERATOR].title}),
        Artifact("questions", "Generated questions", f"{BEST}/{QUESTIONS}", {"questions": written}),
    ]
