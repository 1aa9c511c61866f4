mod access;
mod agents;
mod approvals;
mod ask;
mod audit;
pub mod backup;
mod budget;
mod chat;
mod config;
mod connection_auth;
mod connections;
mod conversations;
mod credential;
mod datasource;
mod decide;
mod documents;
mod domain;
pub mod eval;
mod files;
mod follow;
mod grants;
mod group;
mod health;
mod hook;
mod ingest;
mod key;
mod mcp;
mod model;
pub mod model_card;
mod plan_steps;
mod policy;
mod reminders;
mod render;
mod report;
mod resume;
mod rows;
mod runs;
mod sample;
mod schedule;
mod search;
mod skill;
mod subscription;
mod tenant;
mod unattended;
mod usage;
mod user;

use crate::client::Client;
use crate::options::Actions;
use crate::term::{Exit, Term};
use anyhow::bail;
use clap::Subcommand;
use std::path::PathBuf;

/// Commands that work through the API.
#[derive(Debug, Subcommand)]
pub enum Command {
    Ask(ask::Ask),
    Chat(chat::Chat),
    Sample(sample::Sample),
    #[command(mut_arg("json", |json| json.help("JSON instead of a table")))]
    Runs(runs::Runs),
    Resume(resume::Resume),
    Approvals(Actions<approvals::ApprovalAction>),
    Health(health::HealthArgs),
    #[command(mut_arg("json", |json| json.help("JSON instead of a table")))]
    Connections(Actions<connections::ConnectionAction>),
    Conversations(conversations::Conversations),
    Grants(Actions<grants::GrantAction>),
    Agents(agents::Agents),
    Reminders(reminders::Reminders),
    Schedule(Actions<schedule::ScheduleAction>),
    Hook(Actions<hook::HookAction>),
    Subscription(Actions<subscription::SubscriptionAction>),
    Eval(eval::Eval),
    Model(model::Model),
    Usage(usage::UsageArgs),
    #[command(mut_arg("json", |json| json.help("JSON instead of a table")))]
    Budget(Actions<budget::BudgetAction>),
    Policy(Actions<policy::PolicyAction>),
    #[command(mut_arg("json", |json| json.help("JSON instead of a table")))]
    Key(Actions<key::KeyAction>),
    User(Actions<user::UserAction>),
    Ingest(ingest::IngestArgs),
    Search(search::SearchArgs),
    Documents(Actions<documents::DocumentsAction>),
    Files(Actions<files::FilesAction>),
    Datasource(Actions<datasource::DatasourceAction>),
    Domain(Actions<domain::DomainAction>),
    Group(Actions<group::GroupAction>),
    Tenant(Actions<tenant::TenantAction>),
    Access(access::AccessArgs),
    Audit(audit::AuditArgs),
    Backup(backup::Backup),
    Config(Actions<config::ConfigAction>),
    Skill(Actions<skill::SkillAction>),
    Credential(Actions<credential::CredentialAction>),
    Mcp(Actions<mcp::McpAction>),
}

impl Command {
    /// Takes what `--connection` says on the command line. Most commands ask with that connection; a key is made for it.
    pub fn take_connection(&mut self, name: &str) {
        if let Self::Key(Actions { action: Some(action), .. }) = self {
            action.allow_connection(name);
        }
    }
}

/// What a command needs from the program that works for it. A running server has its own and can't be given another.
#[derive(Debug, Clone)]
pub struct Needs {
    pub web_allow: Vec<String>,
    pub intent_filter: bool,
    pub files: Files,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Files {
    Unused,
    Current,
    /// The folder for runs: the given one, else the current one; it must not hold the program's own data.
    Workspace(Option<PathBuf>),
}

impl Default for Needs {
    fn default() -> Self {
        Self { web_allow: Vec::new(), intent_filter: true, files: Files::Unused }
    }
}

impl Needs {
    /// Refuses what a running server can't be given.
    pub fn met_by_a_server(&self) -> anyhow::Result<()> {
        if let Some(host) = self.web_allow.first() {
            bail!(
                "a running server does the work, and it takes no --allow from here; start it with `steward serve --allow {host}`, or stop it and try again"
            );
        }
        if !self.intent_filter {
            bail!(
                "a running server does the work, and it always chooses the tools that fit; stop it to use --no-intent-filter"
            );
        }
        Ok(())
    }
}

/// `open` opens the API for the command; `connection` is the value of `--connection`.
pub async fn run(
    mut command: Command,
    connection: Option<&str>,
    term: Term,
    open: impl AsyncFnOnce(Needs) -> anyhow::Result<Client>,
) -> anyhow::Result<Exit> {
    match &mut command {
        Command::Ask(args) => args.prepare()?,
        Command::Credential(Actions { action: Some(credential::CredentialAction::Kinds), json }) => {
            return Ok(credential::kinds(term.with_json(*json)));
        }
        _ => {}
    }
    let client = open(needs(&command)).await?;
    let exit = act(&client, command, connection, term).await;
    client.close().await;
    exit
}

fn needs(command: &Command) -> Needs {
    let files = match command {
        Command::Ask(args) => return args.needs(),
        Command::Chat(args) => Files::Workspace(args.workspace.clone()),
        Command::Files(_) | Command::Schedule(Actions { action: Some(schedule::ScheduleAction::Run { .. }), .. }) => {
            Files::Workspace(None)
        }
        Command::Sample(_)
        | Command::Mcp(_)
        | Command::Skill(Actions { action: Some(skill::SkillAction::Test(_)), .. }) => Files::Current,
        _ => Files::Unused,
    };
    Needs { files, ..Needs::default() }
}

async fn act(client: &Client, command: Command, connection: Option<&str>, term: Term) -> anyhow::Result<Exit> {
    match command {
        Command::Ask(args) => ask::run(client, &args, connection, term).await,
        Command::Chat(args) => chat::run(client, &args, connection, term).await,
        Command::Sample(args) => sample::run(client, &args).await,
        Command::Runs(args) => runs::run(client, args, connection, term).await,
        Command::Resume(args) => resume::run(client, args.run.as_deref(), term).await,
        Command::Approvals(args) => approvals::run(client, args.action, term.with_json(args.json)).await,
        Command::Conversations(args) => conversations::run(client, &args, term).await,
        Command::Grants(args) => grants::run(client, args.action, term.with_json(args.json)).await,
        Command::Agents(args) => agents::run(client, args, term).await,
        Command::Reminders(args) => reminders::run(client, &args, term).await,
        Command::Schedule(args) => schedule::run(client, args.action, term.with_json(args.json)).await,
        Command::Hook(args) => hook::run(client, args.action, term.with_json(args.json)).await,
        Command::Subscription(args) => subscription::run(client, args.action, term.with_json(args.json)).await,
        Command::Connections(args) => {
            connections::run(client, args.action, connection, term.with_json(args.json)).await
        }
        Command::Model(args) => model::run(client, args, connection, term).await,
        Command::Usage(args) => usage::run(client, &args, term).await,
        Command::Budget(args) => budget::run(client, args.action, term.with_json(args.json)).await,
        Command::Policy(args) => policy::run(client, args.action, term.with_json(args.json)).await,
        Command::Key(args) => key::run(client, args.action, term.with_json(args.json)).await,
        Command::User(args) => user::run(client, args.action, term.with_json(args.json)).await,
        Command::Ingest(args) => ingest::run(client, args, term).await,
        Command::Search(args) => search::run(client, args, term).await,
        Command::Files(args) => files::run(client, args.action, term.with_json(args.json)).await,
        Command::Documents(args) => documents::run(client, args.action, term.with_json(args.json)).await,
        Command::Datasource(args) => datasource::run(client, args.action, term.with_json(args.json)).await,
        Command::Domain(args) => domain::run(client, args.action, term.with_json(args.json)).await,
        Command::Group(args) => group::run(client, args.action, term.with_json(args.json)).await,
        Command::Tenant(args) => tenant::run(client, args.action, term.with_json(args.json)).await,
        Command::Access(args) => access::run(client, args, term).await,
        Command::Audit(args) => audit::run(client, args, term).await,
        Command::Backup(args) => backup::run(client, args, term).await,
        Command::Config(args) => config::run(client, args.action, term.with_json(args.json)).await,
        Command::Health(args) => health::run(client, &args, term).await,
        Command::Eval(args) => eval::run(client, args.suite, connection, term).await,
        Command::Skill(args) => skill::run(client, args.action, term.with_json(args.json)).await,
        Command::Credential(args) => credential::run(client, args.action, term.with_json(args.json)).await,
        Command::Mcp(args) => mcp::run(client, args.action, term.with_json(args.json)).await,
    }
}
