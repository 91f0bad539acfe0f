"""Scrapy settings -> one frozen value, checked before the crawl begins.

Values may be strings, as given by `-s NAME=VALUE`. Each option of the filter is a setting, too:
DEDUP_ and its name in capitals. docs/settings.md describes each setting.
"""

import logging
import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from scrapy.settings import BaseSettings

from dedup_filter.config import FLAGS, FilterConfig, json_in, option_in, require_known
from dedup_filter.errors import ConfigError
from dedup_filter.filter import NearDuplicateFilter
from dedup_filter.scrapy_plugin.page_rules import PageRules
from dedup_filter.store.location import MEMORY, folder_of
from dedup_filter.text.page_fields import FieldNames


def _text(value: Any) -> str:
    text = os.fspath(value)
    if not isinstance(text, str) or not text.strip():
        raise ValueError
    return text.strip()


def _one_of(*choices: str) -> tuple[str, Callable[[Any], str]]:
    by_text = {choice: choice for choice in choices}
    meant = " or ".join(f'"{choice}"' for choice in choices)
    return meant, lambda value: by_text[str(value).lower()]


def _flag(value: Any) -> bool:
    return FLAGS[str(value).lower()]


def _log_level(value: Any) -> int:
    if isinstance(value, str):
        value = int(value) if value.isdecimal() else value.upper()
    return logging.Logger("", value).level  # raises an error for an unknown level


def _share(value: Any) -> float:
    share = float(value)
    if not 0 <= share <= 1:
        raise ValueError
    return share


def _text_or_none(value: Any) -> str | None:
    return None if str(value).lower() in ("", "none") else _text(value)


def _field_names(value: Any) -> tuple[str, ...]:
    names = value.split(",") if isinstance(value, str) else value
    if not isinstance(names, list | tuple) or not all(isinstance(each, str) for each in names):
        raise TypeError
    return (
        ()
        if str(value).lower() == "none"
        else tuple(each.strip() for each in names if each.strip())
    )


def _rules(value: Any) -> tuple[Any, ...]:
    rules = json_in("DEDUP_RULES", value) if isinstance(value, str) else value
    if not isinstance(rules, list | tuple):
        raise TypeError
    return tuple(rules)  # `PageRules` checks each


def _setting(default: Any, meant: str, read: Callable[[Any], Any], *, is_shown: bool = True) -> Any:
    return field(default=default, repr=is_shown, metadata={"meant": meant, "read": read})


@dataclass(frozen=True)
class PluginSettings:
    """The settings of one crawl; `read` raises ConfigError for wrong values."""

    enabled: bool = _setting(True, "True or False", _flag)
    # Not shown: it may hold a password.
    index: str = _setting("memory:", "a non-empty string", _text, is_shown=False)
    action: str = _setting("drop", *_one_of("drop", "tag"))
    rules: tuple[Any, ...] = _setting((), "a list of rules, each a dict", _rules)
    text_out: str | None = _setting(None, "the name of an item field", _text_or_none)
    tag_field: str = _setting("dedup", "a non-empty string", _text)
    html_field: str | None = _setting(None, "the name of an item field", _text_or_none)
    text_fields: tuple[str, ...] = _setting((), "a list of item fields", _field_names)
    url_field: str | None = _setting(None, "the name of an item field", _text_or_none)
    title_field: str | None = _setting(None, "the name of an item field", _text_or_none)
    source: str = _setting("auto", *_one_of("auto", "item", "response"))
    follow_links: bool = _setting(True, "True or False", _flag)
    duplicates: str | None = _setting(None, "the path of a file", _text_or_none)
    report: str | None = _setting(None, "the path of a file", _text_or_none)
    url_rules: str = _setting("off", *_one_of("off", "learn", "apply"))
    url_rules_file: str | None = _setting(None, "the path of a file", _text_or_none)
    url_audit: float = _setting(0.02, "a number from 0 to 1", _share)
    on_error: str = _setting("keep", *_one_of("keep", "close"))
    log_level: int = _setting(
        logging.INFO, 'a level such as "DEBUG", "INFO" or "WARNING"', _log_level
    )
    options: Mapping[str, Any] = field(default_factory=dict)
    """The options of the filter that are set."""

    @classmethod
    def read(cls, settings: BaseSettings) -> "PluginSettings":
        """Read and check all DEDUP_ settings; only DEDUP_ENABLED if that is False."""
        if not _own("DEDUP_ENABLED", settings.get("DEDUP_ENABLED", True)):
            return cls(enabled=False)
        _require_capitals(settings)
        require_known("setting", _without_prefix(settings), _without_prefix(SETTINGS), "DEDUP_")
        own: dict[str, Any] = {}
        if job_folder := str(settings.get("JOBDIR") or ""):
            own["index"] = str(Path(job_folder, "dedup_index").absolute())
        for name, setting in _OWN.items():
            if settings.get(name) is not None:
                own[setting.name] = _own(name, settings.get(name))
        try:  # the filter checks its own options
            options = {
                option.name: option_in(option.name, settings[name])
                for name, option in _OPTIONS.items()
                if name in settings
            }
            plugin = cls(**own, options=options)
            config = NearDuplicateFilter.check_options(plugin.index, **plugin.options)
        except ConfigError as error:
            raise ConfigError(in_settings(str(error))) from None
        plugin.page_rules(config)
        _check_together(plugin)
        return plugin

    def page_rules(self, config: FilterConfig) -> PageRules:
        """Return the rules for single pages, beside the options of the filter."""
        return PageRules(config, self.action, self.rules)

    @property
    def field_names(self) -> FieldNames:
        """The item fields that are named for the page, its URL and its headline."""
        return FieldNames(self.html_field, self.text_fields, self.url_field, title=self.title_field)


_OWN = {f"DEDUP_{own.name.upper()}": own for own in fields(PluginSettings) if own.metadata}
_OPTIONS = {f"DEDUP_{option.name.upper()}": option for option in fields(FilterConfig)}
SETTINGS = (*_OWN, *_OPTIONS)
"""Every setting."""
_SETTING_OF = {"location": "DEDUP_INDEX", **{each.name: name for name, each in _OPTIONS.items()}}
"""The setting for each argument of `NearDuplicateFilter.open`."""
_ARGUMENT = re.compile(rf"^({'|'.join(_SETTING_OF)})\b|\b({'|'.join(_SETTING_OF)})(?==)")


def _check_together(plugin: PluginSettings) -> None:
    """Raise ConfigError if settings exclude one another."""
    names_page = plugin.field_names.name_page
    if not plugin.follow_links and (plugin.source == "item" or names_page):
        raise ConfigError(
            "DEDUP_FOLLOW_LINKS=False needs the verdict on the response, before its items are "
            'known: it cannot be combined with DEDUP_SOURCE="item", DEDUP_HTML_FIELD or '
            "DEDUP_TEXT_FIELDS"
        )
    if plugin.title_field is not None and not names_page:
        raise ConfigError(
            "DEDUP_TITLE_FIELD is for items that are judged by their own fields: set "
            "DEDUP_TEXT_FIELDS or DEDUP_HTML_FIELD, too"
        )
    if plugin.url_rules == "apply" and plugin.action == "tag":
        raise ConfigError(
            'DEDUP_URL_RULES="apply" saves requests whose items would be dropped, but '
            'DEDUP_ACTION="tag" drops no items: set "learn", which only counts the requests'
        )
    needs = (
        ("REPORT", plugin.report is not None, "records dropped pages"),
        ("URL_RULES", plugin.url_rules != "off", "records dropped pages"),
        ("REVISIT", plugin.options.get("revisit") == "drop", "outlives the crawl"),
        ("CHANGES", plugin.options.get("changes"), "outlives the crawl"),
    )
    for name, is_set, what in needs:
        if is_set and plugin.index == MEMORY:
            raise ConfigError(
                f"DEDUP_{name} needs an index that {what}: set DEDUP_INDEX to the path of a "
                "folder, or to redis://..."
            )
    has_file = plugin.url_rules_file is not None or folder_of(plugin.index) is not None
    if plugin.url_rules != "off" and not has_file:
        raise ConfigError(
            "DEDUP_URL_RULES needs a file for the rules, as DEDUP_INDEX is no folder: set "
            "DEDUP_URL_RULES_FILE to its path"
        )


def in_settings(message: str) -> str:
    """Replace the filter's arguments in a message by their settings."""
    return _ARGUMENT.sub(lambda found: _SETTING_OF[found[0]], message)


def _without_prefix(names: Iterable[Any]) -> list[str]:
    given = [name for name in names if isinstance(name, str) and name.startswith("DEDUP_")]
    return [name.removeprefix("DEDUP_") for name in given]


def _require_capitals(names: Iterable[Any]) -> None:
    """Raise ConfigError for a setting in small letters, which nothing would read."""
    for name in names:
        if isinstance(name, str) and name not in SETTINGS and name.upper() in SETTINGS:
            raise ConfigError(f"unknown setting {name}: did you mean {name.upper()}?")


def _own(name: str, value: Any) -> Any:
    how = _OWN[name].metadata
    try:
        return how["read"](value)
    except ConfigError:
        raise
    except (LookupError, TypeError, ValueError):
        raise ConfigError(f"{name} must be {how['meant']}, not {value!r}") from None
