"""Test the selection of words when the user gives none, and the reasons for excluded words."""

from __future__ import annotations

import unicodedata
from collections import Counter
from fractions import Fraction
from importlib.resources import files
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from lexshift.corpus.counting import WordCounts, count_words
from lexshift.corpus.reader import CorpusReader
from lexshift.corpus.sources import Reading
from lexshift.corpus.vocabulary import (
    LANGUAGES,
    NAME,
    SELECTED,
    detect_language_by_counts,
    load_function_words,
    select_vocabulary,
)
from lexshift.corpus.word_rule import FoldTable, fold, rule, token_table, word_table
from lexshift.errors import UserError
from lexshift.study.settings import Settings
from lexshift.study.words import choose_vocabulary, count_first_and_last
from lexshift.utils.monitor import Silent

TEXTS = {
    "de": (
        "Am Morgen ging der alte Fischer zum Hafen, weil er sein Boot vor dem Sturm noch an Land ziehen wollte. Die "
        "Kinder aus dem Dorf halfen ihm dabei, und als es zu regnen begann, saßen sie alle in seiner Hütte und tranken "
        "heiße Milch."
    ),
    "en": (
        "In the morning the old fisherman went down to the harbour, because he wanted to pull his boat ashore before "
        "the storm. The children of the village helped him with it, and when it began to rain they were all sitting in "
        "his hut with a cup of hot milk."
    ),
    "es": (
        "Por la mañana el viejo pescador bajó al puerto, porque quería sacar su barca del agua antes de la tormenta. "
        "Los niños del pueblo le ayudaron, y cuando empezó a llover ya estaban todos sentados en su cabaña con una "
        "taza de leche caliente."
    ),
    "fr": (
        "Le matin, le vieux pêcheur est descendu au port, parce qu'il voulait tirer son bateau hors de l'eau avant la "
        "tempête. Les enfants du village l'ont aidé, et quand la pluie a commencé ils étaient tous assis dans sa "
        "cabane avec une tasse de lait chaud."
    ),
    "it": (
        "La mattina il vecchio pescatore scese al porto, perché voleva tirare la sua barca fuori dall'acqua prima "
        "della tempesta. I bambini del paese lo aiutarono, e quando cominciò a piovere erano già tutti seduti nella "
        "sua capanna con una tazza di latte caldo."
    ),
    "la": (
        "Mane piscator senex ad portum descendit, quod navem suam ante tempestatem in terram trahere volebat. Pueri ex "
        "vico ei auxilium tulerunt, et cum pluere coepisset omnes in casa eius sedebant, nec quisquam eorum domum ire "
        "cupiebat."
    ),
    "nl": (
        "In de ochtend ging de oude visser naar de haven, omdat hij zijn boot voor de storm nog op het land wilde "
        "trekken. De kinderen uit het dorp hielpen hem daarbij, en toen het begon te regenen zaten ze allemaal in zijn "
        "hut met een kop warme melk."
    ),
    "pt": (
        "De manhã o velho pescador desceu ao porto, porque queria tirar o seu barco da água antes da tempestade. As "
        "crianças da aldeia ajudaram-no, e quando começou a chover já estavam todas sentadas na cabana dele com uma "
        "caneca de leite quente."
    ),
    "ru": (
        "Утром старый рыбак пошёл в гавань, потому что он хотел вытащить свою лодку на берег ещё до бури. Дети из "
        "деревни помогали ему, и когда пошёл дождь, они все уже сидели у него в хижине и пили горячее молоко."
    ),
    "sv": (
        "På morgonen gick den gamle fiskaren ner till hamnen, för han ville dra upp sin båt på land innan stormen kom. "
        "Barnen från byn hjälpte honom med det, och när det började regna satt de alla i hans stuga med en kopp varm "
        "mjölk."
    ),
}
UNKNOWN = {
    "Finnish": (
        "Aamulla vanha kalastaja meni satamaan, koska hän halusi vetää veneensä maihin ennen myrskyä. Kylän lapset "
        "auttoivat häntä, ja kun alkoi sataa, he istuivat kaikki hänen mökissään."
    ),
    "Turkish": (
        "Sabah yaşlı balıkçı limana indi, çünkü fırtınadan önce teknesini karaya çekmek istiyordu. Köyün çocukları "
        "ona yardım ettiler ve yağmur başlayınca hepsi kulübesinde oturuyordu."
    ),
    "Chinese": "早上 老 渔夫 去 了 港口 因为 他 想 在 暴风雨 之前 把 船 拉 上 岸 村里 的 孩子们 都 来 帮 他",
    "Greek": "Το πρωί ο γέρος ψαράς κατέβηκε στο λιμάνι, γιατί ήθελε να τραβήξει τη βάρκα του πριν από την καταιγίδα.",
}


def counts_of(folder: Path, text: str, table: FoldTable | None = None) -> WordCounts:
    path = folder / "text.txt"
    path.write_text(text + "\n", "utf-8")
    return count_words(path, word_table() if table is None else table)


def counts(**words: int) -> WordCounts:
    return WordCounts(words, sum(words.values()))


def selected(words: dict[str, int], match: str = "word") -> list[str]:
    """Return the words that are selected from one corpus."""
    return select_vocabulary([WordCounts(words, sum(words.values()))], 1, match=match).words


# ------------------------------------------------------------------------------------------------- function words


def file_of(language: str) -> str:
    return files("lexshift.corpus").joinpath("function_words", f"{language}.txt").read_text("utf-8")


def test_function_words_exist_for_exactly_the_supported_languages() -> None:
    names = sorted(file.name for file in files("lexshift.corpus").joinpath("function_words").iterdir())
    assert names == [f"{language}.txt" for language in sorted(LANGUAGES)]
    assert len(LANGUAGES) == 10


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_function_word_files_are_sorted_with_one_unique_word_per_line(language: str) -> None:
    text = file_of(language)
    lines = text.split("\n")
    assert lines.pop() == ""  # the file ends with a line feed
    assert all(line and line == line.strip() for line in lines)
    assert lines == sorted(set(lines))
    assert len(lines) > 300
    assert load_function_words(language) == set(lines)


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_function_words_are_words_under_the_counting_rule(language: str) -> None:
    words = sorted(load_function_words(language))
    assert [word for word in words if fold(word, word_table()) != tuple(map(ord, word))] == []  # one run, and folded
    assert [word for word in words if word != word.lower()] == []
    assert [word for word in words if word != unicodedata.normalize("NFC", word)] == []
    assert [word for word in words if not all(c.isalpha() for c in word)] == []


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_every_function_word_is_excluded_from_a_text_in_its_language(language: str) -> None:
    words = dict.fromkeys(load_function_words(language), 9) | {"xyzzy": 5}
    found = WordCounts(words, sum(words.values()))
    choice = select_vocabulary([found, found], min_count=1, top_words=1000)
    assert (choice.words, choice.language, choice.candidates) == (["xyzzy"], language, 1)


# ------------------------------------------------------------------------------------------- language detection


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_language_of_a_natural_text_is_detected(language: str, tmp_path: Path) -> None:
    assert detect_language_by_counts(counts_of(tmp_path, TEXTS[language])) == language


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_function_words_of_a_natural_text_are_excluded(language: str, tmp_path: Path) -> None:
    found = counts_of(tmp_path, TEXTS[language])
    choice = select_vocabulary([found, found], min_count=1, top_words=1000)
    assert choice.language == language
    assert set(choice.words) <= set(found.counts) - load_function_words(language)
    assert choice.candidates == len(choice.words) >= 10


@pytest.mark.parametrize("name", sorted(UNKNOWN))
def test_text_in_an_unsupported_language_is_unknown_and_nothing_is_excluded(name: str, tmp_path: Path) -> None:
    match = "token" if name == "Chinese" else "word"  # it is segmented
    found = counts_of(tmp_path, UNKNOWN[name], rule(match))
    assert detect_language_by_counts(found) is None
    choice = select_vocabulary([found, found], min_count=1, top_words=1000, match=match)
    assert choice.language is None
    assert set(choice.words) == {word for word in found.counts if len(word) > 1 or name == "Chinese"}


@given(
    st.dictionaries(st.sampled_from([*TEXTS["en"].lower().split(), *TEXTS["de"].lower().split()]), st.integers(1, 9))
)
def test_language_is_recognised_from_one_fifth_of_function_words(words: dict[str, int]) -> None:
    assume(words)
    found = WordCounts(words, sum(words.values()))
    shares = {
        language: Fraction(sum(n for word, n in words.items() if word in load_function_words(language)), found.total)
        for language in LANGUAGES
    }
    language = detect_language_by_counts(found)
    if language is None:
        assert max(shares.values()) < Fraction(1, 5)
    else:
        assert shares[language] == max(shares.values()) >= Fraction(1, 5)


def test_function_words_of_the_language_of_the_new_corpus_are_excluded() -> None:
    old, new = counts(und=5, the=5, maus=5), counts(und=1, the=9, maus=5)
    assert select_vocabulary([old, new], 1, 10).words == ["maus", "und"]


# -------------------------------------------------------------------------------------------------- selection

NAMES = st.sampled_from(["mouse", "cat", "dog", "bread", "cloud", "web", "1950", "the", "x", "a_b"])
COUNTS = st.dictionaries(NAMES, st.integers(1, 12), min_size=1)
NO_CHOICE = {"1950", "x", "a_b"}


@given(COUNTS, COUNTS, st.integers(0, 30), st.integers(0, 30), st.integers(1, 6), st.integers(1, 8))
def test_selected_words_match_the_rule(
    old: dict[str, int], new: dict[str, int], rest_old: int, rest_new: int, min_count: int, top_words: int
) -> None:
    total_old, total_new = sum(old.values()) + rest_old, sum(new.values()) + rest_new
    language = "en" if Fraction(new.get("the", 0), total_new) >= Fraction(1, 5) else None
    expected = []
    for word in sorted(set(old) & set(new)):
        often = old[word] >= min_count and new[word] >= min_count
        if often and word not in NO_CHOICE and not (word == "the" and language):
            expected.append((-min(Fraction(old[word], total_old), Fraction(new[word], total_new)), word))
    corpora = WordCounts(old, total_old), WordCounts(new, total_new)
    if not expected:
        with pytest.raises(UserError, match=f"occurs at least {min_count} times? in both corpora"):
            select_vocabulary(corpora, min_count, top_words)
        return
    choice = select_vocabulary(corpora, min_count, top_words)
    assert choice.words == [word for _, word in sorted(expected)][:top_words]
    assert choice.candidates == len(expected)
    assert choice.language == language


def test_word_is_ranked_by_the_corpus_where_it_is_relatively_rarer() -> None:
    old = WordCounts({"cat": 50, "dog": 10, "cow": 20}, 100)
    new = WordCounts({"cat": 50, "dog": 200, "cow": 150}, 1000)  # cat 0.05, dog 0.1, cow 0.15
    assert select_vocabulary([old, new], 1, 10).words == ["cow", "dog", "cat"]


def test_equally_frequent_words_are_in_alphabetical_order() -> None:
    assert selected({"dog": 3, "cat": 3, "ant": 3, "bee": 4}) == ["bee", "ant", "cat", "dog"]


def test_word_must_be_frequent_in_both_corpora() -> None:
    old, new = counts(mouse=5, cat=4, dog=9, bee=5), counts(mouse=5, cat=9, dog=4, ant=9)
    assert select_vocabulary([old, new], min_count=5, top_words=10).words == ["mouse"]


def test_only_the_most_frequent_words_are_selected_and_the_others_counted() -> None:
    words = {f"word{'abcdefghij'[i]}": 20 - i for i in range(10)}
    found = WordCounts(words, sum(words.values()))
    choice = select_vocabulary([found, found], min_count=13, top_words=3)
    assert choice.words == ["worda", "wordb", "wordc"]
    assert choice.candidates == 8


@pytest.mark.parametrize("word", ["1950", "1950s", "3d", "²", "½", "٣", "x1", "_", "__", "a_b", "plane_nn", "mouse_"])
def test_numbers_and_codes_are_not_words(word: str) -> None:
    assert selected({"mouse": 1, word: 9}) == ["mouse"]


@pytest.mark.parametrize("letter", ["a", "x", "é", "я", "ω", "ß", "\u0301", "\u0301\u0302"])
def test_single_letters_and_single_marks_are_not_words(letter: str) -> None:
    assert selected({"mouse": 1, letter: 9}) == ["mouse"]


@pytest.mark.parametrize("character", ["ㄱ", "ش", "א"])
def test_single_character_of_a_script_without_case_is_a_word(character: str) -> None:
    assert selected({"mouse": 1, character: 9}) == [character, "mouse"]


@pytest.mark.parametrize("character", ["鼠", "云", "あ", "ก"])
def test_single_character_of_a_script_without_spaces_is_a_token_but_not_a_word(character: str) -> None:
    assert selected({"mouse": 9, character: 1}) == ["mouse"]
    assert selected({"mouse": 9, character: 1}, match="token") == ["mouse", character]


@pytest.mark.parametrize("word", ["xy", "mäuse", "日本", "हिन्दी", "ok"])
def test_words_of_two_characters_or_more_are_words(word: str) -> None:
    assert selected({"mouse": 1, word: 9}, match="token") == [word, "mouse"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (counts(mouse=1, the=9), counts(mouse=9, the=9)),
        (counts(mouse=9), counts(cat=9)),
        (WordCounts({"1950": 9, "the": 9, "x": 9}, 27), WordCounts({"1950": 9, "the": 9, "x": 9}, 27)),
        (WordCounts({}, 5), WordCounts({}, 5)),
    ],
)
def test_empty_selection_is_reported(old: WordCounts, new: WordCounts) -> None:
    with pytest.raises(UserError) as error:
        select_vocabulary([old, new], min_count=2, top_words=10)
    assert "no word except function words and numbers occurs at least 2 times in both corpora" in str(error.value)
    assert "--words" in str(error.value)
    assert "--min-count" in str(error.value)


# ------------------------------------------------------------------------------------------------- lemmas

FORMS = [letter * 2 for letter in "abcdefgh"]


@given(
    st.dictionaries(st.sampled_from(FORMS), st.integers(1, 9), min_size=1),
    st.dictionaries(st.sampled_from(FORMS), st.sampled_from([*FORMS[:4], "xx", "yy"])),
    st.integers(0, 9),
)
def test_counts_of_forms_add_up_to_those_of_lemmas(words: dict[str, int], lemmas: dict[str, str], rest: int) -> None:
    slow: Counter[str] = Counter()
    for form, n in words.items():
        slow[lemmas.get(form, form)] += n
    both = WordCounts(words, sum(words.values()) + rest)
    expected = sorted(slow, key=lambda lemma: (-slow[lemma], lemma))
    assert select_vocabulary([both, both], 1, 99, lemmas=lemmas).words == expected
    often = [lemma for lemma in expected if slow[lemma] >= 5]
    if often:
        assert select_vocabulary([both, both], 5, 99, lemmas=lemmas).words == often


def test_word_may_be_frequent_by_the_sum_of_its_forms() -> None:
    old, new = counts(mouse=2, mice=3, cat=4), counts(mouse=4, mice=1, cat=4)
    lemmas = {"mice": "mouse"}
    assert select_vocabulary([old, new], 5, 10, lemmas=lemmas).words == ["mouse"]


# ----------------------------------------------------------------------------------- names and reasons for exclusion

ENGLISH = {"the": 40, "of": 20, "and": 20, "to": 10}


def cased_counts(words: dict[str, int], within: dict[str, tuple[int, int]] | None = None) -> WordCounts:
    everything = {**ENGLISH, **words}
    cases = {word: (n, 0) for word, n in everything.items()} | {"i": (0, 9)} | (within or {})
    return WordCounts(everything, sum(everything.values()), cases)


def reasons(old: WordCounts, new: WordCounts, min_count: int = 2, **options: object) -> dict[str, str]:
    found = select_vocabulary([old, new], min_count, **{"names": False, **options})  # type: ignore[arg-type]
    return {entry.word: entry.reason for entry in found.entries}


def test_every_excluded_word_has_a_reason() -> None:
    old = cased_counts({"mouse": 5, "1950": 9, "x": 5, "cat": 1, "dog": 6, "Paris": 0, "paris": 8, "rare": 1})
    new = cased_counts({"mouse": 4, "1950": 9, "x": 5, "cat": 5, "dog": 1, "paris": 8, "rare": 1}, {"paris": (1, 7)})
    old.within["paris"] = (0, 8)
    assert reasons(old, new) == {
        **dict.fromkeys(ENGLISH, "function word"),
        "1950": "number, sign or single letter",
        "x": "number, sign or single letter",
        "paris": NAME,
        "mouse": SELECTED,
        "dog": "rare in new",
        "cat": "rare in old",
    }
    found = select_vocabulary([old, new], 2, names=False)
    assert found.words == ["mouse"]
    assert found.rarer == 2
    assert found.names == "left out"
    assert found.language == "en"
    assert found.reasons()["function word"] == 4


def test_names_are_kept_on_request() -> None:
    both = cased_counts({"mouse": 5, "paris": 8}, {"paris": (0, 8)})
    assert reasons(both, both)["paris"] == NAME
    assert reasons(both, both, names=True)["paris"] == SELECTED
    assert select_vocabulary([both, both], 2).names == "kept"


@pytest.mark.parametrize(
    ("small", "capital", "name"), [(4, 5, True), (5, 5, False), (0, 4, True), (1, 1, False), (0, 2, False)]
)
def test_name_is_mostly_capitalised_over_both_corpora_together(small: int, capital: int, name: bool) -> None:
    """At least five words inside sentences are required; both corpora count together."""
    both = cased_counts({"mouse": 5, "paris": 20}, {"paris": (small, capital)})
    assert (reasons(both, both)["paris"] == NAME) == name


def test_text_without_capital_letters_has_no_detectable_names() -> None:
    lower = WordCounts({**ENGLISH, "paris": 9}, 99, dict.fromkeys(("the", "paris"), (9, 0)))
    cased = cased_counts({"paris": 9}, {"paris": (0, 9)})
    found = select_vocabulary([lower, cased], 2, names=False)
    assert found.words == ["paris"]
    assert found.names == "kept, as there are hardly any capital letters to recognise them by"


def test_german_nouns_are_not_names() -> None:
    words = dict.fromkeys(sorted(load_function_words("de"))[:60], 9) | {"haus": 9}
    both = WordCounts(words, sum(words.values()), {"haus": (0, 9), "der": (99, 0)})
    found = select_vocabulary([both, both], 2, names=False)
    assert found.language == "de"
    assert found.words == ["haus"]
    assert found.names.startswith("kept, as every noun")


def test_forms_are_counted_under_their_lemma_and_function_words_separately() -> None:
    old, new = cased_counts({"mouse": 1, "mice": 2}), cased_counts({"mouse": 3, "mice": 1})
    found = select_vocabulary([old, new], 3, names=False, lemmas={"mice": "mouse", "mouse": "mouse", "the": "mouse"})
    assert [(e.word, e.counts) for e in found.entries if e.reason == SELECTED] == [("mouse", (3, 4))]


@given(
    st.dictionaries(st.sampled_from([f"w{c}" for c in "abcdefgh"]), st.integers(0, 9)),
    st.dictionaries(st.sampled_from([f"w{c}" for c in "abcdefgh"]), st.integers(0, 9)),
    st.integers(1, 5),
    st.none() | st.integers(1, 4),
)
def test_without_names_in_the_text_the_name_filter_changes_nothing(
    a: dict[str, int], b: dict[str, int], least: int, top: int | None
) -> None:
    old, new = cased_counts(a), cased_counts(b)
    try:
        expected = select_vocabulary([old, new], least, top or 0).words
    except UserError:
        with pytest.raises(UserError, match="no word except function words"):
            select_vocabulary([old, new], least, top, names=False)
        return
    found = select_vocabulary([old, new], least, top, names=False)
    assert found.words == expected
    often = {w for w in {*a, *b, *ENGLISH} if max(old.counts.get(w, 0), new.counts.get(w, 0)) >= least}
    assert {entry.word for entry in found.entries} == often
    assert found.rarer == len({*old.counts, *new.counts} - often)
    assert sum(found.reasons().values()) == len(often) - len(expected)


def test_words_beyond_the_most_frequent_have_that_reason() -> None:
    both = cased_counts({"mouse": 5, "bread": 4, "cloud": 3})
    explanations = reasons(both, both, top_words=1)
    assert explanations["mouse"] == SELECTED
    assert explanations["bread"] == explanations["cloud"] == "beyond the 1 most frequent"


@pytest.mark.parametrize("lemma", ["have", "1950"])
def test_lemma_that_is_no_content_word_is_excluded(lemma: str) -> None:
    both = cased_counts({"mouse": 5, "xyz": 5, lemma: 3})
    assert select_vocabulary([both], 2, lemmas={"xyz": lemma}).words == ["mouse"]


def test_words_of_any_number_of_corpora_are_frequent_in_each() -> None:
    corpora = [cased_counts({"mouse": 5, "cat": n}) for n in (5, 4, 1)]
    found = {entry.word: (entry.counts, entry.reason) for entry in select_vocabulary(corpora, 2).entries}
    assert found["mouse"] == ((5, 5, 5), SELECTED)
    assert found["cat"] == ((5, 4, 1), "rare in corpus 3")
    assert select_vocabulary(corpora[:1], 2).words == ["cat", "mouse"]
    for several, where in ((corpora[:1], "the corpus"), (corpora, "every corpus")):
        with pytest.raises(UserError, match=f"occurs at least 99 times in {where};"):
            select_vocabulary(several, 99)


# ------------------------------------------------------------------------------------------------- selection from text


def choice_from(folder: Path, text: str, match: str, language: str) -> list[str]:
    """Return the words that a comparison of two corpora with this text selects."""
    corpora = {name: folder / f"{name}.txt" for name in ("old", "new")}
    for path in corpora.values():
        path.write_text(text, "utf-8")
    readings = dict.fromkeys(corpora, Reading(language=language))
    reader = CorpusReader(corpora, readings, match, None, None, Silent())
    settings = Settings(min_count=5, match=match, language=language)
    return choose_vocabulary("compare", reader, count_first_and_last(reader), settings, language, Silent()).words


def test_selection_from_plain_text_has_its_content_words(tmp_path: Path) -> None:
    text = "The mouse ran, and the Mouse hid in 1950.\n" * 5
    assert choice_from(tmp_path, text, "word", "en") == ["mouse", "hid", "ran"]


def test_combining_accents_give_the_same_selection(tmp_path: Path) -> None:
    text = "Die Tür ist für alle Gäste auf, über das Haus und die Mäuse.\n" * 5
    composed, apart = (
        choice_from(tmp_path, unicodedata.normalize(form, text), "word", "de") for form in ("NFC", "NFD")
    )
    assert composed == ["gäste", "haus", "mäuse", "tür"]
    assert sorted(unicodedata.normalize("NFC", word) for word in apart) == composed


def test_word_written_with_both_kinds_of_accents_is_selected_once(tmp_path: Path) -> None:
    text = "Die Gäste sind da.\n" * 5
    words = choice_from(tmp_path, text + unicodedata.normalize("NFD", text), "word", "de")
    assert [unicodedata.normalize("NFC", word) for word in words] == ["gäste"]


def test_function_words_are_excluded_from_tokens_in_any_case(tmp_path: Path) -> None:
    text = "The mouse ran and the cat sat .\nAnd The end of the line .\n" * 5
    words = choice_from(tmp_path, text, "token", "en")
    assert {"mouse", "ran", "cat", "sat", "end", "line"} <= set(words)
    assert {word.lower() for word in words} & load_function_words("en") == set()
    assert "." not in words


def test_tokens_are_counted_literally(tmp_path: Path) -> None:
    found = counts_of(tmp_path, "Mouse mouse mouse, mouse", token_table())
    assert found == WordCounts({"Mouse": 1, "mouse": 2, "mouse,": 1}, 4)


@pytest.mark.slow
def test_lemmas_of_capitalised_words_are_found(tmp_path: Path) -> None:
    pytest.importorskip("simplemma")
    text = "Das Haus und die Häuser, und auch das Dach des Hauses.\n" * 5
    words = {word.lower() for word in choice_from(tmp_path, text, "lemma", "de")}
    assert words & {"haus", "hauses", "häuser", "hausen"} == {"haus"}


@pytest.mark.slow
def test_function_words_are_excluded_whatever_their_lemmas_are(tmp_path: Path) -> None:
    pytest.importorskip("simplemma")
    text = "Uma casa e uma rua são dele, e as casas vão pela água com as suas ruas.\n" * 5
    words = choice_from(tmp_path, text, "lemma", "pt")
    assert {"casa", "rua"} <= set(words)
    assert set(words) & {"umar", "delir", "ir", "pelar", "suar"} == set()  # lemmas of uma, dele, vão, pela and suas
