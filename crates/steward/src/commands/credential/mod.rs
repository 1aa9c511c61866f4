//! `steward credential`: secrets go in and never come back.

mod fields;
mod keep;
mod list;

use super::picked::{pick, text};
use crate::backend::Backend;
use crate::cli::{CredentialAction, CredentialArgs};
use crate::compose::Options;
use crate::exit::Exit;
use crate::settings::Settings;
use crate::term::Term;
use anyhow::bail;
use reqwest::Method;
use serde_json::Value;

/// Runs the command.
pub async fn run(settings: Settings, args: CredentialArgs, term: Term) -> anyhow::Result<Exit> {
    let action = args.action.unwrap_or(CredentialAction::List);
    if matches!(action, CredentialAction::Kinds) {
        return Ok(list::kinds(args.json));
    }
    let backend = Backend::open(&settings, Options::default(), term).await?;
    let exit = act(&backend, action, args.json, term).await;
    backend.close().await;
    exit
}

async fn act(backend: &Backend, action: CredentialAction, json: bool, term: Term) -> anyhow::Result<Exit> {
    match action {
        CredentialAction::List | CredentialAction::Kinds => list::all(backend, json, term).await,
        CredentialAction::Show { credential } => {
            let found = find(backend, &credential).await?;
            Ok(list::show(&found, json, term))
        }
        CredentialAction::Uses { credential } => {
            let found = find(backend, &credential).await?;
            list::uses(backend, &found, json, term).await
        }
        add @ CredentialAction::Add { .. } => keep::add(backend, add, json, term).await,
        change @ CredentialAction::Change { .. } => keep::change(backend, change, json, term).await,
        CredentialAction::Remove { credential, yes } => remove(backend, &credential, yes, term).await,
        CredentialAction::Rotate => rotate(backend, json, term).await,
    }
}

/// A credential by its name or a part of its id.
async fn find(backend: &Backend, wanted: &str) -> anyhow::Result<Value> {
    let all = backend.api_rows("/api/credentials").await?;
    pick(all, wanted, "credential", "steward credential list")
}

async fn remove(backend: &Backend, wanted: &str, yes: bool, term: Term) -> anyhow::Result<Exit> {
    let found = find(backend, wanted).await?;
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
    backend.api::<Value>(Method::DELETE, &path, None).await?;
    term.say(&format!("removed `{name}`"));
    Ok(Exit::Done)
}

async fn rotate(backend: &Backend, as_json: bool, term: Term) -> anyhow::Result<Exit> {
    let path = "/api/credentials/rotate";
    let done = backend.api::<Value>(Method::POST, path, None).await;
    let done = done.map_err(|error| {
        let forbidden = error
            .downcast_ref::<crate::backend::Refused>()
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
