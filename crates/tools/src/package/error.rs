use crate::error::ToolsError;
use crate::work_pool::PoolError;
use steward_core::ports::{BlobError, StoreError};

#[derive(Debug, thiserror::Error)]
pub enum PackageError {
    /// Too many packages are looked at already.
    #[error(transparent)]
    Pool(#[from] PoolError),
    #[error("this is no readable ZIP archive: {0}; zip the package's folder again")]
    Archive(String),
    #[error("the package is too large: {what}; at most {limit} are taken")]
    TooLarge { what: String, limit: String },
    #[error("`{entry}` in the archive {problem}")]
    Entry { entry: String, problem: String },
    #[error("{0}")]
    Layout(String),
    #[error("SKILL.md: {0}")]
    Front(String),
    /// A file under `skills/` isn't a skill.
    #[error("{file}: {problem}")]
    Definition { file: String, problem: String },
    #[error("the package `{name}` was not activated, since it doesn't declare what it uses: {}", .missing.join("; "))]
    Undeclared { name: String, missing: Vec<String> },
    /// There are dangerous findings that nobody has accepted.
    #[error(
        "the package `{name}` stays in quarantine: the scan found {count} dangerous place(s), the first is {first}; an administrator may accept it by its hash after looking at them"
    )]
    Dangerous { name: String, count: usize, first: String },
    #[error("{0}")]
    Unknown(String),
    #[error(
        "the package `{name}` has no revision with the hash {hash}; look at it again and accept the hash that is shown now"
    )]
    OtherHash { name: String, hash: String },
    /// The stored files are not the imported ones.
    #[error("the files of `{name}` no longer have the hash that they were imported with; import the package again")]
    Damaged { name: String },
    #[error("there is a skill `{skill}` already that isn't of the package `{package}`; rename or remove one of them")]
    Taken { skill: String, package: String },
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
