import pytest
from hypothesis import given
from hypothesis import strategies as st
from w3lib.url import canonicalize_url

from dedup_filter.text.page_url import canonical, host_of, url_key

SPELLINGS = """https://example.com/a HTTPS://Example.COM https://example.com:443/a
    https://me:secret@example.com/a http://example.com:80?a //example.com/a""".split()
parts = st.text(st.sampled_from("aZ09/_.~-%?&=#;:@[]+ é网\ud800"), max_size=12)


@given(st.sampled_from(["http://", "https://", "HTTP://", "ftp://", "//", ""]), parts, parts)
def test_what_looks_canonical_already_is(scheme, host, path):
    url = f"{scheme}{host}/{path}"
    try:
        expected = canonicalize_url(url)
    except ValueError:
        expected = url
    assert canonical(url) == expected


def test_a_url_that_cannot_be_parsed_has_a_key():
    assert url_key("http://[1/") != url_key("http://[2/")
    assert 0 <= url_key("\ud800") < 2**64


@pytest.mark.parametrize(
    ("url", "host"),
    [
        *((url, "example.com") for url in SPELLINGS),
        ("http://example.com:443/", "example.com:443"),
        ("http://[::1]:80/", "[::1]"),
        ("http://[1/", ""),
        ("u:1", ""),
    ],
)
def test_spellings_of_one_host_are_one_and_other_hosts_are_others(url, host):
    assert host_of(url) == host
