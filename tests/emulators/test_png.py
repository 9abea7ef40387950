"""Pictures decode to what was drawn, however they were packed."""

from __future__ import annotations

import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from ptp.emulators.png import png


def decoded(data: bytes) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(data)).convert("RGB"))


@given(
    colours=st.lists(st.tuples(*[st.integers(0, 255)] * 3), min_size=1, max_size=6),
    size=st.tuples(st.integers(1, 20), st.integers(1, 20)),
    seed=st.integers(0, 1000),
    scale=st.sampled_from([1, 2, 3]),
)
def test_a_picture_decodes_to_the_same_pixels(
    colours: list[tuple[int, int, int]], size: tuple[int, int], seed: int, scale: int
) -> None:
    choices = np.random.default_rng(seed).integers(0, len(colours), size)
    pixels = np.full((*size, 4), 255, np.uint8)
    pixels[:, :, :3] = np.array(colours, np.uint8)[choices]
    wanted = pixels[:, :, :3].repeat(scale, 0).repeat(scale, 1)
    assert np.array_equal(decoded(png(pixels, scale)), wanted)
    assert np.array_equal(decoded(png(np.ascontiguousarray(pixels[:, :, :3]), scale)), wanted)


@pytest.mark.parametrize("shades", [1, 4, 5])
def test_a_screen_of_four_shades_takes_two_bits_a_pixel(shades: int) -> None:
    pixels = np.full((144, 160, 4), 255, np.uint8)
    values = np.random.default_rng(1).integers(0, shades, (144, 160)) * 50
    pixels[:, :, :3] = values[:, :, None]
    image = Image.open(io.BytesIO(png(pixels, 2)))
    assert (image.size, image.mode) == ((320, 288), "P" if shades <= 4 else "RGB")
