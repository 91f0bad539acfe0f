"""The pages of a host in their order, with predictions for each -> rows with the results.

    predictions whether the page is dropped; candidates for its original; updates of other hosts of
                its site
    results     the query of the page, its stored versions, and the candidates that it repeats

A host's frame is counted by the filter's own code (`FramedPages`), from the host's pages in their
order. The update of a page depends on whether it is dropped, which depends on pages of all hosts.
So this is predicted, and the host is processed again if a prediction was wrong (`page_verdicts`).

The results are rows of five kinds:

    page       one for each page: digest, query fingerprints; or why it is not judged
    version    the stored fields of a page that later pages find; one more for each new judgement
    examined   a page and a candidate, the page's share in the candidate, the rule that refuses it
    site       the name of a site that the page uses, once for each host
    update     an update of the page to a site

Memory: the frame and the provisional pages of one host, and one batch of rows.
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
from dedup_filter.comparison.look_ups import verdict_on
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
"""Placeholder number of the kept original of a page that is predicted to be dropped."""


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
    """The pages of a host, judged one by one by their predictions."""

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
    """Replaces the index of `FramedPages`: answers with predictions, and records all results.

    It also replaces the exchange with other processes: the other hosts of a site.
    """

    frames = None
    nbytes = 0

    def __init__(self, config: FilterConfig) -> None:
        self.exchange = self
        self.gone: list[int] = []
        self.told: list[dict[str, Any]] = []
        """Result rows of the current page."""
        self._config = config
        self._row: dict[str, Any] = {}
        self._host = ""
        self._updates: defaultdict[str, deque[tuple[int, FrameUpdate]]] = defaultdict(deque)
        """Site -> number and update of pages of other hosts, ascending."""
        self._sites: set[str] = set()
        """Sites that the host uses."""

    def begin(self, row: dict[str, Any]) -> None:
        """Start the next page, with its predictions."""
        self.told, self._row = [], row
        for each in row["updates"] or ():
            update = FrameUpdate.from_bytes(each["update"])
            self._updates[each["site"]].append((each["page"], update))

    def tell_page(self, **measures: Any) -> None:
        """Add the row "page" with the measures of the current page."""
        self._tell("page", was_dropped=self._row["is_dropped"], **measures)

    # The methods of an index that `FramedPages` uses.

    def compare(self, place: Place, page: PageProfile) -> Verdict:
        """Compare a page with its candidates; return the predicted verdict."""
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
        """Return that an original is kept."""
        return "kept"

    def record(self, _: Place, __: PageProfile, found: Verdict, *___: Any, **____: Any) -> Verdict:
        """Give a kept page its number."""
        return found if found.original_page else found._replace(page=self._row["page"])

    def replace(self, number: int, page: PageProfile, _: str | None = None) -> None:
        """Add the new version of an earlier page, which later pages find."""
        self._tell_version(number, page)

    # The methods of an exchange that it uses.

    def received(self, name: str) -> list[FrameUpdate]:
        """Return the updates of earlier pages of other hosts to a site since the last call."""
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
        """Record the update of the current page to a site."""
        if name.startswith(SITE):
            self._tell("update", site=name, update=update.to_bytes())

    def forget(self, name: str) -> None:
        """Do nothing: rows that were added stay."""

    def _examine(self, place: Place, page: PageProfile) -> None:
        least, asked = self._config.min_similarity, {}
        for each in self._row["candidates"] or ():
            number, stored = each["text"], each["fingerprint"]
            # If the page has other texts this time, it has other candidates.
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
        headline = json.dumps(page.headline)  # escapes unpaired surrogates: Arrow refuses them
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
