"""Finished crawls: files of pages -> the pages without duplicates."""
