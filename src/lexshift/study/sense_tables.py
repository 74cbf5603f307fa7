"""Tables of senses: a row for each sense, a row for each usage, and a concordance."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from lexshift.senses.word_senses import WordSenses
from lexshift.store.siblings import Siblings

if TYPE_CHECKING:
    import pandas as pd

DISTINCTIVE = "distinctive_words"
"""Column of the distinctive words, which is there even if no word has several senses."""
SEPARATOR = " | "
"""Text between two examples in a cell."""


def sense_table(siblings: Siblings, senses: Mapping[str, WordSenses]) -> pd.DataFrame:
    """Return a table with a row for each sense of each word.

    Columns: word, sense (its number), change, for each period n, share, low and high (number of usages, share of the
    usages of the word, and its interval), p, q, sense_jsd (the change score of the word), stability, a column for each
    kind of description, known (name of the sense in the inventory, if there is one), examples (sentences).

    Parameters
    ----------
    siblings : Siblings
        The store of the usages; its corpora are the periods.
    senses : mapping of str to WordSenses
    """
    import pandas as pd

    described_kinds = [kind for word_senses in senses.values() for kind in word_senses.descriptions]
    kinds = list(dict.fromkeys([DISTINCTIVE, *described_kinds]))
    columns = ["word", "sense", "change"]
    columns += [f"{name}_{period}" for period in siblings.corpora for name in ("n", "share", "low", "high")]
    columns += ["p", "q", "sense_jsd", "stability", *kinds, "known", "examples"]
    rows = []
    for word, word_senses in senses.items():
        sentences, jsd = _sentences(siblings, word), word_senses.jsd
        for sense in word_senses.senses:
            row: dict[str, Any] = {"word": word, "sense": sense.number, "change": sense.change}
            for i, period in enumerate(siblings.corpora):
                row |= {f"n_{period}": sense.counts[i], f"share_{period}": sense.shares[i]}
                row |= {f"low_{period}": sense.low[i], f"high_{period}": sense.high[i]}
            row |= {"p": sense.p, "q": sense.q, "sense_jsd": jsd, "stability": sense.stability, "known": sense.known}
            row |= {kind: ", ".join(sense.description.get(kind, [])) for kind in kinds}
            rows.append(row | {"examples": SEPARATOR.join(sentences[i] for i in sense.examples)})
    table = pd.DataFrame(rows, columns=columns)
    return table if any(table["known"]) else table.drop(columns="known")


def usage_table(siblings: Siblings, senses: Mapping[str, WordSenses], labels: Mapping[str, str]) -> pd.DataFrame:
    """Return a table with a row for each usage of the words whose senses were sought.

    Columns: word, period, file, line, date, sentence, start, end (position of the word in the sentence), sense, shift.

    Parameters
    ----------
    siblings : Siblings
    senses : mapping of str to WordSenses
    labels : mapping of str to str
        Names of the periods for the user, by their names in the store.
    """
    import pandas as pd

    columns = ["word", "period", "file", "line", "date", "sentence", "start", "end", "sense", "shift"]
    parts = [part for word, word_senses in senses.items() for part in _word_usages(siblings, word, word_senses, labels)]
    return pd.concat(parts, ignore_index=True)[columns] if parts else pd.DataFrame(columns=columns)


def concordance(usages: pd.DataFrame) -> pd.DataFrame:
    """Return the usages as a concordance: word, period, sense, left, keyword, right, file, line, date.

    The usages of a word are ordered by sense, then by period.

    Parameters
    ----------
    usages : DataFrame
        The table of :func:`usage_table`.
    """
    table = usages.sort_values("sense", kind="stable")
    position = {word: i for i, word in enumerate(usages["word"].unique())}
    table = table.sort_values("word", key=lambda words: words.map(position), kind="stable")
    spans = list(zip(table["sentence"], table["start"], table["end"], strict=True))
    table = table.assign(
        left=[text[:start] for text, start, _ in spans],
        keyword=[text[start:end] for text, start, end in spans],
        right=[text[end:] for text, _, end in spans],
    )
    columns = ["word", "sense", "period", "left", "keyword", "right", "file", "line", "date"]
    return table[columns].reset_index(drop=True)


def _word_usages(
    siblings: Siblings, word: str, word_senses: WordSenses, labels: Mapping[str, str]
) -> Iterator[pd.DataFrame]:
    """Yield the usages of a word in each period, with sense and shift."""
    begin = 0
    for period in siblings.corpora:
        part = siblings[word].occurrences(period)
        end = begin + len(part)
        sense, shift = word_senses.labels[begin:end], word_senses.shift[begin:end]
        yield part.assign(word=word, period=labels[period], sense=sense, shift=shift)
        begin = end


def _sentences(siblings: Siblings, word: str) -> list[str]:
    """Return the sentences of a word in all periods, in the order of its labels."""
    return [text for period in siblings.corpora for text in siblings[word].occurrences(period)["sentence"]]
