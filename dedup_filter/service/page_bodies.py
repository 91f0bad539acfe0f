"""The body of a request -> a page, a fingerprint or the name of a claim, or a refusal.

Knows nothing of HTTP but the two status codes of a refusal.
"""

import json
from base64 import b64decode
from typing import Any

PAGE_FIELDS = {
    "url": "URL of the page",
    "html": "HTML of the page",
    "html_base64": "HTML of the page, as bytes in Base64",
    "text": "text of the page, instead of its HTML",
    "content_type": "HTTP header Content-Type of the page",
    "link": "HTTP header Link of the page",
    "title": "headline of a text, or of HTML without a title",
}
"""Field -> its meaning; each is a string."""
CLAIM_FIELDS = {"claim": "name of a claim"}
FINGERPRINT_FIELDS = {"fingerprint": "fingerprint in hexadecimal, 0x..., instead of a page"}
_CONTENTS = ("html", "html_base64", "text")


class RefusedError(Exception):
    """A request is refused; the fields are the ones of Starlette's HTTPException."""

    headers = None

    def __init__(self, status_code: int, detail: str) -> None:
        super().__init__(detail)
        self.status_code = status_code
        self.detail = detail


def page_in(body: bytes) -> dict[str, Any]:
    """Return the arguments of `NearDuplicateFilter.see` of a page.

    Raises:
        RefusedError: 400, the body is no JSON; 422, it is not a page.
    """
    fields = _strings_in(body, PAGE_FIELDS)
    if not fields.get("url"):
        raise RefusedError(422, "url is missing")
    return _arguments(fields)


def query_in(body: bytes) -> dict[str, Any]:
    """Return the arguments of `NearDuplicateFilter.find`. Raises: as `page_in`."""
    fields = _strings_in(body, PAGE_FIELDS | FINGERPRINT_FIELDS)
    if "fingerprint" not in fields:
        return _arguments(fields)
    if any(name in fields for name in _CONTENTS):
        raise RefusedError(422, "give a fingerprint or a page, not both")
    try:
        number = int(fields["fingerprint"], 16)
    except ValueError:
        number = -1
    if not 0 <= number < 2**64:
        raise RefusedError(422, "fingerprint is not a hexadecimal number of 64 bits")
    return {"url": fields.get("url", ""), "fingerprint": number}


def claim_in(body: bytes) -> str:
    """Return the name of a claim. Raises: as `page_in`."""
    claim = _strings_in(body, CLAIM_FIELDS).get("claim")
    if not claim:
        raise RefusedError(422, "claim is missing")
    return claim


def _arguments(fields: dict[str, str]) -> dict[str, Any]:
    if sum(name in fields for name in _CONTENTS) != 1:
        raise RefusedError(422, f"give one of {', '.join(_CONTENTS)}")
    given: dict[str, Any] = dict(fields)
    if "html_base64" in given:
        try:
            given["html"] = b64decode(given.pop("html_base64"), validate=True)
        except ValueError:
            raise RefusedError(422, "html_base64 is no Base64") from None
    return given


def _strings_in(body: bytes, known: dict[str, str]) -> dict[str, str]:
    """Return the fields of a JSON object; a field that is null is left out."""
    try:
        given = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise RefusedError(400, f"the body is no JSON: {error}") from None
    if not isinstance(given, dict):
        raise RefusedError(422, "the body is no JSON object")
    for name, value in given.items():
        if name not in known:
            raise RefusedError(422, f"unknown field {name[:100]!r}: there are {', '.join(known)}")
        if not isinstance(value, str | None):
            raise RefusedError(422, f"{name} is no string")
    return {name: value for name, value in given.items() if value is not None}
