"""Scrapy settings -> one frozen value, checked before the crawl begins.

Values may be strings, as `-s NAME=VALUE` gives them. Each option of the filter is a setting
too: DEDUP_ and its name in capitals.
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

_ACTIONS = ("drop", "tag")
_SOURCES = ("auto", "item", "response")
_ON_ERROR = ("keep", "close")
_OPTIONS = {f"DEDUP_{option.name.upper()}": option.name for option in fields(FilterConfig)}
_SETTING_OF = {"location": "DEDUP_INDEX", **{option: name for name, option in _OPTIONS.items()}}
"""The setting for each argument of `NearDuplicateFilter.open`."""
_ARGUMENT = re.compile(rf"^({'|'.join(_SETTING_OF)})\b|\b({'|'.join(_SETTING_OF)})(?==)")

_FLAGS = {"true": True, "1": True, "false": False, "0": False}
_FROM_TEXT: Mapping[Any, Callable[[str], Any]] = {
    bool: lambda text: _FLAGS[text.lower()],
    int: int,
    float: float,
    type(None): lambda text: {"none": None}[text.lower()],
}

SETTINGS: Mapping[str, str] = {
    "DEDUP_ENABLED": "False takes the filter out of the crawl; True",
    "DEDUP_INDEX": (
        'where the index is: "memory:", a directory, or redis://... (redis+cluster://...), which '
        'several crawlers share; JOBDIR\'s directory, else "memory:"'
    ),
    "DEDUP_ACTION": '"drop" repeated pages\' items, or keep and only "tag" all; "drop"',
    "DEDUP_TAG_FIELD": 'field that gets the verdict with DEDUP_ACTION="tag"; "dedup"',
    "DEDUP_HTML_FIELD": "item field with the page's HTML; None",
    "DEDUP_TEXT_FIELDS": "item fields with the page's text, joined; None",
    "DEDUP_URL_FIELD": "item field with the page's URL; None: found by name, else the response's",
    "DEDUP_SOURCE": '"response": never judge by item fields, "item": never by the response; "auto"',
    "DEDUP_FOLLOW_LINKS": "False: requests found on a repeated page are not sent; True",
    "DEDUP_ON_ERROR": 'after a fault "keep" crawling or "close" the spider; "keep"',
    "DEDUP_LOG_LEVEL": 'level of the line written for each drop; "INFO"',
    **{name: f"option {option} of the filter" for name, option in _OPTIONS.items()},
}
"""Every setting: what it says, and its default."""


@dataclass(frozen=True)
class PluginSettings:
    """The settings of one crawl.

    Raises:
        ConfigError: a setting is unknown or has a value that cannot be meant.
    """

    index: str = field(default="memory:", repr=False)  # there may be a password in it
    job_folder: str | None = None
    """JOBDIR, if there is one."""
    action: str = "drop"
    tag_field: str = "dedup"
    field_names: FieldNames = field(default_factory=FieldNames)
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
        read = cls(
            index=_index(settings, job_folder),
            job_folder=job_folder,
            action=_choice(settings, "DEDUP_ACTION", _ACTIONS),
            tag_field=_word(settings, "DEDUP_TAG_FIELD", cls.tag_field),
            field_names=_field_names(settings),
            source=_choice(settings, "DEDUP_SOURCE", _SOURCES),
            follow_links=_flag(settings, "DEDUP_FOLLOW_LINKS"),
            on_error=_choice(settings, "DEDUP_ON_ERROR", _ON_ERROR),
            log_level=_log_level(settings),
            options=_options(settings),
        )
        try:  # the filter checks what is its own
            NearDuplicateFilter.check_options(read.index, **read.options)
        except ConfigError as error:
            raise ConfigError(in_settings(str(error))) from None
        if not read.follow_links and (read.source == "item" or read.field_names.name_page):
            raise ConfigError(
                "DEDUP_FOLLOW_LINKS=False needs the verdict on the response, before its items "
                'are known: it cannot go with DEDUP_SOURCE="item", DEDUP_HTML_FIELD or '
                "DEDUP_TEXT_FIELDS"
            )
        return read


def is_enabled(settings: "BaseSettings") -> bool:
    """Tell whether the filter is to take part in the crawl."""
    return _flag(settings, "DEDUP_ENABLED")


def _refuse_unknown(settings: "BaseSettings") -> None:
    for name in settings:
        if isinstance(name, str) and name.startswith("DEDUP_") and name not in SETTINGS:
            # Without the common prefix, which would make all names look alike.
            known = [known.removeprefix("DEDUP_") for known in SETTINGS]
            near = get_close_matches(name.removeprefix("DEDUP_"), known, n=1)
            hint = f"did you mean DEDUP_{near[0]}?" if near else f"there are {', '.join(SETTINGS)}"
            raise ConfigError(f"unknown setting {name}: {hint}")


def _index(settings: "BaseSettings", job_folder: str | None) -> str:
    place = settings.get("DEDUP_INDEX")
    if place is None:
        return "memory:" if job_folder is None else str(Path(job_folder).absolute() / "dedup_index")
    return os.fsdecode(place) if isinstance(place, os.PathLike) else _word(settings, "DEDUP_INDEX")


def _word(settings: "BaseSettings", name: str, default: str = "") -> str:
    value = settings.get(name, default)
    if not isinstance(value, str) or not value.strip():
        raise ConfigError(f"{name} must be a text, not {value!r}")
    return value.strip()


def _choice(settings: "BaseSettings", name: str, choices: tuple[str, ...]) -> str:
    value = settings.get(name, choices[0])
    value = value.lower() if isinstance(value, str) else value
    if value not in choices:
        known = " or ".join(f'"{choice}"' for choice in choices)
        raise ConfigError(f"{name} must be {known}, not {value!r}")
    return str(value)


def _flag(settings: "BaseSettings", name: str) -> bool:
    try:
        return settings.getbool(name, True)
    except (ValueError, TypeError):
        raise ConfigError(f"{name} must be True or False, not {settings[name]!r}") from None


def _log_level(settings: "BaseSettings") -> int:
    value = settings.get("DEDUP_LOG_LEVEL", logging.INFO)
    if isinstance(value, str):
        value = int(value) if value.isdecimal() else logging.getLevelName(value.upper())
    if isinstance(value, bool) or not isinstance(value, int):
        raise ConfigError(
            'DEDUP_LOG_LEVEL must be a level such as "DEBUG", "INFO" or "WARNING", '
            f"not {settings['DEDUP_LOG_LEVEL']!r}"
        )
    return value


def _field_names(settings: "BaseSettings") -> FieldNames:
    return FieldNames(
        html=_field_name(settings, "DEDUP_HTML_FIELD"),
        text=_list_of_names(settings, "DEDUP_TEXT_FIELDS"),
        url=_field_name(settings, "DEDUP_URL_FIELD"),
    )


def _field_name(settings: "BaseSettings", name: str) -> str | None:
    value = settings.get(name)
    if value is None or value in ("", "None"):
        return None
    if not isinstance(value, str):
        raise ConfigError(f"{name} must be the name of an item field, not {value!r}")
    return value.strip()


def _list_of_names(settings: "BaseSettings", name: str) -> tuple[str, ...]:
    value = settings.get(name) or ()
    if value == "None":
        return ()
    names = value.split(",") if isinstance(value, str) else value
    if not isinstance(names, list | tuple) or not all(isinstance(each, str) for each in names):
        raise ConfigError(f"{name} must be a list of item fields, not {value!r}")
    return tuple(each.strip() for each in names if each.strip())


def _options(settings: "BaseSettings") -> dict[str, Any]:
    hints = get_type_hints(FilterConfig)
    return {
        option: _typed(settings[name], hints[option])
        for name, option in _OPTIONS.items()
        if name in settings
    }


def in_settings(message: str) -> str:
    """Replace the filter's arguments in a message by the settings that they come from."""
    return _ARGUMENT.sub(lambda found: _SETTING_OF[found[0]], message)


def _typed(value: Any, hint: Any) -> Any:
    """Give a string from the command line its option's type; the filter refuses the rest."""
    if not isinstance(value, str):
        return value
    for kind in get_args(hint) or (hint,):
        with suppress(KeyError, ValueError):
            return _FROM_TEXT[kind](value)
    return value
