//! Why a template or its values were refused.

use super::parse::Place;
use crate::error::ToolsError;

/// Errors of templates. Each message says what to do; none holds a secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    #[error("a placeholder is not closed in `{0}`; write {{{{name}}}}, or \\{{{{ for two braces")]
    Open(String),
    /// Something between the braces that is no name.
    #[error("`{{{{{0}}}}}` is no placeholder; write {{{{name}}}}, {{{{name|default:text}}}} or {{{{name|option}}}}")]
    Form(String),
    #[error("{{{{{name}}}}} is no input of the skill; its inputs are {known}")]
    Unknown {
        /// As written.
        name: String,
        known: String,
    },
    /// A secret where others could see it.
    #[error(
        "{{{{credential.{field}}}}} is not allowed in {place}; put it into a header, the body, the environment or standard input"
    )]
    Credential { field: String, place: Place },
    /// A placeholder where only fixed text may be.
    #[error("{0} is fixed text; no placeholder may stand there")]
    Fixed(&'static str),
    /// The fixed beginning of an address.
    #[error(
        "`{0}` is no address with a fixed host; write it as https://api.example.org/path/{{{{name}}}}, with no user name and no placeholder before the path"
    )]
    Host(String),
    #[error("`{name}` is needed {place}; give it a value")]
    Missing { name: String, place: &'static str },
    /// A value that would leave its folder.
    #[error("`{0}` may not hold `.` or `..` as a part of a path")]
    Dots(String),
    /// A value that a program would read as an option.
    #[error("`{name}` may not begin with `-` (`{value}`), since the program would read it as an option")]
    Option { name: String, value: String },
    /// A line break or the like where there may be none.
    #[error("{0} may not hold a line break or another control character")]
    Control(String),
}

impl From<TemplateError> for ToolsError {
    fn from(error: TemplateError) -> Self {
        Self::Refused(error.to_string())
    }
}

impl From<TemplateError> for String {
    fn from(error: TemplateError) -> Self {
        error.to_string()
    }
}
