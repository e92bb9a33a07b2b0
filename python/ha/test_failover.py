"""Payments with approvals, over HTTP at three servers, while PostgreSQL fails over: nothing that was
acknowledged is lost, nothing is paid twice, every unknown outcome is reported as such, no turn is
stuck, and service is back in time."""

import time

import pytest

from cluster import until
from faults import FAULTS, wait_until_over
from judge import judge
from payers import Payers
from table import Row


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_nothing_is_lost_and_service_returns(fault, site, form, rows):
    site.cluster.wait_until_whole()
    with Payers(site.servers, site.people, form.rate) as payers:

        def wait_for_payments(number, since=0.0):
            until(f"{number} payments", lambda: payers.done(since) >= number)

        wait_for_payments(form.few)
        struck = time.monotonic()
        hit = fault.strike(site.cluster)
        wait_for_payments(form.few, struck)
        wait_until_over(fault, site.cluster, hit)
        mended = time.monotonic()
        fault.mend(site.cluster, hit)
        site.cluster.wait_until_whole()
        whole = time.monotonic()
        wait_for_payments(form.few, whole)
        until("enough came", lambda: len(payers.payments) >= form.payments)
        ended = time.monotonic()
        payers.finish()
    outcomes = judge(site.servers, site.cluster, payers.payments)
    row = Row(
        fault=fault.name,
        way=site.way,
        payments=len(payers.payments),
        outcomes=outcomes,
        gap=payers.longest_gap(struck, mended),
        gap_on_return=payers.longest_gap(mended, ended),
    )
    rows.append(row)
    assert outcomes["paid"] and outcomes["denied"], outcomes
    assert max(row.gap, row.gap_on_return) < form.longest_gap, row
