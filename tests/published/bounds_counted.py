"""Estimates that count values known only as bounds: bias, coverage, and forecasts that know the range.

``python -m tests.published.bounds_counted`` fits random additive tables whose weakest compounds the assay does not
tell, in three ways, plays campaigns on beside their forecasts after the first round, and writes REPORT-bounds.md.
"""

import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from assaypilot.engine.campaign.campaign import Campaign
from assaypilot.engine.campaign.state import Settings
from assaypilot.engine.endpoint import Endpoint
from assaypilot.engine.features import SiteFeatures
from assaypilot.engine.library import Library, Site
from assaypilot.engine.measurements import Result
from assaypilot.engine.models.ols import least_squares
from assaypilot.engine.models.posterior import posterior
from assaypilot.engine.models.tobit import Bounds, Cells, additive
from assaypilot.engine.simulate import forecast_range, forecast_truth
from assaypilot.engine.simulate.forecast import Forecast, forecast_campaign

REPORT = Path(__file__).with_name("REPORT-bounds.md")
SIGMA, SIZE = 0.2, 0.7
SHARES = (0.1, 0.2, 0.3, 0.4, 0.5)
SIZES, COMPOUNDS, TABLES = (6, 5, 4), 100, 400
WAYS = ("as bounds", "left out", "the limit for the value")
FORECAST_SHARES, CAMPAIGNS = (0.0, 0.3, 0.5), 24
NOBODY = np.zeros(0, dtype=np.intp)

INTRODUCTION = f"""# Estimates that count values known only as bounds

Made by `python -m tests.published.bounds_counted`; seeds are fixed. Assay noise (SD) {SIGMA}.

## Estimates and their intervals

{TABLES} tables of {COMPOUNDS} compounds of a product of {" x ".join(map(str, SIZES))} substituents, contributions with
an SD of {SIZE} at every site, each compound measured once. The limit is such that the given share of the compounds lies
below it; a value below it comes as a bound. Three ways of taking such values: as bounds (the maximum of their
likelihood, with its curvature), left out, and the limit itself for the value.

- "Beyond": compounds whose value was a bound, and of which exact values of others tell. "Within": all others of these.
- "Open": compounds of which nothing but bounds tells; as bounds the upper end of their interval is what is claimed.
- Bias and RMSE of estimates, and how often 95 % intervals hold.

| below | taken | beyond: bias | RMSE | 95 % holds | within: bias | RMSE | 95 % holds | open | below the upper end |
|---|---|---|---|---|---|---|---|---|---|
"""


def table(rng: np.random.Generator, share: float) -> tuple[SiteFeatures, np.ndarray, Cells, Bounds]:
    """A table, its true means, exact values, and bounds below the limit."""
    codes = np.stack([rng.integers(0, size, COMPOUNDS) for size in SIZES], axis=1)
    features = SiteFeatures(codes, SIZES)
    truth = features.times(np.concatenate([[6.0], SIZE * rng.standard_normal(sum(SIZES))]))
    seen = truth + SIGMA * rng.standard_normal(COMPOUNDS)
    limit = float(np.quantile(truth, share))
    below = seen < limit
    rows, k = np.arange(COMPOUNDS), int(below.sum())
    exact = Cells(rows[~below], np.ones(COMPOUNDS - k), seen[~below])
    return features, truth, exact, Bounds(rows[below], np.ones(k), np.full(k, limit), np.ones(k), np.ones(k))


def estimates(share: float, way: str) -> str:
    """One row of the first table."""
    beyond, within, open_ = [], [], []
    for seed in range(TABLES):
        features, truth, exact, cut = table(np.random.default_rng((1, seed)), share)
        if way == "as bounds":
            view = additive(features, exact, cut, SIGMA)
        else:
            more = Cells(*cut[:3]) if way == "the limit for the value" else Cells(NOBODY, np.zeros(0), np.zeros(0))
            view = posterior(features, *(np.concatenate(pair) for pair in zip(exact, more, strict=True)), SIGMA)
        told = least_squares(features, *exact).estimable()
        off, sds = view.means() - truth, view.sds()
        is_cut = np.isin(np.arange(COMPOUNDS), cut.rows)
        every = np.stack([off, np.abs(off) <= 1.96 * sds, truth <= view.means() + 1.96 * sds], axis=1)
        beyond.append(every[told & is_cut])
        within.append(every[told & ~is_cut])
        open_.append(every[~told])
    parts = []
    for group in (beyond, within):
        found = np.concatenate(group)
        parts.append(f"{found[:, 0].mean():+.3f} | {np.sqrt((found[:, 0] ** 2).mean()):.3f} | {found[:, 1].mean():.1%}")
    last = np.concatenate(open_)
    upper = f"{last[:, 2].mean():.1%}" if len(last) and way == "as bounds" else ""
    return f"| {share:.0%} | {way} | {' | '.join(parts)} | {len(last) / (TABLES * COMPOUNDS):.1%} | {upper} |"


def speed() -> str:
    """How long a fit takes."""
    said = []
    for sizes, n in (((12, 10, 8), 960), ((60, 50, 40), 10_000)):
        rng = np.random.default_rng(1)
        codes = np.stack([rng.integers(0, size, n) for size in sizes], axis=1)
        features = SiteFeatures(codes, sizes)
        seen = features.times(np.concatenate([[6.0], SIZE * rng.standard_normal(sum(sizes))]))
        below = seen < np.quantile(seen, 0.3)
        rows, k = np.arange(n), int(below.sum())
        exact = Cells(rows[~below], np.ones(n - k), seen[~below])
        cut = Bounds(rows[below], np.ones(k), np.full(k, np.quantile(seen, 0.3)), np.ones(k), np.ones(k))
        best = np.inf
        for _ in range(5):
            begun = time.perf_counter()
            view = additive(features, exact, cut, SIGMA)
            view.means(), view.sds()
            best = min(best, time.perf_counter() - begun)
        said.append(f"{n:,} compounds with 30 % bounds: {1e3 * best:.0f} ms")
    return f"A fit with all estimates and standard errors takes: {'; '.join(said)} (one thread)."


def forecasts(path: Path) -> tuple[Forecast, Forecast]:
    """Of a campaign with what is known of the range, and without."""
    known = forecast_campaign(path)
    kept = forecast_range.bounds_of, forecast_truth.bounds_at
    forecast_range.bounds_of, forecast_truth.bounds_at = (lambda *_: ()), (lambda *_: None)
    try:
        return known, forecast_campaign(path)
    finally:
        forecast_range.bounds_of, forecast_truth.bounds_at = kept


def played(share: float) -> list[tuple[int, Forecast, Forecast]]:
    """What campaigns took, and both forecasts after their first round."""
    library = Library.product([Site("R1", tuple("ABCDE")), Site("R2", tuple("ABCD")), Site("R3", tuple("ABCD"))])
    found = []
    for seed in range(CAMPAIGNS):
        rng = np.random.default_rng((7, seed))
        means = 6.0 + sum(SIZE * rng.standard_normal(n)[library.codes[:, k]] for k, n in enumerate((5, 4, 4)))
        limit = float(np.quantile(means, share)) if share else -np.inf
        settings = Settings("pIC50", epsilon=0.5, slack=0.5, delta=0.3, per_round=48, seed=seed)
        with tempfile.TemporaryDirectory() as folder:
            path, told = Path(folder) / "x.assaypilot", None
            campaign = Campaign.create(
                path, library=library, endpoints=[Endpoint("pIC50", noise_sd=SIGMA)], settings=settings
            )
            for number in range(20):
                issued = campaign.plan()
                if issued is None:
                    break
                results = []
                for item in issued.items:
                    for value in rng.normal(means[item.compound], SIGMA, item.replicates):
                        cut = value < limit
                        name = library.ids[item.compound]
                        results.append(Result(name, float(max(value, limit)), relation="<" if cut else "="))
                campaign.record(results, close=True)
                if number == 0:
                    told = forecasts(path)
            used = campaign.status().measurements_used
            campaign.close()
        if told is not None:
            found.append((used, *told))
    return found


def main() -> int:
    """The exit code; writes the report."""
    lines = [INTRODUCTION.rstrip("\n"), *(estimates(share, way) for share in SHARES for way in WAYS), "", speed(), ""]
    lines += [
        "## Forecasts after the first round", "",
        f"{CAMPAIGNS} campaigns of 80 compounds, rounds of 48, delta 0.3, all within 0.5 of the best, soft by 0.5.",
        "Forecasts know the range from the bounds of the first round, or leave bounds out altogether.",
        "\"Off\": the mean of |log(middle / measurements it took)|; width: the upper end over the lower one.", "",
        "| below | forecast | 80 % interval holds | too low | too high | off | width (median) |",
        "|---|---|---|---|---|---|---|",
    ]  # fmt: skip
    for share in FORECAST_SHARES:
        runs = played(share)
        for which, words in ((1, "knows the range"), (2, "leaves bounds out")):
            spreads = [(run[0], run[which].measurements) for run in runs]
            low = sum(used > spread.high for used, spread in spreads)
            high = sum(used < spread.low for used, spread in spreads)
            off = np.mean([abs(np.log(spread.middle / used)) for used, spread in spreads])
            width = np.median([spread.high / spread.low for _, spread in spreads])
            holds = 1.0 - (low + high) / len(spreads)
            lines.append(f"| {share:.0%} | {words} | {holds:.0%} | {low} | {high} | {off:.2f} | {width:.2f} |")
        print(f"{share:.0%} done", flush=True)
    REPORT.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"Written to {REPORT.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
