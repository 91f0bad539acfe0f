"""Settings of the project. ADDONS filters near-duplicates; the other settings make it polite."""

BOT_NAME = "crawler"
SPIDER_MODULES = ["crawler.spiders"]
NEWSPIDER_MODULE = "crawler.spiders"

ADDONS = {"dedup_filter.Addon": 500}

# A site's owner can identify the crawler, and can shut it out.
USER_AGENT = "crawler (Scrapy project of dedup_filter; obeys robots.txt)"
ROBOTSTXT_OBEY = True

# One host gets at most two requests at a time, and fewer when it answers slowly.
CONCURRENT_REQUESTS_PER_DOMAIN = 2
DOWNLOAD_DELAY = 0.25
AUTOTHROTTLE_ENABLED = True
AUTOTHROTTLE_START_DELAY = 0.25
AUTOTHROTTLE_MAX_DELAY = 30
AUTOTHROTTLE_TARGET_CONCURRENCY = 1.0

# No page worth reading is larger; Scrapy's own bound is 1 GiB a response.
DOWNLOAD_MAXSIZE = 64 * 2**20

# Breadth first: on most sites the original of a page is nearer to the front page than its copies.
DEPTH_PRIORITY = 1
SCHEDULER_DISK_QUEUE = "scrapy.squeues.PickleFifoDiskQueue"
SCHEDULER_MEMORY_QUEUE = "scrapy.squeues.FifoMemoryQueue"

# Chinese stays readable in exported files instead of turning into \uXXXX.
FEED_EXPORT_ENCODING = "utf-8"

# DEBUG would log every page fetched and every item scraped.
LOG_LEVEL = "INFO"
