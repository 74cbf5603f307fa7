"""Compiled replacements of characters are those of the table, and offsets stay those of the original text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexshift.encode.character_map import compile_character_map

tokenizers = pytest.importorskip("tokenizers")

characters = st.characters(min_codepoint=1, exclude_categories=["Cs"])


def replaced(table: dict[str, str], text: str) -> str:
    return str(tokenizers.normalizers.Precompiled(compile_character_map(table)).normalize_str(text))


@given(st.dictionaries(characters, st.text(characters, max_size=3), min_size=1, max_size=40))
def test_every_character_of_the_table_is_replaced(table: dict[str, str]) -> None:
    compiled = tokenizers.normalizers.Precompiled(compile_character_map(table))
    for character, text in table.items():
        assert compiled.normalize_str(character) == text


@given(st.sets(characters, min_size=1, max_size=40), st.lists(characters, max_size=40))
def test_no_other_character_is_replaced(keys: set[str], others: list[str]) -> None:
    compiled = tokenizers.normalizers.Precompiled(compile_character_map(dict.fromkeys(keys, "x")))
    for character in set(others) - keys:
        assert compiled.normalize_str(character) == character


def test_large_table_is_complete() -> None:
    table = {chr(code): f"<{code:x}>" for code in (*range(1, 0xD800, 5), *range(0xE000, 0x20000, 11))}
    compiled = tokenizers.normalizers.Precompiled(compile_character_map(table))
    assert all(compiled.normalize_str(character) == text for character, text in table.items())
    assert compiled.normalize_str("\x02") == "\x02"


def test_characters_may_be_removed_lengthened_and_shortened() -> None:
    assert replaced({"\x07": "", "½": "1⁄2", "Ａ": "A"}, "a\x07b ½ Ａ z") == "ab 1⁄2 A z"


def test_offsets_are_those_of_the_text_before_replacement() -> None:
    text = tokenizers.NormalizedString("a½b")
    tokenizers.normalizers.Precompiled(compile_character_map({"½": "1⁄2"})).normalize(text)
    assert text.normalized == "a1⁄2b"
    assert text.slice((4, 5)).original == "b"
