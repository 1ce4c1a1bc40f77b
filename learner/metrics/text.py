"""Text similarity measures of the papers, for answers, questions and summaries.

All values lie from 0 to 1. Table columns are headed by the names in METRICS, which say how the figure was computed:
tools that share the name of a measure differ in their figures. Nothing is downloaded.
"""

import re
import string
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache

import numpy as np
from rapidfuzz.distance import LCSseq
from rouge_score.rouge_scorer import RougeScorer
from sacrebleu.metrics.bleu import BLEU

ORDERS = 4  # the longest n-grams of BLEU
BETA = 1.2  # of ROUGE-L in the evaluation code of COCO captions: the weight of recall against precision
ROUGES = ("rouge1", "rouge2", "rougeL")

METRICS = {
    "exact_match": "exact_match_squad",  # lower case, no punctuation, no articles, single blanks; best answer
    "token_f1": "token_f1_squad",  # the same texts as bags of words
    "rouge": "rouge_score_f1_nostem",  # ASCII letters and digits, lower case
    "extractiveness": "rouge_score_precision_nostem",  # the same words; a text against its source
    "coco_rouge_l": "rougeL_coco_beta1.2",  # words between white space, also in the next two
    "bleu": "bleu_sacrebleu_case_notok_nosmooth",  # over a whole corpus; case counts
    "meteor": "meteor_nltk_nowordnet",  # exact words and stems, no synonyms; alpha 0.9, beta 3, gamma 0.5
}

_ARTICLES = re.compile(r"\b(?:an?|the)\b")
_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)


def squad_form(text: str) -> str:
    """Return the text in lower case, without ASCII punctuation and articles, with single blanks.

    Source: the evaluation of SQuAD (Rajpurkar et al. 2016).
    """
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_NO_PUNCTUATION)).split())


def exact_match(text: str, answers: Iterable[str]) -> float:
    """Return 1 if the text is one of the answers, in SQuAD's normal form, else 0."""
    return float(squad_form(text) in map(squad_form, answers))


def token_f1(text: str, answers: Iterable[str]) -> float:
    """Return the best F1 of the text's words against those of an answer, in SQuAD's normal form.

    If the text or the answer has no words, it is 1 if neither has any, else 0 (as in SQuAD 2.0).
    """
    words = squad_form(text).split()
    return max((_f1_of_words(words, squad_form(answer).split()) for answer in answers), default=0.0)


def _f1_of_words(words: Sequence[str], answer: Sequence[str]) -> float:
    if not words or not answer:
        return float(words == answer)
    shared = (Counter(words) & Counter(answer)).total()
    return 2 * shared / (len(words) + len(answer))


def rouge(text: str, reference: str) -> dict[str, float]:
    """Return F1 of ROUGE-1, ROUGE-2 and ROUGE-L (Lin 2004), by name, without stemming."""
    return {name: score.fmeasure for name, score in _rouge().score(reference, text).items()}


def extractiveness(summary: str, source: str) -> dict[str, float]:
    """Return how much of a summary was copied: precision of ROUGE-1, ROUGE-2 and ROUGE-L against its source."""
    return {name: score.precision for name, score in _rouge().score(source, summary).items()}


@cache
def _rouge() -> RougeScorer:
    return RougeScorer(ROUGES, use_stemmer=False)


def coco_rouge_l(text: str, reference: str) -> float:
    """Return ROUGE-L with recall weighted 1.2² times as much as precision, as in the evaluation of COCO captions."""
    words = text.split()
    expected = reference.split()
    common = LCSseq.similarity(words, expected)
    if not common:
        return 0.0
    precision = common / len(words)
    recall = common / len(expected)
    return (1 + BETA**2) * precision * recall / (recall + BETA**2 * precision)


def bleu_counts(texts: Sequence[str], references: Sequence[str]) -> np.ndarray:
    """Return BLEU's counts for each text, (n, 2 + 2 · 4) int64: any sample of rows is a corpus for `bleu_of_counts`.

    The counts are the words of text and reference, then the matching and all n-grams of each order.
    """
    metric = BLEU(tokenize="none", smooth_method="none", max_ngram_order=ORDERS)
    counts = np.zeros((len(texts), 2 + 2 * ORDERS), dtype=np.int64)
    for row, (text, reference) in enumerate(zip(texts, references, strict=True)):
        score = metric.corpus_score([text], [[reference]])
        counts[row] = [score.sys_len, score.ref_len, *score.counts, *score.totals]
    return counts


def bleu_of_counts(counts: np.ndarray, order: int = ORDERS) -> float:
    """Return BLEU of a corpus from the `bleu_counts` of its texts, with n-grams up to this order."""
    length, expected, *ngrams = counts.sum(0).tolist()
    right = ngrams[:order]
    totals = ngrams[ORDERS : ORDERS + order]
    score = BLEU.compute_bleu(right, totals, length, expected, smooth_method="none", max_ngram_order=order)
    return min(1.0, score.score / 100)  # rounding may lift it above


class _NoSynonyms:
    """Replaces WordNet, which would have to be downloaded: no word has a synonym."""

    def synsets(self, word: str) -> list[str]:
        return []


def meteor(text: str, reference: str) -> float:
    """Return METEOR (Lavie and Agarwal 2007) with exact words and stems only, words between white space, in lower case.

    This is NLTK's form: not METEOR 1.5, and not comparable with it.
    """
    from nltk.translate.meteor_score import single_meteor_score  # seconds to import

    return float(single_meteor_score(reference.split(), text.split(), wordnet=_NoSynonyms()))
