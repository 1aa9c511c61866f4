use std::io;

/// Why a file operation was refused. `path` is always as the caller wrote it.
#[derive(Debug, thiserror::Error)]
pub enum FilesError {
    /// The path leads, or could lead, out of the workspace.
    #[error("{path} is outside the workspace; use a path relative to it, such as notes/today.md")]
    Outside {
        /// As written.
        path: String,
    },
    /// The path cannot be one.
    #[error("{path:?} is not a valid path: {reason}")]
    Invalid {
        /// As written.
        path: String,
        /// Why.
        reason: &'static str,
    },
    /// There is no such file or folder.
    #[error("{path} does not exist in the workspace{}", did_you_mean(.near))]
    NotFound {
        /// As written.
        path: String,
        /// Similar names that exist, best first.
        near: Vec<String>,
    },
    /// It exists, but is not of the kind that is needed.
    #[error("{path} is {actual}, not {expected}")]
    Kind {
        /// As written.
        path: String,
        /// What it is, such as `a folder`.
        actual: &'static str,
        /// What it should be.
        expected: &'static str,
    },
    /// The file, or what should be written, is larger than allowed.
    #[error("{path} is too large: {size} bytes, at most {max} are allowed")]
    TooLarge {
        /// As written.
        path: String,
        /// Size in bytes.
        size: u64,
        /// The limit in bytes.
        max: u64,
    },
    /// It exists already.
    #[error("{path} exists already")]
    Exists {
        /// As written.
        path: String,
    },
    /// The operating system refused.
    #[error("{path}: {source}{}", io_hint(.source))]
    Io {
        /// As written.
        path: String,
        /// The cause.
        source: io::Error,
    },
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
