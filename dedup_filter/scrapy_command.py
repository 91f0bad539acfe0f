"""The Scrapy command `scrapy dedup ...`: `dedup-filter ...` with the project's index.

    scrapy dedup ARGUMENTS      -> dedup-filter ARGUMENTS, unchanged, --help too; its exit codes
    scrapy dedup index stats    -> INDEX defaults to the index of the project's settings

Scrapy imports the commands of all packages whenever `scrapy` is started, for other projects too.
So nothing is imported here, beyond Scrapy, before the command is run.
"""

from argparse import REMAINDER, ArgumentParser, Namespace

from scrapy.commands import ScrapyCommand


class Command(ScrapyCommand):
    """Run `dedup-filter` inside a Scrapy project, or outside."""

    requires_crawler_process = False
    default_settings = {"LOG_ENABLED": False}  # noqa: RUF012 - as Scrapy's own commands have it

    def syntax(self) -> str:
        """Return the syntax after the name of the command."""
        return "[ARGUMENTS of dedup-filter ...]"

    def short_desc(self) -> str:
        """Describe the command in one line."""
        return "Maintain the index of near-duplicates (dedup-filter)"

    def add_options(self, parser: ArgumentParser) -> None:
        """Pass all arguments, whatever they begin with, to `dedup-filter`."""
        parser.prefix_chars = ""
        parser.add_argument("arguments", nargs=REMAINDER)
        parser.set_defaults(profile=None)  # one of Scrapy's own options, which it reads

    def process_options(self, args: list[str], opts: Namespace) -> None:
        """Do nothing: there are no options of Scrapy."""

    def run(self, args: list[str], opts: Namespace) -> None:  # noqa: ARG002 - as Scrapy calls it
        """Run `dedup-filter` and exit as it does."""
        from dedup_filter.cli import main

        main(opts.arguments, "scrapy dedup", self._index_location)

    def _index_location(self) -> str:
        """Return the location of the index in the settings.

        Raises:
            ConfigError: a setting is wrong, or the index is in memory.
        """
        from dedup_filter.errors import ConfigError
        from dedup_filter.scrapy_plugin.settings import PluginSettings
        from dedup_filter.store.location import MEMORY

        assert self.settings is not None  # Scrapy sets them before it runs a command
        location = PluginSettings.read(self.settings).index
        if location == MEMORY:
            raise ConfigError(
                "name an INDEX: the index of the project's settings (DEDUP_INDEX) is in memory and "
                "ends with the crawl"
            )
        return location
