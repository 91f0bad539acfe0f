"""Pairs of pages -> their kept texts, packed, with the parts that count as advertisements.

    texts of an original and some of its duplicates -> JSON -> deflate -> base64: one bundle

A bundle is unpacked when one of its pairs is viewed. Similar texts in one bundle take little space.
Pairs, characters of a text, and bytes in all are bounded. Pairs of the largest clusters come first.

Advertisements are shown as the filter sees them: words whose shingles belong to no sentence
(features/analysis.py). A word of the normal form is located in the kept text by its position. If
the two cannot be matched, nothing is marked.
"""

import json
import re
import zlib
from base64 import b64encode
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from itertools import accumulate, chain, compress

from dedup_filter.features.analysis import analyse
from dedup_filter.review.report.collect import ReportData
from dedup_filter.store.protocol import KeptContent, Recorded
from dedup_filter.store.records import PageRecord
from dedup_filter.text.content import find_content
from dedup_filter.text.plain_text import normalize

NOT_KEPT, LEFT_OUT = -1, -2
"""In place of a bundle's number: no text was kept; the text is not in the report."""
_MOST_CHARACTERS = 40_000
"""Characters of a text: ten pages of a book."""
_MOST_BYTES = 24 << 20
"""Bytes of all bundles."""
_IN_BUNDLE = 12
"""Pairs of a bundle, which are unpacked to view one of them."""
_UNSPACED = "\u3005-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
_PIECE = re.compile(rf"[{_UNSPACED}]|[^\s{_UNSPACED}]+|\s+")
_WITHIN = 64
"""Characters within which the next word must begin."""


@dataclass
class PackedTexts:
    """The texts of pairs."""

    of_pairs: list[int]
    """The bundle of each pair, or why there is none."""
    bundles: list[str] = field(default_factory=list)
    are_kept: bool = False
    """Whether the index has any texts."""

    @property
    def pairs(self) -> int:
        """Number of pairs whose texts can be read."""
        return sum(bundle >= 0 for bundle in self.of_pairs)


def pack_texts(recorded: Recorded, found: ReportData, most: int) -> PackedTexts:
    """Pack the texts of at most `most` pairs: of the largest clusters first.

    Cost: 1 ms a text of 1,000 words.
    """
    pairs, kept = found.pairs, recorded.with_text()
    are_readable = [page in kept or original in kept for page, original, *_ in pairs]
    of_pairs = [LEFT_OUT if is_readable else NOT_KEPT for is_readable in are_readable]
    texts = PackedTexts(of_pairs, are_kept=bool(kept))
    sizes = Counter(pair.original for pair in pairs)
    readable = compress(range(len(pairs)), are_readable)
    ordered = sorted(readable, key=lambda place: -sizes[pairs[place].original])
    of_original = defaultdict(list)
    for place in ordered[:most]:
        of_original[pairs[place].original].append(place)
    size = 0
    for places in chain.from_iterable(map(_bundled, of_original.values())):
        pages = {page for place in places for page in pairs[place][:2] if page in kept}
        contents = {page: _shown(recorded, found, page) for page in sorted(filter(None, pages))}
        packed = zlib.compress(json.dumps(contents, separators=(",", ":")).encode("ascii"), 9)
        size += len(packed)
        if size > _MOST_BYTES:
            break
        for place in places:
            texts.of_pairs[place] = len(texts.bundles)
        texts.bundles.append(b64encode(packed).decode("ascii"))
    return texts


def _bundled(places: list[int]) -> list[list[int]]:
    return [places[at : at + _IN_BUNDLE] for at in range(0, len(places), _IN_BUNDLE)]


def _shown(recorded: Recorded, found: ReportData, page: int) -> list[object]:
    """Return a text, the places of its advertisements (in UTF-16 units), and its whole length."""
    record = found.records[page]
    whole = _main_text(recorded.content(record))
    text = whole[:_MOST_CHARACTERS]
    units = [0, *accumulate(1 + (character > "\uffff") for character in text)]
    places = advertisements(text, record, found.shingle_size, found.ads)
    return [text, [units[place] for place in places], len(whole)]


def _main_text(kept: KeptContent) -> str:
    """Return the main text of a page, including blocks that earlier pages of its host had.

    The kept text lacks blocks that the other page of the pair had on the same host.
    """
    unpacked = kept.page()
    if unpacked is None:
        return kept.text or ""
    return "\n".join(block.text for block in find_content(unpacked.blocks).main)


def advertisements(
    text: str, record: PageRecord, shingle_size: int = 3, ads: str = "window"
) -> list[int]:
    """Return begin and end, in turn, of each part of a text whose words are in no sentence."""
    spans, normal = _aligned(text)
    size = max(shingle_size, 1)
    analysis = analyse([normal], declared_language=record.language, shingle_size=size, ads=ads)
    places: list[int] = []
    at, goes_on = 0, False
    for word, in_sentence in zip(analysis.tokens, analysis.in_sentence.tolist(), strict=True):
        begin = normal.find(word, at, at + _WITHIN + len(word))
        at = max(at, begin + 1)
        if begin < 0 or in_sentence:
            goes_on = False
            continue
        first, last = spans[begin][0], spans[begin + len(word) - 1][1]
        if goes_on or (places and first < places[-1]):
            places[-1] = max(places[-1], last)
        else:
            places += [first, last]
        goes_on = True
    return places


def _aligned(text: str) -> tuple[list[tuple[int, int]], str]:
    """Return the normal form of a text, and the begin and end that each of its characters has."""
    pieces = [
        (piece.span(), " " if piece[0].isspace() else normalize(piece[0]))
        for piece in _PIECE.finditer(text)
    ]
    spans = [span for span, normal in pieces for _ in normal]
    return spans, "".join(normal for _, normal in pieces)
