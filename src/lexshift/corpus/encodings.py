"""Detect the character encoding of a text that is not UTF-8.

The bytes of a text that are not ASCII decide. A byte order mark names its encoding, and zero bytes at every second or
fourth position show UTF-16 or UTF-32. Otherwise words that consist mostly of bytes outside ASCII belong to another
script than Latin, for which the library charset-normalizer finds the encoding.

The library often confuses the encodings of Latin script with each other, because they differ in a few letters only.
Here, each encoding is examined together with the languages that are written in it. The best pair is the one in which
the letters outside ASCII belong to the alphabet of the language, and in which its function words occur.
"""

from __future__ import annotations

import codecs
import re
import unicodedata
from collections import Counter
from functools import cache
from importlib.metadata import version
from importlib.resources import files

UTF_8 = "utf-8"
_MARKS = (
    (codecs.BOM_UTF8, UTF_8),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_SAMPLE = 1 << 13  # bytes of the lines that are examined
_HEAD = 1 << 13  # bytes that are searched for zero bytes
_NOT_TEXT = ("Cc", "Cn", "Co", "Cs")  # Unicode categories
_PRINTABLE = bytes(range(32, 127)) + b"\n\r"
_SPACES = 0.02  # minimum share of ASCII, such as spaces and line ends, in a text without a byte order mark
_PAIRS = 0.5  # maximum share of characters in UTF-16 that could be two of ASCII, except for kana
_KANA = "".join(map(chr, range(0x3040, 0x3100)))
_OTHER_SCRIPTS = (
    *("cp1251", "koi8_r", "koi8_u", "iso8859_5", "cp866", "cp1253", "iso8859_7", "cp1255", "cp1256", "cp874"),
    *("cp932", "euc_jp", "gb18030", "big5", "cp949"),  # cp932 includes shift_jis, and cp949 includes euc_kr
)
_WESTERN = ("cp1252", "iso8859-15", "mac_roman", "cp850")
_CENTRAL = ("cp1250", "iso8859-2")
_BALTIC = ("cp1257", "iso8859-13")
# Letters outside ASCII of languages in Latin script, and their encodings; of several that fit, the first is chosen.
_ALPHABETS: tuple[tuple[tuple[str, ...], dict[str, str]], ...] = (
    (
        _WESTERN,
        {
            "en": "éèêëïöüñçàâæœ",
            "de": "äöüß",
            "fr": "àâæçéèêëîïôœùûüÿ",
            "es": "áéíóúüñªº",
            "it": "àèéìíòóùúî",
            "pt": "ãáàâçéêíõóôúüªº",
            "nl": "áéëèïóöü",
            "sv": "åäöé",
            "da": "åæøé",
            "nb": "åæøéòô",
            "fi": "äöå",
            "is": "áéíóúýþæöð",
            "ca": "àçèéíïòóúü·",
            "ga": "áéíóú",
            "sq": "ëç",
        },
    ),
    (
        _CENTRAL,
        {
            "pl": "ąćęłńóśźż",
            "cs": "áčďéěíňóřšťúůýž",
            "sk": "áäčďéíĺľňóôŕšťúýž",
            "hu": "áéíóöőúüű",
            "hr": "čćđšž",
            "sl": "čšž",
            "ro": "ăâîşţ",
        },
    ),
    (("cp1254",), {"tr": "çğıİöşüâîû"}),
    (_BALTIC, {"lt": "ąčęėįšųūž", "lv": "āčēģīķļņšūž", "et": "äöõüšž"}),
    (("cp1258",), {"vi": "ăâđêôơưáàéèíóòúùýảãạẹ\u0300\u0301\u0303\u0309\u0323"}),
)
_PUNCTUATION = "‚‘’„“”«»‹›–—…•·§°€£©®™†‡¿¡\u00a0\u00ad"
_INSIDE_WORDS = "’·\u00ad\u00a0"  # signs that may stand between two letters
_SIGNS = "½¼¾×±²³"  # signs that do not stand beside a letter
_UNDEFINED = re.compile(rb"[\x81\x8d\x8f\x90\x9d]")  # bytes without a character in cp1252
_GREEK = ("cp1253", "iso8859_7")
_SIGN = re.compile(r"[¶¢\ufffd’‘](?=[^\W\d_])")
_OUTSIDE = re.compile(r"[^\x00-\x7f]")
_CONTROL = re.compile(rb"[\x00-\x07\x0e-\x19\x1c-\x1f\x7f]")
_CONTROLS = 0.02  # maximum share of control characters in a text
_MESS = 0.4  # maximum share of implausible characters, as the library counts them
_WORD = re.compile(rb"[A-Za-z\x80-\xff]*[\x80-\xff][A-Za-z\x80-\xff]*")
_RUN = re.compile(rb"[\x80-\xff]+")
_LONG_RUNS = 1.7  # minimum mean length of sequences of bytes outside ASCII, for other scripts than Latin
_FOREIGN = 0.45  # minimum share of bytes outside ASCII in the words that have them, for other scripts than Latin
_MISFIT = 2.0  # penalty of a character that is no letter of the language
_CERTAIN = 1.05  # score of a text in Latin script in which all letters fit and function words occur
_RARE, _RARE_LEAD = ("mac_roman", "cp850"), 0.5  # encodings of old systems, and the lead that they need over others
_FUNCTION_WORDS = 2.0  # weight of the share of function words


def detector_version() -> str:
    """Return the version of the library, which affects what is detected."""
    return version("charset-normalizer")


def find_mark(head: bytes) -> str | None:
    r"""Return the encoding that the byte order mark at the beginning of a text names, or None if it has no mark.

    >>> find_mark(b"\xff\xfea\0"), find_mark(b"A mouse.")
    ('utf-16', None)
    """
    return next((name for mark, name in _MARKS if head.startswith(mark)), None)


def detect_wide(head: bytes) -> str | None:
    r"""Return the encoding of a text that is UTF-16 or UTF-32 without a byte order mark, or None.

    Parameters
    ----------
    head : bytes
        The beginning of the text.

    >>> detect_wide("A mouse.".encode("utf-16-be")), detect_wide(b"A mouse.")
    ('utf-16-be', None)
    """
    head = head[:_HEAD]
    if b"\0" not in head:
        return None
    fitting = []
    for name in ("utf-32-le", "utf-32-be", "utf-16-le", "utf-16-be"):
        try:
            text = codecs.getincrementaldecoder(name)().decode(head)
        except UnicodeDecodeError:
            continue
        if any(unicodedata.category(c) in _NOT_TEXT and c not in "\t\n\r\f" for c in text):
            continue
        others = [c for c in text if not c.isascii()]
        in_pairs = sum(all(byte in _PRINTABLE for byte in c.encode("utf-16-be")) for c in others if c not in _KANA)
        share = 1 - len(others) / max(len(text), 1)
        if share >= _SPACES and in_pairs <= _PAIRS * len(others):
            fitting.append((share, name))
    return max(fitting, default=(0.0, None))[1]


def detect_encoding(data: bytes, is_complete: bool = True) -> str | None:
    r"""Return the encoding of a text that has bytes outside ASCII, or None if no encoding fits.

    A text with more valid than invalid sequences of UTF-8 is damaged UTF-8.

    Parameters
    ----------
    data : bytes
        Some of the text, of which lines with bytes outside ASCII are examined.
    is_complete : bool
        Whether the text ends here. If not, the last character may be incomplete.

    >>> detect_encoding("Die Maus läuft über die Straße.".encode("latin-1"))
    'cp1252'
    """
    try:
        codecs.getincrementaldecoder(UTF_8)().decode(data, is_complete)
        return UTF_8
    except UnicodeDecodeError:
        sample = _sample(data if is_complete else data[: data.rfind(b"\n") + 1] or data)
    text = sample.decode(errors="replace")
    valid, invalid = sum(not character.isascii() for character in text), text.count("\ufffd")
    valid -= invalid
    if valid > invalid:
        return UTF_8
    if len(_CONTROL.findall(sample)) > _CONTROLS * len(sample):
        return None
    runs = [len(run) for run in _RUN.findall(sample)]
    is_latin = sum(runs) < _FOREIGN * sum(map(len, _WORD.findall(sample))) or sum(runs) < _LONG_RUNS * len(runs)
    encoding, score = _detect_latin(sample)
    if not is_latin and score <= _CERTAIN:
        encoding = _detect_other_script(sample)
    elif encoding is None and not valid and not _UNDEFINED.search(sample):
        encoding = _WESTERN[0]  # the text has signs or foreign names, and the most frequent encoding is possible
    return None if encoding is None else codecs.lookup(encoding).name


def _sample(data: bytes) -> bytes:
    """Return some lines with bytes outside ASCII, from all parts of the data."""
    lines = [line for line in data.split(b"\n") if not line.isascii()]
    size = sum(map(len, lines))
    if len(lines) > 1:
        lines = lines[:: -(-size // _SAMPLE)]
    joined = b"\n".join(lines)
    if len(joined) <= 2 * _SAMPLE:
        return joined
    first = _RUN.search(joined)  # a character begins here in every encoding
    assert first is not None
    return joined[max(0, first.start() - _SAMPLE // 2) : first.start()] + joined[first.start() :][:_SAMPLE]


def _detect_other_script(sample: bytes) -> str | None:
    """Return the encoding of a text in another script than Latin, or None."""
    from charset_normalizer import from_bytes

    for end in range(len(sample), len(sample) - 4, -1):  # the last character may be incomplete
        best = from_bytes(sample[:end], cp_isolation=list(_OTHER_SCRIPTS), threshold=_MESS).best()
        if best is not None:
            break
    else:
        return None
    # The two encodings of Greek differ in one letter, which is a sign in the other encoding.
    if best.encoding in _GREEK:
        return min(_GREEK, key=lambda name: len(_SIGN.findall(sample.decode(name, "replace"))))
    return best.encoding


def _detect_latin(sample: bytes) -> tuple[str | None, float]:
    """Return the encoding of a text in Latin script, or None if none fits, with its score."""
    best, best_encoding, texts = 0.0, None, set[str]()
    for encodings, alphabets in _ALPHABETS:
        texts.clear()
        for encoding in encodings:
            try:
                text = sample.decode(encoding)
            except UnicodeDecodeError:
                continue
            if text in texts:
                continue
            texts.add(text)
            words = Counter(re.findall(r"[^\W\d_]+", text.lower()))
            characters = _count_characters(text)
            for language, alphabet in alphabets.items():
                common = sum(words[word] for word in _function_words(language)) / max(words.total(), 1)
                score = _fit(characters, alphabet + alphabet.upper()) + _FUNCTION_WORDS * common
                if score > best + (_RARE_LEAD if encoding in _RARE else 0):
                    best, best_encoding = score, encoding
    return best_encoding, best


def _count_characters(text: str) -> Counter[tuple[str, bool, int]]:
    """Count the characters outside ASCII, by whether they follow a small letter, and the number of adjacent letters."""
    return Counter(
        (text[i], text[i - 1 : i].islower(), text[i - 1 : i].isalpha() + text[i + 1 : i + 2].isalpha())
        for i in (match.start() for match in _OUTSIDE.finditer(text))
    )


def _fit(characters: Counter[tuple[str, bool, int]], alphabet: str) -> float:
    """Return how well characters outside ASCII fit to an alphabet: 1 if all of them do."""
    total = 0.0
    for (character, follows_small, neighbours), n in characters.items():
        if character in alphabet:
            fits = not (character.isupper() and follows_small)
        else:
            fits = character in _PUNCTUATION and (neighbours < 2 or character in _INSIDE_WORDS)
            fits = fits or (character in _SIGNS and not neighbours)
        total += n if fits else -_MISFIT * n
    return total / max(characters.total(), 1)


@cache
def _function_words(language: str) -> tuple[str, ...]:
    """Return the function words of a language."""
    lines = files("lexshift.corpus").joinpath("languages.tsv").read_text("utf-8").splitlines()
    return next((tuple(line.split("\t")[3].split()) for line in lines if line.startswith(f"{language}\t")), ())
