# %% [markdown]
# # Question to passage, with a re-ranker
#
# A bi-encoder finds a few candidates among all passages; a cross-encoder, which reads both texts at once, orders them.

# %%
from importlib.resources import files
from pathlib import Path

import pandas as pd
from sentence_transformers import CrossEncoder

from allpairs import Matcher, simulate

folder = files("allpairs.annotate.demo")
texts = pd.read_csv(str(folder / "questions.csv")).set_index("id").text
known = pd.read_csv(str(folder / "gold.csv")).query("label == 1")
asked = sorted(set(known.id1))[:120]
questions = pd.DataFrame({"id": asked, "text": texts[asked].to_numpy()})
rest = sorted(set(texts.index) - set(asked))
passages = pd.DataFrame({"id": rest, "text": [f"Answered: {text} See the help pages." for text in texts[rest]]})
known = known[known.id1.isin(asked) & known.id2.isin(rest)]
print(f"{len(questions)} questions, {len(passages)} passages, {len(known)} known pairs")

# %% [markdown]
# ## The bi-encoder

# %%
out = Path("out")
rounds = simulate(questions, passages, gold=known, out=out, rounds=2, first=80, epochs=1)
rounds[["labels", "positives", "average_precision"]]

# %% [markdown]
# ## The re-ranker
#
# The same labels train a cross-encoder: `allpairs concat` on the command line.

# %%
import subprocess
import sys

questions.to_csv(out / "questions.csv", index=False)
passages.to_csv(out / "passages.csv", index=False)
command = [sys.executable, "-m", "allpairs", "concat", "--labels", "out/labels.csv", "--out", "out/concat"]
command += ["--left", "out/questions.csv", "--right", "out/passages.csv", "--epochs", "1"]
subprocess.run(command, check=True)

# %% [markdown]
# ## Ask

# %%
matcher, reader = Matcher.load(out / "model"), CrossEncoder(str(out / "concat" / "model"))
question = questions.text[0]
found = matcher.search([question], k=10, among=list(passages.text))
found["passage"] = passages.text[found["match"]].to_numpy()
found["re-ranked"] = reader.predict([(question, passage) for passage in found.passage])
print(question)
found.sort_values("re-ranked", ascending=False)[["passage", "p", "re-ranked"]]

# %%
assert len(found) == 10 and found.p.is_monotonic_decreasing
