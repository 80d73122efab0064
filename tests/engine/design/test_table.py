import itertools
import math

import numpy as np
import pytest

from assaypilot.engine.design.table import Lookups, grouped
from assaypilot.engine.domain.features import SiteFeatures


@pytest.mark.parametrize(("sizes", "n"), [((7, 3, 5), 60), ((40,), 25), ((12,) * 4, 3000), ((30, 2, 2, 30), 2000)])
def test_look_ups_over_groups_are_the_quadratic_form(sizes, n):
    rng = np.random.default_rng(1)
    codes = np.column_stack([rng.integers(0, size, n) for size in sizes])
    features = SiteFeatures(codes, sizes)
    matrix = rng.normal(size=(features.n_columns,) * 2)
    matrix = matrix + matrix.T
    for rows in (np.arange(n), np.sort(rng.choice(n, n // 2, replace=False))):
        table = Lookups(features, rows)
        assert table.quadratic(matrix) == pytest.approx(features.quadratic(matrix, rows), abs=1e-10)
        even = features.gram(np.full(len(rows), 1 / len(rows)), rows)
        assert table.information() == pytest.approx(even, abs=1e-12)


def test_groups_keep_to_the_largest_table():
    for sizes, limit in (((20,) * 5, 1 << 18), ((12,) * 5, 100_000), ((1000, 1000), 10), ((2,) * 9, 512)):
        groups = grouped(sizes, limit)
        assert sorted(itertools.chain(*groups)) == list(range(len(sizes)))
        levels = sorted(math.prod(sizes[site] for site in group) for group in groups)
        assert len(groups) == len(sizes) or levels[-1] * levels[-2] <= limit
