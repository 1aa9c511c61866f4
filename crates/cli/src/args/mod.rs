//! The command line as clap parses it.

mod agents;
mod approvals;
mod ask;
mod command;
mod connections;
mod conversations;
mod credential;
mod mcp;
mod model;
mod reminders;
mod runs;
mod skill;
mod spending;

pub use agents::{AgentAction, AgentFields, Agents, BudgetPreset, PlanSwitch};
pub use approvals::{ApprovalAction, Approvals, GrantAction, Grants};
pub use ask::{Ask, Chat, Resume, Sample, SampleAction};
pub use command::Command;
pub use connections::{AuthArgs, ConnectionAction, Connections};
pub use conversations::{ConversationAction, Conversations};
pub use credential::{CredentialAction, CredentialArgs, Fields, KindArg, RoleArg};
pub use mcp::{McpAction, McpAdd, McpArgs};
pub use model::{Model, ModelAction};
pub use reminders::{ReminderAction, Reminders};
pub use runs::{Eval, RunAction, Runs, Suite};
pub use skill::{SkillAction, SkillArgs, SkillFilter};
pub use spending::{BudgetAction, BudgetArgs, By, KeyAction, KeyArgs, PeriodArg, UsageArgs};
