use crate::dto::budgets::UsageRow;
use serde::{Deserialize, Serialize};
use steward_core::event::Outcome;
use steward_core::ports::{self, RunRow, RunStatus};
use steward_core::{AgentId, ConnectionId, RunId, Timestamp};
use utoipa::ToSchema;

const HOUR: i64 = 3_600_000;

/// How far back a dashboard looks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum DashboardPeriod {
    /// 24 hours, by the hour.
    #[default]
    Day,
    /// 7 days, by 6 hours.
    Week,
    /// 30 days, by the day.
    Month,
}

impl DashboardPeriod {
    /// The length of a step, milliseconds, and how many there are.
    pub fn steps(self) -> (i64, u32) {
        match self {
            Self::Day => (HOUR, 24),
            Self::Week => (6 * HOUR, 28),
            Self::Month => (24 * HOUR, 30),
        }
    }
}

/// What happened lately.
#[derive(Debug, Serialize, ToSchema)]
pub struct Dashboard {
    /// How far it looks back.
    pub period: DashboardPeriod,
    /// From this time on.
    pub from: Timestamp,
    /// Before this time.
    pub to: Timestamp,
    /// Length of a step of `runs`, milliseconds.
    pub step_ms: i64,
    /// Whether it is about everybody's runs, or only one's own.
    pub everybody: bool,
    /// Runs that began in that time.
    pub totals: RunTotals,
    /// The same by steps, oldest first.
    pub runs: Vec<RunsInTime>,
    /// Questions that wait for a person now.
    pub approvals_waiting: u64,
    /// The newest runs that failed.
    pub failures: Vec<FailedRun>,
    /// What models took, from the day of `from` on; days are those of UTC.
    pub usage: ports::UsageRow,
    /// The same by days.
    pub usage_days: Vec<UsageRow>,
    /// All connections, those that are asked most first.
    pub models: Vec<ModelGlance>,
}

/// How runs ended, or where they are.
#[derive(Debug, Default, Serialize, ToSchema)]
pub struct RunTotals {
    /// All of them.
    pub started: u64,
    /// Ended with an answer.
    pub completed: u64,
    /// Ended with an error.
    pub failed: u64,
    /// Stopped by a person.
    pub stopped: u64,
    /// Ended at a limit.
    pub limited: u64,
    /// Their plan was turned down.
    pub rejected: u64,
    /// At work.
    pub running: u64,
    /// Wait for a person or an alarm.
    pub waiting: u64,
}

impl RunTotals {
    pub fn of(&mut self, status: RunStatus, ended_as: Option<&str>) -> &mut u64 {
        match (status, ended_as) {
            (RunStatus::Running, _) => &mut self.running,
            (RunStatus::Parked, _) => &mut self.waiting,
            (RunStatus::Finished, Some("failed")) => &mut self.failed,
            (RunStatus::Finished, Some("stopped")) => &mut self.stopped,
            (RunStatus::Finished, Some("limited")) => &mut self.limited,
            (RunStatus::Finished, Some("rejected")) => &mut self.rejected,
            (RunStatus::Finished, _) => &mut self.completed,
        }
    }
}

/// Runs that began within a step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct RunsInTime {
    /// When the step begins.
    pub at: Timestamp,
    /// Ended with an answer.
    pub completed: u64,
    /// Ended with an error.
    pub failed: u64,
    /// Ended in another way, or not yet.
    pub other: u64,
}

/// A run that failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct FailedRun {
    /// Which.
    pub run_id: RunId,
    /// Of which agent.
    pub agent_id: AgentId,
    /// First line of the request.
    pub title: String,
    /// Why, and what to do.
    pub message: String,
    /// When it ended.
    pub at: Timestamp,
}

impl FailedRun {
    pub fn of(run: RunRow) -> Self {
        let message = match run.outcome {
            Some(Outcome::Failed { message }) => message,
            _ => String::new(),
        };
        Self { run_id: run.id, agent_id: run.agent, title: run.title, message, at: run.updated_at }
    }
}

/// A connection, and what it was asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct ModelGlance {
    /// Which.
    pub connection: ConnectionId,
    /// Its name.
    pub name: String,
    /// Its model.
    pub model: String,
    /// Whether it is asked where nothing else is said.
    pub default: bool,
    /// Whether it is not asked for now, since it failed.
    pub resting: bool,
    /// Median time to first content of the latest requests, milliseconds.
    #[schema(required)]
    pub first_ms: Option<u64>,
    /// Calls.
    pub calls: u64,
    /// Those that failed.
    pub failed: u64,
    /// What they cost, millionths of a US dollar.
    pub cost_micros: u64,
}
