# %% [markdown]
# # A team over the API
#
# The app runs on a server; programs label, read figures and start trainings with a token. Here the server is this
# machine, and the team has one person.

# %%
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

from allpairs import ApiError, Client

home = Path("home").resolve()
environment = {**os.environ, "ALLPAIRS_HOME": str(home), "ALLPAIRS_WORKER": "0"}
password = "a long password"


def allpairs(*arguments, **options):
    command = [sys.executable, "-m", "allpairs", *arguments]
    return subprocess.run(command, env=environment, check=True, text=True, capture_output=True, **options).stdout


# %% [markdown]
# ## Accounts
#
# The first account is an administrator's. A token lets a program do what its person may do.

# %%
allpairs("people", "add", "Anna", "--administrator", input=password + "\n")
token = allpairs("people", "token", "Anna", "--for", "notebook", "--days", "1").split()[-1]

# %% [markdown]
# ## The app

# %%
with socket.socket() as free:
    free.bind(("localhost", 0))
    port = free.getsockname()[1]
app = subprocess.Popen([sys.executable, "-m", "allpairs", "serve", "--port", str(port)], env=environment)
client = Client(f"http://localhost:{port}", token)
for _ in range(120):
    try:
        projects = client.projects()
        break
    except (ApiError, OSError):
        time.sleep(1)
projects

# %% [markdown]
# ## Label
#
# `tasks` leases pairs, as the page *Label* does, so that nobody else gets them meanwhile.

# %%
project = client.project("Help desk (demo)")
tasks = project.tasks(10)


def alike(task):
    left, right = (set(task[side].lower().split()) for side in ("left", "right"))
    return len(left & right) > 0.5 * len(left | right)


project.answer({task["id"]: "positive" if alike(task) else "negative" for task in tasks})
labels = list(project.labels())
labels[0]

# %% [markdown]
# `project.train()` asks a worker for the next round, `project.jobs()` shows how far it is, and `project.metrics()` has
# each round's figures over all pairs with their intervals.

# %%
app.terminate()
app.wait()
assert len(labels) == len(tasks) == 10
