"""Pages that come again at their own URL: known again, changes told, volatile places learnt."""

import re
from itertools import product
from random import Random

import pytest
from made_text import prose
from store_pages import kill

from dedup_filter import NearDuplicateFilter
from dedup_filter.comparison.visits import is_visit, visit_of
from dedup_filter.errors import StoreCorrupt
from dedup_filter.frames import slots
from dedup_filter.store.sqlite_store import SqliteStore
from dedup_filter.text.page_fields import PageText

MENU = "".join(f'<li><a href="/{name}">{name}</a></li>' for name in "news sport money help".split())
PRICES = {
    "row": "<table><tr><td>Price</td><td>EUR {}</td></tr></table>",
    "div": '<div class="price">EUR {}</div>',
    "sentence": '<div class="box">Price: {} EUR incl. VAT and delivery to your door</div>',
    "item": "<ul><li>Price: {} EUR</li><li>Weight: 4 kg</li></ul>",
    "stock": '<div class="stock">{} pieces in stock</div>',
}


def page(number, *, above="", beside="", within="", words=120):
    """A page of its own text, with what may be within, beside or above its text."""
    text = "".join(f"<p>{prose(100 * number + part, words=words // 2)}</p>" for part in range(2))
    return (
        f"<html><title>Page {number} about things</title><body>{above}<ul>{MENU}</ul>"
        f"<main><h1>Page {number} about things</h1>{within}{text}</main>"
        f'<div class="rest">{beside}</div><footer>All rights are reserved by us.</footer></body>'
    )


def quote(*seed):
    """A quotation that hardly comes twice."""
    return f'<div class="quote"><p>{prose(Random(str(seed)).randrange(10**6), words=24)}</p></div>'


def unnamed(text):
    """A text in elements without a name, such as prices and quotations have alike."""
    return f"<div><p>{text}</p></div>"


IN_MAIN = {
    "button": "<button>Buy for {}</button>",
    "link": '<p>Town: <a href="/town">{}</a></p>',
    "tags": '<ul><li><a href="/t/1">Garden</a></li><li><a href="/t/2">{}</a></li></ul>',
    "aside": "<aside><p>Salary: {}</p></aside>",
    "footer": "<article><footer>{}</footer></article>",
    "form": '<form action="/cart"><div>{}</div><button>Buy</button></form>',
    "dialog": "<dialog open><p>{}</p></dialog>",
    "class": '<div class="author">{}</div>',
}


@pytest.fixture
def crawls(tmp_path):
    """Crawl pages once more; return the verdict on each."""

    def crawl(pages, **options):
        with NearDuplicateFilter.open(tmp_path / "index", **options) as index:
            found = [index.see(f"https://site.example/{name}", html=html) for name, html in pages]
            index.check()
            crawl.size, crawl.learnt = len(index), index.conductor.learnt
        return found

    return crawl


def outcomes(verdicts):
    return {verdict.outcome for verdict in verdicts}


def test_an_unchanged_page_is_known_again_whatever_stands_beside_its_text(crawls):
    for crawl in range(5):
        pages = [(n, page(n, beside=quote(crawl, n))) for n in range(30)]
        found = crawls(pages)
        assert outcomes(found) == ({"new"} if crawl == 0 else {"revisit"})
        assert crawls.size == 30


@pytest.mark.parametrize("markup", PRICES.values(), ids=PRICES)
@pytest.mark.parametrize("words", [60, 400])
def test_a_price_of_each_day_is_told_each_day(crawls, markup, words):
    for day in range(4):
        prices = [Random(100 * n + day).randrange(1000, 90_000) / 100 for n in range(8)]
        found = crawls(
            [(n, page(n, within=markup.format(prices[n]), words=words)) for n in range(8)]
        )
        assert outcomes(found) == ({"new"} if day == 0 else {"revisit"})
        if day:
            assert all(verdict.change > 0 for verdict in found)
    assert not crawls.learnt


LAYOUTS = {
    "table": '<table><tr><td class="c"><h2>{head}</h2>{price}<div class="t"><p>{text}</p></div>'
    "</td></tr></table>",
    "section": "<section><h2>{head}</h2>{price}<section><p>{text}</p></section></section>",
    "below": '<div><h2>{head}</h2><div class="t"><p>{text}</p><p>{text}</p></div>{price}</div>',
    "above": '<div class="buy">{price}</div><h1>{head}</h1><div class="t"><p>{text}</p></div>',
}


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
@pytest.mark.parametrize("price", ["EUR {}.50", "only {} pieces left"])
def test_a_number_that_changes_beside_the_text_is_told(crawls, layout, price):
    def goods(number, day):
        shown = price.format(Random(100 * number + day).randrange(10, 900))
        parts = {"head": f"Chair {prose(number, words=3)}", "text": prose(number, words=90)}
        return f"<ul>{MENU}</ul>" + layout.format(price=f'<div class="p">{shown}</div>', **parts)

    for day in range(3):
        found = crawls([(n, goods(n, day)) for n in range(9)])
        assert [verdict.change > 0 for verdict in found if day] == [True] * 9 * (day > 0)
    found = crawls([(n, goods(n, 2)) for n in range(9)])
    assert [verdict.change for verdict in found] == [0.0] * 9


@pytest.mark.parametrize(
    ("line", "then"),
    [
        ("<p>Price: 30 euros</p><p>In stock</p>", "<p>Price: 30 euros</p><p>Sold out</p>"),
        ("<h2>Status</h2><p>Open as ever</p>", "<h2>Status</h2><p>Closed for repairs</p>"),
        ("<ul><li>Bar</li></ul><div>Daily</div>", "<ul><li>Bar</li></ul><div>On Mondays</div>"),
        (
            "<table><tr><td>2 years<td>5 ml<td>oral<tr><td>6 years<td>9 ml<td>oral</table>",
            "<table><tr><td>2 years<td>9 ml<td>oral<tr><td>6 years<td>9 ml<td>oral</table>",
        ),
    ],
    ids=["p", "heading", "div", "cell"],
)
def test_another_line_of_the_main_element_is_told_wherever_it_stands(crawls, line, then):
    """Behind the last paragraph, too, and if another row has the same value."""
    text = f"<html><main><h1>Oak chair</h1><p>{prose(1, words=60)}</p>{{}}</main>"
    crawls([("oak", text.format(line))])
    [found] = crawls([("oak", text.format(then))], revisit="drop")
    assert (found.outcome, found.change > 0) == ("revisit", True)


@pytest.mark.parametrize("element", ["div class=sidebar", "aside"])
def test_other_short_links_beside_a_text_without_a_main_element_are_not_told(crawls, element):
    def story(number, crawl):
        topics = Random(f"{number} {crawl}").sample("Letters Sport Ferries Tides Cinema".split(), 3)
        links = "".join(f'<li><a href="/s/{topic}">{topic}</a></li>' for topic in topics)
        text = f"<h1>Story {number}</h1><p>{prose(number, words=90)}</p>"
        beside = f"<{element}><h4>See also</h4><ul>{links}</ul></{element.split()[0]}>"
        return number, f"<ul>{MENU}</ul><div><div>{text}</div>{beside}</div>"

    crawls([story(n, 0) for n in range(6)])
    found = crawls([story(n, 1) for n in range(6)])
    assert [verdict.change for verdict in found] == [0.0] * 6


def test_a_row_that_goes_is_told_though_a_line_in_such_a_place_stands_beside_other_links(crawls):
    """A layout of tables: a heading of links stands in a cell, as the values do."""
    rows = ("Algebra", "10 June", "Hall 1"), ("History", "17 June", "Hall 2")

    def timetable(crawl, count):
        cells = "".join(f"<tr><td>{'<td>'.join(row)}" for row in rows[:count])
        adverts = "".join(
            f'<div><a href="http://ads/{crawl}{n}">{prose(9 * crawl + n, words=9)}</a></div>'
            for n in range(2)
        )
        text = f"<h1>Timetable</h1><p>{prose(1, words=30)}</p><table>{cells}</table>"
        links = f"<b>See also</b>{adverts}"
        return f"<table><tr><td><ul>{MENU}</ul><td>{text}<td>{links}</table>"

    crawls([("exams", timetable(0, 2))])
    [same] = crawls([("exams", timetable(1, 2))])
    [found] = crawls([("exams", timetable(2, 1))])
    assert (same.change, found.change > 0) == (0, True)


def test_a_number_that_changes_outside_the_main_element_is_not_told(crawls):
    for day in range(2):
        outside = [Random(n + 100 * day).randrange(-9, 39) for n in range(9)]
        above = [f'<div class="top"><div>Outside: {each} degrees</div></div>' for each in outside]
        found = crawls([(n, page(n, above=above[n])) for n in range(9)])
    assert [verdict.change for verdict in found] == [0.0] * 9


def test_a_price_in_a_link_below_the_text_is_told(crawls):
    """Below the body of the text, among links of other values."""

    def goods(number, price):
        links = "".join(
            f'<div class="row"><a href="/{number}/{value[:3]}">{value}</a></div>'
            for value in ("Acme", f"Buy for £{price}", "Hull")
        )
        text = f"<h1>Pot {number}</h1><div>{prose(number, words=90)}</div>{links}"
        return number, f"<ul>{MENU}</ul><div>{text}</div>"

    crawls([goods(n, 34.9) for n in range(6)])
    found = crawls([goods(n, 29.9 if n == 5 else 34.9) for n in range(6)])
    assert [verdict.change > 0 for verdict in found] == [False] * 5 + [True]


@pytest.mark.parametrize("value", ["EUR 40", "York"])
@pytest.mark.parametrize("markup", IN_MAIN.values(), ids=IN_MAIN)
def test_a_value_in_the_main_element_is_told_whatever_it_stands_in(crawls, markup, value):
    pages = [(n, page(n, within=markup.format("EUR 30"))) for n in range(4)]
    crawls(pages)
    pages[3] = 3, page(3, within=markup.format(value))
    found = crawls(pages, changes=True)
    assert [verdict.change > 0 for verdict in found] == [False] * 3 + [True]
    assert any(value in line for line in found[3].came)


THIN = {
    "profile": "<h1>{name}</h1><dl><dt>Name<dd>{name}<dt>Posts<dd>{value}<dt>Joined<dd>{year}</dl>",
    "list": "<h1>Lamps</h1><ul><li><a href=#>{name}</a> EUR {value}</li><li>{shared}</li></ul>",
    "missing": "<h1>Not found</h1><p>{shared}</p><p>{value} pages of {name} are there.</p>",
}


@pytest.mark.parametrize("markup", THIN.values(), ids=THIN)
@pytest.mark.parametrize("element", ["main", "div"])
def test_of_a_page_with_little_text_values_are_told_but_no_clock_and_no_quote(
    crawls, markup, element
):
    """The quotation stands outside the `main` element; without one it may be text."""

    def thin(number, day, value):
        parts = {"name": prose(number).split()[1], "shared": prose(1, words=20)}
        text = markup.format(value=1000 + value, year=1970 + number, **parts)
        aloud = quote(number, day) if element == "main" else ""
        clock = f"<div class=clock>It is {10 + day}:{20 + number} on Sunday 2{day} November</div>"
        top = f"<header><a href=/>Talk about it</a>{clock}</header><ul>{MENU}</ul>{aloud}"
        return number, f"{top}<{element}>{text}</{element}><footer>All rights reserved.</footer>"

    for day in range(4):
        found = crawls([thin(n, day, n) for n in range(9)])
        assert [verdict.change for verdict in found] == [0.0 if day else None] * 9
    found = crawls([thin(n, day, n + 7) for n in range(9)])
    assert all(verdict.change for verdict in found)


@pytest.mark.parametrize(
    "entry",
    ['<li><a href="/{n}">{title}</a></li>', '<div><a href="/{n}"><h3>{title}</h3></a>{n}</div>'],
)
def test_other_links_are_told_on_a_list_and_not_beside_an_article(crawls, entry):
    def links(*numbers):
        return "".join(entry.format(n=n, title=prose(n, words=8)) for n in numbers)

    def front(*numbers):
        return f"<ul>{MENU}</ul><h1>What is new</h1><p>All of it.</p><div>{links(*numbers)}</div>"

    def crawl(*numbers):
        stories = [(n, page(n, beside=links(*numbers[n : n + 3]))) for n in range(4)]
        return [verdict.change for verdict in crawls([("front", front(*numbers)), *stories])]

    crawl(*range(20, 40))
    assert crawl(*range(22, 42)) == [pytest.approx(0.2, abs=0.05), 0.0, 0.0, 0.0, 0.0]
    assert crawl(*range(22, 42)) == [0.0] * 5


def test_a_line_less_beside_the_text_is_told_but_not_another_teaser(crawls):
    def show(number, day):
        tip = f'<div class="tip"><p>{prose(1000 * day + number, words=9)}</p></div>'
        line = f"<p>Tickets at the door of hall {number}: {number + 7} euros</p>"
        return page(number, above=f"<div>{tip}{line if (number, day) != (1, 1) else ''}</div>")

    crawls([(n, show(n, 0)) for n in range(3)])
    found = crawls([(n, show(n, 1)) for n in range(3)])
    assert [verdict.change > 0 for verdict in found] == [False, True, False]


def test_lines_that_came_are_named(crawls):
    crawls([(n, page(n, within=PRICES["div"].format(19))) for n in range(5)])
    found = crawls(
        [(n, page(n, within=PRICES["div"].format(20 + n))) for n in range(5)], changes=True
    )
    assert [verdict.came for verdict in found] == [(f"EUR {20 + n}",) for n in range(5)]
    assert found[0].as_json()["came"] == ["EUR 20"]
    assert "went" not in found[0].as_json()


def test_lines_that_went_are_named_if_pages_are_kept(crawls):
    options = {"changes": True, "keep_text": True}
    crawls([(n, page(n, within=PRICES["div"].format(19))) for n in range(5)], **options)
    found = crawls([(n, page(n, within=PRICES["div"].format(20 + n))) for n in range(5)], **options)
    assert [(each.came, each.went) for each in found] == [
        ((f"EUR {20 + n}",), ("EUR 19",)) for n in range(5)
    ]
    assert found[0].as_json()["went"] == ["EUR 19"]


def test_of_what_changes_by_itself_neither_half_is_told(crawls):
    def shown(crawl):
        parts = f"<aside>{quote(crawl)}</aside>", f"<p>{13 * crawl + 60} views</p>"
        return [(0, page(0, within=PRICES["row"].format(20 + crawl), beside="".join(parts)))]

    options = {"changes": True, "keep_text": True}
    crawls(shown(0), **options)
    (found,) = crawls(shown(1), **options)
    assert (found.came, found.went) == (("EUR 21",), ("EUR 20",))
    assert found.change < 0.05


def test_one_price_is_a_small_change_of_a_page_whose_text_is_frame_of_its_host(crawls):
    def goods(number, price):
        parts = f"<h1>Chair {number}</h1><p>EUR {price}</p><p>{prose(5, words=90)}</p>"
        return number, f"<ul>{MENU}</ul><main>{parts}</main>"

    crawls([goods(n, 30) for n in range(6)])
    found = crawls([goods(n, 40 if n == 3 else 30) for n in range(6)])
    assert [verdict.change > 0 for verdict in found] == [n == 3 for n in range(6)]
    assert found[3].change < 0.1


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Mail|up|Login|up|Search|down", "Mail|up|Login|down|Search|down"),
        ("Monday|9-17|Tuesday|closed", "Monday|closed|Tuesday|9-17"),
        ("Rovers|2|Town|1", "Rovers|1|Town|2"),
    ],
)
def test_a_value_that_another_row_showed_before_is_told(crawls, before, after):
    def shown(values):
        cells = "".join(f"<td>{each}</td>" for each in values.split("|"))
        return [(0, page(0, within=f"<table><tr>{cells}</tr></table>"))]

    crawls(shown(before))
    (found,) = crawls(shown(after), changes=True)
    assert found.change > 0
    assert found.came


def test_a_page_of_numbers_is_still_this_page_when_all_of_them_change(crawls):
    def station(number, day):
        values = (("Level", 40), ("Flow", 900), ("Water", 3), ("Air", 7), ("Rain", 1))
        rows = "".join(f"<li>{name}: {10 * value + day}</li>" for name, value in values)
        text = f"<h1>Station {number}</h1><ul>{rows}</ul><p>{prose(5, words=40)}</p>"
        return number, f"<ul>{MENU}</ul><main>{text}</main>"

    for day in range(3):
        found = crawls([station(n, day) for n in range(6)])
    assert outcomes(found) == {"revisit"}
    assert all(verdict.change > 0 for verdict in found)
    assert crawls.size == 6


def test_a_paragraph_more_and_a_paragraph_less_are_told(crawls):
    more = f"<p>{prose(7, words=40)}</p>"
    crawls([(n, page(n, beside=more if n == 1 else "")) for n in range(4)])
    found = crawls([(n, page(n, beside=more if n == 2 else "")) for n in range(4)])
    assert [verdict.change > 0 for verdict in found] == [False, True, True, False]


class TestSlots:
    """Places whose text changes at each visit."""

    def test_are_learnt_after_four_visits_of_three_urls(self, crawls):
        crawls([(n, page(n, within=quote(0, n))) for n in range(20)])
        found = crawls([(n, page(n, within=quote(1, n))) for n in range(20)])
        told = [verdict.change > 0 for verdict in found]
        assert told == [True] * slots.VISITS + [False] * (20 - slots.VISITS)
        assert crawls.learnt == 1

    def test_are_learnt_of_links_too(self, crawls):
        def tagged(crawl, number):
            tags = [prose(100 * crawl + number + n).split()[1] for n in (0, 50)]
            links = (f'<li><a href="/t/{each}">{each}</a></li>' for each in tags)
            return f"<ul>{''.join(links)}</ul>"

        for crawl in range(2):
            found = crawls([(n, page(n, within=tagged(crawl, n))) for n in range(20)])
        told = [verdict.change > 0 for verdict in found]
        assert told == [True] * slots.VISITS + [False] * (20 - slots.VISITS)

    def test_are_compared_if_the_user_says_so(self, crawls):
        for crawl in range(3):
            pages = [(n, page(n, within=quote(crawl, n))) for n in range(9)]
            found = crawls(pages, learn_changes=False)
        assert all(verdict.change > 0 for verdict in found)
        assert not crawls.learnt

    def test_are_not_learnt_from_one_url(self, crawls):
        for crawl in range(8):
            pages = [(n, page(n, within=quote(crawl if n == 0 else 0, n))) for n in range(9)]
            found = crawls(pages)
        assert not crawls.learnt
        assert [verdict.change > 0 for verdict in found] == [True] + [False] * 8

    def test_that_stay_mostly_are_not_learnt(self, crawls):
        for crawl in range(6):
            changed = {3 * (crawl % 2), 3 * (crawl % 2) + 1}
            pages = [(n, page(n, within=quote(crawl if n in changed else 0, n))) for n in range(9)]
            crawls(pages)
        assert not crawls.learnt

    def test_are_learnt_in_a_first_crawl_from_urls_of_one_page(self, crawls):
        pages = [
            (f"{n}{query}", page(n, within=quote(n, query)))
            for n in range(8)
            for query in ("", "?PHPSESSID=0123456789abcdef0123456789abcdef")
        ]
        found = crawls(pages)
        assert crawls.learnt == 1
        assert [verdict.is_duplicate for verdict in found[-8:]] == [False, True] * 4

    def test_hide_no_page_that_differs_in_such_a_place_alone(self, crawls):
        for crawl in range(2):
            crawls(
                [(n, page(n, beside=unnamed(prose(900 * crawl + n, words=24)))) for n in range(9)]
            )
        assert crawls.learnt == 1
        colours = "Made of pine with cushions of blue cotton", "Made of oak with cushions of wool"
        found = crawls([(f"of-{n}", page(0, beside=unnamed(colours[n]))) for n in range(2)])
        assert outcomes(found) == {"new"}

    def test_with_prices_are_not_learnt(self, crawls):
        for crawl in range(4):
            told = crawls([(n, page(n, beside=unnamed(f"EUR {crawl + n}"))) for n in range(3)])
            assert crawl == 0 or all(verdict.change > 0 for verdict in told)
            crawls(
                [
                    (n, page(n, beside=unnamed(prose(99 * crawl + n, words=24))))
                    for n in range(5, 10)
                ]
            )
        assert not crawls.learnt

    def test_that_were_learnt_tell_a_changed_number_and_are_forgotten(self, crawls):
        def crawl(number, *, price=0):
            texts = [prose(900 * number + n, words=24) for n in range(9)]
            pages = [(n, page(n, beside=unnamed(text))) for n, text in enumerate(texts)]
            return crawls([*pages, ("chair", page(50, beside=unnamed(f"EUR {price}")))])[-1]

        crawl(0, price=49)
        assert crawl(1, price=49).change == 0
        assert crawls.learnt == 1
        assert crawl(2, price=45).change > 0
        assert crawls([(0, page(0, beside=unnamed("Sold out at present")))])[0].change > 0

    @pytest.mark.parametrize("text", ["{} people follow", "It is 14:{}:09", "Readers online: {}"])
    def test_with_a_counter_are_learnt_after_three_visits(self, crawls, text):
        def counters(crawl):
            return [(n, page(n, within=unnamed(text.format(10 + 9 * crawl + n)))) for n in range(9)]

        for crawl in range(slots.NUMBER_VISITS):
            found = crawls(counters(crawl))
            assert crawl == 0 or all(verdict.change > 0 for verdict in found)
        found = crawls(counters(slots.NUMBER_VISITS))
        told = [verdict.change > 0 for verdict in found]
        assert told == [True] * slots.URLS + [False] * (9 - slots.URLS)
        sold_out = [(n, page(n, within=unnamed("Sold out"))) for n in range(9)]
        assert crawls.learnt == 1
        assert all(verdict.change > 0 for verdict in crawls(sold_out[:2]))

    def test_with_a_counter_beside_advertisements_are_learnt(self, crawls):
        def beside(crawl, number):
            parts = (
                prose(100 * crawl + number, words=9),
                f"Readers online: {10 + 9 * crawl + number}",
            )
            return "".join(f"<div><p>{part}</p></div>" for part in parts)

        for crawl in range(slots.NUMBER_VISITS + 2):
            found = crawls([(n, page(n, beside=beside(crawl, n))) for n in range(9)])
        assert [verdict.change for verdict in found] == [0.0] * 9

    @pytest.mark.parametrize("price", ["EUR {}", "{} kr", "£{}", "{},-", "{}.50", "{}元"])
    def test_are_not_learnt_from_prices_of_each_day(self, crawls, price):
        for crawl in range(slots.NUMBER_VISITS + 2):
            prices = [unnamed(price.format(10 + 9 * crawl + n)) for n in range(9)]
            found = crawls([(n, page(n, within=prices[n])) for n in range(9)])
            assert crawl == 0 or all(verdict.change > 0 for verdict in found)
        assert not crawls.learnt

    def test_are_not_learnt_from_new_numbers_that_come_twice(self, crawls):
        """A sale begins, ends, and nothing else changes, until one price does."""
        for numbers in ([90] * 9, [70] * 9, [90] * 9, [90] * 9, [90] * 8 + [80]):
            goods = [(n, page(n, within=unnamed(f"Price {numbers[n] + n}"))) for n in range(9)]
            found = crawls(goods)
        assert [verdict.change > 0 for verdict in found] == [False] * 8 + [True]
        assert not crawls.learnt

    @pytest.mark.parametrize("tag", ["p", "span"])
    def test_are_not_learnt_if_a_line_there_stays(self, crawls, tag):
        """Class names of lines do not count."""

        def shown(crawl, status="Open on all days"):
            quoted = prose(crawl, words=24)
            texts = ("status", status), ("quote", quoted)
            lines = (f"<{tag} class={name}>{text}</{tag}><br>" for name, text in texts)
            return "<div>" + "".join(lines) + "</div>"

        for crawl in range(5):
            found = crawls([(n, page(n, beside=shown(9 * crawl + n))) for n in range(8)])
        found = crawls([(0, page(0, beside=shown(99, "Closed until further notice")))])
        assert found[0].change > 0

    def test_with_other_names_at_each_visit_are_not_learnt(self, crawls):
        def renamed(crawl, html):
            name = "abcdefgh"[crawl]
            return re.sub('class="([a-z]+)"', rf'class="{name}-\1-{name}"', html)

        for crawl in range(5):
            found = crawls([(n, renamed(crawl, page(n, within=quote(crawl, n)))) for n in range(9)])
            assert outcomes(found) == ({"new"} if crawl == 0 else {"revisit"})
            assert crawl == 0 or all(each.change > 0 for each in found)
            assert crawls.size == 9
        assert not crawls.learnt

    @pytest.mark.slow
    def test_are_learnt_although_texts_with_a_number_are_many(self, crawls):
        """A collision of hashes would take another advertisement for another price."""
        for crawl in range(2):
            texts = [f"Save {n} % on {prose(1000 * crawl + n, words=9)}" for n in range(200)]
            crawls([(n, page(n, within=unnamed(texts[n]), words=40)) for n in range(200)])
        assert crawls.learnt == 1
        assert crawls([(0, page(0, within=unnamed("Another text"), words=40))])[0].change == 0


def test_a_dropped_copy_is_kept_when_a_line_of_its_original_changes(crawls):
    text = (
        f"<html><main><h1>Oak chair</h1><p>{prose(1, words=60)}</p><p>Price: {{}} euros</p></main>"
    )
    for prices, outcomes in (
        ((30, 30), ["new", "exact"]),
        ((90, 30), ["revisit", "new"]),
        ((90, 30), ["revisit", "revisit"]),
    ):
        pages = zip(("oak", "sale"), map(text.format, prices), strict=True)
        assert [verdict.outcome for verdict in crawls(pages)] == outcomes


def test_a_dropped_copy_is_dropped_again_as_long_as_its_original_holds_it(tmp_path):
    def crawl(original, copy):
        with NearDuplicateFilter.open(tmp_path / "index") as index:
            return [
                index.see("https://a.example/story", html=original).outcome,
                index.see("https://b.example/story", html=copy).outcome,
                len(index),
            ]

    one, other = (page(1, beside=f"<aside>{quote(n)}</aside>") for n in (1, 2))
    assert crawl(one, one) == ["new", "exact", 1]
    assert crawl(one, other) == ["revisit", "near", 1]
    changed = page(1, within=f"<p>{prose(5, words=40)}</p>")
    assert crawl(one, changed)[:2] == ["revisit", "new"]


def test_a_new_version_takes_the_place_of_the_earlier_one(crawls):
    crawls([(n, page(n)) for n in range(5)])
    found = crawls([(n, page(n + 50 if n == 2 else n)) for n in range(5)])
    assert [verdict.outcome for verdict in found] == ["revisit"] * 2 + ["new"] + ["revisit"] * 2
    assert crawls.size == 5
    assert outcomes(crawls([(n, page(n + 50 if n == 2 else n)) for n in range(5)])) == {"revisit"}


def test_a_url_with_another_page_at_each_visit_fills_no_index(crawls):
    for crawl in range(8):
        found = crawls([(n, page(n)) for n in range(5)] + [("random", page(100 + crawl))])
        assert found[-1].outcome == "new"
        assert outcomes(found[:-1]) == ({"new"} if crawl == 0 else {"revisit"})
        assert crawls.size == 6
    assert not crawls.learnt


def test_a_notice_that_comes_to_all_pages_is_frame_after_two(crawls):
    notice = f'<div class="note"><p>{prose(9, words=40)}</p></div>'
    crawls([(n, page(n)) for n in range(12)])
    found = crawls([(n, page(n, beside=notice)) for n in range(12)])
    assert outcomes(found) == {"revisit"}
    assert [verdict.change > 0 for verdict in found[3:]] == [False] * 9


def test_a_paragraph_that_comes_to_a_page_and_its_print_view_is_no_notice(crawls):
    def site(*more):
        text = page(1, beside="".join(f"<p>{each}</p>" for each in more))
        views = [("1/print", text.replace(f"<ul>{MENU}</ul>", "Printed")), ("1/text", text)]
        return [
            *((n, page(n)) for n in range(2, 9)),
            *views,
            ("1", text.replace("</main>", "</main>+")),
        ]

    crawls(site())
    found = crawls(site(prose(77, words=40)))[-3:]
    assert all(verdict.outcome == "new" or verdict.change > 0 for verdict in found)


def test_a_clock_that_goes_backwards_changes_nothing(crawls, tmp_path, monkeypatch):
    def times():
        with SqliteStore.open_to_read(tmp_path / "index") as store:
            return {each.url: (each.first_seen, each.last_seen) for each in store.records()}

    crawls([(n, page(n)) for n in range(4)])
    before = times()
    with monkeypatch.context() as clock:
        clock.setattr("dedup_filter.judge.now", lambda: 1_000_000_000)
        found = crawls([(n, page(n + 50 if n == 3 else n)) for n in range(4)])
    assert [each.outcome for each in found] == ["revisit"] * 3 + ["new"]
    assert {*times().items()} - {*before.items()} == {
        ("https://site.example/3", (1_000_000_000, 1_000_000_000))
    }
    found = crawls([(n, page(n + 50 if n == 3 else n)) for n in range(4)])
    assert outcomes(found) == {"revisit"}
    assert crawls.size == 4
    assert all(first <= last for first, last in times().values())


@pytest.mark.parametrize(
    "options",
    [
        {"max_distance": 3, "min_similarity": 1},
        {"min_similarity": None, "shared_phrases": False},
        {"ignore": ".rest"},
        {"content": "main"},
        {"learn_frames": False},
        {"scope": "host", "canonical": True, "keep_text": True},
    ],
    ids=str,
)
def test_a_crawl_with_other_options_knows_the_pages_again(crawls, options):
    for crawl in range(4):
        pages = [
            (n, page(n + 50 if (n, crawl) == (7, 1) else n, beside=quote(crawl, n)))
            for n in range(9)
        ]
        found = crawls(pages, **(options if crawl % 2 else {}))
        wanted = "new" if crawl == 0 else "revisit"
        changed = 7 if crawl in (1, 2) else -1  # another page, and back again
        assert [each.outcome for each in found] == [
            "new" if n == changed else wanted for n in range(9)
        ]
        assert crawls.size == 9


@pytest.mark.slow
def test_ten_thousand_slots_take_a_bounded_part_of_a_host(crawls, tmp_path):
    """The slots of one URL each are not learnt. The slot of all pages is, in spite of them."""

    def many(number, crawl):
        pairs = map("".join, product("abcdefghij", repeat=2))
        names = [f"{pair}{'x' * number}" for pair in pairs]
        text = "once", "again"
        return "".join(f'<div class="{name}"><p>{text[crawl]}{name}</p></div>' for name in names)

    for crawl in range(2):
        found = crawls(
            [(n, page(n, within=quote(crawl, n), beside=many(n, crawl))) for n in range(100)]
        )
        assert outcomes(found) == ({"revisit"} if crawl else {"new"})
    assert 1 <= crawls.learnt <= 9, "some of 10,000 hashes of 16 bits are equal"
    with SqliteStore.open_to_read(tmp_path / "index") as store:
        assert 10_000 < len(store.host("site.example").sightings) <= 20_000


def test_what_a_record_has_of_a_visit_goes_with_its_sketch_alone(crawls, tmp_path):
    """So that an import cannot restore records that no later visit can be compared with."""
    crawls([(n, page(n, within=PRICES["item"].format(n) * n)) for n in range(4)])
    with SqliteStore.open_to_read(tmp_path / "index") as store:
        records = list(store.records())
    with NearDuplicateFilter.open() as pages:
        profile = pages.conductor.profile(*pages._read("", PageText(html=page(9))))
    for one, other in product(records, repeat=2):
        assert is_visit(one.visit, other.sketch) == (one is other)
    assert is_visit(b"", records[0].sketch)
    for broken in (records[0].visit[:-1], records[0].visit[1:], b"\0", bytes(90)):
        assert not is_visit(broken, records[0].sketch)
        with pytest.raises(StoreCorrupt, match="the record of page 1 is damaged"):
            visit_of(profile, records[0]._replace(visit=broken))


def test_a_page_of_a_crawl_that_was_killed_comes_again(tmp_path):
    def crawl(*names, is_killed=False):
        index = NearDuplicateFilter.open(tmp_path / "index")
        found = [index.see(f"https://site.example/{name}", html=page(name)) for name in names]
        index.flush()
        if is_killed:
            kill(index.conductor.store)
        else:
            index.close()
        return [(verdict.outcome, verdict.reason) for verdict in found]

    assert crawl(1, 2) == [("new", None)] * 2
    assert crawl(1, 3, is_killed=True) == [("revisit", None), ("new", None)]
    assert crawl(1, 2, 3) == [("revisit", "again"), ("revisit", None), ("revisit", "again")]
    assert crawl(1, 2, 3) == [("revisit", None)] * 3


@pytest.mark.parametrize("ways", [("claim", "claim"), ("see", "see"), ("claim", "see")], ids=str)
def test_a_url_that_is_met_twice_in_a_crawl_is_one_page(tmp_path, ways):
    url, spelling = "https://site.example/1", "https://SITE.example/1#top"
    for crawl in range(4):
        with NearDuplicateFilter.open(tmp_path) as index:
            found = [getattr(index, way)(url, html=page(1)) for way in ways]
            found.append(index.see(spelling, html=page(1, beside=quote(crawl))))
            for verdict in found:
                index.commit(verdict)
            index.check()
            assert len(index) == 1
        first = "revisit" if crawl else "new"
        assert [each.outcome for each in found] == [first, "exact", found[2].outcome]
        assert found[2].is_duplicate


@pytest.mark.slow
def test_a_url_that_is_met_very_often_takes_no_longer(tmp_path, monkeypatch):
    """As the target of redirects is. Its records are not all read."""
    read = []
    records = SqliteStore.records

    def noted(store, pages=None):
        read.append(len(pages or ()))
        return records(store, pages)

    for crawl in range(2):
        with NearDuplicateFilter.open(tmp_path) as index, monkeypatch.context() as store:
            store.setattr(SqliteStore, "records", noted)
            found = [index.see("https://site.example/login", html=page(1)) for _ in range(100)]
        assert found[0].outcome == ("revisit" if crawl else "new")
        assert outcomes(found[1:]) == {"exact"}
    assert 1 <= max(read) <= 20


@pytest.mark.parametrize("is_original_first", [True, False])
def test_a_dropped_copy_takes_the_place_of_its_earlier_record(tmp_path, is_original_first):
    """Also if it is committed before its original is."""
    urls = [f"https://{host}.example/story" for host in "ab"]
    for crawl in range(4):
        # Other text of the story, so that the copy is compared with the page of its own crawl.
        html = page(1, within=f"<p>{prose(200 + crawl, words=40)}</p>")
        with NearDuplicateFilter.open(tmp_path) as index:
            claimed = [index.claim(url, html=html) for url in urls]
            assert [each.is_duplicate for each in claimed] == [False, True]
            for each in claimed if is_original_first else claimed[::-1]:
                index.commit(each)
            index.check()
        with SqliteStore.open_to_read(tmp_path) as records:
            found = list(records.records())
        assert [(each.url, each.crawl) for each in found] == [(url, crawl + 1) for url in urls]
        assert found[1].original == found[0].page


def test_a_copy_that_is_dropped_again_is_compared_with_its_original(tmp_path):
    one = page(1, words=400)
    other = one.replace(" of a ", " among strange ", 5)
    found = []
    for _ in range(3):
        with NearDuplicateFilter.open(tmp_path) as index:
            index.see("https://a.example/story", html=one)
            found.append(index.see("https://b.example/story", html=other))
    for each in found:
        assert (each.outcome, each.original) == ("near", "https://a.example/story")
        assert each.distance == found[0].distance > 0
        assert each.similarity == pytest.approx(found[0].similarity, abs=0.01)


def test_two_claims_of_a_url_are_forgotten_with_what_was_recorded_there(crawls, tmp_path):
    crawls([("1", page(1))])
    with NearDuplicateFilter.open(tmp_path / "index") as index:
        claimed = [index.claim("https://site.example/1", html=page(1)) for _ in range(2)]
        assert [each.outcome for each in claimed] == ["revisit", "exact"]
        assert index.forget("https://site.example/1") == 3
        index.check()
        assert len(index) == 0
        assert [index.conductor.fate(each.page) for each in claimed] == ["gone"] * 2
