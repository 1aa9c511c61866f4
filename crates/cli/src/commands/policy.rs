use super::picked::{for_administrators, joined, text};
use crate::args::{PolicyAction, PolicyArgs, Word};
use crate::client::Client;
use crate::exit::Exit;
use crate::term::Term;
use anyhow::bail;
use http::Method;
use serde_json::{Value, json};

const PATH: &str = "/api/policies/tools";

pub async fn run(client: &Client, args: PolicyArgs, term: Term) -> anyhow::Result<Exit> {
    match args.action {
        None | Some(PolicyAction::List) => list(client, args.json, term).await,
        Some(PolicyAction::Add { name, risk, agent, origin, role, deny, four_eyes }) => {
            let rule = json!({
                "name": name,
                "risks": risk.into_iter().map(Word::word).collect::<Vec<_>>(),
                "agents": agent,
                "origins": origin.into_iter().map(Word::word).collect::<Vec<_>>(),
                "roles": role.into_iter().map(Word::word).collect::<Vec<_>>(),
                "decision": if deny { "deny" } else { "ask" },
                "four_eyes": four_eyes,
            });
            let (version, mut rules) = read(client).await?;
            rules.push(rule);
            let kept = replace(client, version, rules).await?;
            Ok(term.changed(&kept, args.json, &format!("`{name}` holds for runs that begin from now on")))
        }
        Some(PolicyAction::Remove { name }) => {
            let (version, mut rules) = read(client).await?;
            let before = rules.len();
            rules.retain(|rule| text(rule, "name") != name);
            if rules.len() == before {
                bail!("there is no rule `{name}`; `steward policy` shows them");
            }
            let kept = replace(client, version, rules).await?;
            Ok(term.changed(&kept, args.json, &format!("removed `{name}`; runs at work keep it")))
        }
    }
}

async fn read(client: &Client) -> anyhow::Result<(Value, Vec<Value>)> {
    let mut all: Value = client.get(PATH).await?;
    let rules = all["rules"].as_array_mut().map(std::mem::take).unwrap_or_default();
    Ok((all["version"].take(), rules))
}

async fn replace(client: &Client, version: Value, rules: Vec<Value>) -> anyhow::Result<Value> {
    let body = json!({"version": version, "rules": rules});
    client
        .request(Method::PUT, PATH, Some(&body))
        .await
        .map_err(|error| for_administrators(client, error, "changes its rules: do it by the API"))
}

async fn list(client: &Client, as_json: bool, term: Term) -> anyhow::Result<Exit> {
    let (_, rules) = read(client).await?;
    if term.listed(
        &rules,
        as_json,
        "There are no rules: each agent's own policy decides. Add one with: steward policy add \"two people\" --risk destructive --four-eyes",
    ) {
        return Ok(Exit::Done);
    }
    for rule in &rules {
        let all = |field: &str, word: &str| match joined(&rule[field]) {
            listed if listed.is_empty() => format!("all {word}"),
            listed => listed,
        };
        let what = match (text(rule, "decision"), rule["four_eyes"] == true) {
            ("deny", _) => "denied",
            (_, true) => "asked, and approved by somebody else",
            _ => "asked",
        };
        println!("{}  {what}", term.bold(text(rule, "name")));
        println!(
            "    {}; {}; from {}; asked for by {}",
            all("risks", "classes of tools"),
            all("agents", "agents"),
            all("origins", "origins"),
            all("roles", "roles")
        );
    }
    Ok(Exit::Done)
}
