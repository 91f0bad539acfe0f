"""The description of the service for programs, in OpenAPI 3.1, from the fields that it takes."""

from importlib.metadata import version
from typing import Any

from dedup_filter.service.page_bodies import CLAIM_FIELDS, FINGERPRINT_FIELDS, PAGE_FIELDS

_VERDICT = {
    "outcome": "string",
    "original": ["string", "null"],
    "distance": ["integer", "null"],
    "similarity": ["number", "null"],
    "reason": ["string", "null"],
    "cluster": ["integer", "null"],
    "fingerprint": ["string", "null"],
}
_CLAIMED = {**_VERDICT, "claim": ["string", "null"], "seconds": ["number", "null"]}
_FATE = {"fate": "string"}
_REFUSALS = {
    400: "the body is no JSON",
    401: "the token is missing or wrong",
    408: "the body did not end in time",
    413: "the body is too long",
    415: "the body has another type",
    422: "the fields are wrong",
    503: "too many pages wait, or the index is away: try again",
}
_STATS = {
    **dict.fromkeys(("pages", "bytes", "claims", "queue"), "integer"),
    "outcomes": "object",
}
_POST: dict[str, tuple[str, dict[str, str], dict[str, Any]]] = {
    "see": ("Judge a page and keep it", PAGE_FIELDS, _VERDICT),
    "claim": (
        "Judge a page; it waits for a commit",
        PAGE_FIELDS,
        _CLAIMED | {"is_final": "boolean"},
    ),
    "commit": ("Keep the page of a claim; 409: it is gone", CLAIM_FIELDS, _FATE),
    "release": ("Forget the page of a claim", CLAIM_FIELDS, _FATE),
    "find": ("Find kept pages like a page", PAGE_FIELDS | FINGERPRINT_FIELDS, {"near": "array"}),
}
_GET: dict[str, tuple[str, dict[str, Any]]] = {
    "stats": ("Figures of the index", _STATS),
    "healthz": ("Whether the index takes calls", {"alive": "boolean"}),
    "openapi.json": ("This description", {}),
}


def document() -> dict[str, Any]:
    """Return the description."""
    paths: dict[str, Any] = {
        f"/{name}": {"post": _operation(name, summary, answer) | {"requestBody": _body(fields)}}
        for name, (summary, fields, answer) in _POST.items()
    }
    for name, (summary, answer) in _GET.items():
        paths[f"/{name}"] = {"get": _operation(name, summary, answer)}
    return {
        "openapi": "3.1.0",
        "info": {"title": "dedup-filter", "version": version("dedup-filter")},
        "paths": paths,
        "components": {"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
        "security": [{}, {"token": []}],
    }


def _operation(name: str, summary: str, answer: dict[str, Any]) -> dict[str, Any]:
    properties = {field: {"type": kind} for field, kind in answer.items()}
    responses = {"200": {"description": "done", **_json(properties)}}
    if name in _POST:
        responses |= {str(code): {"description": why} for code, why in _REFUSALS.items()}
    return {"operationId": name, "summary": summary, "responses": responses}


def _body(fields: dict[str, str]) -> dict[str, Any]:
    return _json({name: {"type": "string", "description": of} for name, of in fields.items()})


def _json(properties: dict[str, Any]) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties}
    return {"content": {"application/json": {"schema": schema}}}
