use steward_core::extracted::{ExtractFailure, ExtractFailureKind};

pub(super) type Result<T> = std::result::Result<T, ExtractError>;

/// Why a file can't be read. The texts say what exactly is wrong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ExtractError {
    #[error("the file is protected by a password")]
    PasswordProtected,
    #[error("the file is empty")]
    Empty,
    #[error("the file is damaged: {0}")]
    Broken(String),
    #[error("the file is too large: {0}")]
    TooLarge(String),
    #[error("the file is nested too deeply: {0}")]
    TooDeep(String),
    #[error("the file's format can't be read: {0}")]
    UnknownFormat(String),
}

impl ExtractError {
    pub(super) fn broken(what: impl Into<String>) -> Self {
        Self::Broken(what.into())
    }

    pub fn hint(&self) -> &'static str {
        match self {
            Self::PasswordProtected => {
                "Save it without a password in the program that it comes from, and add it again."
            }
            Self::Empty => "Check whether it was copied to its end, and add it again.",
            Self::Broken(_) => {
                "Open it in the program that it comes from, save it again, and add that. A copy or download that was \
                 cut off has to be repeated."
            }
            Self::TooLarge(_) => "Split it into smaller files, or leave out the parts that nobody will ask about.",
            Self::TooDeep(_) => "Save its content flat, without files or parts within each other, and add that.",
            Self::UnknownFormat(_) => {
                "Save it as PDF, DOCX, XLSX, PPTX, ODT, EPUB, HTML, Markdown or plain text, and add that."
            }
        }
    }
}

impl From<ExtractError> for ExtractFailure {
    fn from(error: ExtractError) -> Self {
        let kind = match &error {
            ExtractError::PasswordProtected => ExtractFailureKind::PasswordProtected,
            ExtractError::Empty => ExtractFailureKind::Empty,
            ExtractError::Broken(_) => ExtractFailureKind::Broken,
            ExtractError::TooLarge(_) => ExtractFailureKind::TooLarge,
            ExtractError::TooDeep(_) => ExtractFailureKind::TooDeep,
            ExtractError::UnknownFormat(_) => ExtractFailureKind::UnknownFormat,
        };
        Self { kind, message: error.to_string(), hint: error.hint().to_owned() }
    }
}
