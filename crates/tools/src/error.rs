use crate::text::is_sentence;
use steward_core::ports::{BlobError, StoreError, VaultError};
use steward_core::tool::ToolError;
use steward_sandbox::files::FilesError;

#[derive(Debug, thiserror::Error)]
pub enum ToolsError {
    #[error("two tools are called `{0}`; give one of them another name")]
    Duplicate(String),
    /// A handler has no entry in the data file, or the file is broken.
    #[error("the data file {file} is broken: {reason}")]
    Data { file: &'static str, reason: String },
    #[error("there is no tool `{name}`; the tools are {known}")]
    Unknown { name: String, known: String },
    #[error("{tool}: {problem}")]
    Arguments { tool: String, problem: String },
    /// The arguments aren't the approved ones.
    #[error("the arguments of `{0}` changed after they were approved; ask for approval again")]
    Changed(String),
    #[error("`{tool}` was stopped after {ms} ms; ask for less, or split the work")]
    Deadline { tool: String, ms: u64 },
    #[error("`{0}` was stopped because the run was stopped")]
    Stopped(String),
    /// The tool was cut off while it was changing something.
    #[error("`{tool}` did not end in time ({why}) and may or may not have taken effect; look before trying again")]
    Unsettled { tool: String, why: String },
    #[error("`{tool}` failed inside: {message}; this is a bug in Steward, please report it")]
    Panicked { tool: String, message: String },
    #[error("this can't be undone: {0}")]
    NoUndo(String),
    #[error("not undone: {what} has changed since; {hint}")]
    ChangedSince { what: String, hint: &'static str },
    #[error("{0}")]
    Refused(String),
    /// Ready to be returned as it is.
    #[error(transparent)]
    Tool(#[from] ToolError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Blob(#[from] BlobError),
}

/// [`ToolsError::Refused`] with a message as of `format!`.
macro_rules! refused {
    ($($message:tt)*) => { $crate::error::ToolsError::Refused(format!($($message)*)) };
}
pub(crate) use refused;

impl ToolsError {
    pub fn refused(message: impl Into<String>) -> Self {
        Self::Refused(message.into())
    }

    fn is_fatal(&self) -> bool {
        match self {
            Self::Duplicate(_) | Self::Data { .. } | Self::Panicked { .. } | Self::Changed(_) => true,
            Self::Store(error) => !matches!(error, StoreError::NotFound(_) | StoreError::Conflict(_)),
            _ => false,
        }
    }
}

impl From<VaultError> for ToolsError {
    fn from(error: VaultError) -> Self {
        match error {
            VaultError::Store(error) => error.into(),
            other => Self::Refused(other.to_string()),
        }
    }
}

impl From<FilesError> for ToolsError {
    fn from(mut error: FilesError) -> Self {
        if let FilesError::NotFound { near, .. } = &mut error {
            near.retain(|path| !is_sentence(path));
        }
        let hint = match &error {
            FilesError::NotFound { near, .. } if near.is_empty() => "; `list` shows what there is",
            FilesError::Kind { actual: "a folder", expected: "a file", .. } => "; `list` shows what is in it",
            FilesError::Kind { actual: "a file", .. } => "; `read` shows it",
            FilesError::TooLarge { .. } => "; read a part of it with `start` and `lines`, or search it with `grep`",
            _ => "",
        };
        refused!("{error}{hint}")
    }
}

impl From<ToolsError> for ToolError {
    fn from(error: ToolsError) -> Self {
        match error {
            ToolsError::Tool(error) => error,
            error if error.is_fatal() => Self::Fatal(error.to_string()),
            error => Self::RespondToModel(error.to_string()),
        }
    }
}
