"""No statement that a page causes passes over a table that grows with the pages."""

import pytest
from made_text import prose
from site_pages import framed

from dedup_filter import NearDuplicateFilter

SMALL = {"CONSTANT", "notes", "waiting"}
"""Tables that are bounded, and the name of a row that is no table."""


@pytest.mark.parametrize("location", ["memory:", "folder"])
def test_no_statement_of_a_page_passes_over_all_pages(location, tmp_path):
    where = location if location == "memory:" else tmp_path / location
    options = {"canonical": True, "max_pages": 8, "expire_days": 1}
    with NearDuplicateFilter.open(where, **options) as pages:
        connection = pages.conductor.store._connection
        statements: set[str] = set()
        connection.set_trace_callback(statements.add)
        for number in range(12):
            link = f'<link rel="canonical" href="/{number - 1}">'
            html = link + framed(prose(number // 2), f"a notice {number}")
            verdict = pages.claim(f"http://{number % 3}.example/{number}", html=html)
            end = pages.release if number % 5 == 3 else pages.commit
            end(verdict)
            pages.flush()
        connection.set_trace_callback(None)
        plans = {
            step[-1]: each
            for each in statements
            if each.split()[0] in {"SELECT", "UPDATE", "DELETE", "INSERT", "REPLACE", "WITH"}
            for step in connection.execute(f"EXPLAIN QUERY PLAN {each}")
        }
        assert len(plans) > 5
    over_all = {
        step: statement
        for step, statement in plans.items()
        if step.startswith("SCAN") and step.split()[1] not in SMALL
    }
    assert not over_all
