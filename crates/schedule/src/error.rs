/// Why a timing, a zone or a schedule isn't valid, and what to write instead.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{part}: {problem}. {hint}")]
pub struct TimingError {
    /// The field or part that is wrong, as people call it: `minute`, `BYDAY`, `zone`.
    pub part: String,
    /// What is wrong with it.
    pub problem: String,
    /// What is allowed, with an example.
    pub hint: String,
}

impl TimingError {
    pub(crate) fn new(part: impl Into<String>, problem: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { part: part.into(), problem: problem.into(), hint: hint.into() }
    }
}
