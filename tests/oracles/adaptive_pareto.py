"""``adaptive`` for the Pareto set written plainly from its statement: every comparison, endpoint and look by itself."""

import numpy as np

from tests.oracles.adaptive import Plain


class PlainFront:
    """Who is out or in after each phase; whom each compound may be beaten by is given, as it is free but for when."""

    def __init__(self, x, noise, margins, out_limits, in_limits):
        """``out_limits``: how many compounds are not out -> limits for each place; ``in_limits``: c_1, c_2, .."""
        self.one = [Plain(x, sd, 1.0, 1.0, None, None, None) for sd in noise]
        self.x, self.margins = np.asarray(x, float), margins
        self.out_limits, self.in_limits = out_limits, in_limits
        self.phases = []
        self.out, self.into = np.zeros(len(x), bool), np.zeros(len(x), bool)

    def steps(self, endpoint, i, j, first=0):
        """What each phase from the first on says of mean i - mean j."""
        return [self.one[endpoint].said(phase[endpoint], i, j) for phase in self.phases[first:]]

    def beaten(self, i, j, first, limits):
        """Whether the walks of j - i pass in every endpoint."""
        return all(self.one[c].crossed(self.steps(c, j, i, first), 0.0, limits) for c in range(len(self.one)))

    def near(self, i, j):
        """Whether the walk of i - j + margin passes in some endpoint."""
        if not (self.x[i] - self.x[j]).any():
            return True
        return any(
            self.one[c].crossed(self.steps(c, i, j), margin, self.in_limits) for c, margin in enumerate(self.margins)
        )

    def phase(self, counts, means, named, since):
        """One more phase of all compounds' counts and means, by endpoint; who is named for each compound, from when."""
        self.phases.append(
            [
                (self.x.T @ (self.x * n[:, None]), self.x.T @ (n * np.where(n > 0, y, 0.0)))
                for n, y in zip(counts, means, strict=True)
            ]
        )
        n = range(len(self.x))
        while True:
            limits = self.out_limits(int((~self.out).sum()))
            new = [
                i
                for i in n
                if not self.out[i]
                and not self.into[i]
                and any(
                    named[s][i] >= 0 and self.beaten(i, named[s][i], since[s][i], limits[s]) for s in range(len(named))
                )
            ]
            if not new:
                break
            self.out[new] = True
        rivals = [j for j in n if not self.out[j]]
        for i in n:
            if not self.out[i] and not self.into[i]:
                self.into[i] = all(self.near(i, j) for j in rivals)
