"""Test the detection of the language of a corpus from a sample, and the notes that follow from it.

The texts are the first article of the Universal Declaration of Human Rights.
"""

from __future__ import annotations

import gzip
import io
import sys
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from lexshift.corpus import Reading, find_occurrences, language, read_targets
from lexshift.corpus.language import (
    NAMES,
    UNKNOWN,
    detect_language,
    detect_languages,
    language_warnings,
    record_readings,
)
from lexshift.corpus.periods import find_in_periods
from lexshift.errors import UserError
from lexshift.tune.sentence_sample import sample_sentences

TEXTS = {
    "af": "Alle menslike wesens word vry, met gelyke waardigheid en regte, gebore. Hulle het rede en gewete en "
    "behoort in die gees van broederskap teenoor mekaar op te tree. Dit is nie wat ek vir hom gesê het "
    "nie.",
    "ar": "يولد جميع الناس أحرارا متساوين في الكرامة والحقوق وقد وهبوا عقلا وضميرا وعليهم أن يعامل بعضهم بعضا "
    "بروح الإخاء لكل إنسان حق التمتع بكل الحقوق والحريات الواردة في هذا الإعلان دون أي تمييز من أي نوع "
    "كان",
    "bg": "Всички хора се раждат свободни и равни по достойнство и права. Те са надарени с разум и съвест и "
    "следва да се отнасят помежду си в дух на братство. Всеки човек има право на всички права и свободи.",
    "ca": "Tots els éssers humans neixen lliures i iguals en dignitat i en drets. Són dotats de raó i de "
    "consciència, i han de comportar-se fraternalment els uns amb els altres.",
    "cs": "Všichni lidé se rodí svobodní a sobě rovní co do důstojnosti a práv. Jsou nadáni rozumem a svědomím "
    "a mají spolu jednat v duchu bratrství. Každý má všechna práva a všechny svobody, které stanoví tato "
    "deklarace, bez jakéhokoli rozdílu.",
    "cy": "Genir pawb yn rhydd ac yn gydradd â'i gilydd mewn urddas a hawliau. Fe'u cynysgaeddir â rheswm a "
    "chydwybod, a dylai pawb ymddwyn y naill at y llall mewn ysbryd cymodlon. Mae gan bawb yr hawl i "
    "fywyd.",
    "da": "Alle mennesker er født frie og lige i værdighed og rettigheder. De er udstyret med fornuft og "
    "samvittighed, og de bør handle mod hverandre i en broderskabets ånd. Enhver har krav på alle de "
    "rettigheder, der ikke blev til ud af intet.",
    "de": "Alle Menschen sind frei und gleich an Würde und Rechten geboren. Sie sind mit Vernunft und Gewissen "
    "begabt und sollen einander im Geist der Brüderlichkeit begegnen.",
    "el": "Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια και τα δικαιώματα.",
    "en": "All human beings are born free and equal in dignity and rights. They are endowed with reason and "
    "conscience and should act towards one another in a spirit of brotherhood.",
    "eo": "Ĉiuj homoj estas denaske liberaj kaj egalaj laŭ digno kaj rajtoj. Ili posedas racion kaj "
    "konsciencon, kaj devus konduti unu al alia en spirito de frateco.",
    "es": "Todos los seres humanos nacen libres e iguales en dignidad y derechos y, dotados como están de "
    "razón y conciencia, deben comportarse fraternalmente los unos con los otros.",
    "et": "Kõik inimesed sünnivad vabadena ja võrdsetena oma väärikuselt ja õigustelt. Neile on antud mõistus "
    "ja südametunnistus ja nende suhtumist üksteisesse peab kandma vendluse vaim.",
    "eu": "Gizon-emakume guztiak aske jaiotzen dira, duintasun eta eskubide berberak dituztela; eta ezaguera "
    "eta kontzientzia dutenez gero, elkarren artean senide legez jokatu beharra dute.",
    "fa": "تمام افراد بشر آزاد به دنیا می آیند و از لحاظ حیثیت و حقوق با هم برابرند همه دارای عقل و وجدان "
    "هستند و باید نسبت به یکدیگر با روح برادری رفتار کنند این است که هر کس را از آن حقی است",
    "fi": "Kaikki ihmiset syntyvät vapaina ja tasavertaisina arvoltaan ja oikeuksiltaan. Heille on annettu "
    "järki ja omatunto, ja heidän on toimittava toisiaan kohtaan veljeyden hengessä. Hän ei ole vain "
    "ihminen, joka oli täällä.",
    "fr": "Tous les êtres humains naissent libres et égaux en dignité et en droits. Ils sont doués de raison "
    "et de conscience et doivent agir les uns envers les autres dans un esprit de fraternité.",
    "ga": "Saolaítear gach duine den chine daonna saor agus comhionann i ndínit agus i gcearta. Tá bauadh an "
    "réasúin agus an choinsiasa acu agus ba cheart dóibh gníomhú i dtreo a chéile i spiorad an "
    "bhráithreachais.",
    "gl": "Tódolos seres humanos nacen libres e iguais en dignidade e dereitos e, dotados como están de razón "
    "e conciencia, débense comportar fraternalmente uns cos outros. Unha persoa non pode ser máis ca "
    "outra, e os dereitos do home son tamén os da muller.",
    "he": "כל בני האדם נולדו בני חורין ושווים בערכם ובזכויותיהם כולם חוננו בתבונה ובמצפון לפיכך חובה עליהם "
    "לנהוג איש ברעהו ברוח של אחווה כל אדם זכאי לזכויות של הכרזה זו או לא אם הוא אדם",
    "hi": "सभी मनुष्यों को गौरव और अधिकारों के मामले में जन्मजात स्वतन्त्रता और समानता प्राप्त है। उन्हें "
    "बुद्धि और अन्तरात्मा की देन प्राप्त है और परस्पर उन्हें भाईचारे के भाव से बर्ताव करना चाहिए।",
    "hr": "Sva ljudska bića rađaju se slobodna i jednaka u dostojanstvu i pravima. Ona su obdarena razumom i "
    "sviješću i treba da jedno prema drugome postupaju u duhu bratstva.",
    "hu": "Minden emberi lény szabadon születik és egyenlő méltósága és joga van. Az emberek, ésszel és "
    "lelkiismerettel bírván, egymással szemben testvéri szellemben kell hogy viseltessenek. Ez nem csak "
    "egy ember joga, és azt is meg kell érteni.",
    "hy": "Բոլոր մարդիկ ծնվում են ազատ ու հավասար իրենց արժանապատվությամբ ու իրավունքներով։",
    "id": "Semua orang dilahirkan merdeka dan mempunyai martabat dan hak-hak yang sama. Mereka dikaruniai akal "
    "dan hati nurani dan hendaknya bergaul satu sama lain dalam semangat persaudaraan, karena itu bisa "
    "dikatakan bahwa hak ini ada.",
    "is": "Hver maður er borinn frjáls og jafn öðrum að virðingu og réttindum. Menn eru gæddir vitsmunum og "
    "samvisku, og ber þeim að breyta bróðurlega hverjum við annan.",
    "it": "Tutti gli esseri umani nascono liberi ed eguali in dignità e diritti. Essi sono dotati di ragione e "
    "di coscienza e devono agire gli uni verso gli altri in spirito di fratellanza.",
    "ja": "すべての人間は、生まれながらにして自由であり、かつ、尊厳と権利とについて平等である。",
    "ka": "ყველა ადამიანი იბადება თავისუფალი და თანასწორი თავისი ღირსებითა და უფლებებით.",
    "ko": "모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다.",
    "la": "Gallia est omnis divisa in partes tres, quarum unam incolunt Belgae, aliam Aquitani, tertiam qui "
    "ipsorum lingua Celtae, nostra Galli appellantur. Hi omnes lingua, institutis, legibus inter se "
    "differunt, et ab his non longe absunt qui ad Rhenum sunt, quod cum Germanis bellum gerunt.",
    "lt": "Visi žmonės gimsta laisvi ir lygūs savo orumu ir teisėmis. Jiems suteiktas protas ir sąžinė ir jie "
    "turi elgtis vienas kito atžvilgiu kaip broliai.",
    "lv": "Visi cilvēki piedzimst brīvi un vienlīdzīgi savā pašcieņā un tiesībās. Viņi ir apveltīti ar saprātu "
    "un sirdsapziņu, un viņiem jāizturas citam pret citu brālības garā.",
    "mk": "Сите човечки суштества се раѓаат слободни и еднакви по достоинство и права. Тие се обдарени со "
    "разум и совест и треба да се однесуваат еден кон друг во духот на општо човечката припадност, што "
    "ќе го биде и за нив.",
    "nb": "Alle mennesker er født frie og med samme menneskeverd og menneskerettigheter. De er utstyrt med "
    "fornuft og samvittighet og bør handle mot hverandre i brorskapets ånd. Enhver har krav på alle de "
    "rettigheter som følger av dette.",
    "nl": "Alle mensen worden vrij en gelijk in waardigheid en rechten geboren. Zij zijn begiftigd met "
    "verstand en geweten, en behoren zich jegens elkander in een geest van broederschap te gedragen.",
    "pl": "Wszyscy ludzie rodzą się wolni i równi pod względem swej godności i swych praw. Są oni obdarzeni "
    "rozumem i sumieniem i powinni postępować wobec innych w duchu braterstwa.",
    "pt": "Todos os seres humanos nascem livres e iguais em dignidade e em direitos. Dotados de razão e de "
    "consciência, devem agir uns para com os outros em espírito de fraternidade.",
    "ro": "Toate ființele umane se nasc libere și egale în demnitate și în drepturi. Ele sunt înzestrate cu "
    "rațiune și conștiință și trebuie să se comporte unele față de altele în spiritul fraternității.",
    "ru": "Все люди рождаются свободными и равными в своем достоинстве и правах. Они наделены разумом и "
    "совестью и должны поступать в отношении друг друга в духе братства. Каждый человек должен обладать "
    "всеми правами, как это и было.",
    "sk": "Všetci ľudia sa rodia slobodní a sebe rovní, čo sa týka ich dôstojnosti a práv. Sú obdarení rozumom "
    "a majú navzájom jednať v bratskom duchu. Každý má všetky práva a slobody, ktoré sú v tejto "
    "deklarácii, bez ohľadu na to, ako je to s ním.",
    "sl": "Vsi ljudje se rodijo svobodni in imajo enako dostojanstvo in enake pravice. Obdarjeni so z razumom "
    "in vestjo in bi morali ravnati drug z drugim kakor bratje.",
    "sq": "Të gjithë njerëzit lindin të lirë dhe të barabartë në dinjitet dhe në të drejta. Ata kanë arsye dhe "
    "ndërgjegje dhe duhet të sillen ndaj njëri tjetrit me frymë vëllazërimi.",
    "sr": "Сва људска бића рађају се слободна и једнака у достојанству и правима. Она су обдарена разумом и "
    "свешћу и треба једни према другима да поступају у духу братства.",
    "sv": "Alla människor är födda fria och lika i värde och rättigheter. De har utrustats med förnuft och "
    "samvete och bör handla gentemot varandra i en anda av gemenskap.",
    "sw": "Watu wote wamezaliwa huru, hadhi na haki zao ni sawa. Wote wamejaliwa akili na dhamiri, hivyo "
    "yapasa watendeane kwa kindugu. Kila mtu ana haki na uhuru wa kuishi katika nchi yake bila ya "
    "ubaguzi.",
    "ta": "மனிதப் பிறவியினர் சகலரும் சுதந்திரமாகவே பிறக்கின்றனர்.",
    "th": "มนุษย์ทั้งปวงเกิดมามีอิสระและเสมอภาคกันในศักดิ์ศรีและสิทธิ",
    "tl": "Ang lahat ng tao'y isinilang na malaya at pantay-pantay sa karangalan at mga karapatan. Sila'y "
    "pinagkalooban ng katwiran at budhi at dapat magpalagayan ang isa't isa sa diwa ng pagkakapatiran.",
    "tr": "Bütün insanlar hür, haysiyet ve haklar bakımından eşit doğarlar. Akıl ve vicdana sahiptirler ve "
    "birbirlerine karşı kardeşlik zihniyeti ile hareket etmelidirler. Bu hak her insan için var, ama bir "
    "insan ne olarak doğarsa doğsun.",
    "uk": "Всі люди народжуються вільними і рівними у своїй гідності та правах. Вони наділені розумом і "
    "совістю і повинні діяти у відношенні один до одного в дусі братерства.",
    "ur": "تمام انسان آزاد اور حقوق و عزت کے اعتبار سے برابر پیدا ہوئے ہیں۔ انہیں ضمیر اور عقل ودیعت ہوئی ہے۔ "
    "اس لئے انہیں ایک دوسرے کے ساتھ بھائی چارے کا سلوک کرنا چاہیئے۔",
    "vi": "Tất cả mọi người sinh ra đều được tự do và bình đẳng về nhân phẩm và quyền. Mọi con người đều được "
    "tạo hoá ban cho lý trí và lương tâm và cần phải đối xử với nhau trong tình bằng hữu.",
    "yi": "יעדער מענטש ווערט געבוירן פריי און גלייך אין כבוד און רעכט יעדער ווערט באשאנקן מיט פארשטאנד און "
    "געוויסן יעדער זאל זיך פירן מיט א צווייטן אין א געמיט פון ברודערשאפט",
    "zh": "人人生而自由,在尊严和权利上一律平等。他们赋有理性和良心,并应以兄弟关系的精神相对待。",
}


class Model:
    """Encoder that supports some languages."""

    def __init__(self, *languages: str) -> None:
        self.languages = languages or None
        self.settings = {"model": "toy"}


@pytest.mark.parametrize("code", TEXTS)
def test_language_of_a_text_is_detected(code: str) -> None:
    assert detect_language(TEXTS[code]) == code
    assert detect_language(TEXTS[code].upper()) == code
    assert code in NAMES


@pytest.mark.parametrize(
    "text",
    [
        "",
        "...\n123 456",
        "mouse",
        "the mouse",
        "xyzzy plugh " * 200,
        "def f(x): return x + 1\n" * 50,
        "ᚠᚢᚦᚨᚱᚲ ᚷᚹᚺᚾᛁᛃ " * 50,
        "🐁 🐈 🐕 " * 50,
        "a a a a a a",
    ],
)
def test_language_of_non_text_is_not_detected(text: str) -> None:
    assert detect_language(text) is None


def corpus_language(path: str | Path, reading: Reading) -> str | None:
    return detect_languages({"it": path}, reading)[0]["it"]


def corpus(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_language_of_a_corpus_is_detected_in_any_format(tmp_path: Path) -> None:
    text = corpus(tmp_path, "x.txt", TEXTS["de"] + "\n")
    assert corpus_language(text, Reading()) == "de"
    packed = tmp_path / "x.gz"
    packed.write_bytes(gzip.compress(TEXTS["sv"].encode()))
    assert corpus_language(packed, Reading()) == "sv"
    table = corpus(tmp_path, "x.tsv", f"id\ttext\n1\t{TEXTS['fr']}\n")
    assert corpus_language(table, Reading()) == "fr"
    latin = tmp_path / "latin.txt"
    latin.write_bytes(TEXTS["es"].encode("cp1252"))
    assert corpus_language(latin, Reading(encoding="cp1252")) == "es"


def test_requested_language_is_not_detected(tmp_path: Path) -> None:
    assert corpus_language(tmp_path / "is not there", Reading(language="fr")) == "fr"


def test_detection_samples_files_across_a_folder_and_ignores_a_foreign_preface(tmp_path: Path) -> None:
    for i in range(60):
        corpus(tmp_path, f"{i:02}.txt", TEXTS["en" if i < 5 else "de"] + "\n")
    assert corpus_language(tmp_path, Reading()) == "de"
    book = corpus(tmp_path, "book.txt", (TEXTS["en"] + "\n") * 300 + (TEXTS["de"] + "\n") * 3_000)
    assert corpus_language(book, Reading()) == "de"


def test_unrecognised_text_is_unknown_unless_it_is_too_short(tmp_path: Path) -> None:
    assert corpus_language(corpus(tmp_path, "x.txt", "xyzzy plugh\n" * 100), Reading()) == UNKNOWN
    assert corpus_language(corpus(tmp_path, "y.txt", "the mouse ran\n"), Reading()) is None


def test_standard_input_is_inspected_without_consuming_it(monkeypatch: pytest.MonkeyPatch) -> None:
    text = TEXTS["de"].encode()
    monkeypatch.setattr(
        sys,
        "stdin",
        SimpleNamespace(buffer=io.BufferedReader(io.BytesIO(text)), isatty=lambda: False),
    )
    assert corpus_language("-", Reading()) == "de"
    assert sys.stdin.buffer.read() == text
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(text), isatty=lambda: False))
    assert corpus_language("-", Reading()) is None


def test_sentence_rules_are_those_of_the_language(tmp_path: Path) -> None:
    """A full stop after a number marks an ordinal in German and ends a sentence in English."""
    text = f"{TEXTS['de']} Die Maus kam am 3. Mai zu uns. Sie blieb da.\n"
    path = corpus(tmp_path, "1999.txt", text * 3)
    expected = "Die Maus kam am 3. Mai zu uns."
    targets = read_targets(["Maus"])
    for reading in (None, Reading(), Reading(split="prose", language="de")):
        assert set(find_occurrences(path, targets, reading).table["sentence"].to_pylist()) == {expected}
        assert expected in sample_sentences(path, reading).sentences
        (period,) = find_in_periods(path, targets, "year", reading).values()
        assert set(period.table["sentence"].to_pylist()) == {expected}
    english = find_occurrences(path, targets, Reading(language="en")).table["sentence"].to_pylist()
    assert expected not in english


def test_resolved_reading_equals_the_explicitly_requested_one(tmp_path: Path) -> None:
    path = corpus(tmp_path, "x.txt", TEXTS["de"])
    short = corpus(tmp_path, "y.txt", "xyzzy")
    for where, option, expected in [
        (path, Reading(split="lines"), Reading(split="lines", language="de")),
        (path, Reading(language="sv"), Reading(language="sv")),
        (short, Reading(), Reading(language="en")),
    ]:
        assert detect_languages({"it": where}, option)[1] == {"it": expected}
    assert detect_languages({"old": path, "new": short}, Reading()) == (
        {"old": "de", "new": "de"},
        dict.fromkeys(["old", "new"], Reading(language="de")),
    )


@pytest.mark.parametrize("code", ["", "German", "d", 3, None, "de;"])
def test_invalid_language_code_is_refused(code: Any) -> None:
    with pytest.raises(UserError, match="language must be auto or an ISO code such as de; got"):
        Reading(language=code)


# --------------------------------------------------------------------------------------------------- warnings


def test_language_unknown_to_the_model_is_reported_with_advice() -> None:
    (warning,) = language_warnings({"old": "de", "new": "de"}, Model("en"))
    assert warning.startswith("the text of old and new is German, but the model toy knows only English")
    assert "(--model auto selects a built-in one)" in warning
    (warning,) = language_warnings({"old": "de", "new": None}, Model("en", "fr"))
    assert warning.startswith("the text of old is German, but the model toy knows only English and French")


@pytest.mark.parametrize("code", ["en", "en-GB", None])
def test_no_note_if_the_model_knows_the_language_or_the_text_is_too_short(code: str | None) -> None:
    assert language_warnings({"old": code, "new": code}, Model("en")) == []


def test_no_note_for_a_model_with_unknown_languages() -> None:
    assert language_warnings({"old": "de", "new": "de"}, Model()) == []
    assert language_warnings({"old": "de", "new": "de"}, object()) == []


def test_corpora_in_different_languages_are_reported() -> None:
    (warning,) = language_warnings({"old": "en", "new": "de"}, Model())
    assert "different languages (old English, new German)" in warning
    assert len(language_warnings({"old": "en", "new": "de"}, Model("en"))) == 2
    assert language_warnings({"old": "pt-BR", "new": "pt"}, Model()) == []


def test_unrecognised_language_is_reported() -> None:
    (warning,) = language_warnings({"old": "en", "new": UNKNOWN}, Model("en"))
    assert warning.startswith("the language of new is not recognised")
    assert "--language" in warning


def test_note_about_many_corpora_is_short() -> None:
    (warning,) = language_warnings({f"{1000 + i}": "de" for i in range(900)}, Model("en"))
    assert "1000, 1001, 1002, 1003, 1004, 894 more and 1899 is German" in warning


def test_one_language_is_recorded_as_its_code_and_several_by_corpus() -> None:
    german, english = Reading(split="lines", language="de"), Reading(split="lines", language="en")
    unused = ("document_column", "strict", "date_order", "since", "before", "xpath", "columns", "groups")
    expected = {name: value for name, value in asdict(german).items() if name not in unused}
    assert record_readings({"old": german, "new": german}) == expected
    both = expected | {"language": {"old": "de", "new": "en"}}
    assert record_readings({"old": german, "new": english}) == both
    named = Reading(document_column="book", groups="party=left,right")
    assert record_readings({"old": named, "new": named}) == expected | {
        "document_column": "book",
        "groups": "party",
        "split": "auto",
        "language": "auto",
    }
    by_folder = Reading(split="lines", language="de", groups="folder")
    assert record_readings({"old": by_folder, "new": by_folder}) == expected


def test_text_in_an_unknown_language_is_read_and_recorded_with_english_rules(tmp_path: Path) -> None:
    short, long = corpus(tmp_path, "x.txt", "xyzzy"), corpus(tmp_path, "y.txt", "xyzzy plugh\n" * 100)
    german = corpus(tmp_path, "z.txt", TEXTS["de"])
    languages, readings = detect_languages({"a": short, "b": long, "c": german}, Reading())
    assert languages == {"a": None, "b": UNKNOWN, "c": "de"}
    assert record_readings(readings)["language"] == {"a": "en", "b": "en", "c": "de"}
    del readings["c"]
    assert record_readings(readings)["language"] == "en"


def test_every_language_is_listed_once_with_its_name_and_scripts() -> None:
    assert len(NAMES) == len(set(NAMES.values())) == len(language._LANGUAGES) == 74
    shared = {scripts for _, _, scripts, words in language._LANGUAGES if words}
    for code, name, scripts, words in language._LANGUAGES:
        assert code
        assert name
        assert scripts == scripts.upper() != ""
        assert bool(words) == (scripts in shared)


def test_sentence_sample_records_the_language_rules_it_used(tmp_path: Path) -> None:
    path = corpus(tmp_path, "x.txt", TEXTS["de"])
    assert sample_sentences(path).language == "de"
    assert sample_sentences(path, Reading(language="fr")).language == "fr"
    assert sample_sentences(corpus(tmp_path, "y.txt", "xyzzy plugh foo")).language == "en"
