"""URLs and what their pages were judged to be -> rules that tell duplicates by their URLs alone."""
