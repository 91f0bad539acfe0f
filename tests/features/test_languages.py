"""Which language a text is in, and which of its words are stopwords and function words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from museum.language import NOTICE

from dedup_filter.features.analysis import analyse
from dedup_filter.features.languages import detect_language, function_words, stopwords
from dedup_filter.features.tokens import tokens

CODES = (
    "ar bg bn ca cs da de el en es et eu fa fi fr he hi hr hu id it ja ko lt lv ms nl no pl pt ro "
    "ru sk sl sv th tr uk vi zh"
).split()
PROSE = {
    code: NOTICE[name]
    for code, name in [
        *(("en", "English"), ("de", "Deutsch"), ("fr", "Français"), ("es", "Español")),
        *(("ru", "Русский"), ("zh", "中文")),
    ]
} | {
    "ja": "このフィルタはクローラが取ってきたすべてのページを見て、それまでのページと似ていない"
    "ものだけを残しているので、取り除かれたものによって失われることはありません。",
    "ko": "이 필터는 로봇이 가져온 모든 페이지를 보고 그 이전의 페이지와 같지 않은 것만 "
    "남기기 때문에 빠진 것으로 인해 잃어버리는 것은 없다. 그리고 이것은 다른 모든 것에 대해서도 "
    "그러하다.",
    "th": "ตัวกรองนี้จะดูทุกหน้าที่ได้รับมา และเก็บไว้เฉพาะหน้าที่ไม่เหมือนกับหน้าที่มีอยู่แล้ว "
    "เพื่อที่จะไม่มีอะไรหายไปจากการที่ไม่ได้เก็บหน้าอื่น",
}
LISTING = {
    "en": "Wireless bluetooth headphones black Stainless steel water bottle Leather wallet brown",
    "de": "Kopfhörer kabellos schwarz Trinkflasche Edelstahl Geldbörse Leder braun Laufschuhe blau",
    "ru": "Наушники беспроводные чёрные Бутылка Кошелёк кожаный коричневый Кроссовки синие",
    "zh": "无线蓝牙耳机黑色 不锈钢保温杯 真皮钱包棕色 男士跑步鞋蓝色 智能电视 有机绿茶",
    "ko": "무선 헤드폰 검정 스테인리스 물병 가죽 지갑 갈색 운동화 파랑 텔레비전 녹차",
}


def analysed(text, declared=None):
    return analyse([text.casefold()], declared_language=declared)


@pytest.mark.parametrize("declared", ["da", "no"])
def test_a_declared_language_is_believed_when_its_stopwords_are_there(declared):
    # Danish and Norwegian share most stopwords: the page's own word decides.
    text = "det er ikke en god dag for os og de har det som de vil"
    assert analysed(text, declared).words.language == declared


def test_a_wrongly_declared_language_is_not_believed_and_leaves_no_trace():
    declared, not_declared = analysed(PROSE["ru"], "en"), analysed(PROSE["ru"])
    assert declared.words.language == "ru"
    for values, expected in zip(declared.values, not_declared.values, strict=True):
        assert values.tolist() == expected.tolist()


@pytest.mark.parametrize("text", ["", "qwzx plmk vbnt", "qwzx plmk vbnt " * 20])
def test_no_language_where_nothing_fits(text):
    assert detect_language(text.split()) is None
    assert analysed(text, "en").words.language is None


@pytest.mark.parametrize("language", PROSE)
def test_the_language_of_prose_is_known_and_prose_is_sentences(language):
    for declared in (None, language):
        analysis = analysed(PROSE[language], declared)
        assert analysis.words.language == language
        assert analysis.is_sentence.mean() > 0.7


@pytest.mark.parametrize("language", LISTING)
def test_a_list_of_products_after_prose_is_no_sentence(language):
    prose = analysed(PROSE[language], language)
    both = analysed(f"{PROSE[language]} {LISTING[language]}", language)
    # The first words of the list stand beside the last ones of the prose.
    after = both.is_sentence[len(prose.tokens) + 4 :]
    assert len(after) >= 3
    assert after.mean() <= 0.5


@given(st.lists(st.sampled_from("buy cheap shoes red blue sneakers voucher".split()), max_size=40))
def test_advertising_words_alone_are_never_a_sentence(words):
    analysis = analysed(" ".join(["the of and in to a was", *["cheap"] * 40, *words]))
    assert not analysis.is_sentence[30:].any()


def test_english_has_few_and_none_of_what_advertisements_say():
    english = function_words("en")
    assert 60 <= len(english) <= 180
    assert {"the", "of", "and", "in", "to", "a", "was", "which"} <= english
    advertising = "buy free order click home page web now today shop sale save get best sign"
    assert english.isdisjoint(advertising.split())


def test_lists_of_words():
    for language in CODES:
        assert len(function_words(language)) >= 30, language
        assert "" not in function_words(language)
        assert len(stopwords(language)) >= 30 or language == "ko"
    assert sum(len(function_words(code)) <= 100 < len(stopwords(code)) for code in CODES) >= 25
    # English words count on Chinese pages.
    assert {"the", "的"} <= stopwords("zh")
    assert {"the", "的", "了", "是", "在", "和"} <= function_words("zh")
    assert "buy" not in function_words("zh")
    # Words are cut as texts are; a language without a list of its own takes its stopwords.
    assert all(tokens(word) == [word] for word in function_words("ko") | function_words("th"))
    assert function_words("so") == stopwords("so")
    for unknown in ("xx", None):
        assert function_words(unknown) == stopwords(unknown) == frozenset()
