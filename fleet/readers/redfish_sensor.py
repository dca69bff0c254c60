"""Sensors and the status of resources: verdicts from readings, thresholds and health, in that order of trust.

Null, "nan" and a missing unit are no reading, and no reading is neither cold nor broken.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from fleet.readers.reading import Beside, Context, Gap, Problem, Reading, Text
from fleet.readers.redfish_body import Body, last, load
from fleet.readers.redfish_units import canonical
from fleet.readers.text import Repeated, mapping, number, sequence, spelled

RANK = {"ok": 0, "warning": 1, "critical": 2}
_HEALTH = {"OK": "ok", "Warning": "warning", "Critical": "critical"}
_LIMITS = (
    ("UpperFatal", "critical", True),
    ("UpperCritical", "critical", True),
    ("UpperCaution", "warning", True),
    ("LowerFatal", "critical", False),
    ("LowerCritical", "critical", False),
    ("LowerCaution", "warning", False),
)
EMPTY: Mapping[str, Any] = {"verdict": "unknown", "reading": None, "unit": None}


def worst(verdicts: Sequence[str]) -> str | None:
    """The worst of some verdicts, None of none."""
    return max(verdicts, key=lambda verdict: RANK.get(verdict, -1), default=None)


def status_verdict(document: Mapping[str, Any]) -> str:
    """ok, warning, critical, absent, not_judged or unknown from `Status`; two different ones are none."""
    repeated = document.repeated if isinstance(document, Repeated) else ()
    status = mapping(document.get("Status"))
    if "Status" in repeated:
        return "unknown"
    if status.get("State") == "Absent":
        return "absent"
    health = [_HEALTH[word] for key in ("Health", "HealthRollup") if (word := str(status.get(key))) in _HEALTH]
    if status.get("State") in ("Disabled", "StandbyOffline", "UnavailableOffline", "StandbySpare", "Deferring"):
        return worst(health) if worst(health) in ("warning", "critical") else "not_judged"  # type: ignore[return-value]
    return worst(health) or "unknown"


def _subject(document: Mapping[str, Any], path: str) -> str:
    name = str(document.get("Id") or last(path))
    kind = str(document.get("ReadingType") or "reading").lower()
    for suffix in ("_temp", "_TEMP", "_Temp"):
        name = name.removesuffix(suffix)
    return f"{kind} of {name}"


def _limit_verdict(document: Mapping[str, Any], value: float, unit: Any) -> str | None:
    """What the thresholds say, in the reading's own unit; None if there are none."""
    found: list[str] = []
    for name, verdict, upper in _LIMITS:
        limit, _ = canonical(mapping(mapping(document.get("Thresholds")).get(name)).get("Reading"), unit)
        if limit is not None:
            found.append(verdict if (value >= limit if upper else value < limit) else "ok")
    return worst(found)


def judge_sensor(
    document: Mapping[str, Any], path: str, *, power_off: bool = False
) -> tuple[dict[str, Any], list[Gap]]:
    """Verdict, reading and unit of one sensor, and what could not be read."""
    unit = document.get("ReadingUnits")
    repeated = document.repeated if isinstance(document, Repeated) else ()
    value, canonical_unit = canonical(document.get("Reading"), unit)
    out: dict[str, Any] = {"verdict": "unknown", "reading": value, "unit": canonical_unit}
    status = status_verdict(document)
    if status == "absent":
        return {**out, "verdict": "absent", "reading": None}, []
    if power_off:
        return {**out, "verdict": "not_judged"}, []
    if canonical_unit is None and document.get("Reading") is not None:
        why = f"unit {unit} is not known" if unit else "no unit"
        return {"verdict": "unknown", "reading": None, "unit": None}, [
            Gap(str(document.get("Id") or last(path)), "not_reported", why=why)
        ]
    if "Reading" in repeated:
        return {**out, "reading": None}, [Gap(_subject(document, path), "contradictory", why="key Reading twice")]
    if value is None:
        told = document.get("Reading")
        why = "Reading is null" if told is None else f"Reading is the string {told!r:.40}"
        if not any(
            number(mapping(limit).get("Reading")) is not None for limit in mapping(document.get("Thresholds")).values()
        ):
            why += " and so are the thresholds" if document.get("Thresholds") else ""
        return out, [Gap(_subject(document, path), "not_measured", why=why)]
    low, _ = canonical(document.get("ReadingRangeMin"), unit)
    high, _ = canonical(document.get("ReadingRangeMax"), unit)
    if (low is not None and value < low) or (high is not None and value > high):
        why = f"{value} {canonical_unit} is outside of what the sensor can measure"
        return {**out, "reading": None}, [Gap(_subject(document, path), "implausible", why=why)]
    if status == "not_judged":
        return {**out, "verdict": "not_judged"}, []
    told_by = [verdict for verdict in (_limit_verdict(document, value, unit), status) if verdict in RANK]
    out["verdict"] = worst([verdict for verdict in told_by if verdict is not None]) or "not_judged"
    gaps = [Gap(f"status of {last(path)}", "contradictory", why="key Status twice")] if "Status" in repeated else []
    return out, gaps


def read(text: Text, context: Context, _also: Sequence[Beside] = ()) -> Reading:
    """One sensor."""
    body = load("redfish_sensor", text, context, EMPTY)
    if isinstance(body, Reading):
        return body
    return _sensor(body, context)


def _sensor(body: Body, context: Context) -> Reading:
    off = str(context.get("power", "On")) == "Off"
    out, gaps = judge_sensor(body.document, body.path, power_off=off)
    findings = (
        [Problem(body.path, f"sensor_{out['verdict']}", "node", "look")]
        if out["verdict"] in ("warning", "critical")
        else []
    )
    twins = context.get("other_gpu_sensors_with_reading")
    if out["reading"] is None and out["verdict"] == "unknown" and isinstance(twins, int) and twins > 0:
        findings.append(Problem(body.path, f"sensor_silent_beside_{spelled(twins)}_that_speak", "node", "look"))
    return Reading("redfish_sensor", tuple(findings), tuple(gaps), more={"resources": {body.path: out}})


def read_thermal_metrics(text: Text, context: Context, _also: Sequence[Beside] = ()) -> Reading:
    """ThermalMetrics: readings without thresholds, often as strings: read and not judged."""
    body = load("redfish_thermal_metrics", text, context, EMPTY)
    if isinstance(body, Reading):
        return body
    resources: dict[str, Any] = {}
    gaps: list[Gap] = []
    for entry in map(mapping, sequence(body.document.get("TemperatureReadingsCelsius"))):
        path = str(entry.get("DataSourceUri") or entry.get("@odata.id") or entry.get("DeviceName"))
        value = number(entry.get("Reading"))
        resources[path] = {"verdict": "unknown" if value is None else "not_judged", "reading": value, "unit": "Cel"}
        if value is None:
            name = str(entry.get("DeviceName") or last(path)).removesuffix("_temp")
            told = entry.get("Reading")
            why = "Reading is null" if told is None else f"Reading is the string {str(told)[:40]}"
            gaps.append(Gap(f"temperature of {name}", "not_measured", why=why))
    if not resources:
        gaps.append(Gap("temperatures", "not_reported", why="no readings in the resource"))
    return Reading("redfish_thermal_metrics", (), tuple(gaps), more={"resources": resources})
