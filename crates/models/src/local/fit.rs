use super::{GgufHeader, LocalModelError};
use std::path::Path;

const FIXED_BYTES: u64 = 80 << 20;
const DEFAULT_CONTEXT: u32 = 4096;

/// Whether the free memory is enough for a model, for people. Reads only the file's header and `/proc/meminfo`.
pub fn fit(path: &Path) -> Result<String, LocalModelError> {
    let header = GgufHeader::read(path)?;
    Ok(compare(needed_bytes(&header, DEFAULT_CONTEXT), free_memory()))
}

/// Estimated resident memory; `context_tokens` is cut to what the model was trained for.
fn needed_bytes(header: &GgufHeader, context_tokens: u32) -> u64 {
    let context = header.context_train.map_or(context_tokens, |trained| trained.min(context_tokens));
    // Without known dimensions, a tenth of the file per 4096 tokens is a safe estimate.
    let kv =
        header.kv_bytes_per_token.map_or(header.file_bytes / 10 * u64::from(context.div_ceil(4096)), |per_token| {
            per_token.saturating_mul(u64::from(context))
        });
    header.file_bytes.saturating_add(kv).saturating_add(FIXED_BYTES)
}

/// `free_bytes`: what the system could give without swapping; more than 70 % of that is tight.
fn compare(needs_bytes: u64, free_bytes: Option<u64>) -> String {
    let needs = gigabytes(needs_bytes);
    let Some(free_bytes) = free_bytes else {
        return format!("needs about {needs}; free memory is not known on this system");
    };
    let free = gigabytes(free_bytes);
    if needs_bytes > free_bytes {
        format!("too large: needs about {needs}, only {free} are free; take a smaller or more quantised model")
    } else if needs_bytes > free_bytes / 10 * 7 {
        format!("tight: needs about {needs} of {free} free; close other programs or take a smaller model")
    } else {
        format!("fits: needs about {needs}, {free} are free")
    }
}

fn gigabytes(bytes: u64) -> String {
    let tenths = (bytes + (50 << 20)) / (100 << 20);
    format!("{}.{} GB", tenths / 10, tenths % 10)
}

fn free_memory() -> Option<u64> {
    kib_field(&std::fs::read_to_string("/proc/meminfo").ok()?, "MemAvailable:")
}

/// The resident memory of a process, by its id or `self`.
pub(super) fn resident_bytes(process: &str) -> Option<u64> {
    kib_field(&std::fs::read_to_string(format!("/proc/{process}/status")).ok()?, "VmRSS:")
}

/// Bytes, from a line such as `VmRSS:   1234 kB`.
fn kib_field(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    fn header(file_bytes: u64) -> GgufHeader {
        GgufHeader {
            file_bytes,
            architecture: "llama".to_owned(),
            name: None,
            parameters: 1,
            context_train: Some(2048),
            kv_bytes_per_token: Some(1 << 14),
        }
    }

    #[test]
    fn meminfo_is_read() {
        let text = "MemTotal:  100 kB\nMemAvailable:   22464 kB\n";
        assert_eq!(kib_field(text, "MemAvailable:"), Some(22464 * 1024));
        assert_eq!(kib_field("MemTotal: 1 kB\n", "MemAvailable:"), None);
    }

    #[test]
    fn what_is_said_follows_the_free_memory() {
        let needs = needed_bytes(&header(4 << 30), 4096);
        assert_eq!(needs, (4 << 30) + 2048 * (1 << 14) + FIXED_BYTES);
        for (free, said) in [
            (Some(needs - 1), "too large: "),
            (Some(needs + 1), "tight: "),
            (Some(needs * 2), "fits: "),
            (None, "needs about "),
        ] {
            assert!(compare(needs, free).starts_with(said), "{said}");
        }
    }
}
