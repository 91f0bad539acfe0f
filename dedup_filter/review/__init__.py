"""Layer "review": what people ask of pages and of finished crawls, without changing anything."""
