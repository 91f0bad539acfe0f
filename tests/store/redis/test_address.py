"""Locations of shared indexes, and what is shown of them."""

import pytest

from dedup_filter import ConfigError, NearDuplicateFilter
from dedup_filter.store.redis.connection import Address, is_address


@pytest.mark.parametrize(
    ("location", "shown"),
    [
        ("redis://localhost", "redis://localhost:6379/0?name=pages"),
        ("redis://localhost:7000/3?name=shop-2", "redis://localhost:7000/3?name=shop-2"),
        ("redis://:s3cret@db.example", "redis://db.example:6379/0?name=pages"),
        ("rediss://me:s3cret@db.example/1", "rediss://db.example:6379/1?name=pages"),
        ("redis://me:a%40b%3A%2Fs3cret@[::1]:70/0", "redis://[::1]:70/0?name=pages"),
        ("redis+cluster://h1:7000,h2:7001", "redis+cluster://h1:7000,h2:7001?name=pages"),
        ("rediss+cluster://u:s3cret@h1,h2/0", "rediss+cluster://h1:6379,h2:6379?name=pages"),
    ],
)
def test_an_address_is_shown_without_its_password(location, shown):
    address = Address.of(location)
    assert (str(address), is_address(location)) == (shown, True)
    assert "s3cret" not in repr(address)
    assert str(Address.of(shown)) == shown


NO_LOCATIONS = """
    redis: redis:// redis://s3cret@ redis:localhost redis://:s3cret@h:port/0 redis://:s3cret@h:0
    redis://:s3cret@h:70000 redis://:s3cret@h/one redis://:s3cret@h/0#part redis://:s3cret@h1,h2
    redis://:s3/cret@h redis://me:12/s3cret@h redis://:s3cret@[1 redis+cluster://:s3cret@h/1
    redis+cluster://:s3cret@h,,i redis://:s3cret@h?name= redis://:s3cret@h?name={a}
    redi://:s3cret@h redis//:s3cret@h rediss+cluster//:s3cret@h http://:s3cret@h
"""


@pytest.mark.parametrize("location", [*NO_LOCATIONS.split(), "redis://h?name=" + 65 * "a"])
def test_what_cannot_be_meant_is_refused_without_a_word_of_its_password(location):
    for attempt in (NearDuplicateFilter.open, NearDuplicateFilter.check_options):
        with pytest.raises(ConfigError, match=r"^location") as refused:
            attempt(location)
        assert "cret" not in str(refused.value)
