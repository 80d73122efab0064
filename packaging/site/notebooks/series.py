# %% [markdown]
# # A medicinal-chemistry series
#
# 22 phenylethylamines with two sites, measured long ago (Graham and Karrar 1963). We pretend that nothing is known yet,
# and ask which compounds to make so that all within 0.3 log of the best are found.

# %%
import numpy as np

from assaypilot.engine import Campaign, SeriesModel, load_dataset

table = load_dataset("antiadrenergic")
print(table.attrs["source"])
table.head()

# %% [markdown]
# The campaign sees structures and substituents, not the activities. `endpoints` says what will be measured, with the SD
# between independent measurements of one compound.

# %%
campaign = Campaign.from_table(
    table[["ID", "SMILES", "para", "meta"]],
    id="ID",
    smiles="SMILES",
    sites=["para", "meta"],
    endpoints={"log 1/C": {"sd": 0.1, "direction": "max"}},
    epsilon=0.3,
    per_round=6,
)
campaign.recommend()

# %% [markdown]
# What comes back is a table with ID and Value, one row for each measurement. Here the published values, with noise of
# the SD we stated, stand in for the lab.

# %%
rng = np.random.default_rng(1)
published = table.set_index("ID")["log 1/C"]
while not campaign.finished and len(asked := campaign.recommend()):
    rows = asked.loc[asked.index.repeat(asked["replicates"]), ["ID", "round"]]
    print(campaign.add(rows.assign(Value=published[rows["ID"]].to_numpy() + rng.normal(0.0, 0.1, len(rows)))))
campaign

# %%
campaign.plot("candidates")

# %% [markdown]
# The answer beside the published values: every compound within 0.3 of the best should be *in*.

# %%
found = campaign.candidates().set_index("id")
found["published"] = published
found["member"] = published >= published.max() - 0.3
found[["para", "meta", "status", "estimate", "low", "high", "measured", "published", "member"]].head(8)

# %% [markdown]
# The model alone predicts compounds nobody has made, new substituents too. Their intervals are wide.

# %%
campaign.predict(table.loc[:0, ["para", "meta"]].assign(para="CF3", meta=["H"]))

# %%
unseen = table.index % 4 == 3
model = SeriesModel(noise_sd=0.1).fit(table.loc[~unseen, ["para", "meta"]], table.loc[~unseen, "log 1/C"])
score = model.score(table.loc[unseen, ["para", "meta"]], table.loc[unseen, "log 1/C"])
print(f"R2 of {unseen.sum()} compounds it has not seen: {score:.2f}")
