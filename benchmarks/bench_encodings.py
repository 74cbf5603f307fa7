"""Measure how often the encoding of a text is detected, compared with the library charset-normalizer alone.

Passages of real text are encoded in the encodings of their language and detected. A passage counts as correct if it is
decoded without an error, whatever the name of the encoding. Passages that are ASCII or valid UTF-8 are left out.
Usage: python benchmarks/bench_encodings.py FOLDER [--passages N]
FOLDER has a text in UTF-8 for each language, such as tutor.de.utf-8 of the editor Vim.
"""

from __future__ import annotations

import argparse
import random
import unicodedata
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from charset_normalizer import from_bytes

from lexshift.corpus.encodings import detect_encoding

CENTRAL, CYRILLIC = ("cp1250", "iso-8859-2"), ("cp1251", "koi8-r", "iso-8859-5")
ENCODINGS = {
    **dict.fromkeys(("ca", "da", "es", "it", "nb", "nl", "pt", "sv"), ("cp1252",)),
    **dict.fromkeys(("de", "fr"), ("cp1252", "iso-8859-15", "mac_roman", "cp850")),
    **dict.fromkeys(("cs", "hr", "hu", "pl", "sk"), CENTRAL),
    **dict.fromkeys(("bg", "ru"), CYRILLIC),
    "uk": ("cp1251", "koi8-u"),
    "el": ("cp1253", "iso-8859-7"),
    "tr": ("cp1254",),
    "lv": ("cp1257",),
    "vi": ("cp1258",),
    "ja": ("shift_jis", "euc_jp"),
    "ko": ("euc_kr",),
    "zh_cn": ("gb18030",),
    "zh_tw": ("big5",),
}
SIZES = (60, 200, 1000, 5000)  # characters


def passages(text: str, encoding: str, size: int, n: int, rng: random.Random) -> Iterator[tuple[str, bytes]]:
    """Yield random passages of a text that are neither ASCII nor valid UTF-8 in an encoding, with their bytes."""
    lines = [line for line in text.split("\n") if line.encode(encoding, "replace").decode(encoding) == line]
    for _ in range(20 * n):
        passage = "\n".join(lines[rng.randrange(len(lines)) :])[:size]
        data = passage.encode(encoding)
        if data.decode(errors="replace") != data.decode(errors="ignore"):
            yield passage, data
            n -= 1
            if not n:
                return


def is_decoded(passage: str, data: bytes, encoding: str | None) -> bool:
    """Return whether an encoding decodes the bytes of a passage without an error."""
    if encoding is None:
        return False
    return unicodedata.normalize("NFC", data.decode(encoding, "replace")) == unicodedata.normalize("NFC", passage)


def main() -> None:
    """Print the share of passages that are decoded without an error, by their size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--passages", type=int, default=12, help="passages of each size, language and encoding")
    options = parser.parse_args()
    totals, ours, library = Counter[int](), Counter[int](), Counter[int]()
    rng = random.Random(0)
    for language, encodings in ENCODINGS.items():
        text = next(options.folder.glob(f"*.{language}.utf-8")).read_text("utf-8")
        for encoding in encodings:
            for size in SIZES:
                for passage, data in passages(text, encoding, size, options.passages, rng):
                    best = from_bytes(data).best()
                    totals[size] += 1
                    ours[size] += is_decoded(passage, data, detect_encoding(data))
                    library[size] += is_decoded(passage, data, None if best is None else best.encoding)
    print("characters  passages  lexshift  charset-normalizer")
    for size, n in totals.items():
        print(f"{size:10,}  {n:8,}  {ours[size] / n:8.1%}  {library[size] / n:18.1%}")


if __name__ == "__main__":
    main()
