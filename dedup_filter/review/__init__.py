"""Layer "review": answers about pages and finished crawls; nothing is changed.

given_page, recorded_pages   a page that a user names, an index -> the page; similar pages
page_pairs                   pages of an index -> near pairs and clusters
explanation                  pages -> the text that is judged; why two pages are the same or not
tuning                       kept pages, settings -> what each setting would drop
report                       an index -> one HTML file that shows all of it
"""
