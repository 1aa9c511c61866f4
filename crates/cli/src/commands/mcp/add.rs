//! `steward mcp add`.

use crate::args::McpAdd;
use crate::client::Client;
use crate::commands::picked::text;
use crate::exit::Exit;
use crate::term::Term;
use serde_json::{Value, json};

pub(super) async fn run(client: &Client, add: McpAdd, as_json: bool, term: Term) -> anyhow::Result<Exit> {
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
    if as_json {
        println!("{made}");
    } else {
        let name = text(&made, "name");
        term.say(&format!("added `{name}`; see what it has: steward mcp check {name}"));
    }
    Ok(Exit::Done)
}
