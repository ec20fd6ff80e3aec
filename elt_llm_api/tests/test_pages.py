"""Pictures of pages: marked where asked, None where there is nothing to draw."""

import io
from concurrent.futures import ThreadPoolExecutor

import pytest
from PIL import Image

from elt_llm_core.results import Box
from elt_llm_query.page_images import render_page

MIDDLE = Box(page=1, left=0.25, top=0.4, right=0.75, bottom=0.6)


def opened(jpeg: bytes | None) -> Image.Image:
    assert jpeg is not None
    return Image.open(io.BytesIO(jpeg))


@pytest.mark.parametrize("scale", [1.0, 2.0, 3.0])
def test_the_box_is_marked_where_it_was_asked(handbook_pdf, scale):
    plain = opened(render_page(handbook_pdf, 1, [], scale=scale, crop=False))
    marked = opened(render_page(handbook_pdf, 1, [MIDDLE], scale=scale, crop=False))
    assert plain.size == marked.size
    assert abs(plain.width - 595 * scale) <= scale
    inside = (marked.width // 2, marked.height // 2)
    outside = (marked.width // 2, int(marked.height * 0.8))
    red, _, blue = marked.getpixel(inside)
    assert red - blue > 40
    assert marked.getpixel(outside) == plain.getpixel(outside) == (255, 255, 255)


def test_crop_keeps_the_width_and_the_surroundings_of_the_box(handbook_pdf):
    whole = opened(render_page(handbook_pdf, 1, [MIDDLE], scale=1, crop=False))
    part = opened(render_page(handbook_pdf, 1, [MIDDLE], scale=1, crop=True))
    assert part.width == whole.width
    assert 0.3 * whole.height < part.height < 0.4 * whole.height


@pytest.mark.parametrize("number", [0, 4, 10_000])
def test_there_is_no_picture_of_a_page_that_is_not_there(handbook_pdf, number):
    assert render_page(handbook_pdf, number, [], scale=1, crop=False) is None


@pytest.mark.parametrize("junk", [b"", b"no pdf", b"%PDF-1.7\n%%EOF"])
def test_there_is_no_picture_of_a_broken_file(junk):
    assert render_page(junk, 1, [], scale=1, crop=False) is None


def test_threads_take_turns(handbook_pdf):
    def draw(number: int) -> bytes | None:
        return render_page(handbook_pdf, number % 3 + 1, [MIDDLE], scale=1, crop=False)

    with ThreadPoolExecutor(8) as pool:
        drawn = list(pool.map(draw, range(24)))
    assert all(drawn)
    assert len(set(drawn)) == 3
