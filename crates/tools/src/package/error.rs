//! Why a package was refused. Each message names the file and says what to do.

use crate::error::ToolsError;
use steward_core::ports::{BlobError, StoreError};

/// What is wrong with a package, or with what is asked of it.
#[derive(Debug, thiserror::Error)]
pub enum PackageError {
    #[error("this is no readable ZIP archive: {0}; zip the package's folder again")]
    Archive(String),
    #[error("the package is too large: {what}; at most {limit} are taken")]
    TooLarge { what: String, limit: String },
    #[error("`{entry}` in the archive {problem}")]
    Entry {
        entry: String,
        /// What is wrong, and what to do.
        problem: String,
    },
    /// The folder or `SKILL.md` isn't as it should be.
    #[error("{0}")]
    Layout(String),
    /// A field of the front matter is missing or wrong.
    #[error("SKILL.md: {0}")]
    Front(String),
    /// A file under `skills/` isn't a skill.
    #[error("{file}: {problem}")]
    Definition {
        file: String,
        /// What is wrong, and what to do.
        problem: String,
    },
    /// It wants what it didn't declare.
    #[error("the package `{name}` was not activated, since it doesn't declare what it uses: {}", .missing.join("; "))]
    Undeclared {
        name: String,
        /// What to declare, one by one.
        missing: Vec<String>,
    },
    /// Dangerous findings, and nobody has said that they are accepted.
    #[error(
        "the package `{name}` stays in quarantine: the scan found {count} dangerous place(s), the first is {first}; an administrator may accept it by its hash after looking at them"
    )]
    Dangerous {
        name: String,
        count: usize,
        /// The first, with file and line.
        first: String,
    },
    /// No such package, revision or ready package.
    #[error("{0}")]
    Unknown(String),
    /// The hash isn't one of the package's.
    #[error(
        "the package `{name}` has no revision with the hash {hash}; look at it again and accept the hash that is shown now"
    )]
    OtherHash { name: String, hash: String },
    /// What is kept is not what was imported.
    #[error("the files of `{name}` no longer have the hash that they were imported with; import the package again")]
    Damaged { name: String },
    /// A skill of that name isn't the package's.
    #[error("there is a skill `{skill}` already that isn't of the package `{package}`; rename or remove one of them")]
    Taken { skill: String, package: String },
    /// A data file of the program is broken.
    #[error("the data file {file} is broken: {reason}")]
    Data { file: &'static str, reason: String },
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Blob(#[from] BlobError),
}

impl From<PackageError> for ToolsError {
    fn from(error: PackageError) -> Self {
        match error {
            PackageError::Store(error) => Self::Store(error),
            PackageError::Blob(error) => Self::Blob(error),
            other => Self::refused(other.to_string()),
        }
    }
}

pub(crate) fn entry(name: &str, problem: impl Into<String>) -> PackageError {
    PackageError::Entry { entry: name.to_owned(), problem: problem.into() }
}
