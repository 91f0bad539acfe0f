import pytest

from dedup_filter.features import analyse, tokens
from dedup_filter.features.stopwords import detect_language, stopwords

SAMPLES = {
    "en": "The filter looks at every page that the crawler has fetched, and it keeps those which "
    "are not like any of the pages before them.",
    "de": "Der Filter sieht sich jede Seite an, die der Crawler geholt hat, und behält diejenigen, "
    "die nicht wie eine der früheren Seiten sind.",
    "fr": "Le filtre regarde chaque page que le robot a trouvée et il garde celles qui ne sont pas "
    "comme une des pages précédentes.",
    "es": "El filtro mira cada página que el robot ha encontrado y guarda las que no son como "
    "alguna de las páginas anteriores.",
    "ru": "Фильтр смотрит на каждую страницу, которую нашёл робот, и оставляет те, что не похожи "
    "ни на одну из прежних страниц.",
    "zh": "过滤器检查爬虫抓取的每一个网页,只保留那些与之前的网页都不相同的页面,其他的就丢掉了。",
}


@pytest.mark.parametrize("language", SAMPLES)
def test_language_of_running_text(language):
    assert detect_language(tokens(SAMPLES[language].casefold()).words) == language


def test_a_declared_language_is_believed_when_its_stopwords_are_there():
    # Danish and Norwegian share most stopwords: the page's own word decides.
    text = "det er ikke en god dag for os og de har det som de vil"
    assert analyse(text, declared_language="da").language == "da"
    assert analyse(text, declared_language="no").language == "no"


def test_a_wrongly_declared_language_is_not_believed():
    assert analyse(SAMPLES["ru"].casefold(), declared_language="en").language == "ru"


@pytest.mark.parametrize("text", ["", "qwzx plmk vbnt"])
def test_a_declared_language_is_not_believed_of_a_text_without_its_words(text):
    assert analyse(text, declared_language="en").language is None


def test_a_language_declared_by_mistake_leaves_no_trace():
    text = SAMPLES["ru"].casefold()
    declared, not_declared = analyse(text, declared_language="en"), analyse(text)
    assert declared.shingles.is_stopword.tolist() == not_declared.shingles.is_stopword.tolist()


@pytest.mark.parametrize("words", [[], ["qwzx", "plmk", "vbnt"] * 20])
def test_no_language_where_nothing_fits(words):
    assert detect_language(words) is None


def test_an_unknown_language_has_no_stopwords():
    assert stopwords("xx") == frozenset()
    assert stopwords(None) == frozenset()


def test_at_least_thirty_languages_have_stopwords():
    codes = "ar bg bn ca cs da de el en es et eu fa fi fr he hi hr hu hy id it ja ko la lt lv ms nl"
    assert all(len(stopwords(code)) >= 30 for code in [*codes.split(), "pl", "pt", "ru", "zh"])


def test_english_stopwords_count_on_chinese_pages():
    assert {"the", "的"} <= stopwords("zh")
