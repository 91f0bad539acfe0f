from dataclasses import dataclass

import attrs
import pydantic
import pytest
import scrapy

from dedup_filter import Verdict
from dedup_filter.scrapy_plugin.tag import tag

NEAR = Verdict("near", "http://a/", distance=3, similarity=0.9, language="en", candidates=2)
MARK = {
    "outcome": "near",
    "original": "http://a/",
    "distance": 3,
    "similarity": 0.9,
    "reason": None,
}


class ScrapyItem(scrapy.Item):
    dedup = scrapy.Field()


@dataclass
class DataclassItem:
    dedup: object = None


@attrs.define
class AttrsItem:
    dedup: object = None


class PydanticItem(pydantic.BaseModel):
    dedup: object = None


class PydanticItemWithExtras(pydantic.BaseModel, extra="allow"):
    pass


@pytest.mark.parametrize(
    "kind", [dict, ScrapyItem, DataclassItem, AttrsItem, PydanticItem, PydanticItemWithExtras]
)
def test_item_with_room_is_marked_with_a_plain_dict(kind):
    item = kind()

    assert tag(item, "dedup", NEAR)
    assert (item.dedup if hasattr(item, "dedup") else item["dedup"]) == MARK


class OtherScrapyItem(scrapy.Item):
    name = scrapy.Field()


@dataclass(frozen=True)
class FrozenItem:
    dedup: object = None


@attrs.frozen
class FrozenAttrsItem:
    dedup: object = None


class StrictItem(pydantic.BaseModel, validate_assignment=True):
    dedup: str = ""


class FrozenPydanticItem(pydantic.BaseModel, frozen=True):
    dedup: object = None


class PydanticItemWithoutField(pydantic.BaseModel):
    pass


class Stubborn(dict):
    def __setitem__(self, key, value):
        raise RuntimeError("read only")


@pytest.mark.parametrize(
    "item",
    [
        OtherScrapyItem(name="x"),
        FrozenItem(),
        FrozenAttrsItem(),
        StrictItem(),
        FrozenPydanticItem(),
        PydanticItemWithoutField(),
        Stubborn(name="x"),
        "no item",
        5,
    ],
    ids=lambda item: type(item).__name__,
)
def test_item_without_room_is_left_as_it_is(item):
    before = repr(item)

    assert not tag(item, "dedup", NEAR)
    assert repr(item) == before
