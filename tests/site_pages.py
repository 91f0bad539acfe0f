"""Pages of one site: a menu that all of them have, and an article of their own."""

MENU = "".join(f'<li><a href="/{n}">section {n} of this paper</a>' for n in range(12))
OTHER_MENU = "".join(f'<li><a href="/shop/{n}">things of kind {n} to buy</a>' for n in range(90))
NOTICE = "".join(f"The {noun} of this paper is not for sale. " for noun in "abcdefghiklm")


def framed(text, more=""):
    return f"<ul>{MENU}</ul><article><p>{text}</p></article><div><p>{more}</p></div>"
