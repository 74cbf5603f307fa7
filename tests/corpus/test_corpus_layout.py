"""Test the detection of the line layout (sentences, paragraphs or wrapped text) from the start of a file."""

from __future__ import annotations

import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexshift.corpus import layout as module
from lexshift.corpus.layout import layout

PARAGRAPH = (
    "The mouse ran over the hill, and the cat ran after it until both of them were tired. Nobody saw where they went! "
    "When it rained, they hid under the bridge. Then, at last, the sun came out again and dried their coats."
)


def wrapped(width: int, text: str = PARAGRAPH, times: int = 3) -> str:
    return "\n\n".join([textwrap.fill(text, width)] * times) + "\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "lines"),
        ("\n\n\n", "lines"),
        ("mouse", "lines"),
        ("The mouse ran.\n" * 5, "lines"),
        ("the mouse ran\nthe cat sat on the mat and slept\nno\n" * 9, "lines"),
        ("The mouse ran.\n\nThe cat sat.\n\n" * 9, "lines"),
        ("plane_nn fly_vb over the town\nsit_vb on a tree_nn\n" * 9, "lines"),
        ("Mr. Smith met a mouse of 3.5 kg.\nIt was approx. that heavy.\n" * 9, "lines"),
        (PARAGRAPH, "prose"),
        (f"{PARAGRAPH}\n" * 4, "prose"),
        (f"{PARAGRAPH}\n\n" * 4, "prose"),
        ("“Is it a mouse?” She ran. «Où?» Il rit. “No.” He sat.\n" * 4, "prose"),
        ("¿Dónde está? ¡Aquí! Él vino. Ella no.\n" * 4, "prose"),
        ("Мышь бежала. Кошка спала. Дождь шёл.\n" * 4, "prose"),
        ("老鼠跑了。猫睡了。下雨了。\n" * 4, "prose"),
        ("चूहा भागा। बिल्ली सोई। बारिश हुई।\n" * 4, "prose"),
        ("老鼠跑了。\n" * 4, "lines"),
        (wrapped(60), "wrapped"),
        (wrapped(72).replace("\n", "\r\n"), "wrapped"),
        (textwrap.indent(wrapped(72), "    "), "wrapped"),
        (wrapped(120), "wrapped"),
    ],
)
def test_line_layouts_are_recognised(text: str, expected: str) -> None:
    assert layout(text.encode()) == expected


@given(st.binary(max_size=200))
def test_any_bytes_have_a_line_layout(head: bytes) -> None:
    assert layout(head) in ("lines", "prose", "wrapped")


@pytest.mark.parametrize("cut", range(1, 6))
def test_only_the_first_part_decides_wherever_it_is_cut(monkeypatch: pytest.MonkeyPatch, cut: int) -> None:
    text = "The mäuse ran.\n".encode() * 20
    monkeypatch.setattr(module, "_SAMPLE", len(text) - cut)
    assert layout(text + f"{PARAGRAPH}\n".encode() * 500) == "lines"
    monkeypatch.setattr(module, "_SAMPLE", 1 << 18)
    assert layout(text + f"{PARAGRAPH}\n".encode() * 500) == "prose"
