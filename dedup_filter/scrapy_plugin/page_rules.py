"""DEDUP_RULES and `meta["dedup"]` -> how a page is judged, and what becomes of its items.

    settings          what follows does not name
    DEDUP_RULES       the first rule that fits the URL of the page
    meta["dedup"]     of the request of the page; False is {"judge": False}

Each names some of the options `KEYS`; a later line beats an earlier one, key by key. Rules are
checked before the crawl. A value in `meta` can only be checked when its page comes: a wrong one is
a fault of that page.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from dedup_filter.config import FLAGS, PAGE_OPTIONS, FilterConfig, option_in, require_known
from dedup_filter.errors import ConfigError
from dedup_filter.text.url_pattern import UrlPattern
from dedup_filter.wording import printable

_OWN: Mapping[str, tuple[Mapping[str, Any], str]] = {
    "judge": (FLAGS, "True or False"),
    "action": ({"drop": "drop", "tag": "tag"}, '"drop" or "tag"'),
}
"""The values of the keys that are no options of the filter, and their description."""
KEYS = (*_OWN, *PAGE_OPTIONS)
_LONGEST_SHOWN = 60


class Treatment(NamedTuple):
    """How a page is judged, and what becomes of its items."""

    config: FilterConfig
    """The options of the filter."""
    action: str
    """"drop" or "tag"."""
    judge: bool = True
    """False: the page is neither judged nor remembered."""
    fault: ConfigError | None = None
    """What is wrong in the `meta` of its request: the page cannot be judged."""


class PageRules:
    """The rules of one crawl, as they were given.

    Raises:
        ConfigError: a rule is wrong. The message has its number, from 1 on.
    """

    def __init__(self, config: FilterConfig, action: str, given: Sequence[object] = ()) -> None:
        self.default = Treatment(config, action)
        """How a page is judged that no rule fits, and no request says otherwise."""
        self._rules = [self._rule(number, rule) for number, rule in enumerate(given, 1)]

    def treatment(self, url: str, meta: object = None) -> Treatment:
        """Return how the page at a URL is judged; `meta`: `meta["dedup"]` of its request.

        Cost: 4 us a rule, 60 us if `meta` has options.
        """
        found = next((each for pattern, each in self._rules if pattern.fits(url)), self.default)
        if meta is None:
            return found
        try:
            return _changed(found, {"judge": meta} if isinstance(meta, bool) else meta)
        except ConfigError as error:
            return found._replace(fault=ConfigError(f'meta["dedup"] of {url}: {error}'))

    def _rule(self, number: int, given: object) -> tuple[UrlPattern, Treatment]:
        try:
            pattern, options = _parts(given)
            return pattern, _changed(self.default, options)
        except ConfigError as error:
            raise ConfigError(f"DEDUP_RULES: rule {number}: {error}") from None


def _parts(given: object) -> tuple[UrlPattern, Mapping[str, Any]]:
    """Return the pages and the options of a rule."""
    if not isinstance(given, Mapping) or "match" not in given:
        raise ConfigError(f'it must be a dict with "match", not {_shown(given)}')
    options = {name: value for name, value in given.items() if name != "match"}
    if not options:
        raise ConfigError(f"it has no key besides match: there are {', '.join(KEYS)}")
    return UrlPattern.read(given["match"]), options


def _changed(treatment: Treatment, given: object) -> Treatment:
    """Return a treatment with the options of a rule or a request."""
    if not isinstance(given, Mapping):
        raise ConfigError(
            f'it must be False, or a dict like {{"action": "tag"}}, not {_shown(given)}'
        )
    require_known("key", map(str, given), KEYS)
    own = {name: _own(name, value) for name, value in given.items() if name in _OWN}
    of_filter = {name: option_in(name, value) for name, value in given.items() if name not in _OWN}
    config = replace(treatment.config, **of_filter) if of_filter else treatment.config
    return treatment._replace(config=config, **own)


def _own(name: str, value: object) -> Any:
    values, meant = _OWN[name]
    if str(value).lower() not in values:
        raise ConfigError(f"{name} must be {meant}, not {_shown(value)}")
    return values[str(value).lower()]


def _shown(value: object) -> str:
    return printable(repr(value), _LONGEST_SHOWN)
