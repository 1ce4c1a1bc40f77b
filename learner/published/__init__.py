"""Published data sets, as released or as Parquet, converted to Allpairs' own files."""

from allpairs.learner.published.glue_qqp import read_glue_qqp
from allpairs.learner.published.qqp import read_qqp
from allpairs.learner.published.released import Options, Reader, Titles
from allpairs.learner.published.simple_files import read_amazon_google, read_mlquestions
from allpairs.learner.published.wikiqa import read_wikiqa

ADAPTERS: dict[str, Reader] = {
    "qqp": read_qqp,
    "glue_qqp": read_glue_qqp,
    "wikiqa": read_wikiqa,
    "mlquestions": read_mlquestions,
    "amazon_google": read_amazon_google,
}

FEW_SHOT = ("squad", "xsum")  # read by `few_shot`, which the commands import only then: it needs torch

__all__ = ["ADAPTERS", "FEW_SHOT", "Options", "Titles"]
