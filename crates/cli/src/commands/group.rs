use crate::args::{GroupAction, GroupArgs};
use crate::client::{Client, encoded};
use crate::commands::picked::{for_administrators, pick, text, time};
use crate::commands::user;
use crate::exit::Exit;
use crate::term::Term;
use anyhow::bail;
use http::Method;
use serde_json::{Value, json};

pub async fn run(client: &Client, args: GroupArgs, term: Term) -> anyhow::Result<Exit> {
    let as_json = args.json;
    match args.action.unwrap_or(GroupAction::List { search: None }) {
        GroupAction::List { search } => list(client, search.as_deref(), as_json, term).await,
        GroupAction::Show { group } => show(client, &group, as_json, term).await,
        action => act(client, action, as_json, term)
            .await
            .map_err(|error| for_administrators(client, error, "changes groups: do it in the studio under Groups")),
    }
}

async fn act(client: &Client, action: GroupAction, as_json: bool, term: Term) -> anyhow::Result<Exit> {
    match action {
        GroupAction::List { .. } | GroupAction::Show { .. } => Ok(Exit::Failed),
        GroupAction::Create { name, description } => {
            let body = json!({"name": name, "description": description.unwrap_or_default()});
            let made: Value = client.post("/api/groups", &body).await?;
            let name = text(&made, "name");
            let said = format!("made the group `{name}`; put users in with: steward group add \"{name}\" EMAIL");
            Ok(term.changed(&made, as_json, &said))
        }
        GroupAction::Rename { group, name } => {
            let found = find(client, &group).await?;
            let changed = change(client, &found, &json!({"name": name})).await?;
            let said =
                format!("`{}` is called `{}` now; its grants stay", text(&found, "name"), text(&changed, "name"));
            Ok(term.changed(&changed, as_json, &said))
        }
        GroupAction::Describe { group, description } => {
            let found = find(client, &group).await?;
            let changed = change(client, &found, &json!({"description": description})).await?;
            Ok(term.changed(&changed, as_json, &format!("`{}` is described anew", text(&changed, "name"))))
        }
        GroupAction::Remove { group, yes } => remove(client, &group, yes, as_json, term).await,
        GroupAction::Add { group, users } => {
            let (group, emails) = set_members(client, &group, &users, &Method::PUT).await?;
            let said = format!("in `{}` from their next request on: {emails}", text(&group, "name"));
            Ok(term.changed(&group, as_json, &said))
        }
        GroupAction::Drop { group, users } => {
            let (group, emails) = set_members(client, &group, &users, &Method::DELETE).await?;
            let said = format!("not in `{}` from their next request on: {emails}", text(&group, "name"));
            Ok(term.changed(&group, as_json, &said))
        }
    }
}

async fn list(client: &Client, search: Option<&str>, as_json: bool, term: Term) -> anyhow::Result<Exit> {
    let params = search.map(|text| format!("?search={}", encoded(text))).unwrap_or_default();
    let rows = client.rows(&format!("/api/groups{params}")).await?;
    let empty = match search {
        Some(_) => "No group is like that; `steward group list` shows all.",
        None => "There are no groups. Make one with: steward group create editors",
    };
    if term.listed(&rows, as_json, empty) {
        return Ok(Exit::Done);
    }
    for group in &rows {
        let source = group["source"].as_str().map(|source| format!("kept by {source}  ")).unwrap_or_default();
        let members = group["members"].as_u64().unwrap_or_default();
        println!("{:<32} {members:>6}  {source}{}", text(group, "name"), term.dim(text(group, "description")));
    }
    Ok(Exit::Done)
}

async fn show(client: &Client, wanted: &str, as_json: bool, term: Term) -> anyhow::Result<Exit> {
    let mut group = find(client, wanted).await?;
    let users = client.rows(&format!("{}/members", path_of(&group))).await?;
    if as_json {
        group["users"] = json!(users);
        println!("{group}");
        return Ok(Exit::Done);
    }
    println!("{}  {}", term.bold(text(&group, "name")), term.dim(text(&group, "id")));
    if !text(&group, "description").is_empty() {
        println!("{}", text(&group, "description"));
    }
    println!("{:<12} {}", "made", time(&group, "created_at"));
    println!("{:<12} {}", "kept by", group["source"].as_str().unwrap_or("this installation"));
    println!("{:<12} {}", "members", users.len());
    for user in &users {
        let state = Some(text(user, "state")).filter(|state| *state != "active").unwrap_or_default();
        println!("    {:<32} {:<10} {state}", text(user, "email"), text(user, "role"));
    }
    Ok(Exit::Done)
}

async fn change(client: &Client, group: &Value, body: &Value) -> anyhow::Result<Value> {
    client.request(Method::PATCH, &path_of(group), Some(body)).await
}

async fn remove(client: &Client, wanted: &str, yes: bool, as_json: bool, term: Term) -> anyhow::Result<Exit> {
    let found = find(client, wanted).await?;
    let name = text(&found, "name");
    if !yes {
        if !term.can_ask {
            bail!("`{name}` would be gone for good, with its grants; add -y if that is meant");
        }
        if !term.agrees(&format!("Remove the group `{name}` for good, with its grants? [y/N]")) {
            term.say("nothing was removed");
            return Ok(Exit::Refused);
        }
    }
    client.delete(&path_of(&found)).await?;
    Ok(term.changed(&found, as_json, &format!("removed `{name}`; its members stay")))
}

/// The group as it is then, and the emails of the users. All are looked up before the first is put in or taken out.
async fn set_members(
    client: &Client,
    group: &str,
    users: &[String],
    method: &Method,
) -> anyhow::Result<(Value, String)> {
    let path = path_of(&find(client, group).await?);
    let mut found = Vec::with_capacity(users.len());
    for wanted in users {
        found.push(user::find(client, wanted).await?);
    }
    for user in &found {
        let member = format!("{path}/members/{}", text(user, "id"));
        client.request::<Value>(method.clone(), &member, None).await?;
    }
    let emails: Vec<&str> = found.iter().map(|user| text(user, "email")).collect();
    Ok((client.get(&path).await?, emails.join(", ")))
}

fn path_of(group: &Value) -> String {
    format!("/api/groups/{}", text(group, "id"))
}

/// The group of this name, whatever its case, or whose id begins or ends with it.
async fn find(client: &Client, wanted: &str) -> anyhow::Result<Value> {
    let name = wanted.trim().to_lowercase();
    let named = client.rows(&format!("/api/groups?search={}", encoded(wanted.trim()))).await?;
    if let Some(found) = named.into_iter().find(|group| text(group, "name").to_lowercase() == name) {
        return Ok(found);
    }
    pick(client.rows("/api/groups").await?, wanted, "group", "steward group list")
}
