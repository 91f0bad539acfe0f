"""The text layer: bytes of a page -> str -> lxml tree -> blocks -> main text.

    decode        bytes and Content-Type -> str; -> lxml tree
    marked_text   tree -> all its text, with marks
    plain_text    normal forms; words; lines -> texts, a line each unless it is wrapped prose
    blocks        marked text -> blocks; `concealed`: which hidden text and script data is also read
    content       blocks -> the blocks of the main text
    reading       all of these steps: -> Page, Document or the reason why there is none

Pure functions of their arguments that never raise on any page. No module here knows hosts,
features or an index.
"""
