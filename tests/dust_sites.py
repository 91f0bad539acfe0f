"""URLs of a made site: kinds that lead to duplicates, and kinds that only look alike."""

import random

from dedup_filter.urls.mining import Page

SITE = "https://a.example"


def session(number):
    return f"{random.Random(number).getrandbits(64):016x}"


DUST = {
    "session": lambda n: f"{SITE}/story/{n}?sid={session(n)}",
    "tracking": lambda n: f"{SITE}/story/{n}?utm_source=s{n % 3}&utm_medium=m{n % 2}",
    "default": lambda n: f"{SITE}/story/{n}?start=0",
    "print parameter": lambda n: f"{SITE}/story/{n}?print=1",
    "print path": lambda n: f"{SITE}/print/story/{n}",
    "amp": lambda n: f"{SITE}/story/{n}/amp",
    "print page": lambda n: f"{SITE}/story/{n}-print.html",
    "slash": lambda n: f"{SITE}/story/{n}/",
    "session in the path": lambda n: f"{SITE}/story/{n};jsessionid={session(n)}",
    "www": lambda n: f"https://www.a.example/story/{n}",
    "scheme": lambda n: f"http://a.example/story/{n}",
    "mirror": lambda n: f"https://mirror.example:8080/story/{n}",
    "letter case": lambda n: f"{SITE}/Story/{n}",
    "login": lambda n: f"{SITE}/index?do=login&to=story{n}",
    "share": lambda n: f"{SITE}/share/?url=story{n}",
}
PAGE_OF = {"login": 900_000, "share": 900_001}
"""Kinds that all show one page of their own, by its number; the others show the story."""

MATTERS = {
    "page": lambda n: f"{SITE}/story/{n % 7}?page={n}",
    "language": lambda n: f"{SITE}/story/{n}?lang=de",
    "id": lambda n: f"{SITE}/story?id={n}",
    "section": lambda n: f"{SITE}/other/{n}",
    "year": lambda n: f"{SITE}/{1900 + n}/story",
    "view": lambda n: f"{SITE}/story/{n}/comments",
    "other start": lambda n: f"{SITE}/story/{n}?start=20",
    "subdomain": lambda n: f"https://forum.a.example/story/{n}",
    "appendix": lambda n: f"{SITE}/story/{n}-notes",
    "flag": lambda n: f"{SITE}/story/{n}?full=1",
    "sort": lambda n: f"{SITE}/story?sort={n}&sid={session(n)}",
    "upper": lambda n: f"{SITE}/Authors/{n}",
    "edit": lambda n: f"{SITE}/index?do=edit&to=story{n}",
    "target": lambda n: f"{SITE}/story?url=story{n}",
}


def pages(dust, matters, many=30, shuffle=None):
    """Pages at plain URLs, their duplicates by some kinds, and pages that only look alike."""
    made = [Page(f"{SITE}/story/{n}", n) for n in range(many)]
    for kind in dust:
        made += [Page(DUST[kind](n), PAGE_OF.get(kind, n)) for n in range(many)]
    for number, kind in enumerate(matters, 1):
        made += [Page(MATTERS[kind](n), 1_000 * number + n) for n in range(many)]
    if shuffle is not None:
        random.Random(shuffle).shuffle(made)
    return made
