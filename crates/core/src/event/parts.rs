use crate::agent::Agent;
use crate::approval::Taint;
use crate::budget::{Budget, Limit};
use crate::deep::DeepSettings;
use crate::governance::{Classified, DataRules};
use crate::message::Message;
use crate::model::{Capabilities, Provider, Strategy};
pub use crate::policy::Origin;
use crate::policy::{Grant, StandingGrant, ToolRule};
use crate::prompt::{Carried, OwnSections};
use crate::reference::{GivenDocument, LookedThrough, Reference};
use crate::routing::{Attempt, Redirected, RouteTaken, ToolHint};
use crate::skill::SkillPrompt;
use crate::started_by::StartedBy;
use crate::tool::{Receipt, ToolSpec, Undo};
use crate::{AgentId, ConnectionId, ConversationId, KeyId, RunId, UserId};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Who sent a request, and from where.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct RequestSource {
    /// Email of the account that it came with.
    pub account: String,
    /// The account's user; left out where the log knows only the email.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub user: Option<UserId>,
    /// The way it came in.
    pub origin: Origin,
    /// The client's network address, if it came over the network.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub address: Option<String>,
}

/// Who wants something of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestedBy {
    /// As the run's log and the inbox name them.
    pub name: String,
    /// `None`: the program itself, or a test.
    pub source: Option<RequestSource>,
}

impl From<&str> for RequestedBy {
    fn from(name: &str) -> Self {
        Self { name: name.to_owned(), source: None }
    }
}

/// Whether the agent plans first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Ask the model, run tools, ask again.
    Loop,
    /// A plan first, which a person approves.
    Plan,
    /// A plan only; nothing runs.
    PlanOnly,
    /// A plan, approved; each step shows what it would do and does not do it.
    DryRun,
}

/// The model that makes the plans of a run, where another one does the rest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Planner {
    /// The connection chosen.
    pub connection: ConnectionId,
    /// Whether the request named it, so that its user needs a right to it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub named: bool,
    /// Its model's name.
    pub model: String,
    /// What the model can do.
    pub capabilities: Capabilities,
    /// The connections its calls go to.
    pub route: RouteTaken,
}

/// Everything a run needs to be replayed without its surroundings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
#[schema(as = RunSetup)]
pub struct Setup {
    /// The agent, as it was.
    pub agent: Agent,
    /// The tools it had.
    #[schema(value_type = Vec<ToolSpec>)]
    pub tools: Arc<[ToolSpec]>,
    /// Conversation, if it belongs to one.
    #[serde(default)]
    #[schema(required)]
    pub conversation: Option<ConversationId>,
    /// Earlier messages of the conversation.
    #[serde(default)]
    #[schema(required)]
    pub history: Vec<Message>,
    /// What the agent remembers.
    #[serde(default)]
    #[schema(required)]
    pub memory: String,
    /// What it keeps for itself, where it has switches for that.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub own_sections: OwnSections,
    /// The request.
    pub input: String,
    /// Loop or plan.
    pub mode: Mode,
    /// Where it came from.
    pub origin: Origin,
    /// Name of the person or program that asked.
    pub asked_by: String,
    /// What it may spend.
    pub budget: Budget,
    /// What the prompts of its conversation begin with.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub carried: Carried,
    /// What the request is about, and which tools go first for that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub hint: Option<ToolHint>,
    /// Where that sent it, where its agent says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub redirected: Option<Redirected>,
    /// Permissions given with the request.
    #[serde(default)]
    #[schema(required)]
    pub grants: Vec<Grant>,
    /// Permissions that people gave the agent beyond one run, as they were then; the log says how they
    /// changed since.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub standing: Vec<StandingGrant>,
    /// Rules of the installation that hold for it, with those of the run that delegated to it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<ToolRule>,
    /// Labels and policies of the installation over data.
    #[serde(default, skip_serializing_if = "DataRules::is_empty")]
    pub data_rules: DataRules,
    /// The most confidential that it begins with: of its agent, request, conversation, or the run that delegated to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub classified: Option<Classified>,
    /// The connection chosen.
    pub connection: ConnectionId,
    /// Whether the request named it, so that its user needs a right to it, not only to the agent.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub names_connection: bool,
    /// Its model's name.
    pub model: String,
    /// What the model can do.
    pub capabilities: Capabilities,
    /// The model that makes plans, where another one does the rest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub planner: Option<Box<Planner>>,
    /// Whether the intent filter narrows the tools.
    pub intent_filter: bool,
    /// Folder that file tools are confined to.
    pub workspace: String,
    /// Conversation time zone offset for words like "tomorrow", minutes east of UTC.
    #[serde(default)]
    #[schema(required)]
    pub utc_offset_minutes: i32,
    /// What started it, if no person did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub started_by: Option<StartedBy>,
    /// The run that delegated to this one.
    #[serde(default)]
    #[schema(required)]
    pub parent: Option<RunId>,
    /// The agents that delegated to it, or to the run that it forks: the one that its user asked first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub above: Vec<AgentId>,
    /// Whose account asked, and from where; left out: the program itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub source: Option<RequestSource>,
    /// The user behind `asked_by`, if one is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub user: Option<UserId>,
    /// Who else has put words into it before it began: into the run that it repeats, or that delegated to it.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    #[schema(value_type = Vec<UserId>)]
    pub askers: BTreeSet<UserId>,
    /// The run whose first events this one repeats.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub forked_from: Option<ForkedFrom>,
    /// The connections its model calls go to; left out: only `connection`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub route: Option<RouteTaken>,
    /// Whether and how it plans while it works.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub deep: Option<DeepSettings>,
    /// Whether its client asks again itself when the model fails in passing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub client_retries: bool,
    /// The virtual key that asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub key: Option<KeyId>,
    /// What internal skills add to the prompt.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skills: Vec<SkillPrompt>,
    /// Runs above this one: 0 for one that nobody delegated.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub depth: u8,
    /// What of outside entered the runs that it goes on from: the one that delegated to it, and
    /// earlier ones of its conversation.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub taint: Vec<Taint>,
    /// Documents that were given with the request; those of earlier requests stand in `history`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub documents: Vec<GivenDocument>,
    /// Passages of documents to answer from, the best first; those of given documents before all others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub references: Vec<Reference>,
    /// What was looked through for them.
    #[serde(default, skip_serializing_if = "crate::is_default")]
    pub looked_through: LookedThrough,
}

impl Setup {
    /// Whose words it begins with.
    pub fn begun_by(&self) -> BTreeSet<UserId> {
        let of_source = self.source.as_ref().and_then(|source| source.user);
        self.askers.iter().copied().chain(self.user).chain(of_source).collect()
    }
}

/// Who gave a reply.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Answered {
    /// The connection.
    pub connection: ConnectionId,
    /// Its name.
    pub name: String,
    /// What kind of endpoint it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub provider: Option<Provider>,
    /// Model name as answered.
    pub model: String,
    /// The form in which calls were asked for.
    pub strategy: Strategy,
    /// Whether the prompt had begun the reasoning already.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_thought: bool,
    /// All that were asked, the one that answered last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attempts: Vec<Attempt>,
}

/// What was seen in a reply beside calls that can be made.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Noticed {
    /// Where there are no calls: the words that claim or promise an action.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub claim: Option<String>,
    /// Calls that were meant and can't be read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub broken: Vec<AboutCall>,
    /// Calls that were guessed: the words from which.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub guessed: Vec<AboutCall>,
}

/// Something about one call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct AboutCall {
    /// The call.
    pub call_id: String,
    /// The parser's error, or the words it was read from.
    pub text: String,
}

/// Where a fork left another run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ForkedFrom {
    /// The other run.
    pub run: RunId,
    /// Last event taken over from it.
    pub seq: u64,
}

/// A tool and how well it fits the request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Ranked {
    /// Name of the tool.
    pub tool: String,
    /// 0 to 1.
    pub score: f32,
}

/// What was looked for before a plan was made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct PlanSearch {
    /// What documents were searched with.
    pub queries: Vec<String>,
    /// Who wrote that: `model`, or `request` where the request's own sentences were taken.
    pub by: String,
    /// Passages that the planner is told besides those that the run began with, numbered on from these.
    pub references: Vec<Reference>,
    /// What was looked through for them.
    pub looked_through: LookedThrough,
    /// What of outside entered the run with them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub taint: Vec<Taint>,
}

/// Complete arguments of a step, or why there are none: how `serde` writes a `Result`.
#[derive(utoipa::ToSchema)]
#[expect(dead_code, reason = "only its schema counts")]
pub(super) enum FilledArguments {
    /// The arguments.
    Ok(std::collections::BTreeMap<String, Value>),
    /// Why there are none.
    Err(String),
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema, strum::IntoStaticStr)]
#[serde(tag = "status", rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Outcome {
    /// With an answer.
    Completed,
    /// With an error.
    Failed {
        /// What to do.
        message: String,
    },
    /// By a person.
    Stopped {
        /// Who.
        by: String,
    },
    /// At a limit of its budget.
    Limited {
        /// Which.
        limit: Limit,
        /// Whose budget it is, when it begins anew and what to do, where it was a hard budget.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        message: String,
    },
    /// A person said no to the plan.
    Rejected,
}

/// What a run below proved.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Proved {
    /// Its call.
    pub call_id: String,
    /// Name of the tool.
    pub tool: String,
    /// What it was called with.
    #[schema(value_type = Object)]
    pub arguments: Value,
    /// What it says it did.
    pub receipt: Receipt,
}

/// The result of one tool call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(tag = "outcome", rename_all = "snake_case")]
#[expect(clippy::large_enum_variant, reason = "the large variant is the usual one")]
pub enum ToolResult {
    /// It worked.
    Ok {
        /// Text, as the model gets it.
        content: String,
        /// The same as data.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        data: Option<Value>,
        /// Whether `content` was cut.
        #[serde(default)]
        truncated: bool,
        /// Proof of the effect.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        receipt: Option<Receipt>,
        /// How to take it back.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        undo: Option<Undo>,
        /// Where it came from outside: addresses, senders, files. Empty if it didn't.
        #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
        origins: BTreeSet<String>,
    },
    /// It did not; the model may recover.
    Error {
        /// What went wrong and what to do.
        message: String,
        /// Whether the run ends by it.
        #[serde(default)]
        fatal: bool,
        /// Where content from outside that it may quote comes from.
        #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
        origins: BTreeSet<String>,
        /// What it has done all the same, as data.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        data: Option<Box<Value>>,
        /// How to take back what it has done all the same.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false)]
        undo: Option<Box<Undo>>,
    },
    /// Nothing ran: a dry run.
    Dry {
        /// What would have happened.
        preview: String,
    },
}

impl ToolResult {
    pub fn text(text: &str) -> Self {
        Self::Ok {
            content: text.to_owned(),
            data: None,
            truncated: false,
            receipt: None,
            undo: None,
            origins: BTreeSet::new(),
        }
    }

    /// An error that the model may recover from.
    pub fn error(message: String) -> Self {
        Self::Error { message, fatal: false, origins: BTreeSet::new(), data: None, undo: None }
    }
}
