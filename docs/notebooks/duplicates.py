# %% [markdown]
# # Duplicates in a CSV
#
# A file of questions, some of which ask the same. We look for the pairs, without comparing all 225,000 by hand.

# %%
from importlib.resources import files
from pathlib import Path

import pandas as pd

from allpairs import Matcher, simulate

folder = files("allpairs.annotate.demo")
questions = pd.read_csv(str(folder / "questions.csv"))  # the columns id and text; take your own file
questions.head()

# %% [markdown]
# ## Label
#
# For your own file, run `allpairs serve`, make a project of the file, and answer the pairs that it shows: 40 take five
# minutes. Here the demo's known pairs answer instead of you, so that this page runs by itself. Half of the questions
# are kept for measuring.

# %%
out = Path("out")
gold = pd.read_csv(str(folder / "gold.csv"))
rounds = simulate(questions, gold=gold, out=out, rounds=2, first=64, epochs=1, lexical=True)
rounds

# %% [markdown]
# Average precision is over **all** pairs of the questions kept for measuring, with a 95 % interval. Without known
# pairs, the page *Monitor* estimates it from an audit.
#
# ## Find the pairs

# %%
matcher = Matcher.load(out / "model")
pairs = matcher.match(list(questions.text), threshold=matcher.threshold)
pairs.head(10)

# %% [markdown]
# `p` is the chance that the pair matches. Write them to a file for whoever decides.

# %%
pairs.to_csv(out / "duplicates.csv", index=False)
print(f"{len(pairs)} pairs in {out / 'duplicates.csv'}")
assert len(pairs) > 20 and pairs.p.min() >= 0.499
