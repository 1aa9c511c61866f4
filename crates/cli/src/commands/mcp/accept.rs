//! `steward mcp accept` and `attach`.

use super::list::{tell, tools, waits};
use super::{find, place};
use crate::args::McpAction;
use crate::client::Client;
use crate::commands::picked::text;
use crate::exit::Exit;
use crate::term::Term;
use anyhow::bail;
use serde_json::{Value, json};

pub(super) async fn run(client: &Client, action: McpAction, as_json: bool, term: Term) -> anyhow::Result<Exit> {
    let McpAction::Accept { server, tools: names, all, hash, yes, agent } = action else {
        return Ok(Exit::Failed);
    };
    let mut server = find(client, &server).await?;
    let wanted = wanted(&server, &names, all)?;
    if hash.is_some() && wanted.len() != 1 {
        bail!("--hash is that of one tool; accept the others apart");
    }
    let mut accepted = Vec::new();
    for tool in &wanted {
        let (name, seen) = (text(tool, "name"), text(tool, "hash"));
        if let Some(hash) = &hash {
            if seen != hash {
                bail!(
                    "`{name}` is not what has this hash; look at it again: steward mcp check {}",
                    text(&server, "name")
                );
            }
        } else if !yes {
            if !term.can_ask {
                bail!(
                    "look at `{name}` with `steward mcp check {}`, then accept it with --hash {seen}, or unseen with -y",
                    text(&server, "name")
                );
            }
            tell(tool, term);
            if !term.agrees(&format!("Accept `{name}`? [y/N]")) {
                continue;
            }
        }
        let path = format!("{}/accept", place(&server));
        let body = json!({"tool": name, "hash": seen});
        server = client.post(&path, &body).await?;
        accepted.push(name.to_owned());
    }
    if accepted.is_empty() {
        term.say("nothing was accepted");
        return Ok(if wanted.is_empty() { Exit::Done } else { Exit::Refused });
    }
    let Some(agent) = agent else {
        if as_json {
            println!("{server}");
        } else {
            term.say(&format!(
                "accepted: {}; give them to an agent: steward mcp attach {} --agent NAME",
                accepted.join(", "),
                text(&server, "name")
            ));
        }
        return Ok(Exit::Done);
    };
    let skills = attach(client, &server, &accepted, &agent).await?;
    tell_attached(&skills, &agent, as_json, term);
    Ok(Exit::Done)
}

fn wanted(server: &Value, names: &[String], all: bool) -> anyhow::Result<Vec<Value>> {
    let known = tools(server);
    if all {
        return Ok(known.iter().filter(|tool| waits(tool)).cloned().collect());
    }
    names
        .iter()
        .map(|name| {
            let found = known.iter().find(|tool| text(tool, "name") == name && tool["gone"] != true);
            match found {
                Some(tool) => Ok(tool.clone()),
                None => bail!(
                    "`{}` has no tool `{name}` as last seen; look again: steward mcp check {}",
                    text(server, "name"),
                    text(server, "name")
                ),
            }
        })
        .collect()
}

/// Makes skills of accepted tools, of all if none is named, and gives them to an agent.
pub(super) async fn attach(
    client: &Client,
    server: &Value,
    names: &[String],
    agent: &str,
) -> anyhow::Result<Vec<Value>> {
    let callable = tools(server).iter().filter(|tool| tool["callable"] == true);
    let names: Vec<&str> = if names.is_empty() {
        callable.map(|tool| text(tool, "name")).collect()
    } else {
        names.iter().map(String::as_str).collect()
    };
    if names.is_empty() {
        bail!("no tool of `{0}` is accepted yet; see `steward mcp check {0}`", text(server, "name"));
    }
    let agent = client.agent_named(Some(agent)).await?.id;
    let path = format!("{}/attach", place(server));
    let body = json!({"tools": names, "agent": agent});
    client.post(&path, &body).await
}

pub(super) fn tell_attached(skills: &[Value], agent: &str, as_json: bool, term: Term) {
    if as_json {
        println!("{}", json!(skills));
        return;
    }
    let names: Vec<&str> = skills.iter().map(|skill| text(skill, "name")).collect();
    term.say(&format!("{agent} has: {}", names.join(", ")));
}
