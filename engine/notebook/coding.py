"""Substituents as codes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from ..arrays import Ints

__all__ = ["Coding"]


class Coding:
    """Substituents of some sites as codes; labels that were not seen before get codes of their own."""

    def __init__(self, labels: Sequence[Sequence[str]] = ()) -> None:
        self.labels = [list(own) for own in labels]

    def codes(self, columns: Sequence[Iterable[str]]) -> Ints:
        """Return ``(n, n_sites)`` codes of the labels in columns, one column per site."""
        coded = []
        for site, texts in enumerate(columns):
            while len(self.labels) <= site:
                self.labels.append([])
            known = {label: code for code, label in enumerate(self.labels[site])}
            coded.append([known.setdefault(text, len(known)) for text in texts])
            self.labels[site] = list(known)
        return np.array(coded, dtype=np.intp).T

    @property
    def sizes(self) -> list[int]:
        """Substituents per site."""
        return [len(own) for own in self.labels]
