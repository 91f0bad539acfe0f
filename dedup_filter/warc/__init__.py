"""Layer "warc": the file of an archived crawl -> its pages; needs warcio."""
