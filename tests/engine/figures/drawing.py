"""What tests of figures share."""

import io

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

UNDECIDED, IN, OUT, LOST = range(4)


def drawn(figure: Figure) -> bytes:
    """The figure as a picture."""
    stream = io.BytesIO()
    FigureCanvasAgg(figure).print_png(stream)
    return stream.getvalue()
