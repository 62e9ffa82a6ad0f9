"""A cross-check as a JUnit report, which CI systems show case by case."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree

from audit.runtime.errors import one_line

if TYPE_CHECKING:
    from audit.crosscheck.compare import CaseVerdict, CrosscheckReport


def junit(report: CrosscheckReport) -> str:
    """One test suite; a case that differs is a failure, one that was not answered an error; what is open is said."""
    statuses = [verdict.status for verdict in report.verdicts]
    suite = ElementTree.Element(
        "testsuite",
        name=f"{report.algorithm} {report.variant}",
        tests=str(len(statuses)),
        failures=str(statuses.count("fail")),
        errors=str(statuses.count("error")),
        skipped=str(statuses.count("skip")),
    )
    properties = ElementTree.SubElement(suite, "properties")
    unchecked = ", ".join(f"line {line}: {name}" for line, name in report.unchecked)
    for name, value in (("client", report.client), ("unchecked", unchecked)):
        ElementTree.SubElement(properties, "property", name=name, value=one_line(value))
    for verdict in report.verdicts:
        _case(suite, report, verdict)
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def _case(suite: ElementTree.Element, report: CrosscheckReport, verdict: CaseVerdict) -> None:
    place = f"{report.algorithm}.{report.variant}"
    case = ElementTree.SubElement(suite, "testcase", classname=place, name=verdict.id)
    if verdict.status == "pass":
        return
    tag = {"fail": "failure", "error": "error", "skip": "skipped"}[verdict.status]
    found = verdict.divergence
    where = f"line {found.line}, {found.quantity}: expected {found.expected}, got {found.got}. " if found else ""
    ElementTree.SubElement(case, tag, message=one_line(where + verdict.note).strip())
