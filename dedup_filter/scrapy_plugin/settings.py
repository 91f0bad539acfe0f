"""Scrapy settings -> one frozen value, checked before the crawl begins.

Values may be strings, as `-s NAME=VALUE` gives them. Each option of the filter is a setting
too: DEDUP_ and its name in capitals. docs/settings.md tells what each means.
"""

import logging
import os
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args, get_type_hints

from dedup_filter.config import FilterConfig
from dedup_filter.errors import ConfigError
from dedup_filter.filter import NearDuplicateFilter
from dedup_filter.text.page_fields import FieldNames

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

__all__ = ["SETTINGS", "PluginSettings", "in_settings", "is_enabled"]


def _word(name: str, value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ConfigError(f"{name} must be a text, not {value!r}")
    return value.strip()


def _choice(*choices: str) -> Callable[[str, Any], str]:
    def chosen(name: str, value: Any) -> str:
        value = value.lower() if isinstance(value, str) else value
        if value not in choices:
            known = " or ".join(f'"{choice}"' for choice in choices)
            raise ConfigError(f"{name} must be {known}, not {value!r}")
        return str(value)

    return chosen


def _flag(name: str, value: Any) -> bool:
    try:
        return _FLAGS[str(value).lower()]
    except KeyError:
        raise ConfigError(f"{name} must be True or False, not {value!r}") from None


def _log_level(name: str, value: Any) -> int:
    level = value
    if isinstance(value, str):
        level = int(value) if value.isdecimal() else logging.getLevelName(value.upper())
    if isinstance(level, bool) or not isinstance(level, int):
        raise ConfigError(
            f'{name} must be a level such as "DEBUG", "INFO" or "WARNING", not {value!r}'
        )
    return level


def _field_name(name: str, value: Any) -> str | None:
    if not isinstance(value, str):
        raise ConfigError(f"{name} must be the name of an item field, not {value!r}")
    return None if value in ("", "None") else value.strip()


def _field_names(name: str, value: Any) -> tuple[str, ...]:
    names = value.split(",") if isinstance(value, str) else value
    if not isinstance(names, list | tuple) or not all(isinstance(each, str) for each in names):
        raise ConfigError(f"{name} must be a list of item fields, not {value!r}")
    return () if value == "None" else tuple(each.strip() for each in names if each.strip())


_FLAGS = {"true": True, "1": True, "false": False, "0": False}
_FROM_TEXT: Mapping[Any, Callable[[str], Any]] = {
    bool: lambda text: _FLAGS[text.lower()],
    int: int,
    float: float,
    type(None): lambda text: {"none": None}[text.lower()],
}
_OWN: Mapping[str, Callable[[str, Any], Any]] = {
    "DEDUP_ENABLED": _flag,
    "DEDUP_INDEX": lambda name, place: (
        os.fsdecode(place) if isinstance(place, os.PathLike) else _word(name, place)
    ),
    "DEDUP_ACTION": _choice("drop", "tag"),
    "DEDUP_TAG_FIELD": _word,
    "DEDUP_HTML_FIELD": _field_name,
    "DEDUP_TEXT_FIELDS": _field_names,
    "DEDUP_URL_FIELD": _field_name,
    "DEDUP_SOURCE": _choice("auto", "item", "response"),
    "DEDUP_FOLLOW_LINKS": _flag,
    "DEDUP_ON_ERROR": _choice("keep", "close"),
    "DEDUP_LOG_LEVEL": _log_level,
}
"""The plugin's own settings, and what checks and reads a value that is not None."""
_OPTIONS = {f"DEDUP_{option.name.upper()}": option.name for option in fields(FilterConfig)}
SETTINGS = (*_OWN, *_OPTIONS)
"""Every setting."""
_SETTING_OF = {"location": "DEDUP_INDEX", **{option: name for name, option in _OPTIONS.items()}}
"""The setting for each argument of `NearDuplicateFilter.open`."""
_ARGUMENT = re.compile(rf"^({'|'.join(_SETTING_OF)})\b|\b({'|'.join(_SETTING_OF)})(?==)")


@dataclass(frozen=True)
class PluginSettings:
    """The settings of one crawl; `read` refuses what cannot be meant with a ConfigError."""

    enabled: bool = True
    index: str = field(default="memory:", repr=False)  # there may be a password in it
    job_folder: str | None = None
    """JOBDIR, if there is one."""
    action: str = "drop"
    tag_field: str = "dedup"
    html_field: str | None = None
    text_fields: tuple[str, ...] = ()
    url_field: str | None = None
    source: str = "auto"
    follow_links: bool = True
    on_error: str = "keep"
    log_level: int = logging.INFO
    options: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def read(cls, settings: "BaseSettings") -> "PluginSettings":
        """Read and check all DEDUP_ settings."""
        _refuse_unknown(settings)
        job_folder = str(settings.get("JOBDIR") or "") or None
        own: dict[str, Any] = {}
        if job_folder is not None:
            own["index"] = str(Path(job_folder, "dedup_index").absolute())
        for name, read in _OWN.items():
            if settings.get(name) is not None:
                own[name.removeprefix("DEDUP_").lower()] = read(name, settings.get(name))
        hints = get_type_hints(FilterConfig)
        options = {
            option: _typed(settings[name], hints[option])
            for name, option in _OPTIONS.items()
            if name in settings
        }
        plugin = cls(**own, job_folder=job_folder, options=options)
        try:  # the filter checks what is its own
            NearDuplicateFilter.check_options(plugin.index, **plugin.options)
        except ConfigError as error:
            raise ConfigError(in_settings(str(error))) from None
        if not plugin.follow_links and (plugin.source == "item" or plugin.field_names.name_page):
            raise ConfigError(
                "DEDUP_FOLLOW_LINKS=False needs the verdict on the response, before its items "
                'are known: it cannot go with DEDUP_SOURCE="item", DEDUP_HTML_FIELD or '
                "DEDUP_TEXT_FIELDS"
            )
        return plugin

    @property
    def field_names(self) -> FieldNames:
        """The item fields that are named for the page and its URL."""
        return FieldNames(self.html_field, self.text_fields, self.url_field)


def is_enabled(settings: "BaseSettings") -> bool:
    """Tell whether the filter is to take part in the crawl."""
    return _flag("DEDUP_ENABLED", settings.get("DEDUP_ENABLED", True))


def in_settings(message: str) -> str:
    """Replace the filter's arguments in a message by the settings that they come from."""
    return _ARGUMENT.sub(lambda found: _SETTING_OF[found[0]], message)


def _refuse_unknown(settings: "BaseSettings") -> None:
    for name in settings:
        if isinstance(name, str) and name.startswith("DEDUP_") and name not in SETTINGS:
            # Without the common prefix, which would make all names look alike.
            known = [known.removeprefix("DEDUP_") for known in SETTINGS]
            near = get_close_matches(name.removeprefix("DEDUP_"), known, n=1)
            hint = f"did you mean DEDUP_{near[0]}?" if near else f"there are {', '.join(SETTINGS)}"
            raise ConfigError(f"unknown setting {name}: {hint}")


def _typed(value: Any, hint: Any) -> Any:
    """Give a string from the command line its option's type; the filter refuses the rest."""
    if not isinstance(value, str):
        return value
    for kind in get_args(hint) or (hint,):
        with suppress(KeyError, ValueError):
            return _FROM_TEXT[kind](value)
    return value
