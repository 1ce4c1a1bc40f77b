"""Made-up references to papers, with the errors that real ones have: which references are of one paper is known.

Few papers have many references (Zipf). Some papers look alike: the same authors published under nearly the same title
elsewhere, as conference and journal versions and sequels do. A reference abbreviates, misspells, shortens or leaves out
parts of what it cites.
"""

import csv
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np


def _listed(text: str) -> list[str]:
    return text.split(", ")


FIRST = _listed(
    "Anna, Boris, Chen, Dora, Emil, Farah, Georg, Hana, Igor, Julia, Kenji, Laura, Mehmet, Nadia, Omar, Petra, "
    "Qing, Rosa, Samir, Tara, Ulrich, Vera, Wei, Xenia, Yusuf, Zoe, Albert, Beatrice, Carlos, Diana, Edgar, Fiona"
)
START = _listed(
    "An, Bel, Cor, Dal, Es, Fin, Gar, Hol, Is, Jan, Kal, Lor, Mar, Nor, Ost, Pal, Ren, Sol, Tor, Ul, Ver, Wal, Yam, Zim"
)
END = _listed(
    "berg, dez, eau, elli, er, ford, gard, ić, ino, ko, lund, mann, mura, nov, oglu, quist, rath, sen, son, "
    "stein, ura, vist, wala, ski"
)
HOW = _listed(
    "Fast, Scalable, Robust, Bayesian, Approximate, Distributed, Incremental, Adaptive, Optimal, Interactive, "
    "Supervised, Unsupervised, Probabilistic, Parallel, Neural, Private, Efficient, Online, Hierarchical, "
    "Statistical"
)
WHAT = _listed(
    "record linkage, query optimization, graph partitioning, text classification, schema matching, data cleaning, "
    "duplicate detection, index maintenance, topic models, stream processing, image retrieval, deadlock "
    "avoidance, crash recovery, view selection, link prediction, entity resolution, cache replacement, "
    "association rules"
)
WHERE = _listed(
    "relational databases, sensor networks, medical records, social networks, web archives, digital libraries, "
    "mobile devices, large clusters, noisy data, legal documents, wide-area networks, product catalogues"
)
WAY = _listed(
    "using kernel methods, with few labels, by random sampling, under memory limits, with provable bounds, "
    "through active learning, via message passing, without supervision, on modern hardware, from examples"
)
VENUES = {
    "Proceedings of the International Conference on Very Large Data Bases": "VLDB",
    "Proceedings of the ACM SIGMOD International Conference on Management of Data": "SIGMOD",
    "ACM Transactions on Database Systems": "TODS",
    "IEEE Transactions on Knowledge and Data Engineering": "IEEE TKDE",
    "Proceedings of the International Conference on Machine Learning": "ICML",
    "Journal of Machine Learning Research": "JMLR",
    "Proceedings of the ACM SIGKDD Conference on Knowledge Discovery and Data Mining": "KDD",
    "Information Systems": "Inf. Syst.",
}
LARGEST = 40  # references of a paper
LETTERS = list("abcdefghijklmnopqrstuvwxyz")


@dataclass(frozen=True)
class Paper:
    """What a complete reference would say."""

    authors: tuple[str, ...]
    title: str
    venue: str
    year: int


def write_bibliography(texts: Path, gold: Path, references: int, seed: int) -> None:
    """Write the references (id, text) in random order, and the pairs of one paper (id1, id2)."""
    rng = np.random.default_rng(seed)
    cited = _sizes(references, rng)
    papers = _papers(len(cited), rng)
    paper = rng.permutation(np.repeat(np.arange(len(cited)), cited))
    with texts.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "text"])
        writer.writerows((f"r{at}", _reference(papers[of], rng)) for at, of in enumerate(paper.tolist()))
    first: dict[int, int] = {}
    pairs = [(first.setdefault(of, at), at) for at, of in enumerate(paper.tolist())]
    with gold.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id1", "id2"])
        writer.writerows((f"r{one}", f"r{other}") for one, other in pairs if one != other)


def _sizes(references: int, rng: np.random.Generator) -> np.ndarray:
    """Return how many references each paper has, (papers,), with this sum."""
    weight = np.arange(1, LARGEST + 1) ** -1.8
    ends = np.minimum(np.cumsum(rng.choice(np.arange(1, LARGEST + 1), references, p=weight / weight.sum())), references)
    sizes = np.diff(ends, prepend=0)
    return sizes[sizes > 0]


def _papers(number: int, rng: np.random.Generator) -> list[Paper]:
    """Return distinct papers; one in five is another one's later version or sequel."""
    people = [f"{_one(FIRST, rng)} {_one(START, rng)}{_one(END, rng)}" for _ in range(max(number // 2, 10))]
    papers: dict[Paper, None] = {}
    while len(papers) < number:
        if papers and rng.random() < 0.2:
            made = _related(list(papers)[int(rng.integers(len(papers)))], rng)
        else:
            authors = tuple(_one(people, rng) for _ in range(rng.integers(1, 5)))
            title = f"{_one(HOW, rng)} {_one(WHAT, rng)} in {_one(WHERE, rng)} {_one(WAY, rng)}"
            made = Paper(authors, title, _one(list(VENUES), rng), int(rng.integers(1985, 2016)))
        papers[made] = None
    return list(papers)


def _related(paper: Paper, rng: np.random.Generator) -> Paper:
    """Return another paper of the same authors: a version elsewhere, a sequel, or a neighbouring topic."""
    year = paper.year + int(rng.integers(1, 4))
    venue = _one([name for name in VENUES if name != paper.venue], rng)
    title = _one([paper.title, f"{paper.title}, part II", paper.title.replace(" in ", " for ").split(" for ")[0]], rng)
    if title in (paper.title, ""):
        title = f"{title}: {_one(['an extended study', 'a survey', 'the journal version'], rng)}"
    return replace(paper, title=title, venue=venue, year=year)


def _reference(paper: Paper, rng: np.random.Generator) -> str:
    """Return one citation of the paper, with what went wrong in it."""
    authors = _authors(paper.authors, rng)
    title = paper.title
    venue = paper.venue
    year = str(paper.year)
    if rng.random() < 0.15:
        words = title.split()
        title = " ".join(words[: max(3, len(words) - int(rng.integers(1, 4)))])
    if rng.random() < 0.5:
        venue = VENUES[venue]
    if rng.random() < 0.1:
        year = str(paper.year + int(rng.choice([-1, 1])))
    parts = [_typed(authors, rng), _typed(title, rng), _typed(venue, rng), year]
    gone = rng.random(4) < (0.05, 0.0, 0.2, 0.2)
    text = ". ".join(part for part, left_out in zip(parts, gone, strict=True) if not left_out)
    return text.lower() if rng.random() < 0.2 else text


def _authors(names: Sequence[str], rng: np.random.Generator) -> str:
    how = rng.random()
    kept = list(names)
    if len(kept) > 2 and rng.random() < 0.25:
        return f"{_name(kept[0], how)} et al"
    if len(kept) > 1 and rng.random() < 0.1:
        kept.pop(int(rng.integers(1, len(kept))))
    return ", ".join(_name(name, how) for name in kept)


def _name(name: str, how: float) -> str:
    first, last = name.split()
    if how < 0.4:
        return name
    return f"{first[0]}. {last}" if how < 0.7 else f"{last}, {first[0]}."


def _typed(text: str, rng: np.random.Generator) -> str:
    """Return the text with a typing error in each hundred letters, on average."""
    letters = list(text)
    for at in np.flatnonzero(rng.random(len(letters)) < 0.01)[::-1].tolist():
        what = rng.integers(3)
        letters[at : at + 1] = [[], [letters[at], letters[at]], [_one(LETTERS, rng)]][what]
    return "".join(letters)


def _one(options: Sequence[str], rng: np.random.Generator) -> str:
    return options[int(rng.integers(len(options)))]
