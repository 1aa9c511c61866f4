use super::{GgufHeader, LocalModelError};
use std::path::Path;

#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// At most 70 % of the free memory.
    Fits,
    /// More than 70 % of the free memory.
    Tight,
    /// More than is free.
    TooLarge,
    /// Free memory could not be read.
    Unknown,
}

#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct ModelFit {
    pub file_bytes: u64,
    pub parameters: u64,
    /// Window that the model was trained for, tokens.
    pub context_train: Option<u32>,
    /// Estimated resident memory with the given context.
    pub needs_bytes: u64,
    /// What the system could give without swapping.
    pub free_bytes: Option<u64>,
    pub verdict: Verdict,
    pub note: String,
}

const FIXED_BYTES: u64 = 80 << 20;
const DEFAULT_CONTEXT: u32 = 4096;

/// Reads only the file's header and `/proc/meminfo`.
pub fn fit(path: &Path) -> Result<ModelFit, LocalModelError> {
    let header = GgufHeader::read(path)?;
    Ok(fit_with(&header, DEFAULT_CONTEXT, free_memory()))
}

/// `context_tokens` is cut to what the model was trained for.
fn fit_with(header: &GgufHeader, context_tokens: u32, free_bytes: Option<u64>) -> ModelFit {
    let context = header.context_train.map_or(context_tokens, |trained| trained.min(context_tokens));
    // Without known dimensions, a tenth of the file per 4096 tokens is a safe estimate.
    let kv =
        header.kv_bytes_per_token.map_or(header.file_bytes / 10 * u64::from(context.div_ceil(4096)), |per_token| {
            per_token.saturating_mul(u64::from(context))
        });
    let needs = header.file_bytes.saturating_add(kv).saturating_add(FIXED_BYTES);
    let verdict = match free_bytes {
        None => Verdict::Unknown,
        Some(free) if needs > free => Verdict::TooLarge,
        Some(free) if needs > free / 10 * 7 => Verdict::Tight,
        Some(_) => Verdict::Fits,
    };
    let need_text = gigabytes(needs);
    let note = match (verdict, free_bytes.map(gigabytes)) {
        (Verdict::Fits, Some(free)) => format!("fits: needs about {need_text}, {free} are free"),
        (Verdict::Tight, Some(free)) => {
            format!("tight: needs about {need_text} of {free} free; close other programs or take a smaller model")
        }
        (Verdict::TooLarge, Some(free)) => {
            format!("too large: needs about {need_text}, only {free} are free; take a smaller or more quantised model")
        }
        _ => format!("needs about {need_text}; free memory is not known on this system"),
    };
    ModelFit {
        file_bytes: header.file_bytes,
        parameters: header.parameters,
        context_train: header.context_train,
        needs_bytes: needs,
        free_bytes,
        verdict,
        note,
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
            has_chat_template: true,
        }
    }

    #[test]
    fn meminfo_is_read() {
        let text = "MemTotal:  100 kB\nMemAvailable:   22464 kB\n";
        assert_eq!(kib_field(text, "MemAvailable:"), Some(22464 * 1024));
        assert_eq!(kib_field("MemTotal: 1 kB\n", "MemAvailable:"), None);
    }

    #[test]
    fn verdicts_follow_the_free_memory() {
        let model = header(4 << 30);
        let needs = fit_with(&model, 4096, None).needs_bytes;
        assert_eq!(needs, (4 << 30) + 2048 * (1 << 14) + FIXED_BYTES);
        for (free, verdict) in [(needs - 1, Verdict::TooLarge), (needs + 1, Verdict::Tight), (needs * 2, Verdict::Fits)]
        {
            assert_eq!(fit_with(&model, 4096, Some(free)).verdict, verdict);
        }
        assert_eq!(fit_with(&model, 4096, None).verdict, Verdict::Unknown);
    }
}
