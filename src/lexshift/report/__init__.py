"""What people see of a result: the page, and the short view in a notebook."""

from __future__ import annotations

from lexshift.report.notebook import notebook_view
from lexshift.report.page import write_report

__all__ = ["notebook_view", "write_report"]
