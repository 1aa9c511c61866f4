use crate::Command;
use crate::args::{CredentialAction, Eval, SkillAction, Suite};
use crate::client::Client;
use crate::commands::{
    access, agents, approvals, ask, audit, budget, chat, config, connections, conversations, credential, datasource,
    documents, domain, eval_domains, grants, group, health, ingest, key, mcp, model, policy, reminders, resume, runs,
    sample, skill, tenant, usage, user,
};
use crate::exit::Exit;
use crate::term::Term;
use std::path::PathBuf;

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

/// `open` opens the API for the command; `connection` is the value of `--connection`.
pub async fn run(
    mut command: Command,
    connection: Option<&str>,
    term: Term,
    open: impl AsyncFnOnce(Needs) -> anyhow::Result<Client>,
) -> anyhow::Result<Exit> {
    match &mut command {
        Command::Ask(args) => ask::prepare(args)?,
        Command::Credential(args) if matches!(args.action, Some(CredentialAction::Kinds)) => {
            return Ok(credential::kinds(args.json));
        }
        _ => {}
    }
    let client = open(needs(&command)).await?;
    let exit = act(&client, command, connection, term).await;
    client.close().await;
    exit
}

fn needs(command: &Command) -> Needs {
    match command {
        Command::Ask(args) => Needs {
            web_allow: args.allow.clone(),
            intent_filter: !args.no_intent_filter,
            files: Files::Workspace(args.workspace.clone()),
        },
        Command::Chat(args) => Needs { files: Files::Workspace(args.workspace.clone()), ..Needs::default() },
        Command::Sample(_) | Command::Mcp(_) => Needs { files: Files::Current, ..Needs::default() },
        Command::Skill(args) if matches!(args.action, Some(SkillAction::Test { .. })) => {
            Needs { files: Files::Current, ..Needs::default() }
        }
        _ => Needs::default(),
    }
}

async fn act(client: &Client, command: Command, connection: Option<&str>, term: Term) -> anyhow::Result<Exit> {
    match command {
        Command::Ask(args) => ask::run(client, &args, connection, term).await,
        Command::Chat(args) => chat::run(client, &args, connection, term).await,
        Command::Sample(args) => sample::run(client, &args).await,
        Command::Runs(args) => runs::run(client, &args, connection, term).await,
        Command::Resume(args) => resume::run(client, args.run.as_deref(), term).await,
        Command::Approvals(args) => approvals::run(client, &args, term).await,
        Command::Conversations(args) => conversations::run(client, &args, term).await,
        Command::Grants(args) => grants::run(client, &args, term).await,
        Command::Agents(args) => agents::run(client, args, term).await,
        Command::Reminders(args) => reminders::run(client, &args, term).await,
        Command::Connections(args) => connections::run(client, args, connection, term).await,
        Command::Model(args) => model::run(client, args, connection, term).await,
        Command::Usage(args) => usage::run(client, &args, term).await,
        Command::Budget(args) => budget::run(client, args, term).await,
        Command::Policy(args) => policy::run(client, args, term).await,
        Command::Key(args) => key::run(client, args, term).await,
        Command::User(args) => user::run(client, args, term).await,
        Command::Group(args) => group::run(client, args, term).await,
        Command::Ingest(args) => ingest::run(client, args, term).await,
        Command::Search(args) => ingest::search(client, args, term).await,
        Command::Documents(args) => documents::run(client, args, term).await,
        Command::Datasource(args) => datasource::run(client, args, term).await,
        Command::Domain(args) => domain::run(client, args, term).await,
        Command::Tenant(args) => tenant::run(client, args, term).await,
        Command::Access(args) => access::run(client, args, term).await,
        Command::Audit(args) => audit::run(client, args, term).await,
        Command::Config(args) => config::run(client, args, term).await,
        Command::Health(args) => health::run(client, &args, term).await,
        Command::Eval(Eval { suite: Suite::Kept { json } }) => runs::eval_kept(client, json, term).await,
        Command::Eval(Eval { suite: Suite::Domains(args) }) => eval_domains::run(client, &args, connection, term).await,
        Command::Eval(Eval { suite: Suite::Retrieval(_) }) => {
            anyhow::bail!("retrieval is measured by the program itself, not through its API")
        }
        Command::Skill(args) => skill::run(client, args, term).await,
        Command::Credential(args) => credential::run(client, args, term).await,
        Command::Mcp(args) => mcp::run(client, args, term).await,
    }
}
