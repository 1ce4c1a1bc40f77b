"""Small data sets in the format of the released ones, for tests of the adapters."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

QUORA_HEADER = "id\tqid1\tqid2\tquestion1\tquestion2\tis_duplicate\n"
WIKIQA_HEADER = "QuestionID\tQuestion\tDocumentID\tDocumentTitle\tSentenceID\tSentence\tLabel\n"

WIKIQA = {
    "train": [
        ("Q1", "who wrote it ?", "Novel", 'The "novel" is by Ann .', 1),
        ("Q1", "who wrote it ?", "Novel", "It is long .", 0),
        ("Q2", "how long ?", "River", "It is long .", 1),
        ("Q2", "how long ?", "River", 'Some say "very .', 0),
    ],
    "dev": [("Q3", "is it long ?", "River", "It is long .", 1), ("Q3", "is it long ?", "River", "It is long .", 0)],
    "test": [("Q4", "where ?", "Town", "In the north .", 1), ("Q4", "where ?", "Town", "It is old .", 0)],
}


def write_quora(path: Path, pairs: Iterable[tuple[str, str, int]], texts: dict[str, str] | None = None) -> Path:
    """Write the released file of these pairs of ids and labels; a question is `question <id>` unless given."""

    def question(name: str) -> str:
        return (texts or {}).get(name, f"question {name}")

    rows = (
        f"{number}\t{one}\t{other}\t{question(one)}\t{question(other)}\t{label}\n"
        for number, (one, other, label) in enumerate(pairs)
    )
    path.write_text(QUORA_HEADER + "".join(rows), encoding="utf-8")
    return path


def write_wikiqa(folder: Path, parts: dict[str, Sequence[tuple[str, str, str, str, int]]] | None = None) -> Path:
    """Write WikiQA's three files, (question id, question, title, sentence, label) by part; return their folder."""
    for part, rows in (parts or WIKIQA).items():
        lines = (
            f"{name}\t{question}\tD1\t{title}\tD1-{number}\t{sentence}\t{label}\n"
            for number, (name, question, title, sentence, label) in enumerate(rows)
        )
        (folder / f"WikiQA-{part}.tsv").write_text(WIKIQA_HEADER + "".join(lines))
    return folder


def write_squad(folder: Path, parts: Mapping[str, Sequence[tuple[str, str, Sequence[str]]]]) -> Path:
    """Write SQuAD 1.1's JSON files of these questions, passages and answers, by file name; return the folder."""
    for name, asked in parts.items():
        paragraphs = [
            {"context": passage, "qas": [{
                "id": f"{row}", "question": question,
                "answers": [{"text": answer, "answer_start": passage.index(answer)} for answer in answers],
            }]}
            for row, (question, passage, answers) in enumerate(asked)
        ]  # fmt: skip
        content = {"version": "1.1", "data": [{"title": "All", "paragraphs": paragraphs}]}
        (folder / name).write_text(json.dumps(content), encoding="utf-8")
    return folder


def write_xsum(folder: Path, parts: Mapping[str, Sequence[tuple[str, str]]]) -> Path:
    """Write XSum's files of these documents and summaries, and its split; return the folder."""
    (folder / "bbc-summary-data").mkdir(parents=True)
    split: dict[str, list[str]] = {}
    for part, articles in parts.items():
        for row, (document, summary) in enumerate(articles):
            name = f"{part}{row}"
            split.setdefault(part, []).append(name)
            sections = {"URL": "http://bbc.co.uk/1", "TITLE": "News", "FIRST-SENTENCE": summary, "RESTBODY": document}
            text = "\n\n".join(f"[SN]{section}[SN]\n{content}" for section, content in sections.items())
            (folder / "bbc-summary-data" / f"{name}.summary").write_text(text, encoding="utf-8")
        split[part].append("gone")  # an article that has left the web
    (folder / "XSum-TRAINING-DEV-TEST-SPLIT-90-5-5.json").write_text(json.dumps(split), encoding="utf-8")
    return folder
