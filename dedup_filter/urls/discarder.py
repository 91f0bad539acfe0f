"""The add-on duplicate-url-discarder, with rules of this package: extra `dedup-filter[urls]`.

    ADDONS = {"dedup_filter.urls.discarder.Addon": 600}
    DUD_LOAD_RULE_PATHS = ["rules.json"]

Scrapy then treats URLs that a rule makes equal as one request, and makes only the first. The add-on
needs neither an index nor this package's filter.
"""

from functools import cached_property

from duplicate_url_discarder import Addon, processors  # type: ignore[attr-defined] # not in __all__
from duplicate_url_discarder.processors.base import UrlProcessorBase

from dedup_filter.urls.rule import Rule, form_of, url_of
from dedup_filter.urls.rules_file import PROCESSOR

__all__ = ["Addon", "RuleProcessor"]


class RuleProcessor(UrlProcessorBase):
    """Applies one rule: `args` are its origin, its kind and its arguments."""

    def validate_args(self) -> None:
        """Raise ValueError if the arguments make no rule."""
        if not self._rule.is_well_formed:
            raise ValueError(f"{PROCESSOR} has no such rule: {self.args}")

    def process(self, input_url: str) -> str:
        """Return one URL for all URLs that the rule makes equal to this one."""
        form = form_of(input_url)
        rule = self._rule
        if form is None or form.origin != rule.origin:
            return input_url
        changed = rule.apply(form)
        return input_url if changed is form else url_of(changed)

    @cached_property
    def _rule(self) -> Rule:
        origin, kind, *arguments = (*self.args, "", "")[: max(len(self.args), 2)]
        return Rule(origin, kind, tuple(arguments))


processors._PROCESSOR_CLASSES[PROCESSOR] = RuleProcessor
