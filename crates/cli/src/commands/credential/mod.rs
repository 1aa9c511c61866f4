//! `steward credential`: secrets go in and never come back.

mod fields;
mod keep;
mod list;

use super::picked::{pick, text};
use crate::args::{CredentialAction, CredentialArgs};
use crate::client::Client;
use crate::exit::Exit;
use crate::term::Term;
use anyhow::bail;
use serde_json::Value;

/// Kinds and their fields: nothing is asked for them.
pub fn kinds(as_json: bool) -> Exit {
    list::kinds(as_json)
}

/// Runs the command.
pub async fn run(client: &Client, args: CredentialArgs, term: Term) -> anyhow::Result<Exit> {
    let action = args.action.unwrap_or(CredentialAction::List);
    act(client, action, args.json, term).await
}

async fn act(client: &Client, action: CredentialAction, json: bool, term: Term) -> anyhow::Result<Exit> {
    match action {
        CredentialAction::List => list::all(client, json, term).await,
        CredentialAction::Kinds => Ok(list::kinds(json)),
        CredentialAction::Show { credential } => {
            let found = find(client, &credential).await?;
            Ok(list::show(&found, json, term))
        }
        CredentialAction::Uses { credential } => {
            let found = find(client, &credential).await?;
            list::uses(client, &found, json, term).await
        }
        add @ CredentialAction::Add { .. } => keep::add(client, add, json, term).await,
        change @ CredentialAction::Change { .. } => keep::change(client, change, json, term).await,
        CredentialAction::Remove { credential, yes } => remove(client, &credential, yes, term).await,
        CredentialAction::Rotate => rotate(client, json, term).await,
    }
}

/// A credential by its name or a part of its id.
async fn find(client: &Client, wanted: &str) -> anyhow::Result<Value> {
    let all = client.rows("/api/credentials").await?;
    pick(all, wanted, "credential", "steward credential list")
}

async fn remove(client: &Client, wanted: &str, yes: bool, term: Term) -> anyhow::Result<Exit> {
    let found = find(client, wanted).await?;
    let name = text(&found, "name");
    if !yes {
        if !term.can_ask {
            bail!("`{name}` would be gone for good; add -y if that is meant");
        }
        if !term.agrees(&format!("Remove `{name}` for good? [y/N]")) {
            term.say("nothing was removed");
            return Ok(Exit::Refused);
        }
    }
    let path = format!("/api/credentials/{}", text(&found, "id"));
    client.delete(&path).await?;
    term.say(&format!("removed `{name}`"));
    Ok(Exit::Done)
}

async fn rotate(client: &Client, as_json: bool, term: Term) -> anyhow::Result<Exit> {
    let path = "/api/credentials/rotate";
    let done = client.act::<Value>(path).await;
    let done = done.map_err(|error| {
        let forbidden = error
            .downcast_ref::<crate::client::Refused>()
            .is_some_and(|refused| refused.status == 403);
        if forbidden {
            return error.context(
                "at a running server only an administrator changes the vault's key: do it in the studio under Credentials, or stop the server and run this again",
            );
        }
        error
    })?;
    if as_json {
        println!("{done}");
    } else {
        term.say(&format!("{} sealed with a new key; back it up with the data", done["resealed"]));
    }
    Ok(Exit::Done)
}
