use super::rows::{AGENT, COLLECTION, CONNECTION, CREDENTIAL, SKILL, for_administrators, items, text, texts, time};
use crate::client::{Client, with_query};
use crate::commands::user;
use crate::options::Word;
use crate::term::{Exit, Term};
use anyhow::bail;
use clap::{Args, Subcommand, ValueEnum};
use serde_json::{Value, json};
use steward_core::AgentId;

/// Who may use, change and share a single agent, skill, connection or credential.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  steward access show agent reporter\n  steward access restrict agent reporter\n  steward access give agent reporter --group editors\n  steward access give skill uptime --user ann@example.org --level edit\n  steward access take agent reporter --group editors\n  steward access why agent reporter --user ann@example.org\n  steward access of ann@example.org\n  steward access defaults --new-restricted true"
)]
pub struct AccessArgs {
    #[command(subcommand)]
    action: AccessAction,
    /// JSON instead of text.
    #[arg(long, global = true)]
    json: bool,
}

/// One agent, skill, connection, credential or collection of documents.
#[derive(Debug, Clone, Args)]
pub struct Picked {
    /// What it is.
    #[arg(value_parser = ["agent", "skill", "connection", "credential", "collection"])]
    kind: String,
    /// Its name, or the beginning or end of its id.
    name: String,
}

/// Who has a grant.
#[derive(Debug, Clone, Args)]
#[group(required = true, multiple = false)]
pub struct GranteeArg {
    /// The email of a user.
    #[arg(long, value_name = "EMAIL")]
    user: Option<String>,
    /// The name of a group.
    #[arg(long, value_name = "NAME")]
    group: Option<String>,
}

#[derive(Debug, Clone, Subcommand)]
pub enum AccessAction {
    /// Show who may use and change it.
    Show(Picked),
    /// Close it to all without a grant, in force at their next call.
    Restrict(Picked),
    /// Open it to everybody. Credentials are never open.
    Open(Picked),
    /// Give a user or a group a grant, in the place of the one that they have.
    Give {
        #[command(flatten)]
        picked: Picked,
        #[command(flatten)]
        grantee: GranteeArg,
        /// How far it reaches.
        #[arg(long, value_name = "LEVEL", default_value = "use")]
        level: LevelArg,
    },
    /// Take the grant of a user or a group; runs at work end at their next call.
    Take {
        #[command(flatten)]
        picked: Picked,
        #[command(flatten)]
        grantee: GranteeArg,
    },
    /// What somebody may do with it, why, and what they lack for more.
    Why {
        #[command(flatten)]
        picked: Picked,
        /// Who; by default you.
        #[arg(long, value_name = "EMAIL")]
        user: Option<String>,
    },
    /// All grants of a user and of their groups.
    Of {
        /// The email, or the beginning or end of the id; by default you.
        user: Option<String>,
    },
    /// How new agents, skills and connections begin; with an option, change it.
    Defaults {
        /// Whether they are for those with a grant only; what there is stays as it is.
        #[arg(long, value_name = "BOOL")]
        new_restricted: Option<bool>,
    },
}

/// How far a grant reaches; each level has those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LevelArg {
    /// See and use it.
    Use,
    /// Change it too.
    Edit,
    /// Say who else may use and change it too.
    Share,
}

const DEFAULTS: &str = "/api/access/defaults";

pub async fn run(client: &Client, args: AccessArgs, term: Term) -> anyhow::Result<Exit> {
    let term = term.with_json(args.json);
    match args.action {
        AccessAction::Show(picked) => {
            let access: Value = client.get(&path_of(client, &picked).await?).await?;
            Ok(term.shown(&access, || show(&access, term)))
        }
        AccessAction::Restrict(picked) => restrict(client, &picked, true, term).await,
        AccessAction::Open(picked) => restrict(client, &picked, false, term).await,
        AccessAction::Give { picked, grantee, level } => {
            let path = format!("{}/grants", path_of(client, &picked).await?);
            let level = level.word();
            let body = match &grantee.group {
                Some(group) => json!({"group": group, "level": level}),
                None => json!({"user": grantee.user, "level": level}),
            };
            let access: Value = client.post(&path, &body).await?;
            let said = format!("{} has the grant `{level}` on {}", named(&grantee), what(&access));
            Ok(term.changed(&access, &said))
        }
        AccessAction::Take { picked, grantee } => take(client, &picked, &grantee, term).await,
        AccessAction::Why { picked, user } => {
            let path = format!("{}/explain", path_of(client, &picked).await?);
            let found: Value = client.get(&with_query(&path, [("user", user)])).await?;
            Ok(term.shown(&found, || explain(&found, term)))
        }
        AccessAction::Of { user } => of(client, user.as_deref(), term).await,
        AccessAction::Defaults { new_restricted } => defaults(client, new_restricted, term)
            .await
            .map_err(|error| for_administrators(client, error, "changes this: do it in the studio under Settings")),
    }
}

async fn restrict(client: &Client, picked: &Picked, restricted: bool, term: Term) -> anyhow::Result<Exit> {
    let path = path_of(client, picked).await?;
    let access: Value = client.put(&path, &json!({"restricted": restricted})).await?;
    let said = if restricted {
        format!("only those with a grant may use {}, from their next call on", what(&access))
    } else {
        format!("everybody may use {}, from their next call on", what(&access))
    };
    Ok(term.changed(&access, &said))
}

async fn take(client: &Client, picked: &Picked, grantee: &GranteeArg, term: Term) -> anyhow::Result<Exit> {
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
    let Some(grant) = items(&access, "grants").iter().find(theirs) else {
        bail!(
            "{} has no grant of their own on {}; `steward access show {} {}` shows the grants",
            named(grantee),
            what(&access),
            picked.kind,
            picked.name
        );
    };
    client.delete(&format!("{path}/grants/{}", text(&grant["grantee"], "id"))).await?;
    let mut said = format!("{} has no grant of their own on {} any more", named(grantee), what(&access));
    if access["restricted"] != true {
        said.push_str("; it is open, so everybody may use it. Close it with: steward access restrict");
    }
    Ok(term.changed(grant, &said))
}

async fn of(client: &Client, user: Option<&str>, term: Term) -> anyhow::Result<Exit> {
    let whose: Value = match user {
        Some(wanted) => user::find(client, wanted)
            .await
            .map_err(|error| for_administrators(client, error, "sees the grants of others: do it in the studio"))?,
        None => client.get("/api/auth/me").await?,
    };
    let held: Vec<Value> = client.get(&format!("/api/users/{}/access", text(&whose, "id"))).await?;
    let email = text(&whose, "email");
    Ok(term.listed(&held, &format!("{email} has no grants; what is open to everybody needs none."), |grant| {
        let through = grant["group"].as_str().map_or("their own".to_owned(), |group| format!("group {group}"));
        println!(
            "{:<11} {:<28} {:<6} {:<24} {}",
            text(grant, "kind"),
            grant["name"].as_str().unwrap_or("(gone)"),
            text(grant, "level"),
            through,
            term.dim(&given(grant))
        );
    }))
}

async fn defaults(client: &Client, new_restricted: Option<bool>, term: Term) -> anyhow::Result<Exit> {
    let now: Value = match new_restricted {
        Some(wanted) => client.put(DEFAULTS, &json!({"new_restricted": wanted})).await?,
        None => client.get(DEFAULTS).await?,
    };
    let said = if now["new_restricted"] == true {
        "new agents, skills and connections are for those with a grant only"
    } else {
        "new agents, skills and connections are open to everybody"
    };
    Ok(term.changed(&now, said))
}

fn show(access: &Value, term: Term) {
    println!("{} {}  {}", text(access, "kind"), term.bold(text(access, "name")), term.dim(text(access, "id")));
    let whom = if access["restricted"] == true { "those with a grant, and operators" } else { "everybody" };
    println!("{:<12} {whom}", "usable by");
    let grants = items(access, "grants");
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
}

fn explain(found: &Value, term: Term) {
    println!("{}  {}", term.bold(text(found, "user")), text(found, "role"));
    println!("{:<12} {}", "may", found["level"].as_str().unwrap_or("nothing with it"));
    for why in texts(found, "because") {
        println!("{:<12} {why}", "because");
    }
    if let Some(missing) = found["missing"].as_str() {
        println!("{:<12} {missing}", "for more");
    }
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
    let resource = match picked.kind.as_str() {
        "agent" => AGENT,
        "skill" => SKILL,
        "connection" => CONNECTION,
        "credential" => CREDENTIAL,
        _ => COLLECTION,
    };
    // Lists hold only what the caller may use, but why they may not use another can be asked by its whole id.
    let id = match picked.name.parse::<AgentId>() {
        Ok(_) => picked.name.clone(),
        Err(_) => text(&resource.find(client, &picked.name).await?, "id").to_owned(),
    };
    Ok(format!("/api/access/{}/{id}", picked.kind))
}
