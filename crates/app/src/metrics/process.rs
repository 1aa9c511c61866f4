//! What the process itself uses, and how the database's commits are shared, read when somebody asks.

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric, NoLabelSet};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use rustix::time::{ClockId, clock_gettime};
use std::fmt;
use steward_store::commit_sizes;

#[derive(Debug)]
pub(super) struct Process;

impl Collector for Process {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let cpu = clock_gettime(ClockId::ProcessCPUTime);
        #[expect(clippy::cast_precision_loss, reason = "seconds")]
        let cpu = cpu.tv_sec as f64 + cpu.tv_nsec as f64 / 1e9;
        let counter = ConstCounter::new(cpu);
        let to = encoder.encode_descriptor("process_cpu_seconds", "CPU time", None, counter.metric_type())?;
        counter.encode(to)?;
        for (name, help, value) in [
            ("process_resident_memory_bytes", "Memory in use", resident_bytes()),
            ("process_open_fds", "Open files and connections", open_files()),
            ("process_max_fds", "How many may be open", most_files()),
        ] {
            let Some(value) = value else { continue };
            let gauge = ConstGauge::new(value);
            let to = encoder.encode_descriptor(name, help, None, gauge.metric_type())?;
            gauge.encode(to)?;
        }
        let sizes = commit_sizes();
        encoder
            .encode_descriptor(
                "steward_commit_size",
                "Writes that shared one commit of the database",
                None,
                MetricType::Histogram,
            )?
            .encode_histogram::<NoLabelSet>(sizes.sum, sizes.count, &sizes.buckets, None)
    }
}

fn resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    Some(line.trim().trim_end_matches("kB").trim().parse::<u64>().ok()? * 1024)
}

fn open_files() -> Option<u64> {
    u64::try_from(std::fs::read_dir("/proc/self/fd").ok()?.count()).ok()
}

fn most_files() -> Option<u64> {
    rustix::process::getrlimit(rustix::process::Resource::Nofile).current
}
