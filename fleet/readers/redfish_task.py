"""Tasks: the state word decides. Percentages, end times and TaskStatus stand beside every state and prove nothing."""

from collections.abc import Mapping, Sequence
from typing import Any

from fleet.readers.reading import Beside, Context, Gap, Reading, Text
from fleet.readers.redfish_body import load
from fleet.readers.text import mapping, number, printable, sequence

# word -> phase, succeeded; the first table is DMTF's, the second what vendors add
STANDARD: Mapping[str, tuple[str, bool | str]] = {
    "New": ("waiting", "unknown"),
    "Pending": ("waiting", "unknown"),
    "Suspended": ("waiting", "unknown"),
    "Interrupted": ("waiting", "unknown"),
    "Starting": ("running", "unknown"),
    "Running": ("running", "unknown"),
    "Stopping": ("running", "unknown"),
    "Service": ("running", "unknown"),
    "Cancelling": ("running", "unknown"),
    "Completed": ("done", True),
    "Exception": ("done", False),
    "Killed": ("done", False),
    "Cancelled": ("done", False),
}
VENDOR: Mapping[str, tuple[str, bool | str]] = {
    "Scheduled": ("waiting", "unknown"),
    "Scheduling": ("waiting", "unknown"),
    "Queued": ("waiting", "unknown"),
    "Waiting": ("waiting", "unknown"),
    "Paused": ("waiting", "unknown"),
    "PendingActivation": ("waiting", "unknown"),
    "ReadyForExecution": ("waiting", "unknown"),
    "RebootPending": ("waiting", "unknown"),
    "Downloading": ("running", "unknown"),
    "Downloaded": ("running", "unknown"),
    "InProgress": ("running", "unknown"),
    "Verifying": ("running", "unknown"),
    "Updating": ("running", "unknown"),
    "Failed": ("done", False),
    "CompletedWithErrors": ("done", False),
    "Aborted": ("done", False),
    "Timeout": ("done", False),
    "RebootFailed": ("done", False),
    "Error": ("done", False),
    "Successful": ("done", True),
    "Success": ("done", True),
    "RebootCompleted": ("done", True),
}


def read(text: Text, context: Context, _also: Sequence[Beside] = ()) -> Reading:
    """One task."""
    body = load("redfish_task", text, context, {"verdict": "unknown"})
    if isinstance(body, Reading):
        return body
    task = body.document
    ident = printable(str(task.get("Id") or body.path.rpartition("/")[2]))
    word = task.get("TaskState", task.get("JobState"))
    gaps: list[Gap] = []
    succeeded: bool | str = "unknown"
    if not isinstance(word, str) or "TaskState" in body.repeated:
        phase, vendor = "unknown", False
        why = "key TaskState twice" if "TaskState" in body.repeated else "no state word"
        gaps.append(Gap(f"outcome of task {ident}", "not_reported", why=why))
    else:
        known = STANDARD.get(word) or VENDOR.get(word)
        vendor = word not in STANDARD
        phase, succeeded = known or ("unknown", "unknown")
        if known is None:
            gaps.append(Gap(f"outcome of task {ident}", "no_matching_rule", why="unknown state word"))
    if succeeded is True and task.get("TaskStatus") == "Critical":
        succeeded = "unknown"
        gaps.append(Gap(f"outcome of task {ident}", "contradictory", why=f"{word} with TaskStatus Critical"))
    more: dict[str, Any] = {
        "id": ident,
        "state_word": word if isinstance(word, str) else None,
        "phase": phase,
        "succeeded": succeeded,
        "vendor_word": vendor,
        "percent": number(task.get("PercentComplete")),
        "messages": _messages(task.get("Messages")),
        "started_at": task.get("StartTime") if isinstance(task.get("StartTime"), str) else None,
    }
    return Reading("redfish_task", (), tuple(gaps), more={"task": more})


def _messages(value: Any) -> list[str]:
    texts = [str(mapping(entry).get("Message") or mapping(entry).get("MessageId") or "") for entry in sequence(value)]
    return [printable(text)[:300] for text in texts if text.strip()]
