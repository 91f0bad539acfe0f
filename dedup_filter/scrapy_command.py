"""The Scrapy command `scrapy dedup ...`: what `dedup-filter ...` does, with the project's index.

    scrapy dedup ARGUMENTS      -> dedup-filter ARGUMENTS, untouched, --help too; its exit codes
    scrapy dedup index stats    -> INDEX is the one that the project's settings name

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
        """Return what follows the name of the command."""
        return "[ARGUMENTS of dedup-filter ...]"

    def short_desc(self) -> str:
        """Describe the command in one line."""
        return "Look after the index of near-duplicates (dedup-filter)"

    def add_options(self, parser: ArgumentParser) -> None:
        """Let all arguments pass, whatever they begin with: they are those of `dedup-filter`."""
        parser.prefix_chars = ""
        parser.add_argument("arguments", nargs=REMAINDER)
        parser.set_defaults(profile=None)  # Scrapy asks for that of its own options

    def process_options(self, args: list[str], opts: Namespace) -> None:
        """Do nothing: there are no options of Scrapy's."""

    def run(self, args: list[str], opts: Namespace) -> None:  # noqa: ARG002 - as Scrapy calls it
        """Run `dedup-filter` and exit as it does."""
        from dedup_filter.cli import main

        main(opts.arguments, "scrapy dedup", self._index_location)

    def _index_location(self) -> str:
        """Return where the settings say that the index is.

        Raises:
            ConfigError: a setting is wrong, or they say that it ends with the crawl.
        """
        from dedup_filter.errors import ConfigError
        from dedup_filter.pages.location import MEMORY
        from dedup_filter.scrapy_plugin.settings import PluginSettings

        assert self.settings is not None  # Scrapy sets them before it runs a command
        location = PluginSettings.read(self.settings).index
        if location == MEMORY:
            raise ConfigError(
                "name an INDEX: by the project's settings (DEDUP_INDEX) it ends with the crawl"
            )
        return location
