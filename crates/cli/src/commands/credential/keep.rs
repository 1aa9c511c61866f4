//! `steward credential add` and `change`.

use super::fields::{self, Source};
use super::find;
use crate::args::{CredentialAction, RoleArg};
use crate::client::Client;
use crate::commands::picked::text;
use crate::exit::Exit;
use crate::term::Term;
use anyhow::{anyhow, bail};
use http::Method;
use serde_json::{Map, Value, json};
use steward_core::credential::CredentialKind;

pub(super) async fn add(client: &Client, action: CredentialAction, as_json: bool, term: Term) -> anyhow::Result<Exit> {
    let CredentialAction::Add { name, kind, fields, description, role, discoverable, lasts } = action else {
        return Ok(Exit::Failed);
    };
    let kind = CredentialKind::from(kind);
    let mut given = fields::given(kind, &fields, Source::StandardInput)?;
    fields::missing(kind, &mut given, term).await?;
    let roles: Vec<&str> = role.into_iter().map(RoleArg::as_str).collect();
    let body = json!({
        "name": name,
        "kind": kind.as_str(),
        "description": description.unwrap_or_default(),
        "fields": given.values,
        "roles": roles,
        "discoverable": discoverable,
        "expires_at": lasts.map(|lasts| client.now().plus(lasts)),
    });
    let kept: Value = client.post("/api/credentials", &body).await?;
    if as_json {
        println!("{kept}");
    } else {
        term.say(&format!("`{name}` is kept; its secrets are sealed and never shown again"));
    }
    Ok(Exit::Done)
}

pub(super) async fn change(
    client: &Client,
    action: CredentialAction,
    as_json: bool,
    term: Term,
) -> anyhow::Result<Exit> {
    let CredentialAction::Change { credential, fields, ask, description, discoverable } = action else {
        return Ok(Exit::Failed);
    };
    let found = find(client, &credential).await?;
    let kind: CredentialKind = serde_json::from_value(found["kind"].clone())
        .map_err(|_| anyhow!("the kind {} is not known to this program", found["kind"]))?;
    let mut given = fields::given(kind, &fields, Source::StandardInput)?;
    for field in &ask {
        fields::asked(kind, field, &mut given, term).await?;
    }
    let mut body = Map::new();
    if !given.values.is_empty() {
        body.insert("fields".to_owned(), json!(given.values));
    }
    if let Some(description) = description {
        body.insert("description".to_owned(), json!(description));
    }
    if let Some(discoverable) = discoverable {
        body.insert("discoverable".to_owned(), json!(discoverable));
    }
    if body.is_empty() {
        bail!("nothing to change; give a field with --from FIELD=FILE, --ask FIELD or --set FIELD=VALUE");
    }
    let path = format!("/api/credentials/{}", text(&found, "id"));
    let changed: Value = client.request(Method::PATCH, &path, Some(&Value::Object(body))).await?;
    if as_json {
        println!("{changed}");
    } else {
        term.say(&format!("`{}` is changed, from the next call on", text(&changed, "name")));
    }
    Ok(Exit::Done)
}
