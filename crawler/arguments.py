"""Spider arguments, which are all strings -> values, or one sentence that names the error.

Scrapy has no way to refuse a spider's arguments: it logs an exception of the spider's constructor
with its traceback. An exception that is a SystemExit, too, ends the program at once. New versions
print a usage error and exit with 2; old ones exit with 1 after a traceback, with the sentence last.
"""

import re
from urllib.parse import urlsplit

from scrapy.exceptions import UsageError


class ArgumentError(UsageError, SystemExit):
    """A spider argument that has no meaning."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.code = message


def urls_of(text: str | None, usage: str) -> list[str]:
    """Return the addresses in a text, separated by commas or white space.

    Raises:
        ArgumentError: there is no address, or one is not an http or https address.
    """
    urls = re.split(r"[\s,]+", text.strip(" ,\t\r\n")) if text else []
    if not any(urls):
        raise ArgumentError(f"no address given: {usage}")
    for url in urls:
        if not _is_web_address(url):
            raise ArgumentError(f"{url!r} is not an address that starts with http:// or https://")
    return urls


def whole_number_of(text: str | int | None, name: str) -> int | None:
    """Return a positive whole number, or None if nothing is given.

    Raises:
        ArgumentError: the value is something else.
    """
    if text is None:
        return None
    if not re.fullmatch(r"0*[1-9][0-9]{0,17}", str(text)):
        raise ArgumentError(f"{name} must be a whole number from 1 up, not {text!r}")
    return int(text)


def _is_web_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018 - reading it checks it
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname)
