"""What is kept of pages, and which of them a page repeats."""
