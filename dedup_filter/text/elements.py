"""Which HTML elements start a block, are skipped, hold links or frame a page.

All rules about tag and class names, so that the two writers of marked text (`marked_text`) cannot
disagree. Block-level elements are those that browsers display as such (HTML Standard, section 15.3,
flow content), table parts included. Page frame is named by the elements that HTML has for it, by
ARIA landmark roles, and by common class names.
"""

import re
from functools import cache, lru_cache
from typing import Literal, NamedTuple

__all__ = [
    "BLOCK_LEVEL",
    "CONTAINERS",
    "LINKS",
    "MOST_OF_HEAD",
    "SKIPPED",
    "Kind",
    "Role",
    "role_of",
]


def _names(*lines: str) -> frozenset[str]:
    return frozenset(" ".join(lines).split())


SKIPPED = _names(
    "applet audio canvas datalist iframe noframes object select style svg textarea video",
)
"""Readers do not see the content of these as text of the page. For hidden elements, noscript,
template and script see `concealed`."""

LINKS = _names("a button")
"""Their words count as link words: what a frame offers to press."""

CONTAINERS = _names(
    "article aside blockquote dd details dialog div dl fieldset figure footer form header",
    "hgroup main menu nav ol section table td ul",
)
"""The block-level elements whose class and role are read."""

Kind = Literal[
    "title", "headline", "heading", "paragraph", "item", "cell", "code", "caption", "other"
]

Frame = Literal["", "named", "sure"]

_TAGS_OF_KIND: dict[Kind, frozenset[str]] = {
    "title": _names("title"),
    "headline": _names("h1"),
    "heading": _names("h2 h3 h4 h5 h6"),
    "paragraph": _names("p blockquote"),
    "item": _names("li dt dd"),
    "cell": _names("td th"),
    "code": _names("pre listing plaintext xmp"),
    "caption": _names("caption figcaption legend summary"),
}
_KIND = {tag: kind for kind, tags in _TAGS_OF_KIND.items() for tag in tags}

BLOCK_LEVEL = (
    CONTAINERS
    | _KIND.keys()
    | _names("address body center dir frameset hr html main optgroup search tbody tfoot thead tr")
)

_SURE_FRAMES = _names("aside dialog footer menu nav")
_NAMED_BY_CONTENT = _names("article main")
"""Their class names often name the subject of a page: "post category-search tag-social"."""

_FRAME_NAME = re.compile(
    r"""(?<![a-z0-9])(?<!has[-_])(?<!with[-_])(?<!no[-_])(?<!tag[-_])(?<!category[-_])
    (?: nav | navbar | navigation | breadcrumbs?
      | comments? | commentlist | respond | disqus
      | author | bio | byline
      | related | recommend(?:ed|ation|ations|s)? | trending | popular
      | footer | copyright | disclaimer | social
      | cookies? | consent | gdpr | newsletter | subscribe | subscription | signup | login
      | modal | popup
      | complementary | contentinfo | search | dialog
    )(?![a-z0-9])""",
    re.VERBOSE,
)
# Not "sidebar", "menu", "share" or "ad": in a page's frame these hold links, which are dropped as
# such; in manuals a "sidebar" holds an aside, and a "share-area" may hold an article. Not ids:
# those of content are made of its headings ("search-and-replace").

_CAMEL_HUMP = re.compile("(?<=[a-z0-9])(?=[A-Z])")


class Role(NamedTuple):
    """What an element says of the text directly inside it."""

    kind: Kind
    frame: Frame
    """Whether it is page frame: "sure" by its tag, "named" by a name that may mean other things."""


MOST_OF_HEAD = 500
"""Characters of an element's name and class names that are read. A page can have megabytes of them,
and roles are cached by them."""


@lru_cache(maxsize=8192)
def role_of(head: str) -> Role:
    """Return the role of an element, given as "tag class role".

    >>> role_of("p "), role_of("div userComments left")
    (Role(kind='paragraph', frame=''), Role(kind='other', frame='named'))
    """
    tag, _, names = head.partition(" ")
    kind = _KIND.get(tag, "other")
    if tag in _SURE_FRAMES:
        return _role(kind, "sure")
    if tag == "form":
        return _role(kind, "named")
    names = _CAMEL_HUMP.sub("-", names).lower()
    is_named = tag not in _NAMED_BY_CONTENT and _FRAME_NAME.search(names)
    return _role(kind, "named" if is_named else "")


@cache
def _role(kind: Kind, frame: Frame) -> Role:
    """Return one object for equal roles: thousands would keep the garbage collector busy."""
    return Role(kind, frame)
