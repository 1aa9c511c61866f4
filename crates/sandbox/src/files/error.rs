use std::io;

/// `path` is always as the caller wrote it.
#[derive(Debug, thiserror::Error)]
pub enum FilesError {
    #[error("{path} is outside the workspace; use a path relative to it, such as notes/today.md")]
    Outside { path: String },
    #[error("{path:?} is not a valid path: {reason}")]
    Invalid { path: String, reason: &'static str },
    #[error("{path} does not exist in the workspace{}", did_you_mean(.near))]
    NotFound {
        path: String,
        /// Similar names that exist, best first.
        near: Vec<String>,
    },
    #[error("{path} is {actual}, not {expected}")]
    Kind {
        path: String,
        /// Such as `a folder`.
        actual: &'static str,
        expected: &'static str,
    },
    #[error("{path} is too large: {size} bytes, at most {max} are allowed")]
    TooLarge {
        path: String,
        /// Bytes.
        size: u64,
        /// Bytes.
        max: u64,
    },
    #[error("{path} exists already")]
    Exists { path: String },
    #[error("{path}: {source}{}", io_hint(.source))]
    Io { path: String, source: io::Error },
}

fn did_you_mean(near: &[String]) -> String {
    if near.is_empty() { String::new() } else { format!("; did you mean {}?", near.join(", ")) }
}

fn io_hint(source: &io::Error) -> &'static str {
    match source.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "; nothing was changed, free some space first",
        io::ErrorKind::ReadOnlyFilesystem => "; the workspace cannot be written to",
        _ => "",
    }
}

impl FilesError {
    pub(super) fn io(path: &str, source: impl Into<io::Error>) -> Self {
        Self::Io { path: path.to_owned(), source: source.into() }
    }
}

const KEPT: usize = 3;

/// The names most like `wanted`, best first: equal but for case, then few edits, then containing one another.
pub fn near_matches<'a>(wanted: &str, names: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let wanted = wanted.to_lowercase();
    let allowed = (wanted.chars().count() / 3).max(1);
    let mut scored: Vec<(usize, &str)> = names
        .into_iter()
        .filter_map(|name| {
            let lower = name.to_lowercase();
            let edits = strsim::levenshtein(&wanted, &lower);
            let stem = lower.split('.').next().unwrap_or(&lower);
            let wanted_stem = wanted.split('.').next().unwrap_or(&wanted);
            let contains =
                stem.len() >= 3 && wanted_stem.len() >= 3 && (lower.contains(wanted_stem) || wanted.contains(stem));
            match (edits <= allowed, contains) {
                (true, _) => Some((edits, name)),
                (false, true) => Some((allowed + edits, name)),
                (false, false) => None,
            }
        })
        .collect();
    scored.sort_unstable();
    scored.dedup();
    scored.into_iter().take(KEPT).map(|(_, name)| name.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_typos_case_and_parts() {
        let names = ["invoices.csv", "README.md", "orders.db", "customers.csv"];
        assert_eq!(near_matches("invoice.csv", names), ["invoices.csv"]);
        assert_eq!(near_matches("readme.md", names), ["README.md"]);
        assert_eq!(near_matches("orders", names), ["orders.db"]);
        assert!(near_matches("zzzzzz", names).is_empty());
    }
}
