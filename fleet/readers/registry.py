"""Which reader reads which kind. The words are those of the case files."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from fleet.readers import (
    amd_cper,
    amd_exporter,
    amd_smi,
    command_outcome,
    dcgm,
    dcgmi,
    fabric_manager,
    kernel_log,
    nhc,
    nvidia_smi,
    redfish,
    redfish_power,
    redfish_sensor,
    redfish_task,
    rocm_smi,
    slurm_rest,
    slurm_scontrol,
    slurm_sinfo,
)
from fleet.readers.reading import Beside, Context, Reader, Reading, Text

READERS: Mapping[str, Reader] = {
    "kernel_log": kernel_log.read,
    "kernel_log_nvidia": kernel_log.read,
    "kernel_log_amd": kernel_log.read,
    "kernel_log_nic": kernel_log.read,
    "fabric_manager_log": fabric_manager.read_log,
    "journal": fabric_manager.read_journal,
    "nvidia_smi_q": nvidia_smi.read_q,
    "nvidia_smi_xml": nvidia_smi.read_xml,
    "nvidia_smi_csv": nvidia_smi.read_csv,
    "nvidia_smi_list": nvidia_smi.read_list,
    "nvidia_smi_table": nvidia_smi.read_table,
    "dcgmi_diag": dcgmi.read_diag,
    "dcgmi_nvlink": dcgmi.read_nvlink,
    "rocm_smi_json": rocm_smi.read,
    "amd_smi_json": amd_smi.read,
    "amd_cper_json": amd_cper.read,
    "dcgm_scrape": dcgm.read,
    "amd_exporter_scrape": amd_exporter.read,
    "command_outcome": command_outcome.read,
    "sinfo_pipe": slurm_sinfo.read_pipe,
    "sinfo_columns": slurm_sinfo.read_columns,
    "sinfo_gpu_snapshot": slurm_sinfo.read_snapshot,
    "sinfo_json_lines": slurm_sinfo.read_json_lines,
    "sinfo_stderr": slurm_sinfo.read_stderr,
    "sinfo_default": slurm_sinfo.read_default,
    "scontrol_show_node": slurm_scontrol.read,
    "scontrol_show_node_oneline": slurm_scontrol.read,
    "scontrol_state_histogram": slurm_scontrol.read_histogram,
    "scontrol_and_squeue": slurm_scontrol.read_with_queue,
    "slurmrestd_node": slurm_rest.read,
    "slurmrestd_nodes": slurm_rest.read,
    "nhc_output": nhc.read,
    "redfish_task": redfish_task.read,
    "redfish_sensor": redfish_sensor.read,
    "redfish_thermal_metrics": redfish_sensor.read_thermal_metrics,
    "redfish_metric_report": redfish_power.read_metric_report,
    "redfish_chassis": redfish_power.read_chassis,
    "redfish_processor": redfish_power.read_processor,
    "redfish_log_entries": redfish.read_log,
    "redfish_bundle": redfish.read_bundle,
    "redfish_error": redfish.read_error,
    "redfish_response": redfish.read_response,
}


def read(kind: str, text: Text, context: Context, also: Sequence[Beside] = ()) -> Reading:
    """The reading of `text` as `kind`. Raises KeyError for a kind that does not exist, and nothing for any text."""
    return replace(READERS[kind](text, context, also), kind=kind)
