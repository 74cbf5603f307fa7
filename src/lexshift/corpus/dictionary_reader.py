"""Read a dictionary from a file or folder of any known format."""

from __future__ import annotations

import os
from pathlib import Path

from lexshift.corpus.dictionaries import Dictionary, DictionaryBuilder
from lexshift.corpus.dictionary_tables import read_table_file
from lexshift.corpus.sources import COMPRESSED, Reading, Source, Tally, find_sources
from lexshift.corpus.wordnets import (
    INSTALLED,
    is_wordnet_folder,
    read_installed_lexicon,
    read_lmf_file,
    read_wordnet_folder,
)
from lexshift.errors import UserError
from lexshift.utils import checks

_FORMATS = (
    "a WordNet folder (data.noun and so on), a wordnet in LMF (.xml), an installed one such as wn:oewn:2024, or a "
    "table (.csv, .tsv, .jsonl)"
)


def read_dictionary(
    source: str | os.PathLike[str],
    language: str = "en",
    *,
    encoding: str = "utf-8",
    errors: str = "strict",
    max_damaged: int = 0,
) -> Dictionary:
    r"""Read the senses of words with their glosses and usages.

    Text is brought into Unicode's normal form NFC. A usage without offsets is the first occurrence of the word in the
    example, in any form that is known: the inflected forms of simplemma, if it is installed and has the language, and
    the irregular or other forms that the source itself lists. An example without the word is counted in
    ``tally.skipped``.

    Parameters
    ----------
    source : str or path
        One of

        - a folder in the format of Princeton's WordNet, with data.noun, data.verb, data.adj or data.adv;
        - a wordnet in the format WN-LMF (.xml), or the name of one that is installed with the library wn, such as
          ``wn:oewn:2024``; both need the extra ``lexshift[senses]``;
        - a table (.csv, .tsv, .jsonl) with the columns lemma and sense, and some of pos, gloss,
          example, start, end and language. A row without an example has a gloss only. The columns of AXOLOTL-24 (word,
          orth, sense_id, gloss, example, indices_target_token) are read as well;
        - sentences whose words are labelled (.jsonl), each with ``sentence`` and ``words``, a list of
          ``[start, end, lemma, pos, sense]``.

        Files may be compressed (.gz, .zst).
    language : str
        ISO code of the language, where the source does not name it. "auto" detects it from the sentences.
    encoding, errors : str
        As in :class:`~lexshift.corpus.sources.Reading`.
    max_damaged : int
        Number of damaged lines that are skipped and counted. The next one is refused, with its number.

    Returns
    -------
    Dictionary

    Raises
    ------
    UserError
        If the source is in no known format or a line is damaged.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "mine.tsv")
    ...     _ = path.write_text("lemma\tpos\tsense\tgloss\texample\nbank\tn\t1\ta slope\tThe bank was steep.\n")
    ...     dictionary = read_dictionary(path)
    >>> dictionary.entries[0].senses
    [Sense(sense='1', gloss='a slope', usages=[SenseUsage(sentence='The bank was steep.', start=4, end=8)])]
    """
    if not isinstance(source, (str, os.PathLike)):
        raise UserError(f"a dictionary is {_FORMATS}; got {source!r}")
    place, reading = os.fsdecode(source), Reading(encoding=encoding, errors=errors, language=language)
    builder = DictionaryBuilder(reading.language, Tally(), checks.positive(max_damaged, "max_damaged", 0))
    if place.startswith(INSTALLED) and not os.path.exists(place):
        read_installed_lexicon(place.removeprefix(INSTALLED), builder)
    elif not os.path.exists(place):
        raise UserError(f"no such file or folder: {place!r} (looked from {os.getcwd()}); a dictionary is {_FORMATS}")
    elif os.path.isdir(place):
        if not is_wordnet_folder(place):
            raise UserError(f"the folder {place!r} holds no data.noun, data.verb, data.adj or data.adv of a WordNet")
        read_wordnet_folder(place, reading, builder)
    elif _is_xml(place) and os.path.isfile(place):
        read_lmf_file(Source(place, os.path.basename(place), "text"), builder)
    else:
        file = find_sources(place)[0]
        if file.kind not in ("csv", "tsv", "jsonl"):
            raise UserError(f"the file {place!r} has no known format by its ending; a dictionary is {_FORMATS}")
        read_table_file(file, reading, builder)
    dictionary = builder.build()
    if not (dictionary.records or dictionary.entries):
        raise UserError(f"the dictionary {place!r} is empty; it must have at least one sense of a word")
    return dictionary


def _is_xml(path: str) -> bool:
    """Tell whether a file is XML by its name, without the ending of a compressed file."""
    endings = [ending.lower() for ending in Path(path).suffixes]
    if endings and endings[-1] in COMPRESSED:
        endings.pop()
    return endings[-1:] == [".xml"]
