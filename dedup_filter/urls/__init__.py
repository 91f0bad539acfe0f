"""URLs and verdicts on their pages -> rules that recognize duplicates by their URLs alone."""
