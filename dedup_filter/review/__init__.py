"""Layer "review": what people ask of pages and of finished crawls, without changing anything.

given_page, recorded_pages   a page that a user names; the pages of an index like it
page_pairs                   near pairs and clusters of the pages of an index
explanation                  what of a page is judged, and why two pages are the same or not
tuning                       which settings suit some pages, and what others would have done
report                       one HTML file that shows all of it
"""
