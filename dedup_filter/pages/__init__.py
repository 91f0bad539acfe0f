"""What is kept of pages, and which of them a page repeats; with `framed_pages` as its entrance."""
