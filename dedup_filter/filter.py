"""Pages one by one -> verdicts: the filter joins reading, frames, fingerprints and the index.

    page -> blocks -> own text -> features -> fingerprint (+ sketch) -> index -> verdict

    claim   judge a page; a new page is pending, and later pages are already compared with it
    commit  the page's item passed all pipelines: the page is kept for good
    release the page's item was dropped or failed: the page is forgotten, a copy can be kept
    see     claim and commit in one call
    judge   return the verdict of a page; nothing is recorded
    find    return the kept pages that are similar to a page; nothing is recorded

Guarantees, cited in tests by their numbers:

1. The first page of its kind is new. Only kept pages become originals.
2. No page beyond `max_distance` bits, or below `min_similarity`, is a near-duplicate. With
   `canonical`, the page named as canonical may be farther, but not less similar.
3. Every stored page within `max_distance` bits is compared. If there are more than 64, the 64
   nearest are; of equally near pages, the earliest. `capped` counts the look-ups with more. On
   servers, the 64 pages are compared that share most keys with the page: digest, fingerprint and
   phrases.
4. A page with too little text repeats another only if everything on them is equal.
5. A page that cannot be judged is "unjudged" with a reason, never an error.
6. In a directory, a restart changes no later verdict.
7. No page is a duplicate of a page that was released, or was pending when its process ended.

No other call can come between look-up and insert. Calls come from one thread at a time.

Crawls, scans and services of this package read pages ahead (`NearDuplicateFilter.pool`), and hold
the claims of the judge themselves (`NearDuplicateFilter.conductor`): a claim has the state of its
page. These two attributes are not public.
"""

import os
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypedDict

from dedup_filter.comparison.near_pages import Query
from dedup_filter.config import FilterConfig, FilterOptions
from dedup_filter.errors import ConfigError, DedupError
from dedup_filter.fingerprints.read_page import ReadPage, read_page
from dedup_filter.hamming.pairs import fingerprint_of
from dedup_filter.judge import MOST_AHEAD, Claim, Judge
from dedup_filter.model import NearPage, Unjudged, Verdict
from dedup_filter.shared_judge import SharedJudge
from dedup_filter.store.location import MEMORY, folder_of, join_index, noted_options, open_store
from dedup_filter.store.redis.connection import closed_if_it_fails, is_address
from dedup_filter.text.page_fields import PageText
from dedup_filter.text.page_url import Place
from dedup_filter.text.reading import Html
from dedup_filter.workers import Pool, Reading, those_read

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack

_AHEAD = 16
"""Pages for each worker that are read before they are judged, if the first of them takes long."""


class PageArguments(TypedDict, total=False):
    """The arguments of `NearDuplicateFilter.see` that hold a page."""

    html: Html | None
    text: str | None
    content_type: str | None
    link: str | None
    title: str | None


class NearDuplicateFilter:
    """Judge, for each page, whether it repeats a page that was seen before.

    >>> with NearDuplicateFilter.open() as pages:
    ...     text = "A crawler that meets the same article again has no need of it. " * 8
    ...     pages.see("https://example.com/a", text=text).outcome
    ...     pages.see("https://example.org/b", text=text.upper()).original
    'new'
    'https://example.com/a'

    Raises:
        TypeError: by all methods: an argument has a wrong type.
        StoreError: by all methods: the index cannot be read or written. The page is not judged;
            what was committed before stays in memory, and the next write takes it.
        DedupError: by all methods except counts: the filter is closed.
    """

    def __init__(
        self,
        config: FilterConfig | None = None,
        location: str | os.PathLike[str] = MEMORY,
        *,
        crawl: str | None = None,
        with_text: bool = False,
    ) -> None:
        if crawl is not None and (not isinstance(crawl, str) or not crawl):
            raise ConfigError(f"crawl must be the name of a crawl, or None, not {crawl!r}")
        self.config = config or FilterConfig()
        self.conductor = _opened(location, self.config, crawl, with_text=with_text)
        self.pool = Pool(self.config)
        self._is_closed = False

    @classmethod
    def open(
        cls,
        location: str | os.PathLike[str] = MEMORY,
        *,
        crawl: str | None = None,
        with_text: bool = False,
        **options: "Unpack[FilterOptions]",
    ) -> "Self":
        """Open the index at a location; the options are the fields of `FilterConfig`.

        "memory:" is an index that ends with this filter. A path names a directory, which is created
        if there is none. Any number of processes can share an index on a server or a cluster;
        rediss:// and rediss+cluster:// encrypt the connection:

            redis://[user:password@]host[:port][/database][?name=NAME]
            redis+cluster://[user:password@]host:port[,host:port ...][?name=NAME]

        Every opening begins a new crawl, unless `crawl` names a crawl to resume. A page that
        repeats a page of the same crawl is a duplicate. A page that comes again at its URL of an
        earlier crawl is a revisit. Processes that share an index at the same time are in one
        crawl; a process that resumes a crawl stays in that crawl.

        With `with_text`, verdicts have the clean text of their pages (`Verdict.text`): 0.1 ms a
        page.

        Raises:
            ConfigError: an option is unknown or out of range, the location is not valid or holds
                something else, or other processes share the index with another `scope`.
            StoreBusy: another process has opened the directory.
            SchemeMismatch: the fingerprints in the index were made with other options.
            StoreAway: the server cannot be reached, or takes no writes.
            StoreError: the index cannot be read or written, is damaged, or has a newer version.
        """
        config = cls.check_options(location, **options)
        return cls(config, location, crawl=crawl, with_text=with_text)

    @classmethod
    def check_options(
        cls, location: str | os.PathLike[str] = MEMORY, **options: "Unpack[FilterOptions]"
    ) -> FilterConfig:
        """Check options as `open` would, without opening an index; return them.

        Raises:
            ConfigError: an option is unknown or out of range, or the location is not valid. The
                message begins with the name of the argument at fault.
        """
        config = FilterConfig.of(options)
        is_in_directory = folder_of(location) is not None
        if config.keep_text and not is_in_directory:
            raise ConfigError(
                "keep_text is for an index in a directory; with another location it must be False"
            )
        return config

    def see(
        self,
        url: str,
        *,
        html: Html | None = None,
        text: str | None = None,
        content_type: str | None = None,
        link: str | None = None,
        title: str | None = None,
    ) -> Verdict:
        """Judge a page and keep it for good.

        Give either `html` (str, bytes or a parsed tree, which is not changed) or `text`.
        `content_type` and `link` are HTTP headers: `content_type` helps to decode bytes, `link` may
        name a canonical URL. `title` is the headline of a text, or of HTML without a title: on one
        host, pages with different headlines are different pages.

        Frames are learnt for the host in the URL. Pages without a URL ("") are judged as pages of
        one host. If `url` is a key but not a URL, the page has no known host.

        Cost: 3 to 5 ms for a page of 100 KB, a third of it parsing. A shared index adds one to a
        few calls of the server. If the page repeats a pending page of another process, the call
        waits until that page is committed or released: at most 30 s if the process died, else at
        most a minute. `claim` does not wait.

        Writes are grouped: the last pages outlive the process only after `flush` or `close`.
        """
        page = PageText(html, text, content_type, link, title)
        return self.conductor.see(*self._read(url, page))

    def claim(self, url: str, **page: "Unpack[PageArguments]") -> Verdict:
        """Judge a page, given as to `see`, and keep it pending until `commit` or `release`.

        If the page repeats a page that is pending itself, the verdict is valid only once the
        original is committed. If the original is released, claim the page again.
        """
        return self.conductor.claim(*self._read(url, PageText(**page))).verdict

    def judge(self, url: str, **page: "Unpack[PageArguments]") -> Verdict:
        """Return the verdict that `see` would return for a page now; record nothing.

        The page is given as to `see`. `page` of the verdict is None. The original may be a page
        that is still pending. Cost: as `see`.

        >>> with NearDuplicateFilter.open() as pages:
        ...     text = "A crawler that meets the same article again has no need of it. " * 8
        ...     pages.judge("https://example.com/a", text=text).outcome
        ...     pages.see("https://example.com/a", text=text).outcome
        'new'
        'new'
        """
        return self.conductor.judge(*self._read(url, PageText(**page)))

    def find(
        self, url: str = "", *, fingerprint: int | None = None, **page: "Unpack[PageArguments]"
    ) -> list[NearPage]:
        """Return all kept pages within `max_distance` of a page or a fingerprint, nearest first.

        Nothing is recorded or changed. The page is given as to `see`. If the page is too short to
        have a fingerprint, pages with equal content are found. For a page that cannot be judged
        none is found. With `scope` "host", only pages of the URL's host are found.

        Results are not confirmed: `see` may judge the page to be new all the same. On servers only
        pages are found that share the fingerprint, the digest or a phrase.

        >>> with NearDuplicateFilter.open() as pages:
        ...     text = "A crawler that meets the same article again has no need of it. " * 8
        ...     verdict = pages.see("https://example.com/a", text=text)
        ...     [near.url for near in pages.find(text=text.upper())]
        ['https://example.com/a']

        Cost: as `see`, and 30 us for each page found.

        Raises:
            TypeError: not exactly one of html, text and fingerprint is given.
            ValueError: the fingerprint is outside 0..2**64-1.
        """
        if fingerprint is None:
            place, content = self._read(url, PageText(**page))
            if isinstance(content, Unjudged):
                return []
            query = Query.of(place.host, self.conductor.profile(place, content))
        elif page:
            raise TypeError("give a fingerprint or a page, not both")
        else:
            self._check_url(url)
            query = Query(Place.of(url).host, (fingerprint_of(fingerprint),))
        return query.found(self.conductor.find(query), self.config.max_distance)

    def see_many(self, pages: Iterable[Mapping[str, Any]]) -> Iterator[Verdict]:
        """Judge pages in their order, and keep them; workers read the next pages meanwhile.

        Each page is a mapping of the arguments of `see`; its URL may be a `Place`. Up to 16 pages
        for each worker are read ahead of a verdict. If all workers are busy, this process reads,
        too. A shared index is read for up to 32 pages at once, so as many are read ahead at least.

        >>> texts = ["A crawler that meets the same article again has no need of it. " * 8] * 2
        >>> with NearDuplicateFilter.open(workers=2) as pages:
        ...     [v.outcome for v in pages.see_many({"url": "", "text": text} for text in texts)]
        ['new', 'exact']

        After an error, also of `pages`, later pages are not judged; earlier pages are.
        """
        ahead, errors = deque[Reading](), list[Exception]()
        most, is_shared = _AHEAD * self.pool.most, self.conductor.is_shared
        if is_shared:
            most = max(most, MOST_AHEAD)

        def submitted() -> Iterator[Reading]:
            try:
                for page in pages:
                    given = PageText(**{each: page[each] for each in page if each != "url"})
                    yield self.pool.read(given, self._place(page["url"], given), may_help=True)
            except Exception as error:
                errors.append(error)

        for reading in submitted():
            ahead.append(reading)
            while ahead and (len(ahead) > most or (ahead[0].is_done and not is_shared)):
                yield self._see(ahead)
        while ahead:
            yield self._see(ahead)
        if errors:
            raise errors[0]

    def commit(self, verdict: Verdict) -> None:
        """Keep the page of a verdict for good; do nothing if it is not pending.

        The verdict is the object that `claim` returned; that of another filter has no effect. After
        a StoreError the page is still pending.
        """
        if (claim := self._pending(verdict)) is not None:
            self.conductor.commit(claim)

    def release(self, verdict: Verdict) -> None:
        """Forget the page of a verdict, given as to `commit`; do nothing if it is not pending.

        Pages that were judged to repeat it are forgotten, too. A later copy of it is new.
        """
        if (claim := self._pending(verdict)) is not None:
            self.conductor.release(claim)

    def forget(self, url: str) -> int:
        """Forget all pages at a URL in any spelling; return their number.

        Cost: passes over all pages, 0.1 s for a million.
        """
        self._check_url(url)
        return self.conductor.forget(url)

    def flush(self) -> None:
        """Write everything committed so far, so that it outlives this process."""
        self._require_open()
        self.conductor.flush()

    def _read(self, url: str, page: PageText) -> tuple[Place, ReadPage | Unjudged]:
        """Read a page in this process."""
        place = self._place(url, page)
        return place, read_page(page, place, self.config)

    def _see(self, ahead: deque[Reading]) -> Verdict:
        """Judge and take the first of the pages that are read ahead."""
        content = ahead[0].result()
        self._require_open()
        self.conductor.read_ahead(those_read(ahead))
        return self.conductor.see(ahead.popleft().place, content)

    def _check_url(self, url: object) -> None:
        self._require_open()
        if not isinstance(url, str):
            raise TypeError(f"a URL is a str, not {type(url).__name__}")

    def _pending(self, verdict: Verdict) -> Claim | None:
        self._require_open()
        if not isinstance(verdict, Verdict):
            raise TypeError(f"expected a Verdict, not {type(verdict).__name__}")
        claim = self.conductor.pending(verdict.page or 0)
        # A verdict of another filter may have the same number.
        return claim if claim is not None and claim.verdict is verdict else None

    def _require_open(self) -> None:
        if self._is_closed:
            raise DedupError("the filter is closed; open another one")

    def _place(self, url: str | Place, given: PageText) -> Place:
        """Return the place of a page, whose values are checked."""
        if not isinstance(url, Place):
            self._check_url(url)
            url = Place.of(url)
        for name, value in (("link", given.link), ("title", given.title)):
            if not isinstance(value, str | None):
                raise TypeError(f"{name} is a str, not {type(value).__name__}")
        return url

    def __len__(self) -> int:
        """Count the kept pages, pending ones too. On servers this scans all keys."""
        return len(self.conductor)

    @property
    def nbytes(self) -> int:
        """Memory of the index, the page records and the frames, in bytes.

        For an index in a directory, memory of SQLite and of the system's file cache is not counted.
        """
        return self.conductor.nbytes

    def check(self) -> None:
        """Raise AssertionError if index, store and frames are damaged, or do not agree."""
        self.conductor.check()

    def close(self) -> None:
        """Write everything and take no more pages; do nothing if closed already.

        Pages that are still pending are forgotten. If not everything can be written, what was
        flushed before is kept.
        """
        if self._is_closed:
            return
        self._is_closed = True
        self.pool.close()
        self.conductor.close()

    def __enter__(self) -> "Self":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _opened(
    location: str | os.PathLike[str],
    config: FilterConfig,
    crawl: str | None,
    *,
    with_text: bool,
) -> Judge:
    """Open the index at a location, and begin a crawl or join the running one."""
    if isinstance(location, str) and is_address(location):
        process = join_index(location, config, crawl)
        with closed_if_it_fails(process):
            return SharedJudge(config, process, with_text=with_text)
    store = open_store(location, config)
    with closed_if_it_fails(store):
        return Judge(config, store, crawl, noted_options(config), with_text=with_text)
