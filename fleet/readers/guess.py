"""What kind of input a text is, by what only that kind contains. Tried in order; None where nothing fits."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from fleet.readers.reading import Text
from fleet.readers.text import decode, json_documents, mapping

_HEAD = 200_000
# pattern -> kind; the first that is found wins
PATTERNS: tuple[tuple[str, str], ...] = (
    (r"<nvidia_smi_log", "nvidia_smi_xml"),
    (r"=+NVSMI LOG=+", "nvidia_smi_q"),
    (r"(?m)^GPU \d+: .*\(UUID: GPU-", "nvidia_smi_list"),
    (r"Unable to determine the device handle|\| NVIDIA-SMI \d", "nvidia_smi_table"),
    (r"(?m)^(?:# \w+ )?DCGM_", "dcgm_scrape"),
    (r"(?m)^(?:amd_)?gpu_\w+\{[^}]*gpu_id=", "amd_exporter_scrape"),
    (r"(?m)^\s+gpuId \d+:\s*$", "dcgmi_nvlink"),
    (r"(?m)^### .*scontrol", "scontrol_and_squeue"),
    (r"(?m)^NodeName=\S+ .*State=", "scontrol_show_node_oneline"),
    (r"(?m)^NodeName=", "scontrol_show_node"),
    (r"(?m)^(?:\[\d+\] - )?Node Health Check|nhc:\s+Health check", "nhc_output"),
    (r"sinfo: error:|slurm_load_\w+", "sinfo_stderr"),
    (r"(?m)^PARTITION\s+AVAIL", "sinfo_default"),
    (r"(?m)^SwitchName=", "slurm_topology_conf"),
    (r"(?m)^\s+LnkSta:|^\s+ACSCtl:", "lspci_vvv"),
    (r"nv-fabricmanager.*: Connected|nvidia-fabricmanager\.service", "journal"),
    (r"\[tid \d+\]|nv-fabricmanager", "fabric_manager_log"),
    (r"(?m)NVRM: |nvidia-nvswitch\d|nvidia-peermem", "kernel_log_nvidia"),
    (r"(?m)\bamdgpu\b", "kernel_log_amd"),
    (r"\bmlx5_core\b", "kernel_log_nic"),
    (r"(?m)^# Port extended counters:|^PortXmitData:", "perfquery_extended"),
    (r"(?m)^(?:vendid|switchguid|caguid)=", "ibnetdiscover_topology"),
    (r"(?m)^(?:CA|SW) +\d+ +\d+ 0x[0-9a-f]{16} ", "ibnetdiscover_ports"),
    (r"(?m)^-[IWE]- (?:Stage|Ports counters|Discovery)", "ibdiagnet_log"),
    (r"(?m)^[0-9a-f:.]+ .*\[[0-9a-f]{4}\]: .*\[[0-9a-f]{4}:[0-9a-f]{4}\]", "lspci_nn"),
    (r"ATA device, with|(?m:^Security: *$)", "hdparm_identify"),
    (r"ATA Security is:", "smartctl_security"),
    (r"Raid Level :", "mdadm_detail"),
    (r"(?m)^FW Version:", "mstflint_query"),
    (r"# nThread \d+ nGpus", "nccl_tests"),
    (r"HPLinpack|HPL_pdgesv", "hpl_log"),
    (r"GPCNet|this application must be run on at least", "gpcnet_log"),
    (r"(?m)^\s*\d+ +[A-Z_]+(?:\+[A-Z_]+)*\s*$", "scontrol_state_histogram"),
    (r"(?m)^\[[\w-]+(?::children|:vars)?\]\s*$", "ansible_inventory_ini"),
    (r"(?m)^u_height:", "netbox_device_type"),
    (r"(?m)^blocks:|^switches:", "topology_model"),
    (r"(?m)^(?:<\d+>)?\[\s*\d+\.\d{6}\] |(?:^|\s)kernel: ", "kernel_log"),
)
_COLUMNS = re.compile(r"^[^\n]*\b(?:uuid|pci\.bus_id|index)\b[^\n]*,", re.I)
_PIPES = re.compile(r"^\S[^\n|]*\|[^\n|]*\|[^\n]*(?:idle|alloc|mix|drain|down|STATE)", re.I | re.M)


def _odata(document: Mapping[str, Any]) -> str:
    names = {
        "Task.": "task",
        "Sensor.": "sensor",
        "ThermalMetrics.": "thermal_metrics",
        "MetricReport.": "metric_report",
        "LogEntryCollection.": "log_entries",
        "Chassis.": "chassis",
        "Processor.": "processor",
    }
    word = str(document.get("@odata.type", ""))
    return next(
        (f"redfish_{name}" for prefix, name in names.items() if word.startswith(f"#{prefix}")), "redfish_response"
    )


_JSON: tuple[tuple[Callable[[Any], bool], str], ...] = (
    (lambda d: "argv" in mapping(d), "command_outcome"),
    (lambda d: "error" in mapping(d) and "code" in mapping(mapping(d)["error"]), "redfish_error"),
    (lambda d: any(str(key).startswith("/redfish/") for key in mapping(d)), "redfish_bundle"),
    (lambda d: any(str(key).startswith("/sys/") for key in mapping(d)), "sysfs_ib_dump"),
    (lambda d: "CPER" in mapping(d), "amd_cper_json"),
    (lambda d: any(re.fullmatch(r"card\d+", str(key)) for key in mapping(d)), "rocm_smi_json"),
    (lambda d: any("test_categories" in mapping(v) for v in mapping(d).values()), "dcgmi_diag"),
    (lambda d: "nodes" in mapping(d) and "meta" in mapping(d), "slurmrestd_nodes"),
    (lambda d: "alloc_cpus" in mapping(d), "slurmrestd_node"),
    (lambda d: "sanicap" in mapping(d), "nvme_id_ctrl"),
    (lambda d: "events" in mapping(d) and "ports" in mapping(d), "ib_port_events"),
    (lambda d: "node_dict" in mapping(d), "cluster_file_json"),
    (lambda d: "dmi_data" in mapping(d), "host_info"),
    (lambda d: "class" in mapping(d) and "children" in mapping(d), "lshw_json"),
    (lambda d: isinstance(d, list) and any("dmi_data" in mapping(e) for e in d), "host_info_list"),
    (lambda d: isinstance(d, list) and any("DomainUUID" in mapping(e) for e in d), "netq_nvlink_nodes"),
    (lambda d: isinstance(d, list) and any("gpu" in mapping(e) for e in d), "amd_smi_json"),
    (lambda d: "gpu_data" in mapping(d), "amd_smi_json"),
    (lambda d: {"s", "n"} <= set(mapping(d)), "sinfo_json_lines"),
)


def guess(content: Text) -> str | None:
    """The kind of an input, None where it is of none."""
    text = decode(content)
    head = text[:_HEAD]
    if head.lstrip()[:1] in ("{", "[") or re.search(r"(?m)^\s*[\[{]\s*$", head):
        documents, _ = json_documents(text)
        for document in documents[:1]:
            if "@odata.type" in mapping(document):
                return _odata(mapping(document))
            if found := next((kind for test, kind in _JSON if test(document)), None):
                return found
    if found := next((kind for pattern, kind in PATTERNS if re.search(pattern, head)), None):
        return found
    if _COLUMNS.search(head):
        return "nvidia_smi_csv"
    return "sinfo_pipe" if _PIPES.search(head) else None
