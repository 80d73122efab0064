"""The candidates table: what is known of every compound now."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from assaypilot.engine.campaign.state import STATUSES, Status
from assaypilot.gui.models.base import Column, RowsModel
from assaypilot.gui.models.library import id_column, site_columns, structure_column

__all__ = ["STATUS_RANK", "CandidatesModel", "interval_text", "probability_text"]

STATUS_RANK = np.array([1, 0, 2, 3])
"""Order of the status codes in a table: in, undecided, out, not estimable."""


def interval_text(low: float, high: float) -> str:
    """``7.15 – 7.57``; open ends are said, an unknown interval is empty."""
    if np.isnan(low) or np.isnan(high):
        return ""
    if np.isinf(low) and np.isinf(high):
        return "unbounded"
    if np.isinf(low):
        return f"below {high:.2f}"
    if np.isinf(high):
        return f"above {low:.2f}"
    return f"{low:.2f} – {high:.2f}"


def probability_text(value: float) -> str:
    """``0.41``; never a bare 0 or 1, because it is none."""
    if np.isnan(value):
        return ""
    if value > 0.995:
        return "> 0.99"
    if value < 0.005:
        return "< 0.01"
    return f"{value:.2f}"


class CandidatesModel(RowsModel):
    """All compounds with status, estimate, bounds and probabilities."""

    def show(self, status: Status) -> None:
        """Nothing; takes over what a campaign knows."""
        library, known = status.library, status.candidates
        endpoint, settings = status.endpoints[status.objective], status.settings
        unit = f" {endpoint.scale_unit}" if endpoint.scale_unit else ""
        near = f"{settings.distance:g}{unit}"
        far = f"{settings.distance + settings.softness:g}{unit}"
        best_first = -endpoint.sign

        def number(values: NDArray[np.float64]) -> list[str]:
            return ["" if np.isnan(value) else f"{value:.2f}" for value in values]

        estimates = number(known.estimate)
        columns = [
            Column(
                "status",
                "Status",
                lambda row: STATUSES[known.status[row]],
                lambda: STATUS_RANK[known.status] * 1e9 + np.nan_to_num(best_first * known.estimate, nan=1e6),
                status=lambda row: int(known.status[row]),
                width=99,
            ),
            *structure_column(library),
            id_column(library),
            *site_columns(library),
            Column(
                "estimate",
                endpoint.scale_name,
                lambda row: estimates[row],
                lambda: known.estimate,
                number=True,
                tip="Estimate from everything measured and usable, the table's own values included",
            ),
            Column(
                "interval",
                "Interval",
                lambda row: interval_text(known.low[row], known.high[row]),
                lambda: known.high - known.low,
                number=True,
                tip="Deciding bounds of the last decided phase; empty until one has bounded the compound",
                width=95,
            ),
            Column(
                "near",
                f"P(within\n{settings.distance:g})",
                lambda row: probability_text(known.probability_within_epsilon[row]),
                lambda: known.probability_within_epsilon,
                number=True,
                tip=f"Posterior probability of being within {near} of the best; informs, never decides",
            ),
            Column(
                "far",
                f"P(within\n{settings.distance + settings.softness:g})",
                lambda row: probability_text(known.probability_within_slack[row]),
                lambda: known.probability_within_slack,
                number=True,
                tip=f"Posterior probability of being within {far} of the best, the soft zone included",
            ),
            Column(
                "measured",
                "n",
                lambda row: str(int(known.measured[row])) if known.measured[row] else "never",
                lambda: known.measured,
                number=True,
                tip="Usable measurements; never: inferred from compounds with the same substituents",
                kind=lambda row: None if known.measured[row] else "muted",
            ),
            Column(
                "decided",
                "Decided",
                lambda row: f"round {int(known.decided_in_round[row])}" if known.decided_in_round[row] else "",
                lambda: known.decided_in_round,
                tip="The round after which the compound was decided",
                width=67,
            ),
        ]
        self.fill(columns, len(library))
