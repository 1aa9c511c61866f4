use std::time::Duration;
use steward_core::document::DocumentProblem;
use steward_core::extracted::ExtractFailure;
use steward_core::ports::StoreError;

/// Why the work on a document did not come to its end.
pub(super) enum Failure {
    /// It may work another time, after this while at least.
    Passing(DocumentProblem, Duration),
    /// It is the document's own fault.
    Lasting(DocumentProblem),
    /// The claim was lost, or the database fails.
    Store(StoreError),
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

pub(super) fn problem(message: impl Into<String>, hint: impl Into<String>) -> DocumentProblem {
    DocumentProblem { message: message.into(), hint: hint.into() }
}

pub(super) fn failure(error: &ExtractFailure) -> Failure {
    let problem = problem(error.message.clone(), error.hint.clone());
    if error.kind.may_pass() { Failure::Passing(problem, Duration::ZERO) } else { Failure::Lasting(problem) }
}
