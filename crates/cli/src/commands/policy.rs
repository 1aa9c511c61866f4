use super::rows::{for_administrators, joined, name_of, text};
use crate::client::Client;
use crate::options::ROLES;
use crate::term::{Exit, Term};
use anyhow::bail;
use clap::Subcommand;
use serde_json::{Value, json};

/// Rules over what agents do unasked, for the whole installation.
#[derive(Debug, Clone, Subcommand)]
#[command(
    after_help = "Examples:\n  steward policy\n  steward policy add \"two people\" --risk destructive --four-eyes\n  steward policy remove \"two people\""
)]
pub enum PolicyAction {
    /// List the rules.
    List,
    /// Add a rule; it holds for runs that begin from then on. What is left out means all.
    #[command(
        after_help = "Examples:\n  steward policy add \"two people\" --risk destructive --four-eyes\n  steward policy add \"nothing leaves at night\" --risk external --origin schedule --deny\n  steward policy add juniors --role developer --risk write --risk external"
    )]
    Add {
        /// Its name, shown wherever it decides.
        name: String,
        /// A class of tools; may be given often.
        #[arg(long, value_name = "CLASS", value_parser = ["read", "write", "external", "destructive"])]
        risk: Vec<String>,
        /// An agent; may be given often.
        #[arg(long, value_name = "NAME")]
        agent: Vec<String>,
        /// Where the run came from; may be given often.
        #[arg(long, value_name = "ORIGIN", value_parser = ["cli", "chat", "api", "schedule", "webhook", "delegation"])]
        origin: Vec<String>,
        /// The role of the user who asked; may be given often.
        #[arg(long, value_name = "ROLE", value_parser = ROLES)]
        role: Vec<String>,
        /// Such calls never run; without it a person is asked.
        #[arg(long, conflicts_with = "four_eyes")]
        deny: bool,
        /// Only somebody else than who asked may approve, each call by itself.
        #[arg(long)]
        four_eyes: bool,
    },
    /// Remove a rule.
    Remove {
        /// Its name.
        name: String,
    },
}

const PATH: &str = "/api/policies/tools";

pub async fn run(client: &Client, action: Option<PolicyAction>, term: Term) -> anyhow::Result<Exit> {
    match action.unwrap_or(PolicyAction::List) {
        PolicyAction::List => list(client, term).await,
        PolicyAction::Add { name, risk, agent, origin, role, deny, four_eyes } => {
            let rule = json!({
                "name": name,
                "risks": risk,
                "agents": agent,
                "origins": origin,
                "roles": role,
                "decision": if deny { "deny" } else { "ask" },
                "four_eyes": four_eyes,
            });
            let (version, mut rules) = read(client).await?;
            rules.push(rule);
            let kept = replace(client, version, rules).await?;
            Ok(term.changed(&kept, &format!("`{name}` holds for runs that begin from now on")))
        }
        PolicyAction::Remove { name } => {
            let (version, mut rules) = read(client).await?;
            let before = rules.len();
            rules.retain(|rule| text(rule, "name") != name);
            if rules.len() == before {
                bail!("there is no rule `{name}`; `steward policy` shows them");
            }
            let kept = replace(client, version, rules).await?;
            Ok(term.changed(&kept, &format!("removed `{name}`; runs at work keep it")))
        }
    }
}

async fn read(client: &Client) -> anyhow::Result<(Value, Vec<Value>)> {
    let mut all: Value = client.get(PATH).await?;
    let rules = all["rules"].as_array_mut().map(std::mem::take).unwrap_or_default();
    Ok((all["version"].take(), rules))
}

/// A rule as it is sent: its agents by their ids.
fn as_sent(mut rule: Value) -> Value {
    if let Some(agents) = rule["agents"].as_array_mut() {
        for agent in agents.iter_mut().filter(|agent| agent.is_object()) {
            *agent = agent["id"].take();
        }
    }
    rule
}

async fn replace(client: &Client, version: Value, rules: Vec<Value>) -> anyhow::Result<Value> {
    let rules: Vec<Value> = rules.into_iter().map(as_sent).collect();
    let body = json!({"version": version, "rules": rules});
    client
        .put(PATH, &body)
        .await
        .map_err(|error| for_administrators(client, error, "changes its rules: do it by the API"))
}

async fn list(client: &Client, term: Term) -> anyhow::Result<Exit> {
    let (_, rules) = read(client).await?;
    let empty = "There are no rules: each agent's own policy decides. Add one with: steward policy add \"two people\" --risk destructive --four-eyes";
    Ok(term.listed(&rules, empty, |rule| {
        let all = |field: &str, word: &str| match joined(rule, field) {
            listed if listed.is_empty() => format!("all {word}"),
            listed => listed,
        };
        let what = match (text(rule, "decision"), rule["four_eyes"] == true) {
            ("deny", _) => "denied",
            (_, true) => "asked, and approved by somebody else",
            _ => "asked",
        };
        println!("{}  {what}", term.bold(text(rule, "name")));
        let agents: Vec<String> = rule["agents"].as_array().into_iter().flatten().map(name_of).collect();
        let agents = if agents.is_empty() { "all agents".to_owned() } else { agents.join(", ") };
        println!(
            "    {}; {agents}; from {}; asked for by {}",
            all("risks", "classes of tools"),
            all("origins", "origins"),
            all("roles", "roles")
        );
    }))
}
