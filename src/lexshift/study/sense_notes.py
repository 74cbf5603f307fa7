"""Describe in sentences whose senses were sought, and what a dictionary lacks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from lexshift.errors import join_names
from lexshift.senses.gloss_encoder import index_entries
from lexshift.senses.nearest_gloss import NearestGloss
from lexshift.senses.word_senses import WordSenses
from lexshift.utils.quantities import with_unit

if TYPE_CHECKING:
    from lexshift.study.senses import SenseSources

UNUSED = (
    "The dictionary was not used, because the encoder has no calibration that says which glosses are similar enough: "
    "choose one that is tuned on senses, such as minilm-senses (--model)"
)


def selection_note(n_sought: int, n_changed: int, n_tested: int) -> str:
    """Return a sentence, without a full stop, about the words of a discovery whose senses were sought.

    Parameters
    ----------
    n_sought : int
        Number of words whose senses were sought.
    n_changed : int
        Number of words that are called changed.
    n_tested : int
        Number of words that were tested for change.

    Examples
    --------
    >>> selection_note(2, 2, 50)
    'Senses were sought for the 2 changed words; q of a sense is adjusted for the choice of 2 of 50 words'
    """
    if not n_sought:
        return "Senses were not sought, because no word is called changed"
    which = "the changed word" if n_changed == 1 else f"the {n_changed:,} changed words"
    if n_sought < n_changed:
        which = f"the {n_sought:,} changed words with the highest scores, of {n_changed:,}"
    return (
        f"Senses were sought for {which}; q of a sense is adjusted for the choice of {n_sought:,} of "
        f"{with_unit(n_tested, 'words')}"
    )


def dictionary_notes(sources: SenseSources, senses: Mapping[str, WordSenses], is_calibrated: bool) -> list[str]:
    """Return sentences, without full stops, about the inventory and the dictionary of a run.

    Parameters
    ----------
    sources : SenseSources
        The inventory and the dictionary that the user gave.
    senses : mapping of str to WordSenses
        The senses that were found.
    is_calibrated : bool
        Whether the encoder has a calibration, by which a gloss is similar enough or not.
    """
    notes = []
    if sources.inventory is not None:
        skipped = sources.inventory.tally.skipped.items()
        notes += [f"Skipped or altered in the inventory: {with_unit(n, reason)}" for reason, n in skipped]
    for name, dictionary in (("inventory", sources.inventory), ("dictionary", sources.dictionary)):
        entries = {} if dictionary is None else index_entries(dictionary)
        missing = [word for word in senses if word.casefold() not in entries]
        if dictionary is not None and missing:
            these = "this word" if len(missing) == 1 else "these words"
            notes.append(f"The {name} does not have {these}: {join_names(missing, str)}")
    glosses = [
        gloss for word_senses in senses.values() for gloss in word_senses.descriptions.get(NearestGloss.name, ())
    ]
    if sources.dictionary is not None and senses and not is_calibrated:
        notes.append(UNUSED)
    elif sources.dictionary is not None and senses and not any(glosses):
        notes.append("No gloss of the dictionary is similar enough to any of the senses to describe it")
    return notes
