"""The kept pages of an index, settings -> what each setting would drop more or less than now.

The pages are judged in the order in which they were recorded, once with the options of the last
crawl ("now"), and once with each setting, into indexes in temporary folders. So two verdicts on a
page differ by the setting alone. The index is only read, at one moment; a crawl may go on.

Exact: a crawl with these options gives the same verdicts on the same pages in the same order, if
each page is committed before the next one comes. This needs the stored blocks of each page
(`keep_text`). Pages that were released or forgotten have no record and are left out. If a later
crawl has revisited a page, only its last version is stored; it is judged in its first place.

Cost: a page of 110 KB takes 3 ms to unpack; and for each setting 2 to 5 ms to judge, and 0.5 ms for
each 1,000 words.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, fields
from itertools import groupby, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal, NamedTuple, get_args

from dedup_filter.config import FilterConfig
from dedup_filter.errors import ConfigError, StoreCorrupt
from dedup_filter.fingerprints.read_page import ReadPage
from dedup_filter.judge import Judge
from dedup_filter.model import Verdict
from dedup_filter.review.recorded_pages import kept_page
from dedup_filter.store.location import scheme_of
from dedup_filter.store.protocol import Recorded
from dedup_filter.store.records import PageRecord
from dedup_filter.store.sqlite_store import SqliteStore
from dedup_filter.upkeep.results import Watch, options_of

DISTANCES = (3, 6, 9, 12)
SIMILARITIES = (0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95)
"""Values that are tried if no setting is given, one option at a time."""
_REFUSED = {
    "it changes no verdict": ("keep_text", "workers", "changes", "revisit"),
    "pages were kept without what it left out then": ("ignore", "content"),
    "the bytes of documents are not kept": ("payloads", "read_pdf"),
    "pages beyond that bound are not recorded": ("same_template", "max_pages", "expire_days"),
}
"""Why options are refused."""

Kind = Literal["newly_dropped", "newly_kept", "other_original"]
KINDS: tuple[Kind, ...] = get_args(Kind)
"""The change of a verdict; other original: the page is dropped for another page than now."""


class Change(NamedTuple):
    """Another verdict on a page."""

    url: str
    kind: Kind
    before: Verdict
    after: Verdict


@dataclass
class Effect:
    """What a setting changes."""

    options: Mapping[str, Any]
    """The options that differ from now; for "now" itself all that are known of the last crawl."""
    dropped: int = 0
    changed: Counter[Kind] = field(default_factory=Counter)
    examples: list[Change] = field(default_factory=list)
    """The first changes of each kind."""

    def add(self, url: str, before: Verdict, after: Verdict, most: int | None) -> None:
        """Count a page; keep the first `most` changes of each kind, all for None."""
        self.dropped += after.is_duplicate
        kind: Kind = "other_original"
        if before.is_duplicate != after.is_duplicate:
            kind = "newly_dropped" if after.is_duplicate else "newly_kept"
        elif not after.is_duplicate or before.original == after.original:
            return
        self.changed[kind] += 1
        if most is None or self.changed[kind] <= most:
            self.examples.append(Change(url, kind, before, after))


def configs_of(
    recorded: Recorded, settings: Sequence[Mapping[str, Any]] = ()
) -> list[FilterConfig]:
    """Return the options of the last crawl, then the options of each setting.

    Without settings, common values of `max_distance` and `min_similarity` are tried.

    Raises:
        ConfigError: an option is wrong, or has no effect on verdicts.
    """
    noted = options_of(recorded)
    now = FilterConfig.of(noted)
    usual: list[Mapping[str, Any]] = [
        *({"max_distance": each} for each in DISTANCES if each != now.max_distance),
        *({"min_similarity": each} for each in SIMILARITIES if each != now.min_similarity),
    ]
    return [now, *(_config(noted, each) for each in settings or usual)]


def sweep(
    recorded: SqliteStore,
    settings: Sequence[Mapping[str, Any]],
    watch: Watch,
    *,
    most: int | None = None,
    hosts: Sequence[str] = (),
    examples: int | None = None,
) -> list[Effect]:
    """Return the effects of "now" and of each setting on the first `most` pages of some hosts.

    Pages whose text was not kept are left out.

    `examples`: most changes of each kind that are returned for a setting; None: all.

    Raises:
        ConfigError: as `configs_of`; or pages were not kept, or there are none.
        StoreCorrupt, StoreError: as `replayed`.
    """
    configs, there = configs_of(recorded, settings), recorded.with_text()
    if not there:
        raise ConfigError(
            f"{recorded} has not kept the text of its pages, and settings are tried on kept pages: "
            "crawl with DEDUP_KEEP_TEXT=True into a new index, or scan a feed or WARC file with "
            "--index NEW --set keep_text=True"
        )
    records = (each for each in recorded.records() if each.page in there)
    of_hosts = (each.page for each in records if not hosts or each.host in hosts)
    pages = list(islice(of_hosts, most))
    if not pages:
        raise ConfigError(f"{recorded} has no page of {', '.join(hosts) or 'any host'}")
    now, *others = configs
    bounds = {name: getattr(now, name) for name in ("max_distance", "min_similarity")}
    effects = [Effect(bounds | options_of(recorded)), *(Effect(_differing(now, c)) for c in others)]
    with watch(recorded.records(pages), len(pages)) as watched:
        for record, verdicts in replayed(recorded, watched, configs):
            for effect, verdict in zip(effects, verdicts, strict=True):
                effect.add(record.url, verdicts[0], verdict, examples)
    return effects


def replayed(
    recorded: Recorded, records: Iterable[PageRecord], configs: Sequence[FilterConfig]
) -> Iterator[tuple[PageRecord, list[Verdict]]]:
    """Yield each record with the verdicts on its page, one for each set of options.

    Raises:
        StoreCorrupt: a page was not kept, or cannot be read.
        StoreError: a temporary folder cannot be written.
    """
    with TemporaryDirectory(prefix="dedup-filter-") as folder:
        for crawl, of_crawl in groupby(records, key=lambda record: record.first_crawl):
            with ExitStack() as opened:
                judges = []
                for number, config in enumerate(configs):
                    store = SqliteStore.open(Path(folder, str(number)), scheme_of(config))
                    opened.callback(store.close)
                    judges.append(Judge(config, store, f"crawl {crawl}"))
                    opened.callback(judges[-1].close)
                for record in of_crawl:
                    content = kept_page(record, recorded.content(record))
                    if content is None:
                        raise StoreCorrupt(
                            f"{recorded}: page {record.page} cannot be judged again: its blocks "
                            "were not kept, or by another version of dedup-filter: crawl with "
                            "DEDUP_KEEP_TEXT=True into a new index"
                        )
                    verdicts = [
                        judge.see(record.place, ReadPage.of(content, config))
                        for config, judge in zip(configs, judges, strict=True)
                    ]
                    yield record, verdicts


def _config(recorded: Mapping[str, Any], options: Mapping[str, Any]) -> FilterConfig:
    for why, names in _REFUSED.items():
        if refused := sorted({*names} & options.keys()):
            raise ConfigError(f"{refused[0]} cannot be judged by: {why}")
    config = FilterConfig.of({**recorded, **options})
    if config.part_weights.image and not FilterConfig.of(recorded).part_weights.image:
        raise ConfigError("image_weight was 0, so the images of the pages were not kept")
    return config


def _differing(now: FilterConfig, config: FilterConfig) -> dict[str, Any]:
    values = ((each.name, getattr(config, each.name)) for each in fields(config))
    return {name: value for name, value in values if value != getattr(now, name)}
