"""A small web site on loopback, with what the filter should say of each of its pages.

    articles/*.txt + templates/*.html, joined by pages.tsv -> pages -> a server -> a crawl
    expected.tsv                                           -> compared with what the crawl kept

Texts, templates and expectations are data, to be read and changed without the code.
"""

from crawler.demo_site.expectations import Expectation, Outcome, differences, read_expectations
from crawler.demo_site.server import DemoServer

__all__ = ["DemoServer", "Expectation", "Outcome", "differences", "read_expectations"]
