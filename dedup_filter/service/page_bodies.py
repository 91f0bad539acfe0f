"""The body of a request, a JSON object -> a page, a fingerprint or a claim, or a refusal."""

import json
from base64 import b64decode
from typing import Any

PAGE = ("url", "html", "html_base64", "text", "content_type", "link", "title")
"""Fields of a page; each is a string. `html_base64`: bytes of HTML in Base64."""
QUERY = (*PAGE, "fingerprint")
"""Fields of a query; the fingerprint is in hexadecimal, 0x..."""
CLAIM = ("claim",)
_CONTENTS = ("html", "html_base64", "text")


class RefusedError(Exception):
    """A request is refused with a status code of HTTP, a reason and further headers."""

    def __init__(self, status: int, reason: str, **headers: str) -> None:
        super().__init__(reason)
        self.status = status
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}


def fields_in(body: bytes, known: tuple[str, ...]) -> dict[str, Any]:
    """Return the arguments of a call: of `see`, of `find`, or the claim.

    Raises:
        RefusedError: 400, the body is no JSON; 422, the fields are wrong.
    """
    given = _strings_in(body, known)
    contents = [name for name in (*_CONTENTS, "fingerprint") if name in given]
    if known is CLAIM:
        _require(bool(given), "claim is missing")
        return given
    _require(len(contents) == 1, f"give one of {', '.join(_CONTENTS)}")
    _require("url" in given or known is QUERY, "url is missing")
    try:
        if "html_base64" in given:
            given["html"] = b64decode(given.pop("html_base64"), validate=True)
        if "fingerprint" in given:
            given["fingerprint"] = int(given["fingerprint"], 16)
    except ValueError:
        raise RefusedError(422, f"{contents[0]} cannot be decoded") from None
    _require(0 <= given.get("fingerprint", 0) < 2**64, "fingerprint has more than 64 bits")
    return given


def _strings_in(body: bytes, known: tuple[str, ...]) -> dict[str, Any]:
    try:
        given = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise RefusedError(400, f"the body is no JSON: {error}") from None
    if not isinstance(given, dict):
        raise RefusedError(422, "the body is no JSON object")
    given = {name: value for name, value in given.items() if value is not None}
    for name, value in given.items():
        _require(name in known, f"unknown field {name[:99]!r}: there are {', '.join(known)}")
        _require(isinstance(value, str) and bool(value), f"{name} is no string, or empty")
    return given


def _require(is_right: bool, problem: str) -> None:
    if not is_right:
        raise RefusedError(422, problem)
