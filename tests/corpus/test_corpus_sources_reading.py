"""Test the options that control how a corpus is read."""

from __future__ import annotations

from typing import Any

import pytest

from lexshift.corpus import Reading
from lexshift.errors import UserError


@pytest.mark.parametrize("encoding", ["utf-8", "UTF8", "utf_8", "utf-8-sig", "U8"])
def test_every_alias_of_utf_8_is_utf_8(encoding: str) -> None:
    assert Reading(encoding=encoding).codec in ("utf-8", "utf-8-sig")


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-16", "utf-16-le", "utf-32", "shift_jis", "ascii"])
def test_other_encodings_are_known_and_not_utf_8(encoding: str) -> None:
    assert not Reading(encoding=encoding).codec.startswith("utf-8")


@pytest.mark.parametrize("encoding", ["utf-9", "", "klingon"])
def test_unknown_encoding_is_refused_with_examples(encoding: str) -> None:
    with pytest.raises(
        UserError, match=rf"encoding '{encoding}' is not known; use for example utf-8, utf-16, latin-1 or cp1252"
    ):
        Reading(encoding=encoding)


@pytest.mark.parametrize("encoding", ["hex", "rot13", "base64", "zip", "undefined"])
def test_codec_that_does_not_decode_bytes_to_text_is_refused(encoding: str) -> None:
    with pytest.raises(UserError, match=f"encoding '{encoding}'"):
        Reading(encoding=encoding)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"split": "line"}, r"split must be one of auto, lines, prose, wrapped; got 'line'; did you mean 'lines'\?"),
        ({"split": ""}, "split must be one of .* got ''"),
        ({"split": None}, "split must be one of .* got None"),
        ({"errors": "ignore"}, "errors must be one of replace, strict; got 'ignore'"),
        ({"errors": None}, "errors must be one of .* got None"),
    ],
)
def test_unknown_values_are_refused_with_the_known_ones(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Reading(**arguments)
