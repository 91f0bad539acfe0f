import encodings

from dedup_filter.text.charset import WEB_ENCODINGS, guess_encoding


def test_every_encoding_of_the_web_is_known_by_this_name():
    for name in WEB_ENCODINGS:
        assert encodings.search_function(name).name == name  # type: ignore[union-attr]


def test_latin_encodings_are_one():
    polish = "<p>Zażółć gęślą jaźń, pójdźże kiń tę chmurność w głąb flaszy.</p>" * 5
    german = "<p>Zwölf Boxkämpfer jagen Viktor quer über den großen Sylter Deich.</p>" * 5
    assert guess_encoding(polish.encode("cp1250")) == "cp1252"
    assert guess_encoding(german.encode("cp1252")) == "cp1252"


def test_markup_and_scripts_do_not_drown_the_text():
    script = b"<script>" + b"var a = [1, 2, 3];" * 5000 + b"</script>"
    text = "<p>联合国大会通过决议，各国代表在会上发言。</p>".encode("gbk")
    assert guess_encoding(script + text) == "gb18030"


def test_no_guess_from_next_to_nothing():
    assert guess_encoding(b"<p>plain") is None
    assert guess_encoding(b"<p>caf\xe9") is None
