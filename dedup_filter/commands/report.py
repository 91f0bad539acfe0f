"""`dedup-filter report`: an index -> one HTML file that shows it."""

import click

from dedup_filter.commands import json_option, location_argument, progress, write
from dedup_filter.commands.options import number_option
from dedup_filter.review.report import Amounts, require_free, write_report
from dedup_filter.wording import counted

_MOST = Amounts()


@click.command("report")
@location_argument()
@click.option("--output", "-o", default="report.html", show_default=True, metavar="FILE")
@click.option("--force", is_flag=True, help="Replace FILE if it is there.")
@number_option("--duplicates", 0, "Most duplicates that are listed: the latest.", _MOST.duplicates)
@number_option("--texts", 0, "Most pairs whose texts are shown.", _MOST.texts)
@json_option
def report_command(
    index: str, output: str, force: bool, duplicates: int, texts: int, as_json: bool
) -> None:
    """Write a report on an index: one HTML file that needs no network.

    It shows how many pages were kept and dropped; all duplicates, to sort, filter and search;
    clusters; and, if texts were kept (DEDUP_KEEP_TEXT=True), each pair side by side with its
    differences marked.

    A crawl may be writing to the index. With DEDUP_REPORT=FILE a crawl writes its own report at
    its end.
    """
    if not force:
        require_free(output)
    written = write_report(
        index,
        output,
        {},
        Amounts(duplicates, texts),
        watch=lambda records, total: progress(records, "reading", total),
    )
    said = (
        f"{output}: {counted(written.pages, 'page')}, {counted(written.duplicates, 'duplicate')}, "
        f"texts of {counted(written.texts, 'pair')}; {written.bytes / 1e6:.1f} MB"
    )
    write(written._asdict(), [said], as_json=as_json)
