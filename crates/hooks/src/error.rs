/// Why a setting or a body isn't valid, and what to do instead; both are whole sentences.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{problem} {hint}")]
pub struct HookError {
    pub problem: String,
    pub hint: String,
}

impl HookError {
    pub(crate) fn new(problem: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { problem: problem.into(), hint: hint.into() }
    }
}
