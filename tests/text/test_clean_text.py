"""The text that is given out of a page: its own, without the frame of its host."""

import pytest
from made_text import prose

from dedup_filter import NearDuplicateFilter
from dedup_filter.text.reading import clean_text, read

NOTICE = "This site keeps a notice of two sentences. It stands on every page and says nothing new."


def page(seed, *more):
    """A page whose frame looks like its article."""
    body = "".join(f"<p>{prose(f'{seed} {n}', words=40)}</p>" for n in range(3))
    return f"<h1>Headline {seed}</h1><h2>Part {seed}</h2>{body}{''.join(more)}<p>{NOTICE}</p>"


def own(seed):
    texts = [prose(f"{seed} {n}", words=40) for n in range(3)]
    return "\n".join([f"Headline {seed}", f"Part {seed}", *texts])


def alone(html):
    content = read(html, None, None)
    return clean_text(content, [0] * len(content.blocks))


def test_the_frame_is_left_out_once_it_is_known():
    with NearDuplicateFilter.open(with_text=True) as pages:
        texts = [pages.see(f"http://a/{n}", html=page(n)).text for n in range(4)]
        judged = pages.judge("http://a/5", html=page(5))
    assert texts == [f"{own(n)}\n{NOTICE}" for n in (0, 1)] + [own(n) for n in (2, 3)]
    assert judged.text == own(5)
    assert "text" not in repr(judged)
    assert "text" not in judged.as_json()


def test_a_text_is_given_as_it_came_and_only_if_it_is_wanted():
    text = "One line.\n\n  Another line, which is longer than the first line."
    with NearDuplicateFilter.open(with_text=True) as pages:
        assert pages.see("", text=text).text == text
    with NearDuplicateFilter.open() as pages:
        assert pages.see("", text=text).text is None
        assert pages.judge("", text=text).text is None


def test_verdicts_are_the_same_with_texts():
    found = []
    for with_text in (False, True):
        with NearDuplicateFilter.open(with_text=with_text) as pages:
            seen = [pages.see(f"http://a/{n}", html=page(n % 5)) for n in range(8)]
        found.append([repr(each) for each in seen])
    assert found[0] == found[1]


@pytest.mark.parametrize(
    ("markup", "is_part"),
    [
        ('<div class="related"><p>{}</p></div>', True),
        ('<p>Some words <a href="/x">{}</a></p>', False),
        ('<p>{} <a href="/x">and a long link of many words in the middle of it all</a></p>', True),
    ],
)
def test_sentences_between_others_are_part_of_the_text(markup, is_part):
    between = markup.format(prose("between", words=20))
    first, last = (f"<p>{prose(name, words=60)}</p>" for name in ("first", "last"))
    assert (prose("between", words=20) in alone(f"{first}{between}{last}")) is is_part


def test_data_of_a_script_is_no_text_of_an_article():
    data = " ".join(prose(f"data {n}", words=60) for n in range(12))
    script = f'<script type="application/json">{{"other": "{data}"}}</script>'
    shown = page(1)
    with_data = f"<html><body>{shown}{script}</body></html>"
    assert any(data[:60] in block.text for block in read(with_data, None, None).blocks)
    assert alone(with_data) == alone(shown)
    bare = f"<html><body><p>Loading the page</p>{script}</body></html>"
    assert data[:60] in alone(bare)
