"""The slide is read back: its title, boxes, pictures and table, where they lie, and what they say."""

import io
import shutil
import subprocess
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from pptx import Presentation
from pptx.enum.shapes import MSO_SHAPE_TYPE
from pptx.util import Inches

from assaypilot.engine.campaign.state import Status
from assaypilot.engine.export.contents import Choice
from assaypilot.engine.export.formats import write
from assaypilot.engine.export.slide import presentation
from tests.engine.export.reporting import (
    HOSTILE,
    begin,
    everything,
    indoles,
    labels,
    play,
    said,
    slide_of,
    words,
)


def pictures(slide: Any) -> list[Any]:
    return [shape for shape in everything(slide.shapes) if shape.shape_type == MSO_SHAPE_TYPE.PICTURE]


@pytest.mark.usefixtures("undrawn")
def test_the_title_is_the_answer_in_one_sentence_and_the_rest_is_below(decided: Status) -> None:
    slide = slide_of(presentation(said(decided)))
    answer = f"Decided after {decided.measurements_used} measurements: {decided.counts['in']} of 36 compounds are in."
    assert slide.shapes.title.text_frame.text == answer
    below = next(shape for shape in slide.shapes if shape.name == "Answer in full")
    assert f"{slide.shapes.title.text_frame.text} {below.text_frame.text}" == decided.statement
    assert decided.guarantee.sentence in slide.notes_slide.notes_text_frame.text


def test_it_is_one_wide_slide_and_nothing_leaves_it_or_lies_on_another(decided: Status) -> None:
    for choice in (Choice("all"), Choice(order=(3,))):
        data = presentation(said(decided, choice))
        whole = Presentation(io.BytesIO(data))
        assert (whole.slide_width, whole.slide_height) == (Inches(13.333), Inches(7.5))
        slide = whole.slides[0]
        boxes = []
        for shape in everything(slide.shapes):
            assert shape.left >= 0
            assert shape.top >= 0
            assert shape.left + shape.width <= whole.slide_width
            assert shape.top + shape.height <= whole.slide_height
            if shape.shape_type != MSO_SHAPE_TYPE.GROUP:
                boxes.append((shape.left, shape.top, shape.left + shape.width, shape.top + shape.height, shape.name))
        slack = Inches(0.011)
        for k, a in enumerate(boxes):
            for b in boxes[k + 1 :]:
                apart = a[2] <= b[0] + slack or b[2] <= a[0] + slack or a[3] <= b[1] + slack or b[3] <= a[1] + slack
                assert apart, (a[4], b[4])


def test_the_best_compounds_are_groups_with_picture_id_value_and_evidence(decided: Status) -> None:
    slide = slide_of(presentation(said(decided, Choice("all"))))
    groups = [shape for shape in slide.shapes if shape.shape_type == MSO_SHAPE_TYPE.GROUP]
    order = said(decided, Choice("all")).compounds.tolist()
    known = decided.candidates
    assert len(groups) == 6
    for group, c in zip(groups, order, strict=False):
        text = words(group)
        name = decided.library.ids[c]
        assert text.startswith(name)
        assert f"{known.estimate[c]:.2f} ({known.low[c]:.2f} to {known.high[c]:.2f})" in text
        n = int(known.measured[c])
        assert (f"(n = {n}); made" if n else "predicted, never measured; to be made") in text
        (picture,) = pictures(group)
        assert f"Structure of {name}: " in picture._element.xpath(".//p:cNvPr")[0].get("descr")
        with Image.open(io.BytesIO(picture.image.blob)) as drawn:
            assert drawn.width / (picture.width / Inches(1)) > 200
            assert len(drawn.convert("L").getcolors(256)) > 3
    assert f"Shortlist: the first {len(groups)} of 36, pIC50" in words(slide)
    assert f"+ {36 - len(groups)} more" in words(slide)


@pytest.mark.parametrize("maker", [indoles, labels])
def test_texts_of_tables_stay_texts(tmp_path: Path, maker: Any) -> None:
    with begin(tmp_path, maker((3, 2, 1), HOSTILE), name="<b>R1 $width x <$energy</b>\x00\x0b") as campaign:
        now = play(campaign, 1)
    data = presentation(said(now, Choice("all"), title="A & B <i>c</i> _x0041_"))
    text = words(slide_of(data))
    for name in HOSTILE[:5]:
        assert name in text
    assert "a  b c  d" in text
    assert "A & B <i>c</i> _x0041_;" in text
    with zipfile.ZipFile(io.BytesIO(data)) as parts:
        links = [part for part in parts.namelist() if b'TargetMode="External"' in parts.read(part)]
    assert not links


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("soffice") is None, reason="LibreOffice is not here to open it")
def test_another_program_opens_it(decided: Status, tmp_path: Path) -> None:
    import pypdfium2 as pdfium

    write(tmp_path / "x.pptx", said(decided))
    subprocess.run(
        ["soffice", f"-env:UserInstallation={(tmp_path / 'lo').as_uri()}", "--headless", "--convert-to", "pdf",
         "--outdir", str(tmp_path), str(tmp_path / "x.pptx")],
        check=True, capture_output=True, timeout=120,
    )  # fmt: skip
    with pdfium.PdfDocument(tmp_path / "x.pdf") as opened:
        assert len(opened) == 1
        assert opened[0].get_width() / opened[0].get_height() == pytest.approx(16 / 9, rel=0.01)
        drawn = np.asarray(opened[0].render(scale=1).to_pil().convert("L"))
    # Left the figure, right the structures: neither half is empty.
    assert (drawn[:, : drawn.shape[1] // 2] < 200).mean() > 0.005
    assert (drawn[:, drawn.shape[1] // 2 :] < 200).mean() > 0.005
