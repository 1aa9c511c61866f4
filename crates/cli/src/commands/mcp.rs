mod login;

use crate::args::{McpAction, McpAdd, McpArgs};
use crate::client::Client;
use crate::commands::picked::{first_line, joined, pick, text, time};
use crate::exit::Exit;
use crate::term::Term;
use anyhow::bail;
use serde_json::{Value, json};

pub async fn run(client: &Client, args: McpArgs, term: Term) -> anyhow::Result<Exit> {
    act(client, args.action.unwrap_or(McpAction::List), args.json, term).await
}

async fn act(client: &Client, action: McpAction, json: bool, term: Term) -> anyhow::Result<Exit> {
    match action {
        McpAction::List => list(client, json, term).await,
        McpAction::Add(add) => add_server(client, add, json, term).await,
        McpAction::Check { server } => check(client, &server, json, term).await,
        accept @ McpAction::Accept { .. } => accept_tools(client, accept, json, term).await,
        McpAction::Attach { server, tools, agent } => {
            let server = find(client, &server).await?;
            let skills = attach(client, &server, &tools, &agent).await?;
            Ok(told_attached(&skills, &agent, json, term))
        }
        McpAction::Login { server } => login::run(client, &find(client, &server).await?, json, term).await,
        McpAction::Remove { server } => {
            let server = find(client, &server).await?;
            client.delete(&place(&server)).await?;
            Ok(term.done(&format!("removed `{}`", text(&server, "name"))))
        }
    }
}

async fn find(client: &Client, wanted: &str) -> anyhow::Result<Value> {
    let all = client.rows("/api/mcp/servers").await?;
    pick(all, wanted, "MCP server", "steward mcp list")
}

fn place(server: &Value) -> String {
    format!("/api/mcp/servers/{}", text(server, "id"))
}

async fn list(client: &Client, as_json: bool, term: Term) -> anyhow::Result<Exit> {
    let servers = client.rows("/api/mcp/servers").await?;
    if term.listed(&servers, as_json, "There are no MCP servers. Add one with: steward mcp add NAME --url URL") {
        return Ok(Exit::Done);
    }
    for server in &servers {
        let tools = tools(server);
        let accepted = tools.iter().filter(|tool| tool["callable"] == true).count();
        let state = match server["error"].as_str() {
            Some(error) => term.red(&first_line(error, 80)),
            None if server["enabled"] == false => term.dim("switched off"),
            None if server["checked_at"].is_null() => term.dim("not checked yet"),
            None => term.dim(&format!("{accepted} of {} tools accepted", tools.len())),
        };
        println!("{:<20} {:<50} {state}", text(server, "name"), address(server));
    }
    Ok(Exit::Done)
}

fn address(server: &Value) -> String {
    let transport = &server["transport"];
    match transport["url"].as_str() {
        Some(url) => url.to_owned(),
        None => joined(&transport["command"]).replace(", ", " "),
    }
}

fn tools(server: &Value) -> &[Value] {
    server["tools"].as_array().map_or(&[], Vec::as_slice)
}

async fn check(client: &Client, wanted: &str, as_json: bool, term: Term) -> anyhow::Result<Exit> {
    let server = find(client, wanted).await?;
    let path = format!("{}/check", place(&server));
    let server: Value = client.act(&path).await?;
    let exit = if server["error"].is_null() { Exit::Done } else { Exit::Failed };
    if as_json {
        println!("{server}");
        return Ok(exit);
    }
    println!("{}  {}  {}", term.bold(text(&server, "name")), address(&server), term.dim(&time(&server, "checked_at")));
    if let Some(error) = server["error"].as_str() {
        term.say(&format!("{} {error}", term.red("failed:")));
    }
    for tool in tools(&server) {
        println!();
        tell(tool, term);
    }
    let waiting = tools(&server).iter().filter(|tool| waits(tool)).count();
    if waiting > 0 {
        let name = text(&server, "name");
        term.say(&format!("\n{waiting} can't be called before somebody accepts them: steward mcp accept {name} TOOL"));
    }
    Ok(exit)
}

fn waits(tool: &Value) -> bool {
    tool["callable"] != true && tool["gone"] != true
}

fn tell(tool: &Value, term: Term) {
    let state = if tool["gone"] == true {
        term.yellow("gone")
    } else if tool["changed"] == true {
        term.red("changed since it was accepted")
    } else if tool["callable"] == true {
        term.green("accepted")
    } else {
        term.yellow("not accepted")
    };
    let hint = if tool["read_only"] == true { ", says that it only looks" } else { "" };
    println!("{}  {state}{hint}", term.bold(text(tool, "name")));
    println!("hash         {}", text(tool, "hash"));
    println!("{}", text(tool, "description"));
    match tool["diff"].as_str() {
        Some(diff) => println!("{diff}"),
        None => println!("{}", term.dim(&tool["parameters"].to_string())),
    }
}

async fn add_server(client: &Client, add: McpAdd, as_json: bool, term: Term) -> anyhow::Result<Exit> {
    let transport = match &add.url {
        Some(url) => json!({"kind": "http", "url": url, "allow": add.allow}),
        None => json!({
            "kind": "stdio",
            "command": add.command,
            "secret_variable": add.secret_variable,
            "network": add.network,
            "read": add.read,
            "write": add.write,
        }),
    };
    let credential = add.credential.as_ref().map(|name| json!({"name": name, "kind": null, "optional": false}));
    let body = json!({
        "name": add.name,
        "transport": transport,
        "credential": credential,
        "per_user": add.per_user,
    });
    let made: Value = client.post("/api/mcp/servers", &body).await?;
    let name = text(&made, "name");
    Ok(term.changed(&made, as_json, &format!("added `{name}`; see what it has: steward mcp check {name}")))
}

async fn accept_tools(client: &Client, action: McpAction, as_json: bool, term: Term) -> anyhow::Result<Exit> {
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
        let said = format!(
            "accepted: {}; give them to an agent: steward mcp attach {} --agent NAME",
            accepted.join(", "),
            text(&server, "name")
        );
        return Ok(term.changed(&server, as_json, &said));
    };
    let skills = attach(client, &server, &accepted, &agent).await?;
    Ok(told_attached(&skills, &agent, as_json, term))
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

/// Makes skills of accepted tools, of all if none is named, and attaches them to an agent.
async fn attach(client: &Client, server: &Value, names: &[String], agent: &str) -> anyhow::Result<Vec<Value>> {
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

fn told_attached(skills: &[Value], agent: &str, as_json: bool, term: Term) -> Exit {
    let names: Vec<&str> = skills.iter().map(|skill| text(skill, "name")).collect();
    term.changed(&skills, as_json, &format!("{agent} has: {}", names.join(", ")))
}
