"""Which language a text is in, and which of its words are stopwords and function words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dedup_filter.features import analyse, tokens
from dedup_filter.features.languages import detect_language, function_words, stopwords

CODES = (
    "ar bg bn ca cs da de el en es et eu fa fi fr he hi hr hu id it ja ko lt lv ms nl no pl pt ro "
    "ru sk sl sv th tr uk vi zh"
).split()
PROSE = {
    "en": "The filter looks at every page that the crawler has fetched, and it keeps those which "
    "are not like any of the pages before them, so that nothing is lost by what it leaves out.",
    "de": "Der Filter sieht sich jede Seite an, die der Crawler geholt hat, und behält diejenigen, "
    "die nicht wie eine der früheren Seiten sind, damit durch das, was fehlt, nichts fehlt.",
    "fr": "Le filtre regarde chaque page que le robot a trouvée et il garde celles qui ne sont pas "
    "comme une des pages précédentes, pour que rien ne soit perdu avec ce qui est laissé.",
    "es": "El filtro mira cada página que el robot ha encontrado y guarda las que no son como "
    "alguna de las páginas anteriores, para que no se pierda nada con lo que se deja fuera.",
    "ru": "Он смотрит на каждую страницу, которую нашёл робот, и оставляет те, что не похожи ни на "
    "одну из прежних, так что с тем, что он не взял, ничего не будет потеряно.",
    "zh": "过滤器检查爬虫抓取的每一个网页,只保留那些与之前的网页都不相同的页面,其他的就丢掉了,这样"
    "被它丢掉的内容在保留的页面里都还可以找到。",
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
    "fr": "Casque sans fil noir Bouteille acier inoxydable Portefeuille cuir marron Chaussures",
    "es": "Auriculares inalámbricos negros Botella acero inoxidable Cartera cuero marrón Zapatos",
    "ru": "Наушники беспроводные чёрные Бутылка Кошелёк кожаный коричневый Кроссовки синие",
    "zh": "无线蓝牙耳机黑色 不锈钢保温杯 真皮钱包棕色 男士跑步鞋蓝色 智能电视 有机绿茶",
    "ja": "無線イヤホン黒 ステンレス水筒 革財布茶色 男性用靴青 大型テレビ 有機緑茶",
    "ko": "무선 헤드폰 검정 스테인리스 물병 가죽 지갑 갈색 운동화 파랑 텔레비전 녹차",
}


def analysed(text, declared=None):
    return analyse([text.casefold()], declared_language=declared)


@pytest.mark.parametrize("language", PROSE)
def test_language_of_running_text(language):
    assert analysed(PROSE[language]).language == language


@pytest.mark.parametrize("language", ["en", "de", "fr", "es", "ru"])
def test_language_of_running_text_by_its_stopwords(language):
    assert detect_language(tokens(PROSE[language].casefold())) == language


@pytest.mark.parametrize("declared", ["da", "no"])
def test_a_declared_language_is_believed_when_its_stopwords_are_there(declared):
    # Danish and Norwegian share most stopwords: the page's own word decides.
    text = "det er ikke en god dag for os og de har det som de vil"
    assert analysed(text, declared).language == declared


def test_a_wrongly_declared_language_is_not_believed_and_leaves_no_trace():
    declared, not_declared = analysed(PROSE["ru"], "en"), analysed(PROSE["ru"])
    assert declared.language == "ru"
    for values, expected in zip(declared.values, not_declared.values, strict=True):
        assert values.tolist() == expected.tolist()


@pytest.mark.parametrize("text", ["", "qwzx plmk vbnt", "qwzx plmk vbnt " * 20])
def test_no_language_where_nothing_fits(text):
    assert detect_language(text.split()) is None
    assert analysed(text, "en").language is None


@pytest.mark.parametrize("language", PROSE)
def test_prose_is_sentences(language):
    analysis = analysed(PROSE[language], language)
    assert analysis.language == language
    assert analysis.is_sentence.mean() > 0.7


@pytest.mark.parametrize("language", LISTING)
def test_a_list_of_products_after_prose_is_no_sentence(language):
    prose = analysed(PROSE[language], language)
    both = analysed(f"{PROSE[language]} {LISTING[language]}", language)
    # The first words of the list stand beside the last ones of the prose.
    after = both.is_sentence[len(prose.words) + 4 :]
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


def test_languages_have_words():
    for language in CODES:
        assert len(function_words(language)) >= 30, language
        assert "" not in function_words(language)
        assert len(stopwords(language)) >= 30 or language == "ko"
    assert sum(len(function_words(code)) <= 100 < len(stopwords(code)) for code in CODES) >= 25


def test_english_words_count_on_chinese_pages():
    assert {"the", "的"} <= stopwords("zh")
    assert {"the", "的", "了", "是", "在", "和"} <= function_words("zh")
    assert "buy" not in function_words("zh")


def test_function_words_are_cut_as_texts_are():
    for word in function_words("ko") | function_words("th"):
        assert tokens(word) == [word]


def test_a_language_without_a_list_of_its_own_takes_its_stopwords():
    assert function_words("so") == stopwords("so")


@pytest.mark.parametrize("language", ["xx", None])
def test_an_unknown_language_has_none(language):
    assert function_words(language) == stopwords(language) == frozenset()
