"""Crawls beyond one machine: data frames of pages -> the pages without duplicates, on Spark."""
