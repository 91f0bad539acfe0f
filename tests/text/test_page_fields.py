"""Fields are found by their own names, or by the names of those that they lie within."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dedup_filter.text.page_fields import (
    FieldNames,
    PageText,
    names_in,
    page_in,
    path_to,
    url_in,
    value_at,
)

NAMES = st.text("ab.", min_size=1, max_size=4)
VALUES = st.recursive(
    st.sampled_from([None, "text", 5, [{"a": "b"}]]),
    lambda inner: st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=12,
)


def paths(fields, before=()):
    """Yield the names that lead to each field, and what it holds."""
    for name, value in fields.items():
        yield (*before, name), value
        if isinstance(value, dict):
            yield from paths(value, (*before, name))


@given(st.dictionaries(NAMES, VALUES, max_size=4), st.text("ab.", max_size=6))
@example({"a.b": {"a": 1}, "a": {"b.a": 2, "b": {"a": 3}}}, "a.b.a")
@example({"a": {"b": 1}, "a.b": None}, "a.b")
def test_a_field_is_that_whose_names_make_the_path_the_longest_first(fields, name):
    there = [(path, value) for path, value in paths(fields) if ".".join(path) == name]
    best = max(there, key=lambda found: [len(each) for each in found[0]], default=((), None))
    assert (path_to(fields, name), value_at(fields, name)) == best


@given(st.dictionaries(NAMES, VALUES, max_size=4))
def test_each_name_in_fields_leads_to_one(fields):
    assert all(path_to(fields, name) for name in names_in(fields))


def test_names_of_fields_that_hold_themselves_are_few():
    fields = {"a": "b"}
    fields["self"] = fields
    assert [*names_in(fields)][:-1] == ["a", "self.a", "self.self.a", "self.self.self.a"]


META = {"html": "<p>", "meta": {"url": " http://a/ ", "n": 5, "t": ["a", "b"], "in": {"t": "c"}}}


@pytest.mark.parametrize(
    ("names", "page"),
    [
        (FieldNames(html="meta.url"), PageText(html=" http://a/ ")),
        (FieldNames(text=("meta.in.t", "meta.t")), PageText(text="c\na\nb")),
        (FieldNames(html="meta.nosuch", text=("meta.in.t",)), PageText(text="c")),
        (FieldNames(html="html", title="meta.in.t"), PageText(html="<p>", title="c")),
        (FieldNames(text=("html",), title="meta.t"), PageText(text="<p>", title="a\nb")),
        (FieldNames(text=("html",), title="meta.nosuch"), PageText(text="<p>")),
        (FieldNames(text=("html",), title="meta.n"), "wrong_type"),
        (FieldNames(html="meta"), "wrong_type"),
        (FieldNames(html="meta.n"), "wrong_type"),
        (FieldNames(text=("meta.in",)), "wrong_type"),
        (FieldNames(html="meta.t.0"), "no_field"),
        (FieldNames(html="html.upper"), "no_field"),
        (FieldNames(html="meta."), "no_field"),
        (FieldNames(html=".meta"), "no_field"),
    ],
)
def test_a_page_may_lie_within_fields_but_not_within_lists(names, page):
    assert page_in(META, names) == page


def test_so_may_a_url():
    assert url_in(META, FieldNames(url="meta.url")) == "http://a/"
    assert url_in(META, FieldNames(url="meta.n")) is None
    assert url_in({"meta": [META["meta"]]}, FieldNames(url="meta.url")) is None
    assert url_in(META, FieldNames()) is None
