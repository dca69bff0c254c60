"""dcgmi: the diagnostic's JSON (the text decides, not the exit code) and the NVLink matrix."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from fleet.readers.reading import Beside, Context, Fact, Finding, Gap, Reading, Text
from fleet.readers.text import decode, json_documents, lines, mapping, plain, printable, sequence

_GPU = re.compile(r"\s*gpuId (\d+):\s*$", re.I)
_CELLS = re.compile(r"\s+[UDX_](?: [UDX_])*\s*$")
_LINKS = {"D": ("link_down", "fault", "check_fabric"), "X": ("link_disabled", "warn", "fix_config")}


def read_diag(text: Text, _context: Context, _also: Sequence[Beside] = ()) -> Reading:
    """`dcgmi diag -j`, the short and the long form, whatever stands before the document."""
    documents, _ = json_documents(decode(text))
    report = next((body for document in documents for body in _reports(document)), None)
    if report is None:
        reason = "unparseable_line" if decode(text).strip() else "empty_output"
        return Reading("dcgmi_diag", gaps=(Gap("dcgm diag", reason),))
    findings: list[Finding] = []
    gaps: list[Gap] = []
    passed = 0
    for category in map(mapping, sequence(report.get("test_categories"))):
        for test in map(mapping, sequence(category.get("tests"))):
            passed += _take_test(printable(str(test.get("name", "?")))[:80], test, findings, gaps)
    if error := report.get("runtime_error"):
        detail = {"tool": "dcgmi", "text": printable(str(error))[:200]}
        findings.append(Finding({"event": "tool_failed"}, None, "warn", "node", "none", detail=detail))
        gaps.append(Gap("dcgm diag", "tool_failed"))
    return Reading("dcgmi_diag", tuple(findings), tuple(gaps), (Fact(None, "diag_passed", passed),))


def _reports(document: Any) -> list[Mapping[str, Any]]:
    bodies = [mapping(document), *(mapping(body) for body in mapping(document).values())]
    return [body for body in bodies if "test_categories" in body or "runtime_error" in body]


def _gpus(result: Mapping[str, Any]) -> list[str]:
    """The GPUs that a result names, in the forms of DCGM 2 to 4."""
    named = result.get("gpu_ids", result.get("gpu_id"))
    if named is None and str(result.get("entity_group", "")).upper() == "GPU":
        named = result.get("entity_id")
    return [f"gpu:{index}" for index in re.findall(r"\d+", str(named))] if named is not None else []


def _take_test(name: str, test: Mapping[str, Any], findings: list[Finding], gaps: list[Gap]) -> int:
    """Findings of one test; 1 if all of its results passed."""
    results = [mapping(result) for result in sequence(test.get("results"))]
    words = [str(result.get("status", "")).strip().lower() for result in results]
    for word, severity, action in (("fail", "fault", "isolate"), ("warn", "warn", "none")):
        hit = [result for result, status in zip(results, words, strict=True) if status.startswith(word)]
        named = list(dict.fromkeys(gpu for result in hit for gpu in _gpus(result)))
        code = {"dcgm_diag": name}
        if hit and not named:
            findings.append(Finding(code, None, severity, "node", action))
            if severity == "fault":
                gaps.append(Gap(f"GPU that failed {name}", "not_reported"))
        findings.extend(Finding(code, gpu, severity, "gpu", action) for gpu in named)
    if any(word.startswith(("skip", "not run")) for word in words):
        gaps.append(Gap(name, "not_measured"))
    return int(bool(words) and all(word == "pass" for word in words))


def read_nvlink(text: Text, context: Context, _also: Sequence[Beside] = ()) -> Reading:
    """`dcgmi nvlink -s`: one letter per link. D is down; X was switched off, which is configuration."""
    findings: list[Finding] = []
    gaps: list[Gap] = []
    seen: list[int] = []
    gpu: int | None = None
    for number, raw in lines(decode(text)):
        line = plain(raw)
        if line.startswith("Key"):
            continue
        if found := _GPU.match(line):
            gpu = int(found.group(1)[:6])
            seen.append(gpu)
        elif gpu is not None and _CELLS.match(line):
            cells = line.split()
            expected = context.get("expected_links_per_gpu")
            if isinstance(expected, int) and len(cells) != expected:
                gaps.append(Gap(f"links of gpu:{gpu}", "truncated_line", f"gpu:{gpu}", number))
            for letter, (code, severity, action) in _LINKS.items():
                links = [at for at, cell in enumerate(cells) if cell == letter]
                if links:
                    detail = {"links": links}
                    verdict = (severity, "gpu", action)
                    findings.append(Finding({"nvlink": code}, f"gpu:{gpu}", *verdict, len(links), detail))
            gpu = None
    if not seen:
        reason = "unparseable_line" if decode(text).strip() else "empty_output"
        return Reading("dcgmi_nvlink", gaps=(Gap("NVLink status", reason),))
    span = f"{min(seen)}..{max(seen)}" if len(seen) > 1 else str(seen[0])
    gaps.insert(0, Gap(f"PCI address of gpuId {span}", "identity_unknown"))
    total = context.get("expected_gpus")
    if isinstance(total, int) and len(seen) < total:
        gaps.append(Gap(f"{total - len(seen)} of {total} GPUs", "missing_from_report"))
    return Reading("dcgmi_nvlink", tuple(findings), tuple(gaps), (Fact(None, "gpu_count", len(seen)),))
