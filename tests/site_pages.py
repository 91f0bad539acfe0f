"""Pages of one site: a menu that all of them have, and an article of their own; words for it."""

NOUNS = (
    "river harbour engine letter garden winter market bridge castle forest signal window "
    "teacher doctor island candle silver copper village kitchen library station blanket "
    "mountain compass lantern orchard pigeon saddle violin walnut thunder basket chimney"
).split()
GLUE = "the a of in on with and under near from this that is was has".split()
MENU = "".join(f'<li><a href="/{n}">section {n} of this paper</a>' for n in range(12))
OTHER_MENU = "".join(f'<li><a href="/shop/{n}">things of kind {n} to buy</a>' for n in range(90))
NOTICE = "".join(f"The {noun} of this paper is not for sale. " for noun in "abcdefghiklm")


def framed(text, more=""):
    return f"<ul>{MENU}</ul><article><p>{text}</p></article><div><p>{more}</p></div>"
