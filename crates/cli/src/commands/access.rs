use crate::args::{AccessAction, AccessArgs, GranteeArg, Picked, ResourceArg, Word};
use crate::client::{Client, encoded};
use crate::commands::picked::{for_administrators, pick, text, time};
use crate::commands::user;
use crate::exit::Exit;
use crate::term::Term;
use anyhow::bail;
use http::Method;
use serde_json::{Value, json};
use steward_core::AgentId;

const DEFAULTS: &str = "/api/access/defaults";

pub async fn run(client: &Client, args: AccessArgs, term: Term) -> anyhow::Result<Exit> {
    let as_json = args.json;
    match args.action {
        AccessAction::Show(picked) => {
            let access: Value = client.get(&path_of(client, &picked).await?).await?;
            Ok(show(&access, as_json, term))
        }
        AccessAction::Restrict(picked) => restrict(client, &picked, true, as_json, term).await,
        AccessAction::Open(picked) => restrict(client, &picked, false, as_json, term).await,
        AccessAction::Give { picked, grantee, level } => {
            let path = format!("{}/grants", path_of(client, &picked).await?);
            let level = level.word();
            let body = match &grantee.group {
                Some(group) => json!({"group": group, "level": level}),
                None => json!({"user": grantee.user, "level": level}),
            };
            let access: Value = client.post(&path, &body).await?;
            let said = format!("{} has the grant `{level}` on {}", named(&grantee), what(&access));
            Ok(term.changed(&access, as_json, &said))
        }
        AccessAction::Take { picked, grantee } => take(client, &picked, &grantee, as_json, term).await,
        AccessAction::Why { picked, user } => {
            let who = user.map(|user| format!("?user={}", encoded(&user))).unwrap_or_default();
            let path = path_of(client, &picked).await?;
            let found: Value = client.get(&format!("{path}/explain{who}")).await?;
            Ok(explain(&found, as_json, term))
        }
        AccessAction::Of { user } => of(client, user.as_deref(), as_json, term).await,
        AccessAction::Defaults { new_restricted } => defaults(client, new_restricted, as_json, term)
            .await
            .map_err(|error| for_administrators(client, error, "changes this: do it in the studio under Settings")),
    }
}

async fn restrict(
    client: &Client,
    picked: &Picked,
    restricted: bool,
    as_json: bool,
    term: Term,
) -> anyhow::Result<Exit> {
    let path = path_of(client, picked).await?;
    let body = json!({"restricted": restricted});
    let access: Value = client.request(Method::PUT, &path, Some(&body)).await?;
    let said = if restricted {
        format!("only those with a grant may use {}, from their next call on", what(&access))
    } else {
        format!("everybody may use {}, from their next call on", what(&access))
    };
    Ok(term.changed(&access, as_json, &said))
}

async fn take(
    client: &Client,
    picked: &Picked,
    grantee: &GranteeArg,
    as_json: bool,
    term: Term,
) -> anyhow::Result<Exit> {
    let path = path_of(client, picked).await?;
    let access: Value = client.get(&path).await?;
    let (kind, wanted) = match (&grantee.user, &grantee.group) {
        (Some(user), _) => ("user", user.trim().to_lowercase()),
        (None, group) => ("group", group.as_deref().unwrap_or_default().trim().to_lowercase()),
    };
    let theirs = |grant: &&Value| {
        // Who is not there any more has no name.
        let id = text(&grant["grantee"], "id");
        text(&grant["grantee"], "type") == kind && (text(grant, "name").to_lowercase() == wanted || id == wanted)
    };
    let Some(grant) = access["grants"].as_array().into_iter().flatten().find(theirs) else {
        let resource = picked.kind.word();
        bail!(
            "{} has no grant of their own on {}; `steward access show {resource} {}` shows the grants",
            named(grantee),
            what(&access),
            picked.name
        );
    };
    client.delete(&format!("{path}/grants/{}", text(&grant["grantee"], "id"))).await?;
    let mut said = format!("{} has no grant of their own on {} any more", named(grantee), what(&access));
    if access["restricted"] != true {
        said.push_str("; it is open, so everybody may use it. Close it with: steward access restrict");
    }
    Ok(term.changed(grant, as_json, &said))
}

async fn of(client: &Client, user: Option<&str>, as_json: bool, term: Term) -> anyhow::Result<Exit> {
    let whose: Value = match user {
        Some(wanted) => user::find(client, wanted)
            .await
            .map_err(|error| for_administrators(client, error, "sees the grants of others: do it in the studio"))?,
        None => client.get("/api/auth/me").await?,
    };
    let held: Vec<Value> = client.get(&format!("/api/users/{}/access", text(&whose, "id"))).await?;
    let email = text(&whose, "email");
    if term.listed(&held, as_json, &format!("{email} has no grants; what is open to everybody needs none.")) {
        return Ok(Exit::Done);
    }
    for grant in &held {
        let through = grant["group"].as_str().map_or("their own".to_owned(), |group| format!("group {group}"));
        println!(
            "{:<11} {:<28} {:<6} {:<24} {}",
            text(grant, "kind"),
            grant["name"].as_str().unwrap_or("(gone)"),
            text(grant, "level"),
            through,
            term.dim(&given(grant))
        );
    }
    Ok(Exit::Done)
}

async fn defaults(client: &Client, new_restricted: Option<bool>, as_json: bool, term: Term) -> anyhow::Result<Exit> {
    let now: Value = match new_restricted {
        Some(wanted) => client.request(Method::PUT, DEFAULTS, Some(&json!({"new_restricted": wanted}))).await?,
        None => client.get(DEFAULTS).await?,
    };
    let said = if now["new_restricted"] == true {
        "new agents, skills and connections are for those with a grant only"
    } else {
        "new agents, skills and connections are open to everybody"
    };
    Ok(term.changed(&now, as_json, said))
}

fn show(access: &Value, as_json: bool, term: Term) -> Exit {
    if as_json {
        println!("{access}");
        return Exit::Done;
    }
    println!("{} {}  {}", text(access, "kind"), term.bold(text(access, "name")), term.dim(text(access, "id")));
    let whom = if access["restricted"] == true { "those with a grant, and operators" } else { "everybody" };
    println!("{:<12} {whom}", "usable by");
    let grants = access["grants"].as_array().map(Vec::as_slice).unwrap_or_default();
    if grants.is_empty() {
        println!("{:<12} none", "grants");
    }
    for grant in grants {
        println!(
            "    {:<6} {:<32} {:<6} {}",
            text(&grant["grantee"], "type"),
            grant["name"].as_str().unwrap_or_else(|| text(&grant["grantee"], "id")),
            text(grant, "level"),
            term.dim(&given(grant))
        );
    }
    Exit::Done
}

fn explain(found: &Value, as_json: bool, term: Term) -> Exit {
    if as_json {
        println!("{found}");
        return Exit::Done;
    }
    println!("{}  {}", term.bold(text(found, "user")), text(found, "role"));
    println!("{:<12} {}", "may", found["level"].as_str().unwrap_or("nothing with it"));
    for why in found["because"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        println!("{:<12} {why}", "because");
    }
    if let Some(missing) = found["missing"].as_str() {
        println!("{:<12} {missing}", "for more");
    }
    Exit::Done
}

fn given(grant: &Value) -> String {
    format!("by {}, {}", text(grant, "given_by"), time(grant, "given_at"))
}

fn named(grantee: &GranteeArg) -> String {
    match (&grantee.user, &grantee.group) {
        (Some(user), _) => user.clone(),
        (None, group) => format!("the group {}", group.as_deref().unwrap_or_default()),
    }
}

fn what(access: &Value) -> String {
    format!("the {} `{}`", text(access, "kind"), text(access, "name"))
}

async fn path_of(client: &Client, picked: &Picked) -> anyhow::Result<String> {
    let kind = picked.kind.word();
    let (list, show) = match picked.kind {
        ResourceArg::Agent => ("/api/agents", "steward agents"),
        ResourceArg::Skill => ("/api/skills", "steward skill list"),
        ResourceArg::Connection => ("/api/connections", "steward connections"),
        ResourceArg::Credential => ("/api/credentials", "steward credential list"),
        ResourceArg::Collection => ("/api/collections", "steward documents collections"),
    };
    // Lists hold only what the caller may use, but why they may not use another can be asked by its whole id.
    if picked.name.parse::<AgentId>().is_ok() {
        return Ok(format!("/api/access/{kind}/{}", picked.name));
    }
    let found = pick(client.rows(list).await?, &picked.name, &kind, show)?;
    Ok(format!("/api/access/{kind}/{}", text(&found, "id")))
}
