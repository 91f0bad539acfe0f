"""Crawls that are there already: files of pages -> the pages without duplicates."""
