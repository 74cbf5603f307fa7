"""Find the senses of all words of a study, and control the false discovery rate over all of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from lexshift.corpus.dictionaries import Dictionary
from lexshift.corpus.dictionary_reader import read_dictionary
from lexshift.encode import Encoder
from lexshift.encode.adaptation import Calibration
from lexshift.encode.protocol import optional_attribute
from lexshift.errors import UserError
from lexshift.scoring.space import Space, calibration_space
from lexshift.senses.changed_groups import SenseGroups, divide_changed_senses, find_groups
from lexshift.senses.clusterings import fine_clustering, get_clustering
from lexshift.senses.description import Description, SenseUsages
from lexshift.senses.distinctive_words import DistinctiveWords
from lexshift.senses.fallback_calibration import estimate_calibration
from lexshift.senses.gloss_encoder import GlossEncoder, find_entries, index_entries
from lexshift.senses.graded_change import change_over_periods
from lexshift.senses.inventory import assign_senses, encode_inventory, fit_novelty
from lexshift.senses.nearest_gloss import NearestGloss
from lexshift.senses.stability import divide_usages
from lexshift.senses.substitutes import Substitutes, load_masked_model
from lexshift.senses.word_senses import WordSenses, adjust_changes, find_word_senses
from lexshift.store.siblings import Siblings
from lexshift.study.settings import Settings
from lexshift.study.usages import Usages
from lexshift.utils.arrays import Array, Floats, Indices, Matrix
from lexshift.utils.monitor import Monitor
from lexshift.utils.threads import for_each

if TYPE_CHECKING:
    import pandas as pd

PERMUTATIONS = 10_000
"""Number of permutations of the test of a sense, unless the user chooses another one."""
ESTIMATED = (
    "The encoder has no calibration, so the similarity at which usages share a sense was estimated from the words of "
    "this run: the number of senses is less certain, and it depends on the words"
)
_MANY_FILES = 10  # documents of each period from which they are the units
_GLOSS = NearestGloss.name


@dataclass(frozen=True, eq=False)
class SenseSources:
    """The dictionaries and the model that find and describe senses, read before anything is encoded.

    Attributes
    ----------
    inventory, dictionary : Dictionary, optional
        Known senses, and senses whose glosses describe those that are found.
    substitutes : Substitutes, optional
        Description by the substitutes of a masked language model.
    """

    inventory: Dictionary | None
    dictionary: Dictionary | None
    substitutes: Substitutes | None

    def record(self) -> dict[str, str]:
        """Return the checksums of the dictionaries."""
        dictionaries = {"inventory": self.inventory, "dictionary": self.dictionary}
        return {name: source.tally.content for name, source in dictionaries.items() if source is not None}


def read_sources(settings: Settings, language: str | None) -> SenseSources:
    """Read the dictionaries and load the masked language model that the settings name.

    Parameters
    ----------
    settings : Settings
        Its ``inventory``, ``dictionary`` and ``substitutes``.
    language : str, optional
        ISO code of the language of dictionaries that do not name it.
    """
    inventory, dictionary = (
        None if path is None else read_dictionary(path, language or "auto")
        for path in (settings.inventory, settings.dictionary)
    )
    substitutes = None
    if settings.substitutes is not None:
        loaded = load_masked_model(settings.substitutes)
        if loaded is None:
            raise UserError(f"{str(settings.substitutes)!r} is not a masked language model; choose one (--substitutes)")
        substitutes = Substitutes(*loaded)
    return SenseSources(inventory, dictionary, substitutes)


@dataclass(frozen=True, eq=False)
class Division:
    """The senses of the usages of a word, before they are compared and described.

    Attributes
    ----------
    labels : ndarray of shape (n,), int
        The sense of each usage, from 0 for the one with the most usages.
    stability : ndarray of shape (K,), optional
    q : ndarray of shape (K,), optional
        For parts of a sense that was divided because its composition changed, the q of that change; 0 for others.
    names, glosses : list of str, optional
        Names and glosses of the senses in an inventory; empty for a sense that is not in it.
    """

    labels: Indices
    stability: Floats | None = None
    q: Floats | None = None
    names: list[str] | None = None
    glosses: list[str] | None = None


@dataclass(frozen=True, eq=False)
class SenseFinder:
    """Find the senses of the words of a store.

    Attributes
    ----------
    siblings : Siblings
        The store; its corpora are the periods.
    encoder : Encoder
    calibration : Calibration
        The probability that two usages share a sense, given the cosine of their vectors.
    space : Space
        The space of the calibration.
    settings : Settings
    sources : SenseSources
    language : str, optional
        ISO code of the language of the last corpus.
    selected_share : float
        Share of the words that were selected because they changed; 1 if all words are studied.
    """

    siblings: Siblings
    encoder: Encoder
    calibration: Calibration
    space: Space
    settings: Settings
    sources: SenseSources
    language: str | None
    selected_share: float = 1.0

    def vectors(self, word: str) -> Matrix:
        """Return the vectors of a word in all periods, in the space of the calibration, (n, d)."""
        return sense_vectors(self.siblings, word, self.space)

    def frames(self, word: str) -> list[pd.DataFrame]:
        """Return the usages of a word in each period."""
        return [self.siblings[word].occurrences(period) for period in self.siblings.corpora]

    @property
    def permutations(self) -> int:
        """Number of permutations of the tests."""
        chosen = self.settings.permutations
        return PERMUTATIONS if chosen == "auto" else chosen

    def divide(self, words: Sequence[str], monitor: Monitor) -> dict[str, Division]:
        """Return the sense of each usage of each word, by an inventory if there is one."""
        monitor.stage("finding senses", len(words), "words")
        inventory = self.sources.inventory
        return self._cluster(words, monitor) if inventory is None else self._assign(words, inventory, monitor)

    def _cluster(self, words: Sequence[str], monitor: Monitor) -> dict[str, Division]:
        """Return the senses of clustered usages; senses whose composition changed are divided."""
        clustering, seed = get_clustering(self.settings.clustering), self.settings.seed
        fine = fine_clustering(clustering)

        def cluster(word: str) -> tuple[Indices, Floats, list[SenseGroups]]:
            vectors, frames = self.vectors(word), self.frames(word)
            labels, stability = divide_usages(clustering, vectors, self.calibration, seed)
            if fine is None:
                return labels, stability, []
            groups = find_groups(
                vectors,
                labels,
                period_numbers(frames),
                len(frames),
                fine,
                self.calibration,
                usage_documents(frames),
                self.permutations,
                seed,
            )
            return labels, stability, groups

        clustered = for_each(words, cluster, lambda done: monitor.advance(done, done))
        labels = {word: labels for word, (labels, _, _) in clustered.items()}
        groups = {word: groups for word, (_, _, groups) in clustered.items()}
        divided = divide_changed_senses(labels, groups, self.vectors, self.settings.alpha, self.selected_share)
        return {
            word: Division(new.labels, np.where(new.is_part, new.stability, clustered[word][1][new.origin]), new.q)
            for word, new in divided.items()
        }

    def _assign(self, words: Sequence[str], inventory: Dictionary, monitor: Monitor) -> dict[str, Division]:
        """Return the senses of an inventory, and new ones."""
        clustering, seed = get_clustering(self.settings.clustering), self.settings.seed
        entries = index_entries(inventory)
        gloss_encoder = GlossEncoder(self.encoder, self.space)
        inventories = {word: encode_inventory(word, find_entries(entries, word), gloss_encoder) for word in words}
        novelty = fit_novelty(inventories.values(), self.calibration)

        def assign(word: str) -> Division:
            word_inventory = inventories[word]
            assignment = assign_senses(self.vectors(word), word_inventory, novelty, clustering, self.calibration, seed)
            labels, names = number_senses(assignment.senses, word_inventory.senses)
            listed = [s for entry in find_entries(entries, word) for s in entry.senses if s.gloss or s.usages]
            glosses = dict(zip(word_inventory.senses, (sense.gloss or "" for sense in listed), strict=True))
            return Division(labels, names=names, glosses=[glosses.get(name, "") for name in names])

        return for_each(words, assign, lambda done: monitor.advance(done, done))

    def descriptions(self) -> list[Description]:
        """Return the kinds of descriptions: distinctive words, and what the sources allow."""
        gloss_encoder = GlossEncoder(self.encoder, self.space)
        kinds: list[Description] = [DistinctiveWords(encoder=gloss_encoder)]
        if self.sources.dictionary is not None:
            kinds.append(NearestGloss(self.sources.dictionary, gloss_encoder))
        return kinds if self.sources.substitutes is None else [*kinds, self.sources.substitutes]

    def usages(self, word: str, labels: Indices) -> SenseUsages:
        """Return the usages of a word in all periods, with their senses."""
        frames = self.frames(word)
        return SenseUsages(
            word=word,
            sentences=[text for frame in frames for text in frame["sentence"]],
            spans=[span for frame in frames for span in zip(frame["start"], frame["end"], strict=True)],
            labels=labels,
            periods=period_numbers(frames),
            vectors=self.vectors(word),
            language=self.language,
        )

    def compare(self, word: str, division: Division) -> WordSenses:
        """Return the senses of a word whose usages have been divided, without descriptions."""
        usages, frames = self.usages(word, division.labels), self.frames(word)
        word_senses = find_word_senses(
            usages,
            len(frames),
            names=division.names,
            stability=division.stability,
            division_q=division.q,
            documents=usage_documents(frames),
            permutations=self.permutations,
            alpha=self.settings.alpha,
            seed=self.settings.seed,
        )
        jsd = change_over_periods(usages.vectors, usages.periods, self.calibration, self.settings.min_usages)
        return replace(word_senses, jsd=jsd)

    def describe(self, word: str, division: Division, kinds: Sequence[Description]) -> dict[str, list[list[str]]]:
        """Return the descriptions of the senses of a word, by their kinds."""
        if division.labels.max() == 0:  # there is nothing that the words could distinguish the sense from
            kinds = [kind for kind in kinds if kind.name != DistinctiveWords.name]
        usages = self.usages(word, division.labels) if kinds else None
        described = {} if usages is None else {kind.name: kind.describe(usages) for kind in kinds}
        if division.glosses is None:
            return described
        nearest = described.get(_GLOSS, [[] for _ in division.glosses])
        glosses = [[gloss] if gloss else near for gloss, near in zip(division.glosses, nearest, strict=True)]
        return described | {_GLOSS: glosses}

    def find_all(self, words: Sequence[str], monitor: Monitor) -> dict[str, WordSenses]:
        """Return the senses of all words, with the false discovery rate controlled over all of them."""
        self.siblings.occurrences  # noqa: B018  read once, before several threads need it
        divided = self.divide(words, monitor)
        monitor.stage("comparing senses", len(words), "words")
        senses = for_each(
            words, lambda word: self.compare(word, divided[word]), lambda done: monitor.advance(done, done)
        )
        monitor.stage("describing senses", len(words), "words")
        kinds = self.descriptions()
        for done, (word, division) in enumerate(divided.items(), 1):  # one after the other: encoders use all cores
            senses[word] = replace(senses[word], descriptions=self.describe(word, division, kinds))
            monitor.advance(done, done)
        return adjust_changes(senses, self.settings.alpha, self.selected_share)


def find_all_senses(
    siblings: Siblings,
    words: Sequence[str],
    encoder: Encoder,
    settings: Settings,
    sources: SenseSources,
    language: str | None,
    monitor: Monitor,
    selected_share: float = 1.0,
) -> tuple[dict[str, WordSenses], dict[str, Any]]:
    """Find the senses of the words that have enough usages, and which of them appeared or disappeared.

    Parameters
    ----------
    siblings : Siblings
        The store; its corpora are the periods.
    words : sequence of str
        The words of the study. Those with enough usages in two periods are divided into senses, with their usages of
        all periods.
    encoder : Encoder
        Its calibration and its space.
    settings : Settings
    sources : SenseSources
    language : str, optional
        ISO code of the language of the last corpus.
    monitor : Monitor
    selected_share : float
        If the words were selected because they changed, their share of all words that could have been selected; see
        :func:`lexshift.senses.shares.adjust_p`.

    Returns
    -------
    senses : dict of str to WordSenses
    record : dict
        What the provenance record holds about the senses.
    """
    scored = list(Usages(siblings, words, settings.min_usages))
    if not scored:
        return {}, {"calibration": None, "notes": []} | sources.record()
    space, notes = calibration_space(encoder), []
    calibration = optional_attribute(encoder, "calibration")
    if calibration is None:
        calibration = estimate_calibration([sense_vectors(siblings, word, space) for word in scored])
        notes.append(ESTIMATED)
    finder = SenseFinder(siblings, encoder, calibration, space, settings, sources, language, selected_share)
    record = {"calibration": asdict(calibration), "notes": notes} | sources.record()
    return finder.find_all(scored, monitor), record


def sense_vectors(siblings: Siblings, word: str, space: Space) -> Matrix:
    """Return the vectors of a word in all periods, (n, d), in a space."""
    return space.apply(np.concatenate([siblings.group(word, period) for period in siblings.corpora]))


def period_numbers(frames: Sequence[pd.DataFrame]) -> Indices:
    """Return the period of each usage of a word, from 0, given the usages in each period."""
    return np.repeat(np.arange(len(frames)), [len(frame) for frame in frames])


def number_senses(senses: Sequence[str], known_names: Sequence[str]) -> tuple[Indices, list[str]]:
    """Return the label of each usage, from 0 for the most frequent sense, and the names of the known senses.

    Parameters
    ----------
    senses : sequence of str
        The sense of each usage: its name in an inventory, or another name.
    known_names : sequence of str
        The names in the inventory.

    Examples
    --------
    >>> number_senses(["animal", "new-1", "new-1"], ["animal"])
    (array([1, 0, 0]), ['', 'animal'])
    """
    order = [sense for sense, _ in Counter(senses).most_common()]
    labels = np.array([order.index(sense) for sense in senses], np.intp)
    return labels, [sense if sense in known_names else "" for sense in order]


def usage_documents(frames: Sequence[pd.DataFrame]) -> Array | None:
    """Return the document of each usage of a word, or None if each usage has its own.

    Documents are those that a column of the table names, or files, if the word occurs in many of them in every period,
    otherwise lines: sentences, paragraphs or records.

    Parameters
    ----------
    frames : sequence of DataFrame
        The usages in each period, with the columns file and line, and document if a column names it.
    """
    documents_of = [
        frame["document"].fillna(frame["file"]) if "document" in frame else frame["file"] for frame in frames
    ]
    has_many = all(documents.nunique() >= min(_MANY_FILES, len(documents)) for documents in documents_of)
    names = [
        f"{document}:{0 if has_many else line}"
        for documents, frame in zip(documents_of, frames, strict=True)
        for document, line in zip(documents, frame["line"], strict=True)
    ]
    documents = np.unique(names, return_inverse=True)[1]
    return None if len(set(documents)) == len(documents) else documents
