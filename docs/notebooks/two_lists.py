# %% [markdown]
# # Two lists of products
#
# The same products under other names in two shops. Which belong together?

# %%
import pandas as pd

from allpairs import evaluate, simulate

makers = ("Canon", "Sony", "Epson", "Bosch", "Makita", "Philips", "Logitech", "Brother")
things = {
    "laser printer": "printer, monochrome, laser",
    "cordless drill": "drill driver 18V battery",
    "espresso machine": "coffee maker for espresso",
    "wireless mouse": "mouse, cordless, USB receiver",
    "desk lamp": "LED lamp for desks",
    "label maker": "labelling machine, portable",
}
ours = pd.DataFrame(
    {"id": f"a{maker}{i}", "text": f"{maker} {thing} model {100 + 7 * i}"}
    for maker in makers
    for i, thing in enumerate(things)
)
theirs = pd.DataFrame(
    {"id": f"b{maker}{i}", "text": f"{other} by {maker.upper()} ({100 + 7 * i})"}
    for maker in makers
    for i, other in enumerate(things.values())
)
known = pd.DataFrame({"id1": ours.id, "id2": theirs.id})
print(f"{len(ours)} × {len(theirs)} = {len(ours) * len(theirs):,} pairs, {len(known)} of which match")

# %% [markdown]
# ## How good is an encoder as it comes?

# %%
before = evaluate("all-MiniLM-L6-v2", ours, theirs, gold=known)
for name in ("average_precision", "precision_at_recall_20"):
    print(f"{name}: {before[name].value:.3f} ({before[name].low:.3f} to {before[name].high:.3f})")

# %% [markdown]
# ## What would labels gain?
#
# `simulate` asks the known pairs in the annotator's place. Names and numbers decide here, so lexical similarity helps.

# %%
rounds = simulate(ours, theirs, gold=known, out="out", rounds=2, first=60, epochs=2, lexical=True, hubness=0.25)
rounds[["labels", "positives", "average_precision", "average_precision_low", "average_precision_high"]]

# %%
assert rounds.trained.all() and rounds.average_precision.iloc[-1] > 0.5
