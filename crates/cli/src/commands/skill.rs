mod hosts;
mod packages;

use crate::client::{Client, DEFAULT_AGENT, with_query};
use crate::commands::rows::{SKILL, content_of, first_line, text, texts, time};
use crate::term::{Exit, Term, print_json, print_text};
use anyhow::{Context, bail};
use clap::{Args, Subcommand};
use http::Method;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use steward_core::agent::Agent;

/// Which skills.
#[derive(Debug, Clone, Default, Args)]
pub struct SkillFilter {
    /// Only of this type, such as http or ssh.
    #[arg(long = "type", value_name = "TYPE")]
    kind: Option<String>,
    /// Only with this in the name or the description.
    #[arg(long)]
    search: Option<String>,
    /// Only those of this agent.
    #[arg(long, short = 'a', value_name = "NAME")]
    agent: Option<String>,
    /// Only those of this package.
    #[arg(long, value_name = "NAME")]
    package: Option<String>,
}

/// Skills: what agents can do besides their tools, and the packages that they come in.
#[derive(Debug, Clone, Subcommand)]
#[command(
    after_help = "Examples:\n  steward skill\n  steward skill create uptime.json --agent steward\n  steward skill test uptime\n  steward skill import server-care.skill\n  steward skill trust-host web1.example.org:22 SHA256:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU"
)]
pub enum SkillAction {
    /// List skills.
    List(SkillFilter),
    /// Show a skill: what it does, its inputs, who has it.
    Show {
        /// Its name, or the beginning or end of its id.
        skill: String,
        /// Its versions instead.
        #[arg(long)]
        versions: bool,
    },
    Create(Create),
    Test(Test),
    /// Give a skill to an agent; its next run has it.
    Attach {
        /// Its name, or the beginning or end of its id.
        skill: String,
        /// The agent [default: steward].
        agent: Option<String>,
    },
    /// Take a skill from an agent.
    Detach {
        /// Its name, or the beginning or end of its id.
        skill: String,
        /// The agent [default: steward].
        agent: Option<String>,
    },
    Import(packages::Import),
    Export(packages::Export),
    Packages(packages::Packages),
    Accept(packages::Accept),
    /// Make an earlier version of a skill the next one.
    Rollback {
        /// Its name, or the beginning or end of its id.
        skill: String,
        /// The version (see `steward skill show NAME --versions`).
        version: u32,
    },
    /// Remove a skill and take it from all agents; or take a package out of use.
    Remove {
        /// Its name, or the beginning or end of a skill's id.
        skill: String,
        /// It is a package: its skills go, its revisions stay.
        #[arg(long)]
        package: bool,
    },
    /// Accept the host key of a server that ssh skills reach. Compare the fingerprint first with what
    /// `ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub` shows on the server.
    TrustHost {
        /// The server, as HOST:PORT.
        server: String,
        /// The fingerprint that was shown, SHA256:….
        fingerprint: String,
    },
    /// Servers whose host key was accepted.
    Hosts,
    /// Accept no key of a server any more.
    ForgetHost {
        /// The server, as HOST:PORT.
        server: String,
    },
}

/// Make skills from a file: a JSON object as in the API, or a list of them.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  steward skill create uptime.json\n  steward skill create uptime.json --upsert\n  steward skill create uptime.json --agent steward\n\nThe studio and `GET /api/skills/kinds` show what each type takes."
)]
pub struct Create {
    /// The file; `-` reads standard input.
    file: PathBuf,
    /// Change a skill of this name rather than refuse; the same content changes nothing.
    #[arg(long)]
    upsert: bool,
    /// Give them to this agent as well, both or neither; a skill of this name is changed.
    #[arg(long, short = 'a', value_name = "NAME")]
    agent: Option<String>,
}

/// Try a skill: says what it would do, and with --run does it.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  steward skill test uptime --arguments '{\"host\": \"web1\"}'\n  steward skill test uptime --arguments '{\"host\": \"web1\"}' --run --agent steward\n\nWhat does more than look is asked about first; -y answers yes. A skill with a credential needs --agent."
)]
pub struct Test {
    /// Its name, or the beginning or end of its id.
    skill: String,
    /// Its arguments, a JSON object.
    #[arg(long, value_name = "JSON", default_value = "{}")]
    arguments: String,
    /// Really do it.
    #[arg(long)]
    run: bool,
    /// Don't ask, whatever it does.
    #[arg(long, short = 'y', requires = "run")]
    yes: bool,
    /// The agent whose credentials are used.
    #[arg(long, short = 'a', value_name = "NAME")]
    agent: Option<String>,
}

pub async fn run(client: &Client, action: Option<SkillAction>, term: Term) -> anyhow::Result<Exit> {
    match action.unwrap_or_else(|| SkillAction::List(SkillFilter::default())) {
        SkillAction::List(filter) => list(client, filter, term).await,
        SkillAction::Show { skill, versions } => show(client, &skill, versions, term).await,
        SkillAction::Create(wanted) => create(client, &wanted, term).await,
        SkillAction::Test(wanted) => test(client, &wanted, term).await,
        SkillAction::Attach { skill, agent } => attach(client, &skill, agent.as_deref(), true, term).await,
        SkillAction::Detach { skill, agent } => attach(client, &skill, agent.as_deref(), false, term).await,
        SkillAction::Rollback { skill, version } => rollback(client, &skill, version, term).await,
        SkillAction::Remove { skill, package } => remove(client, &skill, package, term).await,
        SkillAction::Import(wanted) => packages::import(client, wanted, term).await,
        SkillAction::Export(wanted) => packages::export(client, wanted, term).await,
        SkillAction::Packages(wanted) => packages::run(client, wanted, term).await,
        SkillAction::Accept(wanted) => packages::accept(client, &wanted, term).await,
        SkillAction::TrustHost { server, fingerprint } => hosts::trust(client, &server, &fingerprint, term).await,
        SkillAction::Hosts => hosts::list(client, term).await,
        SkillAction::ForgetHost { server } => hosts::forget(client, &server, term).await,
    }
}

/// The id of an agent, if one is named.
async fn id_of(client: &Client, agent: Option<&str>) -> anyhow::Result<Option<String>> {
    let Some(name) = agent else { return Ok(None) };
    Ok(Some(client.agent_named(Some(name)).await?.id.to_string()))
}

async fn find(client: &Client, wanted: &str) -> anyhow::Result<Value> {
    let named = client.rows(&with_query(SKILL.path, [("text", Some(wanted.to_owned()))])).await?;
    if named.iter().any(|row| row["name"] == wanted) {
        return SKILL.pick(named, wanted);
    }
    SKILL.find(client, wanted).await
}

async fn list(client: &Client, filter: SkillFilter, term: Term) -> anyhow::Result<Exit> {
    let agent = id_of(client, filter.agent.as_deref()).await?;
    let parts = [("kind", filter.kind), ("text", filter.search), ("agent", agent), ("package", filter.package)];
    let path = with_query(SKILL.path, parts);
    let empty = if path == SKILL.path {
        "There are no skills. Make one with: steward skill create FILE, or take a package in: steward skill import --ready infra-agent"
    } else {
        "No skill is like that. All: steward skill list"
    };
    Ok(term.listed(&client.rows(&path).await?, empty, |skill| {
        let state = if skill["enabled"] == false { "  switched off" } else { "" };
        println!(
            "{:<24} {:<12} {:<12} {}{state}",
            text(skill, "name"),
            text(skill, "type"),
            text(skill, "risk"),
            term.dim(&first_line(text(skill, "description"), 70)),
        );
    }))
}

async fn show(client: &Client, wanted: &str, versions: bool, term: Term) -> anyhow::Result<Exit> {
    let path = SKILL.path_of(&find(client, wanted).await?);
    if versions {
        let all = client.rows(&format!("{path}/versions")).await?;
        return Ok(term.shown(&all, || {
            for one in &all {
                println!(
                    "{:>4}  {}  {:<24} {}",
                    one["version"],
                    time(one, "at"),
                    text(one, "by"),
                    term.dim(&first_line(text(one, "description"), 60))
                );
            }
        }));
    }
    let skill: Value = client.get(&path).await?;
    let agents = if term.json { Vec::new() } else { client.agents().await? };
    Ok(term.shown(&skill, || tell(&skill, &agents, term)))
}

fn tell(skill: &Value, agents: &[Agent], term: Term) {
    println!("{}  {}", term.bold(text(skill, "name")), term.dim(text(skill, "id")));
    print_text(text(skill, "description"));
    println!();
    println!("type         {}, version {}", text(skill, "type"), skill["version"]);
    println!("risk         {}; after a crash in mid-call: {}", text(skill, "risk"), text(skill, "effect"));
    if skill["enabled"] == false {
        println!("state        switched off");
    }
    if let Some(package) = skill["package"].as_str() {
        println!("package      {package}");
    }
    if skill["credential"].is_object() {
        let wanted = &skill["credential"];
        let named = wanted["name"].as_str().or(wanted["kind"].as_str());
        println!("credential   {}", named.unwrap_or("any that suits"));
    }
    if let Some(back) = skill["compensation"]["skill"].as_str() {
        println!("taken back   by {back}");
    }
    let has = |agent: &&Agent| {
        let id = agent.id.to_string();
        texts(skill, "agents").any(|one| one == id)
    };
    let names: Vec<&str> = agents.iter().filter(has).map(|agent| agent.name.as_str()).collect();
    let names = if names.is_empty() {
        format!("nobody; give it with: steward skill attach {}", skill["name"].as_str().unwrap_or("NAME"))
    } else {
        names.join(", ")
    };
    println!("agents       {names}");
    for (title, field) in [("inputs", "parameters"), ("config", "config")] {
        println!();
        println!("{}", term.dim(title));
        print_text(&format!("{:#}", skill[field]));
    }
}

async fn rollback(client: &Client, wanted: &str, version: u32, term: Term) -> anyhow::Result<Exit> {
    let path = format!("{}/rollback", SKILL.path_of(&find(client, wanted).await?));
    let body = json!({"version": version});
    let now: Value = client.post(&path, &body).await?;
    let said = format!("`{}` is as in version {version} again, now version {}", text(&now, "name"), now["version"]);
    Ok(term.changed(&now, &said))
}

async fn create(client: &Client, wanted: &Create, term: Term) -> anyhow::Result<Exit> {
    let skills = read(&wanted.file)?;
    let upsert = wanted.upsert;
    let agent = id_of(client, wanted.agent.as_deref()).await?.zip(wanted.agent.as_deref());
    let mut made = Vec::new();
    for skill in &skills {
        let name = text(skill, "name");
        let kept = if let Some((id, _)) = &agent {
            let path = format!("/api/universal-agents/{id}/skills:create_and_attach");
            let mut both: Value = client.post(&path, skill).await?;
            both["skill"].take()
        } else {
            let path = format!("/api/skills?upsert={upsert}");
            client.post(&path, skill).await?
        };
        if !term.json {
            let whose = agent.as_ref().map(|(_, agent)| format!(", and {agent} has it")).unwrap_or_default();
            term.say(&format!("`{name}` is kept, version {}{whose}", kept["version"]));
        }
        made.push(kept);
    }
    if term.json {
        print_json(&made);
    }
    Ok(Exit::Done)
}

fn read(file: &Path) -> anyhow::Result<Vec<Value>> {
    let shown = file.display();
    let value: Value = serde_json::from_str(&content_of(file)?).with_context(|| format!("{shown} is no JSON"))?;
    let all = match value {
        Value::Array(all) => all,
        one => vec![one],
    };
    let named = |one: &Value| one["name"].as_str().is_some_and(|name| !name.is_empty());
    if all.is_empty() || !all.iter().all(named) {
        bail!("{shown} holds no skill; write an object with name, description, type and config, or a list of them");
    }
    Ok(all)
}

async fn test(client: &Client, wanted: &Test, term: Term) -> anyhow::Result<Exit> {
    let skill = find(client, &wanted.skill).await?;
    let arguments: Value = serde_json::from_str(&wanted.arguments)
        .context("--arguments is no JSON; write an object in single quotes, such as '{\"limit\": 10}'")?;
    let mut body = json!({"arguments": arguments, "dry_run": true, "confirm": true});
    if let Some(id) = id_of(client, wanted.agent.as_deref()).await? {
        body["agent"] = id.into();
    }
    let path = format!("{}/test", SKILL.path_of(&skill));
    if wanted.run && text(&skill, "risk") != "read" {
        if term.can_ask && !wanted.yes {
            let dry: Value = client.post(&path, &body).await?;
            term.say_text(text(&dry, "preview"));
        }
        let nobody = format!(
            "`{}` changes something or sends it out; look at what it would do without --run, then add -y",
            text(&skill, "name")
        );
        if !term.confirmed(wanted.yes, "Do it?", &nobody, "nothing was done")? {
            return Ok(Exit::Refused);
        }
    }
    body["dry_run"] = json!(!wanted.run);
    let told: Value = client.post(&path, &body).await?;
    let fine = told["ok"] == true;
    if term.json {
        print_json(&told);
    } else if !wanted.run {
        print_text(text(&told, "preview"));
    } else if fine {
        print_text(text(&told, "output"));
        term.note(&format!("in {} ms", told["ms"]));
    } else {
        term.say_text(&format!("{} {}", term.red("failed:"), text(&told, "error")));
    }
    Ok(if fine { Exit::Done } else { Exit::Failed })
}

async fn attach(
    client: &Client,
    wanted: &str,
    agent: Option<&str>,
    attached: bool,
    term: Term,
) -> anyhow::Result<Exit> {
    let skill = find(client, wanted).await?;
    let agent = agent.unwrap_or(DEFAULT_AGENT);
    let id = client.agent_named(Some(agent)).await?.id;
    let path = format!("/api/agents/{id}/skills/{}", text(&skill, "id"));
    let method = if attached { Method::PUT } else { Method::DELETE };
    client.request::<Value>(method, &path, None).await?;
    let name = text(&skill, "name");
    term.say(&if attached {
        format!("{agent} has `{name}` from its next run on")
    } else {
        format!("{agent} no longer has `{name}`")
    });
    Ok(Exit::Done)
}

async fn remove(client: &Client, wanted: &str, package: bool, term: Term) -> anyhow::Result<Exit> {
    if package {
        client.delete(&packages::path_of(wanted)).await?;
        term.say(&format!("the package `{wanted}` is out of use; its revisions stay: steward skill packages {wanted}"));
        return Ok(Exit::Done);
    }
    let skill = find(client, wanted).await?;
    client.delete(&SKILL.path_of(&skill)).await?;
    Ok(term.done(&format!("removed `{}`", text(&skill, "name"))))
}
