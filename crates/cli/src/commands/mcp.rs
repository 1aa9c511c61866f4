mod login;

use crate::client::Client;
use crate::commands::rows::{Resource, first_line, items, text, texts, time};
use crate::term::{Exit, Term, print_text};
use anyhow::{Context, bail};
use clap::{Args, Subcommand};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// MCP servers: other programs' tools.
#[derive(Debug, Clone, Subcommand)]
#[command(
    after_help = "Examples:\n  steward mcp\n  steward mcp add wiki --url https://wiki.example.org/mcp\n  steward mcp check wiki\n  steward mcp accept wiki search --agent steward\n  steward mcp login wiki"
)]
pub enum McpAction {
    /// List servers.
    List,
    Add(Add),
    /// Ask a server for its tools, and show what changed since they were accepted.
    Check {
        /// Its name, or the beginning or end of its id.
        server: String,
    },
    Accept(Accept),
    /// Take the acceptance of tools back; calls of them are refused until they are accepted anew.
    Withdraw {
        /// Its name, or the beginning or end of its id.
        server: String,
        /// The tools.
        #[arg(required = true)]
        tools: Vec<String>,
    },
    /// Make skills of accepted tools and give them to an agent.
    Attach {
        /// Its name, or the beginning or end of its id.
        server: String,
        /// The tools; none: all that are accepted.
        tools: Vec<String>,
        /// The agent.
        #[arg(long, short = 'a', value_name = "NAME", default_value = crate::client::DEFAULT_AGENT)]
        agent: String,
    },
    /// Log in at a server that wants it, in a browser; the tokens are kept with the credentials.
    Login {
        /// Its name, or the beginning or end of its id.
        server: String,
    },
    /// Remove a server; skills that stand for its tools are refused from then on.
    Remove {
        /// Its name, or the beginning or end of its id.
        server: String,
    },
}

/// Add a server: an address, or a program of this machine after `--`.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  steward mcp add wiki --url https://wiki.example.org/mcp\n  steward mcp add files --read /opt/files -- /opt/files/bin/server\n  steward mcp add shop --url https://shop.example.org/mcp --credential shop\n  steward mcp add chat --network --secret SLACK_BOT_TOKEN=slack --env SLACK_TEAM_ID=T0 -- npx -y slack-server"
)]
pub struct Add {
    /// Its name, of a-z, 0-9 and _; its tools are called NAME_TOOL.
    name: String,
    /// Its endpoint.
    #[arg(
        long,
        value_name = "URL",
        required_unless_present = "command",
        conflicts_with_all = ["command", "read", "write", "network", "secret_variable", "env", "secret"]
    )]
    url: Option<String>,
    /// A private host and port that it may be at; may be given often.
    #[arg(long, value_name = "HOST:PORT", requires = "url")]
    allow: Vec<String>,
    /// A folder that the program may read, such as where it is installed; may be given often.
    #[arg(long, value_name = "DIR")]
    read: Vec<String>,
    /// A file or folder that the program may change; may be given often.
    #[arg(long, value_name = "PATH")]
    write: Vec<String>,
    /// Let the program use the network, as npx and uvx need to.
    #[arg(long)]
    network: bool,
    /// The variable in which the program gets its credential.
    #[arg(long, value_name = "NAME", requires = "credential")]
    secret_variable: Option<String>,
    /// A plain setting of the program; may be given often.
    #[arg(long, value_name = "NAME=VALUE", value_parser = pair)]
    env: Vec<(String, String)>,
    /// A variable that takes the secret of a credential; may be given often.
    #[arg(long, value_name = "NAME=CREDENTIAL", value_parser = pair)]
    secret: Vec<(String, String)>,
    /// Its credential, by name (see `steward credential list`).
    #[arg(long, value_name = "NAME")]
    credential: Option<String>,
    /// Each user logs in with an account of their own.
    #[arg(long, conflicts_with = "credential")]
    per_user: bool,
    /// Program and arguments.
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

/// Accept tools as they were last seen, after a look at each.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  steward mcp accept wiki search\n  steward mcp accept wiki --all -y\n  steward mcp accept wiki search --hash 3f1c…\n\nRun `steward mcp check` first: what is accepted is what that saw."
)]
pub struct Accept {
    /// Its name, or the beginning or end of its id.
    server: String,
    /// The tools.
    #[arg(required_unless_present = "all")]
    tools: Vec<String>,
    /// All that it has and that are not accepted as they are, without those whose acceptance was withdrawn.
    #[arg(long, conflicts_with = "tools")]
    all: bool,
    /// Only if this is the hash of what it is; one tool only.
    #[arg(long, value_name = "HASH", conflicts_with_all = ["all", "yes"])]
    hash: Option<String>,
    /// Don't ask.
    #[arg(long, short = 'y')]
    yes: bool,
    /// Make skills of them and give them to this agent.
    #[arg(long, short = 'a', value_name = "NAME")]
    agent: Option<String>,
}

const SERVER: Resource = Resource { path: "/api/mcp/servers", what: "MCP server", list: "steward mcp list" };

pub async fn run(client: &Client, action: Option<McpAction>, term: Term) -> anyhow::Result<Exit> {
    match action.unwrap_or(McpAction::List) {
        McpAction::List => list(client, term).await,
        McpAction::Add(wanted) => add(client, wanted, term).await,
        McpAction::Check { server } => check(client, &server, term).await,
        McpAction::Accept(wanted) => accept(client, &wanted, term).await,
        McpAction::Withdraw { server, tools } => withdraw(client, &server, &tools, term).await,
        McpAction::Attach { server, tools, agent } => {
            let server = SERVER.find(client, &server).await?;
            attach(client, &server, &tools, &agent, term).await
        }
        McpAction::Login { server } => login::run(client, &SERVER.find(client, &server).await?, term).await,
        McpAction::Remove { server } => {
            let server = SERVER.find(client, &server).await?;
            client.delete(&SERVER.path_of(&server)).await?;
            Ok(term.done(&format!("removed `{}`", text(&server, "name"))))
        }
    }
}

async fn list(client: &Client, term: Term) -> anyhow::Result<Exit> {
    let servers = client.rows(SERVER.path).await?;
    Ok(term.listed(&servers, "There are no MCP servers. Add one with: steward mcp add NAME --url URL", |server| {
        let tools = items(server, "tools");
        let accepted = tools.iter().filter(|tool| tool["callable"] == true).count();
        let state = match server["error"].as_str() {
            Some(error) => term.red(&first_line(error, 80)),
            None if server["enabled"] == false => term.dim("switched off"),
            None if server["checked_at"].is_null() => term.dim("not checked yet"),
            None => term.dim(&format!("{accepted} of {} tools accepted", tools.len())),
        };
        println!("{:<20} {:<50} {state}", text(server, "name"), address(server));
    }))
}

fn address(server: &Value) -> String {
    let transport = &server["transport"];
    match transport["url"].as_str() {
        Some(url) => url.to_owned(),
        None => texts(transport, "command").collect::<Vec<_>>().join(" "),
    }
}

async fn check(client: &Client, wanted: &str, term: Term) -> anyhow::Result<Exit> {
    let path = format!("{}/check", SERVER.path_of(&SERVER.find(client, wanted).await?));
    let server: Value = client.act(&path).await?;
    term.shown(&server, || {
        let name = text(&server, "name");
        println!("{}  {}  {}", term.bold(name), address(&server), term.dim(&time(&server, "checked_at")));
        if let Some(error) = server["error"].as_str() {
            term.say(&format!("{} {error}", term.red("failed:")));
        }
        let tools = items(&server, "tools");
        for tool in tools {
            println!();
            tell(tool, term);
        }
        let waiting = tools.iter().filter(|tool| waits(tool)).count();
        if waiting > 0 {
            term.say("");
            term.say(&format!(
                "{waiting} can't be called before somebody accepts them: steward mcp accept {name} TOOL"
            ));
        }
    });
    Ok(if server["error"].is_null() { Exit::Done } else { Exit::Failed })
}

fn waits(tool: &Value) -> bool {
    tool["callable"] != true && tool["gone"] != true && tool["unusable"].is_null()
}

fn tell(tool: &Value, term: Term) {
    let state = if tool["gone"] == true {
        term.yellow("gone")
    } else if tool["changed"] == true {
        term.red("changed since it was accepted")
    } else if !tool["unusable"].is_null() {
        term.red("can't be used")
    } else if tool["callable"] == true {
        term.green("accepted")
    } else if tool["withdrawn"] == true {
        term.yellow("withdrawn")
    } else {
        term.yellow("not accepted")
    };
    let hint = if tool["read_only"] == true { ", says that it only looks" } else { "" };
    println!("{}  {state}{hint}", term.bold(text(tool, "name")));
    println!("hash         {}", text(tool, "hash"));
    if let Some(why) = tool["unusable"].as_str() {
        print_text(why);
    }
    print_text(text(tool, "description"));
    match tool["diff"].as_str() {
        Some(diff) => print_text(diff),
        None => println!("{}", term.dim(&tool["parameters"].to_string())),
    }
}

/// `NAME=VALUE`; the value may hold further signs of equality.
fn pair(text: &str) -> Result<(String, String), String> {
    let parts = text.split_once('=').filter(|(name, _)| !name.is_empty());
    let (name, value) = parts.ok_or_else(|| format!("`{text}` names no value; write it as NAME=VALUE"))?;
    Ok((name.to_owned(), value.to_owned()))
}

async fn add(client: &Client, wanted: Add, term: Term) -> anyhow::Result<Exit> {
    let transport = match &wanted.url {
        Some(url) => json!({"kind": "http", "url": url, "allow": wanted.allow}),
        None => json!({
            "kind": "stdio",
            "command": wanted.command,
            "secret_variable": wanted.secret_variable,
            "env": wanted.env.into_iter().collect::<BTreeMap<_, _>>(),
            "secrets": wanted.secret.into_iter().collect::<BTreeMap<_, _>>(),
            "network": wanted.network,
            "read": wanted.read,
            "write": wanted.write,
        }),
    };
    let body = json!({
        "name": wanted.name,
        "transport": transport,
        "credential": wanted.credential.map(|name| json!({"name": name, "kind": null, "optional": false})),
        "per_user": wanted.per_user,
    });
    let made: Value = client.post(SERVER.path, &body).await?;
    let name = text(&made, "name");
    Ok(term.changed(&made, &format!("added `{name}`; see what it has: steward mcp check {name}")))
}

async fn accept(client: &Client, wanted: &Accept, term: Term) -> anyhow::Result<Exit> {
    let mut server = SERVER.find(client, &wanted.server).await?;
    let name = text(&server, "name").to_owned();
    let tools = wanted_tools(&server, wanted)?;
    if wanted.hash.is_some() && tools.len() != 1 {
        bail!("--hash is that of one tool; accept the others apart");
    }
    let path = format!("{}/accept", SERVER.path_of(&server));
    let mut accepted = Vec::new();
    for tool in &tools {
        let (tool_name, seen) = (text(tool, "name"), text(tool, "hash"));
        if let Some(hash) = &wanted.hash {
            if seen != hash {
                bail!("`{tool_name}` is not what has this hash; look at it again: steward mcp check {name}");
            }
        } else if !wanted.yes {
            if !term.can_ask {
                bail!(
                    "look at `{tool_name}` with `steward mcp check {name}`, then accept it with --hash {seen}, or unseen with -y"
                );
            }
            tell(tool, term);
            if !term.agrees(&format!("Accept `{tool_name}`? [y/N]")) {
                continue;
            }
        }
        server = client.post(&path, &json!({"tool": tool_name, "hash": seen})).await?;
        accepted.push(tool_name.to_owned());
    }
    if accepted.is_empty() {
        term.say("nothing was accepted");
        return Ok(if tools.is_empty() { Exit::Done } else { Exit::Refused });
    }
    if let Some(agent) = &wanted.agent {
        return attach(client, &server, &accepted, agent, term).await;
    }
    let said =
        format!("accepted: {}; give them to an agent: steward mcp attach {name} --agent NAME", accepted.join(", "));
    Ok(term.changed(&server, &said))
}

async fn withdraw(client: &Client, wanted: &str, tools: &[String], term: Term) -> anyhow::Result<Exit> {
    let mut server = SERVER.find(client, wanted).await?;
    let name = text(&server, "name").to_owned();
    // All or none: a name that is wrong is told before anything is withdrawn.
    let known = items(&server, "tools");
    for tool in tools {
        if !known.iter().any(|one| text(one, "name") == tool && !one["accepted_at"].is_null()) {
            bail!("`{name}` has no accepted tool `{tool}`; see which it has: steward mcp check {name}");
        }
    }
    let path = format!("{}/withdraw", SERVER.path_of(&server));
    let mut left: Vec<&String> = Vec::new();
    for tool in tools {
        if !left.contains(&tool) {
            server = client.post(&path, &json!({"tool": tool})).await?;
            left.push(tool);
        }
    }
    let names: Vec<&str> = left.into_iter().map(String::as_str).collect();
    let said = format!("no longer accepted: {}; accept again with: steward mcp accept {name} TOOL", names.join(", "));
    Ok(term.changed(&server, &said))
}

fn wanted_tools(server: &Value, wanted: &Accept) -> anyhow::Result<Vec<Value>> {
    let known = items(server, "tools");
    if wanted.all {
        return Ok(known.iter().filter(|tool| waits(tool) && tool["withdrawn"] != true).cloned().collect());
    }
    let found = |name: &String| {
        let tool = known.iter().find(|tool| text(tool, "name") == name && tool["gone"] != true);
        tool.cloned().with_context(|| {
            format!("`{0}` has no tool `{name}` as last seen; look again: steward mcp check {0}", text(server, "name"))
        })
    };
    wanted.tools.iter().map(found).collect()
}

/// Makes skills of accepted tools, of all if none is named, and attaches them to an agent.
async fn attach(client: &Client, server: &Value, names: &[String], agent: &str, term: Term) -> anyhow::Result<Exit> {
    let callable = items(server, "tools").iter().filter(|tool| tool["callable"] == true);
    let names: Vec<&str> = if names.is_empty() {
        callable.map(|tool| text(tool, "name")).collect()
    } else {
        names.iter().map(String::as_str).collect()
    };
    if names.is_empty() {
        bail!("no tool of `{0}` is accepted yet; see `steward mcp check {0}`", text(server, "name"));
    }
    let id = client.agent_named(Some(agent)).await?.id;
    let path = format!("{}/attach", SERVER.path_of(server));
    let skills: Vec<Value> = client.post(&path, &json!({"tools": names, "agent": id})).await?;
    let names: Vec<&str> = skills.iter().map(|skill| text(skill, "name")).collect();
    Ok(term.changed(&skills, &format!("{agent} has: {}", names.join(", "))))
}
