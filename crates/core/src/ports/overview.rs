use super::store::RunStatus;

/// Runs that began within the same step of time and went the same way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunCount {
    /// Which step, from 0.
    pub step: i64,
    pub status: RunStatus,
    /// The `status` of an [`crate::event::Outcome`], once it has ended.
    pub ended_as: Option<String>,
    pub runs: u64,
}
