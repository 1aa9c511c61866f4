mod fields;

use crate::args::{CredentialAction, CredentialArgs, Word};
use crate::client::Client;
use crate::commands::picked::{joined, pick, text, time};
use crate::exit::Exit;
use crate::term::Term;
use anyhow::{anyhow, bail};
use fields::Source;
use http::Method;
use serde_json::{Map, Value, json};
use steward_core::credential::CredentialKind;

pub async fn run(client: &Client, args: CredentialArgs, term: Term) -> anyhow::Result<Exit> {
    let action = args.action.unwrap_or(CredentialAction::List);
    act(client, action, args.json, term).await
}

async fn act(client: &Client, action: CredentialAction, json: bool, term: Term) -> anyhow::Result<Exit> {
    match action {
        CredentialAction::List => list(client, json, term).await,
        CredentialAction::Kinds => Ok(kinds(json)),
        CredentialAction::Show { credential } => {
            let found = find(client, &credential).await?;
            Ok(show(&found, json, term))
        }
        CredentialAction::Uses { credential } => {
            let found = find(client, &credential).await?;
            uses(client, &found, json, term).await
        }
        action @ CredentialAction::Add { .. } => add(client, action, json, term).await,
        action @ CredentialAction::Change { .. } => change(client, action, json, term).await,
        CredentialAction::Remove { credential, yes } => remove(client, &credential, yes, term).await,
        CredentialAction::Rotate => rotate(client, json, term).await,
    }
}

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
    Ok(term.done(&format!("removed `{name}`")))
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
    let said = format!("{} sealed with a new key; back it up with the data", done["resealed"]);
    Ok(term.changed(&done, as_json, &said))
}

async fn list(client: &Client, as_json: bool, term: Term) -> anyhow::Result<Exit> {
    let rows = client.rows("/api/credentials").await?;
    if term.listed(&rows, as_json, "There are no credentials. Keep one with: steward credential add NAME --kind token")
    {
        return Ok(Exit::Done);
    }
    for one in &rows {
        let used = time(one, "used_at");
        let used = if used.is_empty() { "never used".to_owned() } else { format!("used {used}") };
        println!("{:<24} {:<12} {}", text(one, "name"), text(one, "kind"), term.dim(&used));
    }
    Ok(Exit::Done)
}

pub fn kinds(as_json: bool) -> Exit {
    if as_json {
        let rows: Vec<Value> = CredentialKind::ALL
            .iter()
            .map(|kind| {
                let fields = kind.fields().iter();
                let fields: Vec<_> = fields
                    .map(|field| json!({"name": field.name, "secret": field.secret, "required": field.required}))
                    .collect();
                json!({"kind": kind.as_str(), "fields": fields})
            })
            .collect();
        println!("{}", json!(rows));
        return Exit::Done;
    }
    for kind in CredentialKind::ALL {
        let fields: Vec<String> = kind
            .fields()
            .iter()
            .map(|field| {
                let secret = if field.secret { " (secret)" } else { "" };
                if field.required { format!("{}{secret}", field.name) } else { format!("[{}{secret}]", field.name) }
            })
            .collect();
        println!("{:<12} {}", kind.as_str(), fields.join(", "));
    }
    Exit::Done
}

fn show(one: &Value, as_json: bool, term: Term) -> Exit {
    if as_json {
        println!("{one}");
        return Exit::Done;
    }
    println!("{}  {}", term.bold(text(one, "name")), term.dim(text(one, "id")));
    if !text(one, "description").is_empty() {
        println!("{}", text(one, "description"));
    }
    println!("kind         {}", text(one, "kind"));
    for (field, value) in one["shown"].as_object().into_iter().flatten() {
        println!("{field:<12} {}", value.as_str().unwrap_or_default());
    }
    for field in one["secret"].as_array().into_iter().flatten() {
        println!("{:<12} {}", field.as_str().unwrap_or_default(), term.dim("secret"));
    }
    let roles = joined(&one["roles"]);
    println!(
        "used by      agents that name it{}{}",
        if roles.is_empty() { String::new() } else { format!(", runs of the roles {roles}") },
        if one["discoverable"] == true { ", skills that look for its kind" } else { "" }
    );
    let hosts = joined(&one["hosts"]);
    println!("sent to      {}", if hosts.is_empty() { "any host that an operator's skill names" } else { &hosts });
    for (title, field) in
        [("made", "created_at"), ("changed", "changed_at"), ("last used", "used_at"), ("ends", "expires_at")]
    {
        let at = time(one, field);
        if !at.is_empty() {
            println!("{title:<12} {at}");
        }
    }
    Exit::Done
}

async fn uses(client: &Client, one: &Value, as_json: bool, term: Term) -> anyhow::Result<Exit> {
    let path = format!("/api/credentials/{}/uses", text(one, "id"));
    let rows = client.rows(&path).await?;
    if term.listed(&rows, as_json, &format!("`{}` was never used.", text(one, "name"))) {
        return Ok(Exit::Done);
    }
    for used in &rows {
        let agent = used["agent_name"].as_str().unwrap_or("a person's test");
        let run = used["run"].as_str().unwrap_or("no run");
        println!("{}  {:<24} {:<16} {}", time(used, "at"), text(used, "tool"), agent, term.dim(run));
    }
    Ok(Exit::Done)
}

async fn add(client: &Client, action: CredentialAction, as_json: bool, term: Term) -> anyhow::Result<Exit> {
    let CredentialAction::Add { name, kind, fields, description, role, discoverable, host, lasts } = action else {
        return Ok(Exit::Failed);
    };
    let kind = CredentialKind::from(kind);
    let mut given = fields::given(kind, &fields, Source::StandardInput)?;
    fields::missing(kind, &mut given, term).await?;
    let roles: Vec<String> = role.into_iter().map(Word::word).collect();
    let body = json!({
        "name": name,
        "kind": kind.as_str(),
        "description": description.unwrap_or_default(),
        "fields": given.values,
        "roles": roles,
        "discoverable": discoverable,
        "hosts": host,
        "expires_at": lasts.map(|lasts| client.now().plus(lasts)),
    });
    let kept: Value = client.post("/api/credentials", &body).await?;
    Ok(term.changed(&kept, as_json, &format!("`{name}` is kept; its secrets are sealed and never shown again")))
}

async fn change(client: &Client, action: CredentialAction, as_json: bool, term: Term) -> anyhow::Result<Exit> {
    let CredentialAction::Change { credential, fields, ask, description, discoverable, host } = action else {
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
    if !host.is_empty() {
        let hosts: Vec<&String> = host.iter().filter(|host| *host != "any").collect();
        body.insert("hosts".to_owned(), json!(hosts));
    }
    if body.is_empty() {
        bail!("nothing to change; give a field with --from FIELD=FILE, --ask FIELD or --set FIELD=VALUE");
    }
    let path = format!("/api/credentials/{}", text(&found, "id"));
    let changed: Value = client.request(Method::PATCH, &path, Some(&Value::Object(body))).await?;
    let said = format!("`{}` is changed, from the next call on", text(&changed, "name"));
    Ok(term.changed(&changed, as_json, &said))
}
