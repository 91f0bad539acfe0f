"""Layer "review": answers about pages and finished crawls; nothing is changed.

given_page, recorded_pages          a page that a user names, an index -> the page; similar pages
explained_page, excluded_text       a page -> the texts that it is judged by; the text that is left
                                    out, with the rule
compare, refusals                   two pages -> whether one repeats the other, and why; their words
sweep                               kept pages, settings -> what each setting would drop
report                              an index -> one HTML file that shows all of it
"""
