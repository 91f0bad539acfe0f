"""The text layer: bytes of a page -> str -> lxml tree -> blocks -> main text.

    decode        bytes and Content-Type -> str; -> lxml tree
    marked_text   tree -> all its text, with marks
    lines         which lines are texts of their own, and which are wrapped prose
    blocks        marked text -> blocks; `concealed`: which hidden text and script data is read, too
    content       blocks -> the blocks of the main text
    reading       all of these: -> Page, Document or why there is none

Pure functions of their arguments that never raise on any page. Nothing here knows of hosts,
features or an index.
"""
