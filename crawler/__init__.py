"""A Scrapy project that uses dedup_filter as any other project can: by the ADDONS line.

scrapy crawl demo                                    no network needed
scrapy crawl site -a url=https://example.com/docs/
scrapy crawl warc -a path='crawl-*.warc.gz'
"""
