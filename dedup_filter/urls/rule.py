"""A URL -> its form -> its form after a rule: URLs of one form show one page.

    kind            arguments         what the rule removes from, or changes in, URLs of its origin
    parameters      names             query parameters, whatever their values
    value           name, value       a query parameter that has this value
    where           name, value,      query parameters `names`, whatever their values, if the URL
                    names             also has `name=value`; if `name` is "": if its path is `value`
    path_parameter  name              ";name=..." behind a segment of the path
    segment         text              segments of the path with this text
    ending          old, new          the end of the path: "/index.html" and "/", "/" and ""
    letter_case                       capitals in the path
    origin          origin            scheme and host

A form is for comparison only; it is not fetched. URLs that Scrapy takes for one (another order of
parameters, a fragment) have one form without any rule.

Cost: 5 us to make a form; .3 us for a rule that does not apply, 1 us for a rule that does.
"""

import re
from collections.abc import Callable, Mapping
from inspect import signature
from sys import intern
from typing import NamedTuple
from urllib.parse import urlsplit

from dedup_filter.text.page_url import canonical

LONGEST_URL, MOST_PARTS = 2_000, 64
"""Characters of a URL; its segments, or its parameters. Rules do not apply to larger URLs."""


class Form(NamedTuple):
    """The parts of a URL that rules change."""

    origin: str
    """Scheme, host and port: "https://example.com"."""
    segments: tuple[str, ...]
    """Of the path: "/a/b/" has "a", "b" and ""."""
    parameters: tuple[tuple[str, str], ...]
    """Of the query, sorted by name; each value with its "="."""


def form_of(url: str) -> Form | None:
    """Return the form of a URL; None: it is too long, has too many parts, or is not a page's.

    >>> form_of("https://example.com/a/b?y=2&x=1#top")
    Form(origin='https://example.com', segments=('a', 'b'), parameters=(('x', '=1'), ('y', '=2')))
    """
    if len(url) > LONGEST_URL:
        return None
    try:
        parts = urlsplit(canonical(url))
    except ValueError:
        return None
    # The pages of a host share most of these strings; interning halves the memory.
    segments = tuple(map(intern, parts.path[1:].split("/")))
    pieces = parts.query.split("&") if parts.query else []
    if not parts.netloc or max(len(segments), len(pieces)) > MOST_PARTS:
        return None
    parameters = []
    for piece in pieces:
        name, sign, value = piece.partition("=")
        parameters.append((intern(name), intern(sign + value)))
    origin = intern(f"{parts.scheme}://{parts.netloc}")
    return Form(origin, segments, tuple(sorted(parameters)))


def url_of(form: Form) -> str:
    """Return the URL of a form.

    >>> url_of(form_of("https://example.com/a?y=2&x=1#top"))
    'https://example.com/a?x=1&y=2'
    """
    query = "&".join(name + value for name, value in form.parameters)
    return f"{form.origin}{path_of(form)}{'?' if query else ''}{query}"


def path_of(form: Form) -> str:
    """Return the path of a form: "/a/b"."""
    return f"/{'/'.join(form.segments)}"


class Rule(NamedTuple):
    """A change of URLs that gives the URLs of one page one form."""

    origin: str
    """The origin of the URLs that the rule changes."""
    kind: str
    arguments: tuple[str, ...] = ()

    def apply(self, form: Form) -> Form:
        """Change a form with the rule's origin; the same object: the rule does not apply."""
        change, _ = _KINDS[self.kind]
        return change(form, *self.arguments)

    @property
    def meaning(self) -> str:
        """Describe the rule in a few words. The site's text in it is not escaped for a terminal.

        >>> Rule("https://a.example", "parameters", ("sid",)).meaning
        'https://a.example without sid, whatever the value'
        """
        _, meaning = _KINDS[self.kind]
        last = max(meaning.count("{") - 1, 0)
        shown = *self.arguments[:last], " and ".join(self.arguments[last:])
        return f"{self.origin} {meaning.format(*shown)}"

    @property
    def is_well_formed(self) -> bool:
        """Whether the kind exists and takes these arguments."""
        if not all(isinstance(each, str) for each in (*self[:2], *self.arguments)):
            return False
        try:
            change, _ = _KINDS[self.kind]
            signature(change).bind(None, *self.arguments)
        except (KeyError, TypeError):
            return False
        return True


def _parameters(form: Form, *names: str) -> Form:
    return _with_parameters(form, *(each for each in form.parameters if each[0] not in names))


def _value(form: Form, name: str, value: str) -> Form:
    return _with_parameters(form, *(each for each in form.parameters if each != (name, value)))


def _where(form: Form, name: str, value: str, *names: str) -> Form:
    is_there = (name, value) in form.parameters if name else value == path_of(form)
    return _parameters(form, *names) if is_there else form


def _path_parameter(form: Form, name: str) -> Form:
    pattern = re.compile(f";{re.escape(name)}=[^;/]*", re.IGNORECASE)
    return _with_path(form, *(pattern.sub("", segment) for segment in form.segments))


def _segment(form: Form, text: str) -> Form:
    return _with_path(form, *(segment for segment in form.segments if segment != text))


def _ending(form: Form, old: str, new: str) -> Form:
    path = path_of(form)
    if not path.endswith(old):
        return form
    return _with_path(form, *f"{path.removesuffix(old)}{new}"[1:].split("/"))


def _letter_case(form: Form) -> Form:
    return _with_path(form, *(segment.lower() for segment in form.segments))


def _origin(form: Form, to: str) -> Form:
    return form if form.origin == to else form._replace(origin=to)


def _with_path(form: Form, *segments: str) -> Form:
    """Replace the segments of a form; the same object if they are equal. No segments make "/"."""
    changed = segments or ("",)
    return form if changed == form.segments else form._replace(segments=changed)


def _with_parameters(form: Form, *parameters: tuple[str, str]) -> Form:
    return form if parameters == form.parameters else form._replace(parameters=parameters)


_KINDS: Mapping[str, tuple[Callable[..., Form], str]] = {
    "parameters": (_parameters, "without {}, whatever the value"),
    "value": (_value, "without {}{}"),
    "where": (_where, "where {}{}: without {}, whatever the value"),
    "path_parameter": (_path_parameter, "without ;{}=... in the path"),
    "segment": (_segment, "without /{}"),
    "ending": (_ending, 'with "{1}" in place of "{0}" at the end'),
    "letter_case": (_letter_case, "in small letters"),
    "origin": (_origin, "at {}"),
}
"""The change of each kind, and its description, with a place for each argument."""


class Rules:
    """Rules, applied in the order in which they were proven.

    >>> rules = Rules([Rule("https://a.example", "parameters", ("sid",))])
    >>> rules.form_of("https://a.example/x?sid=1") == rules.form_of("https://a.example/x?sid=2")
    True
    """

    def __init__(self, rules: "list[Rule]") -> None:
        self._of: dict[str, list[tuple[int, Rule]]] = {}
        for order, rule in enumerate(rules):
            self._of.setdefault(rule.origin, []).append((order, rule))

    def form_of(self, url: str) -> Form | None:
        """Return the form of a URL after all rules; None: see `form_of`."""
        form = form_of(url)
        return None if form is None else self.applied(form)[0]

    def applied(self, form: Form) -> tuple[Form, list[Rule]]:
        """Return the form after all rules, and the rules that changed it."""
        used: list[Rule] = []
        last = -1
        while True:
            for order, rule in self._of.get(form.origin, ()):
                changed = form if order <= last else rule.apply(form)
                if changed is not form:
                    used.append(rule)
                    last, is_elsewhere = order, changed.origin != form.origin
                    form = changed
                    if is_elsewhere:
                        break
            else:
                return form, used
