"""What controls say of plates: values to read, none of them writable."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Cost", "PlateLine", "Quality"]


@dataclass(frozen=True, slots=True)
class PlateLine:
    """The controls of one plate (batch, date or round) for one endpoint."""

    round: int
    name: str
    """``plate R1-P2``."""
    endpoint: int
    """Position among the campaign's endpoints."""
    n: int
    mean: float
    """How far they read above their nominal values, model scale."""
    sd: float | None
    """Between the values, each against its control's mean there; None below two."""
    wide: bool
    """Whether they scatter more than the assay noise explains."""


@dataclass(frozen=True, slots=True)
class Cost:
    """What taking blocks out costs in one endpoint of one phase."""

    endpoint: int
    round: int
    """The phase's last round."""
    lost: float
    """Share of the information on differences between its compounds, 0 to 1; 1 where some cannot be told any more."""
    controls: float
    """Controls in a block, on average."""
    with_twice: float
    """The same share with twice as many controls (four, where there are none)."""
    laid_out: float | None = None
    """The same share if each plate were a copy of the others, as the program lays them out; None where that is near."""


@dataclass(frozen=True, slots=True)
class Quality:
    """All that the controls of a campaign say."""

    plates: tuple[PlateLine, ...] = ()
    drift: tuple[str, ...] = ()
    """Sentences about rounds and plates whose controls differ by more than the assay noise."""
    costs: tuple[Cost, ...] = ()
    notes: tuple[str, ...] = ()
    """Sentences about what the blocks cost."""
    lacking: tuple[str, ...] = ()
    """Sentences about blocks of the last round that hold measurements and no control."""
