# %% [markdown]
# # A reaction table
#
# Reaction conditions are a series, too: ligand, base and solvent are sites, a yield is the endpoint. This table is made
# up here, with effects of each component, of each pair, and of each combination.

# %%
import itertools

import numpy as np
import pandas as pd

from assaypilot.engine import Campaign, optimal_design

rng = np.random.default_rng(7)
parts = {
    "ligand": ["XPhos", "SPhos", "RuPhos", "BrettPhos", "dppf", "PPh3"],
    "base": ["K3PO4", "Cs2CO3", "NaOtBu", "DBU"],
    "solvent": ["toluene", "dioxane", "DMF", "MeCN"],
}
conditions = pd.DataFrame(list(itertools.product(*parts.values())), columns=list(parts))
level = np.full(len(conditions), -0.4)
for first, second in (("ligand", "ligand"), ("base", "base"), ("solvent", "solvent"), ("ligand", "base")):
    keys = conditions[first] + conditions[second]
    level += keys.map({key: rng.normal(0.0, 0.8) for key in keys.unique()})
level += rng.normal(0.0, 0.3, len(conditions))
conditions["truth"] = 100.0 / (1.0 + np.exp(-level))
conditions["truth"].describe().round(1)

# %% [markdown]
# Find the best conditions: 8 reactions a round, each yield measured with an SD of 3 %. The unit tells the model that no
# yield lies far beyond 0 or 100.

# %%
campaign = Campaign.from_table(
    conditions[list(parts)],
    sites=list(parts),
    endpoints={"yield": {"unit": "%", "direction": "max", "sd": 3.0, "transform": "none"}},
    goal="best",
    slack=5.0,
    per_round=8,
    budget=48,
)
names = campaign.candidates().merge(conditions, on=list(parts)).set_index("id")["truth"]
while not campaign.finished and len(asked := campaign.recommend()):
    rows = asked.loc[asked.index.repeat(asked["replicates"]), ["ID", "round"]]
    campaign.add(rows.assign(Value=names[rows["ID"]].to_numpy() + rng.normal(0.0, 3.0, len(rows))))
campaign

# %%
best = campaign.candidates().head(3)
print(f"true yields of the top three: {names[best['id']].round(1).tolist()}; best of all 96: {names.max():.1f}")
best[["id", "status", "estimate", "low", "high", "measured"]]

# %%
campaign.plot("map", sites=("ligand", "base"))

# %% [markdown]
# If all reactions run on one plate, a design comes first: 24 reactions that tell all differences best, with a proven
# bound on how much better any other 24 could be.

# %%
design = optimal_design(conditions[list(parts)], 24, criterion="xy")
design

# %%
conditions.loc[design.table["measurements"] > 0, list(parts)].head()
