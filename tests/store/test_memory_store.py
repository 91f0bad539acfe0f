import numpy as np

from dedup_filter.store import MemoryStore


def page(number):
    return f"https://example.com/{number}", number.to_bytes(16, "big"), np.full(256, number % 256)


def test_every_page_is_found_again_by_row_and_digest_while_the_store_grows():
    store = MemoryStore()
    rows = [store.add(*page(number)) for number in range(500)]
    store.check()
    assert rows == list(range(500))
    assert len(store) == 500
    for number in (0, 63, 64, 95, 96, 499):
        url, digest, sketch = page(number)
        assert store.url(number) == url
        assert store.row_of_digest(digest) == number
        assert (store.sketches([number, 0])[0] == sketch).all()


def test_the_first_page_with_a_digest_stays_its_original():
    store = MemoryStore()
    _, digest, sketch = page(1)
    store.add("first", digest, sketch)
    store.add("second", digest, sketch)
    assert store.row_of_digest(digest) == 0
    assert store.row_of_digest(bytes(16)) is None


def test_bytes_grow_with_pages_and_their_urls():
    store = MemoryStore()
    empty = store.nbytes
    for number in range(1000):
        store.add(*page(number))
    assert store.nbytes - empty > 1000 * 300
