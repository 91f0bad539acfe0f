"""A writer of small PDF files for tests."""

from collections.abc import Iterable, Sequence

_FONT = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"
_LOCKED = b"<< /Filter /Standard /V 1 /R 2 /P -4 /O <%b> /U <%b> >>" % (b"11" * 32, b"22" * 32)


def pdf(pages: Iterable[Sequence[str]], *, is_locked: bool = False) -> bytes:
    """Return a PDF with some lines of ASCII on each page; a locked one needs a password."""
    objects, places = [b"", b"", _FONT, _LOCKED], []
    for lines in pages:
        shown = b" ".join(b"(%b) Tj T*" % line.encode() for line in lines)
        text = b"BT /F1 10 Tf 12 TL 40 800 Td %b ET" % shown
        objects.append(b"<< /Length %d >>\nstream\n%b\nendstream" % (len(text), text))
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents %d 0 R "
            b"/Resources << /Font << /F1 3 0 R >> >> >>" % len(objects)
        )
        places.append(b"%d 0 R" % len(objects))
    objects[0] = b"<< /Type /Catalog /Pages 2 0 R >>"
    kids = b" ".join(places)
    objects[1] = b"<< /Type /Pages /Kids [%b] /Count %d >>" % (kids, len(places))
    body, table = bytearray(b"%PDF-1.4\n"), [b"0000000000 65535 f \n"]
    for number, content in enumerate(objects, 1):
        table.append(b"%010d 00000 n \n" % len(body))
        body += b"%d 0 obj\n%b\nendobj\n" % (number, content)
    lock = b"/Encrypt 4 0 R /ID [<00> <00>] " if is_locked else b""
    trailer = b"trailer\n<< /Size %d /Root 1 0 R %b>>\n" % (len(table), lock)
    start = len(body)
    body += b"xref\n0 %d\n%b%bstartxref\n%d\n%%%%EOF\n" % (
        len(table),
        b"".join(table),
        trailer,
        start,
    )
    return bytes(body)


def wrapped(text: str, columns: int = 90) -> list[str]:
    """Return a text as lines of a page."""
    lines = [""]
    for word in text.split():
        if len(lines[-1]) + len(word) > columns:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return lines
