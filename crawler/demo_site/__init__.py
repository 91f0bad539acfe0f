"""A small web site on loopback, with the expected verdict on each of its pages.

    articles/*.txt + templates/*.html, joined by pages.tsv -> pages -> a server -> a crawl
    expected.tsv                                           -> compared with the crawl's outcomes

Texts, templates and expectations are data files, which can be read and changed without the code.
"""

from crawler.demo_site.expectations import Outcome, differences
from crawler.demo_site.server import DemoServer

__all__ = ["DemoServer", "Outcome", "differences"]
