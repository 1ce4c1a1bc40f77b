"""How well one text says what another says: the measures of the papers on answers, questions and summaries.

All values lie from 0 to 1. A table heads a column by the name in METRICS, which says how the figure was computed: tools
that share a name of a measure differ in their figures. Nothing is downloaded.
"""

import re
import string
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache

import numpy as np
from rouge_score.rouge_scorer import RougeScorer
from sacrebleu.metrics.bleu import BLEU

ORDERS = 4  # the longest n-grams of BLEU
BETA = 1.2  # of ROUGE-L in the evaluation code of COCO captions: how much recall counts beside precision
ROUGES = ("rouge1", "rouge2", "rougeL")

METRICS = {
    "exact_match": "exact_match_squad",  # lower case, no punctuation, no articles, folded white space; best answer
    "token_f1": "token_f1_squad",  # the same texts as bags of words
    "rouge": "rouge_score_f1_nostem",  # ASCII letters and digits, lower case
    "extractiveness": "rouge_score_precision_nostem",  # the same words; a text against its source
    "coco_rouge_l": "rougeL_coco_beta1.2",  # words between white space, as are those of the next two
    "bleu": "bleu_sacrebleu_case_notok_nosmooth",  # over a whole corpus; case counts
    "meteor": "meteor_nltk_nowordnet",  # exact words and stems, no synonyms; alpha 0.9, beta 3, gamma 0.5
}

_ARTICLES = re.compile(r"\b(?:an?|the)\b")
_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)


def squad_form(text: str) -> str:
    """The text in lower case, without ASCII punctuation and articles, white space folded.

    Source: the evaluation of Rajpurkar et al., SQuAD: 100,000+ questions for machine comprehension of text (2016).
    """
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_NO_PUNCTUATION)).split())


def exact_match(text: str, answers: Iterable[str]) -> float:
    """1 where the text is one of the answers, in the form of SQuAD, else 0."""
    return float(squad_form(text) in map(squad_form, answers))


def token_f1(text: str, answers: Iterable[str]) -> float:
    """The best F1 of the text's words and those of an answer, in the form of SQuAD.

    Without words in the text or the answer it is 1 where neither has any, else 0 (as SQuAD 2.0 has it).
    """
    words = squad_form(text).split()
    return max((_f1_of_words(words, squad_form(answer).split()) for answer in answers), default=0.0)


def _f1_of_words(words: Sequence[str], answer: Sequence[str]) -> float:
    if not words or not answer:
        return float(words == answer)
    shared = (Counter(words) & Counter(answer)).total()
    return 2 * shared / (len(words) + len(answer))


def rouge(text: str, reference: str) -> dict[str, float]:
    """F1 of ROUGE-1, ROUGE-2 and ROUGE-L (Lin 2004), by name, without stemming."""
    return {name: score.fmeasure for name, score in _rouge().score(reference, text).items()}


def extractiveness(summary: str, source: str) -> dict[str, float]:
    """How much of a summary was copied: precision of ROUGE-1, ROUGE-2 and ROUGE-L against its source, by name."""
    return {name: score.precision for name, score in _rouge().score(source, summary).items()}


@cache
def _rouge() -> RougeScorer:
    return RougeScorer(ROUGES, use_stemmer=False)


def coco_rouge_l(text: str, reference: str) -> float:
    """ROUGE-L with recall counting 1.2² times as much as precision, as the evaluation code of COCO captions has it."""
    words, expected = text.split(), reference.split()
    common = _longest_common(words, expected)
    if not common:
        return 0.0
    precision, recall = common / len(words), common / len(expected)
    return (1 + BETA**2) * precision * recall / (recall + BETA**2 * precision)


def _longest_common(one: Sequence[str], other: Sequence[str]) -> int:
    """The length of the longest common subsequence."""
    lengths = [0] * (len(other) + 1)
    for word in one:
        before = lengths.copy()
        for at, its in enumerate(other, 1):
            lengths[at] = before[at - 1] + 1 if word == its else max(before[at], lengths[at - 1])
    return lengths[-1]


def bleu_counts(texts: Sequence[str], references: Sequence[str]) -> np.ndarray:
    """What BLEU counts in each text, (n, 2 + 2 · 4) int64: any sample of the rows is a corpus for `bleu_of_counts`.

    The words of text and reference, the n-grams that are right and the n-grams there are, of each order.
    """
    metric = BLEU(tokenize="none", smooth_method="none", max_ngram_order=ORDERS)
    counts = np.zeros((len(texts), 2 + 2 * ORDERS), dtype=np.int64)
    for row, (text, reference) in enumerate(zip(texts, references, strict=True)):
        found = metric.corpus_score([text], [[reference]])
        counts[row] = [found.sys_len, found.ref_len, *found.counts, *found.totals]
    return counts


def bleu_of_counts(counts: np.ndarray, order: int = ORDERS) -> float:
    """BLEU of a corpus from what `bleu_counts` says of its texts, with n-grams up to this order."""
    length, expected, *ngrams = counts.sum(0).tolist()
    right, there = ngrams[:order], ngrams[ORDERS : ORDERS + order]
    found = BLEU.compute_bleu(right, there, length, expected, smooth_method="none", max_ngram_order=order)
    return min(1.0, found.score / 100)  # rounding may lift it above


class _NoSynonyms:
    """Stands in for WordNet, which would have to be downloaded: no word has a synonym."""

    def synsets(self, word: str) -> list[str]:
        return []


def meteor(text: str, reference: str) -> float:
    """METEOR (Lavie & Agarwal 2007) with exact words and stems alone, words between white space, in lower case.

    NLTK's form of it: not METEOR 1.5, and never to be set beside it in one table.
    """
    from nltk.translate.meteor_score import single_meteor_score  # seconds to import

    return float(single_meteor_score(reference.split(), text.split(), wordnet=_NoSynonyms()))
