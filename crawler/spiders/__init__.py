"""The spiders: a web site, an archived crawl, and a demo that needs no network."""
