//! `steward mcp list` and `check`.

use super::{find, place};
use crate::client::Client;
use crate::commands::picked::{first_line, joined, text, time};
use crate::exit::Exit;
use crate::term::Term;
use serde_json::{Value, json};

pub(super) async fn all(client: &Client, as_json: bool, term: Term) -> anyhow::Result<Exit> {
    let servers = client.rows("/api/mcp/servers").await?;
    if as_json {
        println!("{}", json!(servers));
        return Ok(Exit::Done);
    }
    if servers.is_empty() {
        term.say("There are no MCP servers. Add one with: steward mcp add NAME --url URL");
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

/// Tools as last seen.
pub(super) fn tools(server: &Value) -> &[Value] {
    server["tools"].as_array().map_or(&[], Vec::as_slice)
}

pub(super) async fn check(client: &Client, wanted: &str, as_json: bool, term: Term) -> anyhow::Result<Exit> {
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

/// Whether a person has yet to look at it.
pub(super) fn waits(tool: &Value) -> bool {
    tool["callable"] != true && tool["gone"] != true
}

/// A tool as it would be accepted.
pub(super) fn tell(tool: &Value, term: Term) {
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
