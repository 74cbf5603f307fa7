"""Detection of the language of a corpus from a sample of its text.

The script decides where only one language is common in it. Elsewhere each language is scored by its most frequent
function words; a word that several languages have counts for less. A text with too few of them is in no known language.
"""

from __future__ import annotations

import math
import os
import sys
import unicodedata
from collections import Counter
from collections.abc import Mapping
from dataclasses import fields, replace
from functools import cache
from typing import Any

from lexshift.corpus.passages import read_blocks
from lexshift.corpus.sources import AUTO, STANDARD_INPUT, Reading, Tally, find_sources

UNKNOWN = "unknown"
"""The language of a text that is long enough to tell, but is in no language that is known."""
FALLBACK = "en"
"""The language whose rules for sentences and lemmas are used where the language is not known."""
NAMES = {
    "af": "Afrikaans",
    "am": "Amharic",
    "ar": "Arabic",
    "be": "Belarusian",
    "bg": "Bulgarian",
    "bn": "Bengali",
    "bo": "Tibetan",
    "ca": "Catalan",
    "cs": "Czech",
    "cy": "Welsh",
    "da": "Danish",
    "de": "German",
    "el": "Greek",
    "en": "English",
    "eo": "Esperanto",
    "es": "Spanish",
    "et": "Estonian",
    "eu": "Basque",
    "fa": "Persian",
    "fi": "Finnish",
    "fr": "French",
    "ga": "Irish",
    "gl": "Galician",
    "gu": "Gujarati",
    "he": "Hebrew",
    "hi": "Hindi",
    "hr": "Croatian",
    "hu": "Hungarian",
    "hy": "Armenian",
    "id": "Indonesian",
    "is": "Icelandic",
    "it": "Italian",
    "ja": "Japanese",
    "ka": "Georgian",
    "kk": "Kazakh",
    "km": "Khmer",
    "kn": "Kannada",
    "ko": "Korean",
    "la": "Latin",
    "lo": "Lao",
    "lt": "Lithuanian",
    "lv": "Latvian",
    "mk": "Macedonian",
    "ml": "Malayalam",
    "mn": "Mongolian",
    "mr": "Marathi",
    "ms": "Malay",
    "my": "Burmese",
    "nb": "Norwegian",
    "ne": "Nepali",
    "nl": "Dutch",
    "or": "Odia",
    "pa": "Punjabi",
    "pl": "Polish",
    "pt": "Portuguese",
    "ro": "Romanian",
    "ru": "Russian",
    "si": "Sinhala",
    "sk": "Slovak",
    "sl": "Slovenian",
    "sq": "Albanian",
    "sr": "Serbian",
    "sv": "Swedish",
    "sw": "Swahili",
    "ta": "Tamil",
    "te": "Telugu",
    "th": "Thai",
    "tl": "Tagalog",
    "tr": "Turkish",
    "uk": "Ukrainian",
    "ur": "Urdu",
    "vi": "Vietnamese",
    "yi": "Yiddish",
    "zh": "Chinese",
}
"""The languages that can be detected."""
_SCRIPTS = {  # by the first word of the Unicode names of their letters
    "GREEK": "el",
    "ARMENIAN": "hy",
    "GEORGIAN": "ka",
    "THAI": "th",
    "LAO": "lo",
    "KHMER": "km",
    "MYANMAR": "my",
    "HANGUL": "ko",
    "HIRAGANA": "ja",
    "KATAKANA": "ja",
    "CJK": "zh",
    "BENGALI": "bn",
    "TAMIL": "ta",
    "TELUGU": "te",
    "KANNADA": "kn",
    "MALAYALAM": "ml",
    "GUJARATI": "gu",
    "GURMUKHI": "pa",
    "ORIYA": "or",
    "SINHALA": "si",
    "ETHIOPIC": "am",
    "TIBETAN": "bo",
}
_WORDS = {  # by the scripts that several languages share
    "LATIN": {
        "af": "die van het en is nie wat vir om dit hy was ek sy deur ook maar moet hulle word kan sal geen hierdie",
        "ca": "de la el i que en els les a per un una amb és no del dels al més seva són ha com o també aquest",
        "cs": "a v se na je že s z do o to k i za pro jsem by ale jako které který jeho však nebo byl už jen bez aby",
        "cy": "y yn a i o ar ac yr mae wedi gan am fod ei oedd nid eu bod sydd i'r o'r neu hynny gyda ond wrth pob",
        "da": "og i at det er en til af på som med for de den der ikke et jeg var han har fra men om hun blev efter",
        "de": "der die und in den von zu das mit sich des auf für ist im dem nicht ein eine als auch es an werden",
        "en": "the of and to in a is that it was for on with as he be by at his this are not had but from or which",
        "eo": "la de kaj en estas al ne kiu por mi li kun el ĝi sed tio kiel pri oni plej estis ili ĉiuj ankaŭ tiu",
        "es": "de la que el en y a los se del las un por con no una su para es lo al como más o pero sus le ha fue",
        "et": "ja on ei et ta see oli kui ka ning oma ma aga mis nii siis välja või kes selle tema olema õigus",
        "eu": "eta da ez zen bat dira baina du ere dute izan den hau edo hori duen egin zuen beste izango guztiak",
        "fi": "ja on ei että hän oli se ovat kun mutta niin hänen mukaan myös joka ole minä tai vain olla kuin sen",
        "fr": "de la le et les des en un du une que est pour qui dans par sur au pas plus ne se il ce avec sont",
        "ga": "an na ar agus a i is go ag le do bhí sé tá ní chun leis atá air mar gach nó féin aige ach cad faoi",
        "gl": "de a o que e do da en os un unha se non con por as para dos ao das é no na como máis súa ou polo",
        "hr": "i je u na se da za su od s ne a koji o iz kao što bi će ali sve ili samo nije koja sam te biti svoje",
        "hu": "a az és hogy nem is egy ez azt volt csak meg ha mint de még már van vagy el ki minden ezt lehet nagy",
        "id": "yang dan di dengan untuk dari ini itu dalam tidak pada akan oleh juga adalah ke ada bahwa karena bisa",
        "is": "og að í á er sem við til um ekki var það en með fyrir af hann ég hún hafa því þeir þá eru skal eða",
        "it": "di e che la il un in non è per una sono del si le della con da al dei nel come più ma gli anche alla",
        "la": "et in est non ad cum ut quod qui quae sed si per ab ex aut esse ac atque enim ne hoc autem eius sunt",
        "lt": "ir yra kad ne į su iš kaip tai jo buvo o apie jis bet per už dar arba ar tik jų visi turi prie pagal",
        "lv": "un ir no ar ka uz par to kas viņš tika bet arī tas kā ne lai pie pēc vai viņa gan nav jau savu tiek",
        "ms": "yang dan di dengan untuk dari ini itu dalam tidak pada akan oleh juga adalah ke ada bahawa kerana",
        "nb": "og i det er på en til å at som av for med de ikke den han et var jeg har om fra men seg hun ble etter",
        "nl": "de en het van ik te dat die in een hij niet zijn is was op aan met als voor er maar om dan zou ook of",
        "pl": "i w się na z nie że do to jest o jak po co przez od za ale oraz są dla tego był który jego jej tylko",
        "pt": "de a o que e do da em um para com não uma os no se na por mais as dos como mas foi ao ele das à seu",
        "ro": "și de a în la cu nu o care să pe din că un este mai pentru se au fost al ca prin sau fi sunt lui după",
        "sk": "a v sa na je že s z do o to k aj za pre som by ale ako ktoré ktorý jeho však alebo bol už len bez aby",
        "sl": "in je v na se da za so od z ne ki bi pa kot po s tudi še ali pri bil lahko ni ima sem vse svoje ter",
        "sq": "të e në i dhe për që një me nga u si nuk është ka do më ai kjo por ishte janë kanë mund çdo ose kur",
        "sv": "och i att det som en på är av för med den till inte han var ett om de har jag men så från vi hon",
        "sw": "na ya wa kwa ni katika za la kuwa hiyo huo kama au yake wake hii cha watu kila bila wote ambao lakini",
        "tl": "ang ng sa na mga ay at ni ito niya hindi si may siya ko nang kung para lamang kanyang isang o lahat",
        "tr": "ve bir bu da de için ile çok o ne olarak daha gibi olan kadar ama her sonra değil ben var ya mi onun",
        "vi": "và của là có trong được cho một không các những với đã người này đến từ khi về như tôi mọi hay bị tại",
    },
    "CYRILLIC": {
        "be": "і ў на што не з да як ён у за яго гэта але па для быў ад або яны ці мае таксама які іх пры усе калі",
        "bg": "и на да се за от не е с че по са като ще това в но си до беше при а или които му той има бъде всички",
        "kk": "және мен бұл де да бір үшін ол осы болып деп бар емес жоқ оның туралы барлық адам өз еді болды",
        "mk": "и на да се во за од не е со што ќе го но тоа ја кои до си а ги ова беше по или има сите сум биде како",
        "mn": "нь ба бол болон энэ юм байна гэж эрх бөгөөд тэр хүн үед ч байсан бүх эсхүл өөрийн биш гэсэн дээр",
        "ru": "и в не на что я он с как а по это она но к у из за от его так то же вы бы был для все мы или ее о",
        "sr": "и је у на се да за су од с не а који о из као што би ће али све или само није која сам те бити своје",
        "uk": "і в не на що з та у як до він за це але його я про для був так від або вони є при ми також її має",
    },
    "ARABIC": {
        "ar": "في من على أن إلى التي ما لا عن هذا الذي مع أو كان هذه كل ذلك هو قد بين بعد لم وقد وفي هي كما حق وهو",
        "fa": "و در به از که این را با است برای آن یک خود تا بر می هر شده بود هم باشد نیست دارد ها کرد شد یا او حق",
        "ur": "کے کی میں کا اور ہے سے کو نے پر کہ ہیں یہ اس ایک بھی نہیں تھا تو گیا کر جو ہو اپنے وہ لئے تھے ہر",
    },
    "DEVANAGARI": {
        "hi": "के में की है और से का को पर यह कि नहीं ने एक भी हैं इस था तो हो कर लिए जो ही वह या अपने सभी",
        "mr": "आणि आहे या व हे ते नाही तो होते की असे मी एक ही त्या आहेत करून होता झाला म्हणून काही त्याच्या सर्व",
        "ne": "र छ को मा का लाई ले पनि यो गर्न हुन् छन् एक भएको गरेको हो तथा अनि थियो वा हरेक प्रत्येक गर्ने उनी यस",
    },
    "HEBREW": {
        "he": "של את על לא הוא זה עם כי אני גם כל או היא אם יש אל היה מה רק אין אבל כך אך בין הם לו זו כמו",
        "yi": "און די איז אין דער פון צו אז האט ער מיט א ניט דאס זיך זיי אויף נישט האבן אבער זי מען זיין יעדער",
    },
}
_FILES = 16  # of a corpus that are looked at, evenly spread
_BYTES = 1 << 16  # of text, of each of them
_BLOCK = 1 << 20  # bytes of a file among which they are spread
_LETTERS = 5_000  # characters whose script is looked at
_LEAST_SHARE = 0.08  # of running words that are the function words of a language, for a text to be in it
_LEAST_WORDS = 4  # of them, and at least 2 different ones
_LEAST_LEAD = 1.05  # how much more the best language must have than the next
_ENOUGH = 100  # words of a text that should be enough to tell its language
_PUNCTUATION = ".,;:!?\"'()[]{}<>«»‹›“”„‟‘’‚‛…—–-*_/\\|#@&+=~`।॥،؛؟۔·¿¡־"


def detect_language(text: str) -> str | None:
    """Return the ISO code of the language of a text; None if it is not known.

    Parameters
    ----------
    text : str
        A few sentences or more.

    >>> detect_language("Die Maus lief über den Hügel, und die Katze lief ihr nach, bis sie das Haus sah.")
    'de'
    >>> detect_language("Мышь побежала по холму, и она не знала, что кошка была уже там.")
    'ru'
    >>> detect_language("xyzzy plugh foo bar")
    """
    script, share_of_kana = _script(text[:_LETTERS])
    if script in _SCRIPTS:
        return "ja" if script == "CJK" and share_of_kana > 0.05 else _SCRIPTS[script]
    if script not in _WORDS:
        return None
    words = _tokens(text)
    weights = _weights(script)
    scores = {
        language: sum(words[word] * weight for word, weight in known.items()) for language, known in weights.items()
    }
    ranked = sorted(scores, key=lambda language: -scores[language])
    best, second = ranked[0], ranked[1]
    hits = [words[word] for word in weights[best] if words[word]]
    clear = scores[best] >= _LEAST_LEAD * scores[second]
    often = sum(hits) >= max(_LEAST_WORDS, _LEAST_SHARE * words.total())
    return best if clear and often and len(hits) > 1 else None


def corpus_language(corpus: str | os.PathLike[str], reading: Reading) -> str | None:
    """Return the language of a corpus as an ISO code: the one that was asked for, or the one of a sample of its text.

    Returns :data:`UNKNOWN` for a text in a language that is not known, and None for one too short to tell.
    """
    if reading.language != AUTO:
        return reading.language
    text = _sample(corpus, reading)
    found = detect_language(text)
    return UNKNOWN if found is None and len(text.split()) >= _ENOUGH else found


def corpus_languages(
    corpora: Mapping[str, str | os.PathLike[str]], options: Mapping[str, Any]
) -> dict[str, str | None]:
    """Return the language of each corpus by its label, as :func:`corpus_language` does.

    A corpus too short to tell is taken to be in the language of the others, if they agree. ``options`` are those of a
    run, of which those of :class:`Reading` count.
    """
    names = [field.name for field in fields(Reading)]
    reading = Reading(**{name: options[name] for name in names if name in options})
    found = {label: corpus_language(corpus, reading) for label, corpus in corpora.items()}
    known = set(found.values()) - {None}
    common = next(iter(known)) if len(known) == 1 else None
    return {label: common if code is None else code for label, code in found.items()}


def rules_of(language: str | None) -> str:
    """Return the language whose rules apply: the one given, or :data:`FALLBACK` if it is not known."""
    return FALLBACK if language is None or language == UNKNOWN else language


def with_language(reading: Reading, language: str | None) -> Reading:
    """Return a reading with the rules of a language, or of :data:`FALLBACK` if it is not known."""
    return replace(reading, language=rules_of(language))


def resolved(reading: Reading, corpus: str | os.PathLike[str]) -> Reading:
    """Return the reading of a corpus with its language, detected if that was asked for."""
    return with_language(reading, corpus_language(corpus, reading)) if reading.language == AUTO else reading


def language_warnings(languages: Mapping[str, str | None], encoder: Any) -> list[str]:
    """Return what to tell the user about the languages of the corpora, by their labels, as sentences."""
    told = []
    known = {label: code for label, code in languages.items() if code not in (None, UNKNOWN)}
    ours = getattr(encoder, "languages", None)
    foreign = {label: code for label, code in known.items() if ours is not None and base_code(code) not in ours}
    if foreign:
        model = getattr(encoder, "settings", {}).get("model", "that was chosen")
        told.append(
            f"the text of {_and(foreign)} is {_and(dict.fromkeys(map(language_name, foreign.values())))}, but the "
            f"model {model} knows only {_and(map(language_name, ours or ()))}, so its scores mean little: choose a "
            f"model for the language of the text (--model), or name the language if this is wrong (--language)"
        )
    if len({base_code(code) for code in known.values()}) > 1:
        each = ", ".join(f"{label} {language_name(code)}" for label, code in known.items())
        told.append(
            f"the corpora are in different languages ({each}), so a word may differ for that reason alone; name the "
            f"language if this is wrong (--language)"
        )
    unknown = [label for label, code in languages.items() if code == UNKNOWN]
    if unknown:
        told.append(
            f"the language of {_and(unknown)} is not recognised: sentences are split by the rules of English, and no "
            f"function words are left out; name the language (--language)"
        )
    return told


def recorded_language(languages: Mapping[str, str | None]) -> str | dict[str, str]:
    """Return the language that shapes a store: one code, or one for each corpus if they differ."""
    codes = {label: rules_of(code) for label, code in languages.items()}
    return next(iter(codes.values())) if len(set(codes.values())) == 1 else codes


def language_name(code: str | None) -> str:
    """Return the English name of a language, or its code.

    >>> language_name("de"), language_name("xx")
    ('German', 'xx')
    """
    return NAMES.get(base_code(code), str(code))


def base_code(code: str | None) -> str:
    """Return a code without its region: pt for pt-BR."""
    return str(code).lower().replace("_", "-").split("-")[0]


def _and(names: Any) -> str:
    *first, last = list(names)
    shown = first[:5] + ([f"{len(first) - 5} more"] if len(first) > 5 else [])
    return f"{', '.join(shown)} and {last}" if shown else last


def _tokens(text: str) -> Counter[str]:
    words = (word.strip(_PUNCTUATION) for word in unicodedata.normalize("NFC", text).lower().split())
    return Counter(word.replace("’", "'") for word in words if word)


def _script(text: str) -> tuple[str | None, float]:
    """Return the script of more than half of the letters, and the share of Japanese syllables among them."""
    scripts = Counter(unicodedata.name(letter, "").split(" ")[0].split("-")[0] for letter in text if letter.isalpha())
    if not scripts:
        return None, 0.0
    kana = scripts["HIRAGANA"] + scripts["KATAKANA"]
    scripts["CJK"] += kana  # Japanese is written in both
    script, n = scripts.most_common(1)[0]
    return (script, kana / n) if 2 * n > scripts.total() - kana else (None, 0.0)


@cache
def _weights(script: str) -> dict[str, dict[str, float]]:
    """Return how much each function word says for each language of a script."""
    words = {language: set(text.split()) for language, text in _WORDS[script].items()}
    of_languages = Counter(word for known in words.values() for word in known)
    return {
        language: {word: 1 + math.log(len(words) / of_languages[word]) for word in sorted(known)}
        for language, known in words.items()
    }


def _sample(corpus: str | os.PathLike[str], reading: Reading) -> str:
    """Return lines from the beginnings of some files of a corpus; of standard input what is there without reading."""
    sources = find_sources(corpus)
    if sources[0].path == STANDARD_INPUT:
        peek = getattr(sys.stdin.buffer, "peek", None)
        return "" if peek is None else peek(_BYTES).decode(reading.encoding, "ignore")
    step = max(1, -(-len(sources) // _FILES))
    texts = []
    for source in sources[::step]:
        blocks = read_blocks(source, reading, Tally(), {})
        block = next(blocks, None)
        blocks.close()
        if block is not None:
            lines = block.data[:_BLOCK].decode(errors="ignore").split("\n")
            some = lines[:: max(1, min(len(block.data), _BLOCK) // _BYTES)]
            texts.append("\n".join(some)[:_BYTES])
    return "\n".join(texts)
