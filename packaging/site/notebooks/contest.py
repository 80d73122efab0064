# %% [markdown]
# # A contest of methods
#
# For bandit and design researchers: run our strategies on a problem of your own, and yours on ours.

# %%
from assaypilot.engine import compare_strategies, list_strategies, load_dataset

list_strategies()[["title", "goals", "baseline"]]

# %% [markdown]
# An instance of a paper by name: Soare et al. (2014), as RAGE plays it. Every strategy has the same truths and seeds.

# %%
compare_strategies(["rage", "static-xy", "uniform"], "rage-soare", runs=3)

# %% [markdown]
# A problem of your own is a DataFrame: substituents or numbers, and a column of true means.

# %%
table = load_dataset("practice-960").iloc[:80][["ID", "R3", "R4", "R5", "truth"]]
terms = {"truth": "truth", "epsilon": 0.5, "noise_sd": 0.2, "per_round": 24, "budget": 240, "runs": 2}
compare_strategies(["adaptive", "linfact-g", "uniform"], table, **terms)

# %% [markdown]
# Your own strategy is a class. `Phased` keeps the state; what differs are `ask`, `decide` and `stop`.

# %%
import numpy as np

from assaypilot.engine import Phased, StrategyInfo
from assaypilot.engine.strategies.phased import settled
from assaypilot.engine.strategies.protocol import Allocation, Certificate, Decision


class Halving(Phased):
    """Measure all that is left three times, keep the better half, until one is left."""

    info = StrategyInfo("halving", 1, "Sequential halving", ("best",), (), "none", "Karnin et al. 2013")

    def void(self, problem):
        return ("it promises no error probability",)

    def ask(self, state, report=None):
        arms = np.flatnonzero(state.active)
        return Allocation(state.phase + 1, arms, np.full(len(arms), 3), np.inf, Certificate("none", 1.0, 1.0))

    def decide(self, state, outcome):
        arms = outcome.allocation.arms
        order = arms[np.argsort(-outcome.means[0, arms])]
        keep = max(1, len(order) // 2)
        none, unknown = np.zeros(0, dtype=int), np.full(state.low.shape, np.nan)
        ins = order[:1] if keep == 1 else none
        return Decision(
            state.phase + 1, np.inf, ins, order[keep:], none, unknown, unknown, unknown, none, outcome.spent
        )

    def stop(self, state):
        return settled(state)


compare_strategies([Halving(), "adaptive"], table, **{**terms, "goal": "best", "epsilon": None, "slack": 0.3})

# %% [markdown]
# With an entry point in your package the name `halving` works everywhere: in campaigns, in `assaypilot simulate`, in
# the window. See [Python API](../python.html#strategies).
