# %% [markdown]
# # Measure somebody else's matcher without known pairs
#
# You have texts and a model from elsewhere. How good is it over *all* pairs? Nobody has labelled them. Draw a sample
# that an estimator can weigh, label it, and read the figures with their intervals.

# %%
from importlib.resources import files

import pandas as pd

from allpairs import draw_audit, evaluate

folder = files("allpairs.annotate.demo")
questions = pd.read_csv(str(folder / "questions.csv"))
model = "all-MiniLM-L6-v2"  # any sentence-transformers model: a name or a folder

# %% [markdown]
# ## Draw
#
# The pairs are ranked by the model. Strata of doubling size go down the ranking, and each gives about as many pairs.

# %%
audit = draw_audit(model, questions, pairs=300, seed=0)
audit.groupby("stratum")[["size", "inclusion"]].first()

# %% [markdown]
# ## Label
#
# Write 1 or 0 into the column `label`, by `audit.to_csv("audit.csv")` and any spreadsheet, without looking at the
# stratum. Here the demo's known pairs answer.

# %%
gold = pd.read_csv(str(folder / "gold.csv"))
group = {name: name for name in questions.id}
for one, other in gold[gold.label == 1][["id1", "id2"]].itertuples(index=False):
    old, new = group[one], group[other]  # matches of matches match too
    group = {name: new if its == old else its for name, its in group.items()}
audit["label"] = (audit.id1.map(group) == audit.id2.map(group)).astype(int)

# %% [markdown]
# ## Measure

# %%
found = evaluate(model, questions, audit=audit)
pd.DataFrame({name: one.as_dict() for name, one in found.items()}).T

# %% [markdown]
# The demo has known pairs, so that the estimate can be checked here.

# %%
exact = evaluate(model, questions, gold=str(folder / "gold.csv"))["average_precision"]
estimate = found["average_precision"]
print(f"estimated {estimate.value:.3f} ({estimate.low:.3f} to {estimate.high:.3f}), exactly {exact.value:.3f}")
assert estimate.low <= exact.value <= estimate.high
