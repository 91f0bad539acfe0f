"""The pages of a host in their order, and what is foretold of each -> what judging them tells.

    foretold    whether the page is dropped; candidates for its original; what other hosts of its
                site have shown
    told        what the page asks for, what later pages find of it, and which candidates it repeats

A host's frame is counted by the filter's own code (`FramedPages`), from the host's pages in their
order. What a page adds depends on whether it is dropped, and that depends on pages of all hosts:
so it is foretold, and the host is passed again where it was foretold wrongly (`page_verdicts`).

Told are rows of five kinds:

    page       one for each page: digest, fingerprints that it asks for; or why it is not judged
    version    what later pages find of a page; another one for each time that it was judged again
    examined   a page and a candidate, the share that this one has, the rule that is not met
    site       the name of a site that the page asked about, once for each host
    update     what the page added to a site

Memory: the frame and the early pages of one host, and one batch of rows.
"""

import json
from collections import defaultdict, deque
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, cast

import pyarrow as pa
import xxhash
from pyspark.sql.types import ArrayType, LongType, StructType

from dedup_filter.comparison.candidates import Candidate, relation
from dedup_filter.comparison.original import verdict_on
from dedup_filter.comparison.rule import examined
from dedup_filter.config import FilterConfig
from dedup_filter.fingerprints.profile import EQUAL_DIGEST, PageProfile, are_equal
from dedup_filter.fingerprints.read_page import ReadPage, Source
from dedup_filter.frames.host_frames import SITE, FrameUpdate
from dedup_filter.judging import FramedPages
from dedup_filter.model import Fate, Unjudged, Verdict
from dedup_filter.spark.plans import arrow_schema
from dedup_filter.store.sqlite.page_reader import MASK, signed
from dedup_filter.text.headlines import Headline
from dedup_filter.text.page_fields import PageText
from dedup_filter.text.page_url import Place

if TYPE_CHECKING:
    from pyspark.sql.pandas._typing import ArrowMapIterFunction

    from dedup_filter.store.protocol import KeptPages

TOLD = (
    StructType()
    .add("kind", "string")
    .add("group", "string")
    .add("page", "long")
    .add("host", "string")
    # page
    .add("reason", "string")
    .add("language", "string")
    .add("equal_digest", "binary")
    .add("texts", ArrayType(LongType()))
    .add("counts", "boolean")
    .add("was_dropped", "boolean")
    # version
    .add("version", "long")
    .add("since", "long")
    .add("fingerprint", "long")
    .add("digest", "binary")
    .add("sketch", "binary")
    .add("headline", "string")
    # examined, with `version`
    .add("other", "long")
    .add("text", "integer")
    .add("distance", "integer")
    .add("share", "double")
    .add("rule", "string")
    .add("is_exact", "boolean")
    # site, update
    .add("site", "string")
    .add("update", "binary")
)

_AN_ORIGINAL = 1
"""The number of the original of a page that is foretold to be dropped: it is kept, whichever."""


def passer(config: FilterConfig) -> "ArrowMapIterFunction":
    """Return a function for `mapInArrow`: pages sorted by group and number -> `TOLD`."""

    def judge(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        schema, group = arrow_schema(TOLD), _Group("", config)
        for batch in batches:
            told = []
            for row in batch.to_pylist():
                if row["group"] != group.name:
                    group = _Group(row["group"], config)
                told += group.judge(row)
            yield pa.RecordBatch.from_pylist(told, schema)

    return judge


class _Group:
    """The pages of a host, judged one by one as foretold."""

    def __init__(self, name: str, config: FilterConfig) -> None:
        self.name = name
        self._config = config
        self._kept = ForetoldPages(config)
        self._framed = FramedPages(config, cast("KeptPages", self._kept))

    def judge(self, row: dict[str, Any]) -> list[dict[str, Any]]:
        place, kept = Place.of(row["url"]), self._kept
        kept.begin(row)
        content = self._content(row)
        if isinstance(content, Unjudged):
            kept.tell_page(reason=content.reason)
        else:
            self._framed.claim(place, content, is_pending=False)
        at = {"group": self.name, "host": place.host}
        return [at | each for each in kept.told]

    def _content(self, row: dict[str, Any]) -> ReadPage | Unjudged:
        if row["is_html"]:
            return ReadPage.unpacked(row["form"], self._config)
        text = PageText(text=row["form"].decode(), title=row["title"])
        return Source(text).read(self._config)


class ForetoldPages:
    """Stands for the index of `FramedPages`: answers what is foretold, and takes note of all.

    It stands for the exchange with other processes, too: these are the other hosts of a site.
    """

    frames = None
    nbytes = 0

    def __init__(self, config: FilterConfig) -> None:
        self.exchange = self
        self.gone: list[int] = []
        self.told: list[dict[str, Any]] = []
        """What the present page tells."""
        self._config = config
        self._row: dict[str, Any] = {}
        self._host = ""
        self._updates: defaultdict[str, deque[tuple[int, FrameUpdate]]] = defaultdict(deque)
        """By site, what pages of other hosts added, by their numbers, ascending."""
        self._sites: set[str] = set()
        """Those asked about."""

    def begin(self, row: dict[str, Any]) -> None:
        """Take the next page, and what is foretold of it."""
        self.told, self._row = [], row
        for each in row["updates"] or ():
            update = FrameUpdate.from_bytes(each["update"])
            self._updates[each["site"]].append((each["page"], update))

    def tell_page(self, **measures: Any) -> None:
        """Tell what was measured of the present page."""
        self._tell("page", was_dropped=self._row["is_dropped"], **measures)

    # What `FramedPages` asks of an index.

    def compare(self, place: Place, page: PageProfile) -> Verdict:
        """Compare a page with its candidates; say of it what is foretold."""
        self._host = place.host
        if page.is_blank:
            self.tell_page(reason="no_text", language=page.language)
            return verdict_on(page, "unjudged", "no_text")
        self.tell_page(
            reason=None if page.texts else page.reason,
            language=page.language,
            equal_digest=page.digest[EQUAL_DIGEST],
            texts=[signed(text.fingerprint) for text in page.texts],
            counts=not page.was_shown,
        )
        self._tell_version(self._row["page"], page)
        self._examine(place, page)
        if self._row["is_dropped"]:
            return verdict_on(page, "near")._replace(original_page=_AN_ORIGINAL)
        return verdict_on(page, "new")

    def transaction(self) -> AbstractContextManager[None]:
        """Do nothing: there is nothing to take back."""
        return nullcontext()

    def fate(self, _: int) -> Fate:
        """Tell that an original is kept."""
        return "kept"

    def record(self, _: Place, __: PageProfile, found: Verdict, *___: Any, **____: Any) -> Verdict:
        """Give a page that is kept its number."""
        return found if found.original_page else found._replace(page=self._row["page"])

    def replace(self, number: int, page: PageProfile, _: str | None = None) -> None:
        """Tell what an earlier page is found by from now on."""
        self._tell_version(number, page)

    # What it asks of an exchange.

    def received(self, name: str) -> list[FrameUpdate]:
        """Return what earlier pages of other hosts added to a site since the last call."""
        if not name.startswith(SITE):
            return []
        if name not in self._sites:
            self._sites.add(name)
            self._tell("site", site=name)
        known, earlier = self._updates[name], []
        while known and known[0][0] < self._row["page"]:
            earlier.append(known.popleft()[1])
        return earlier

    def send(self, name: str, update: FrameUpdate) -> None:
        """Take note of what the present page adds to a site."""
        if name.startswith(SITE):
            self._tell("update", site=name, update=update.to_bytes())

    def forget(self, name: str) -> None:
        """Do nothing: what was told is told."""

    def _examine(self, place: Place, page: PageProfile) -> None:
        least, asked = self._config.min_similarity, {}
        for each in self._row["candidates"] or ():
            number, stored = each["text"], each["fingerprint"]
            # Of a page that was measured otherwise this time, the candidates are others.
            if number < len(page.texts):
                differing = signed(page.texts[number].fingerprint) ^ stored
                distance = (differing & MASK).bit_count()
                if distance <= self._config.max_distance:
                    asked[each["page"]] = each, distance
        candidates = [
            Candidate(
                each["text"],
                distance,
                *relation(page, place.host, each["host"]),
                each["sketch"],
                Headline(*json.loads(each["headline"])),
                page=each["page"],
                digest=each["digest"],
            )
            for each, distance in asked.values()
        ]
        most = self._config.max_missing
        for candidate, share, refusal in examined(page, candidates, least, most):
            self._tell(
                "examined",
                other=candidate.page,
                version=asked[candidate.page][0]["version"],
                text=candidate.text,
                distance=candidate.distance,
                share=share,
                rule=refusal and refusal.rule,
                is_exact=are_equal(page.digest, candidate.digest),
            )

    def _tell_version(self, number: int, page: PageProfile) -> None:
        if page.fingerprint is None:
            return
        since, fingerprint = self._row["page"], signed(page.fingerprint)
        headline = json.dumps(page.headline)  # also half a surrogate, which Arrow has no form for
        all_of_it = f"{number} {since} {fingerprint} {headline} ".encode()
        all_of_it += page.digest + page.sketch
        self._tell(
            "version",
            page=number,
            version=signed(xxhash.xxh3_64_intdigest(all_of_it)),
            since=since,
            fingerprint=fingerprint,
            digest=page.digest,
            sketch=page.sketch,
            headline=headline,
        )

    def _tell(self, kind: str, **what: Any) -> None:
        self.told.append({"kind": kind, "page": self._row["page"], **what})
