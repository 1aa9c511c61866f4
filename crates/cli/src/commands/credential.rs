mod fields;

use super::rows::{CREDENTIAL, joined, object, print_facts, text, texts, time};
use crate::client::{Client, Refused};
use crate::options::{ROLES, duration};
use crate::term::{Exit, Term, print_text};
use anyhow::{anyhow, bail};
use clap::{Args, Subcommand};
use serde_json::{Value, json};
use std::time::Duration;
use steward_core::credential::CredentialKind;

/// Credentials of skills: secrets go in and never come back.
#[derive(Debug, Clone, Subcommand)]
#[command(
    after_help = "Examples:\n  steward credential\n  steward credential add shop --kind token\n  steward credential add web1 --kind ssh_key --set username=deploy --from private_key=id_ed25519\n  steward credential uses shop"
)]
pub enum CredentialAction {
    /// List credentials; secrets are never shown.
    List,
    /// Kinds of credentials and their fields.
    Kinds,
    Add(Add),
    Change(Change),
    /// Show a credential without its secrets.
    Show {
        /// Its name, or the beginning or end of its id.
        credential: String,
    },
    /// Which runs used it, the latest first.
    Uses {
        /// Its name, or the beginning or end of its id.
        credential: String,
    },
    /// Remove a credential for good; skills that use it are refused from then on.
    Remove {
        /// Its name, or the beginning or end of its id.
        credential: String,
        /// Don't ask.
        #[arg(long, short = 'y')]
        yes: bool,
    },
    /// Seal all credentials with a new key; the old key opens nothing after that.
    Rotate,
}

/// Keep a credential. What is missing is asked for, without echo where it is secret; a single
/// missing secret is read from standard input where that is no terminal.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  steward credential add shop --kind token\n  steward credential add shop --kind token < token.txt\n  steward credential add web1 --kind ssh_key --set username=deploy --from private_key=id_ed25519\n  steward credential add db --kind database --fields db.json --discoverable\n  steward credential add shop --kind token --host api.shop.example"
)]
pub struct Add {
    /// Its name.
    name: String,
    /// What it is (see `steward credential kinds`).
    #[arg(long, short = 'k', value_parser = CredentialKind::ALL.map(CredentialKind::as_str))]
    kind: String,
    #[command(flatten)]
    fields: fields::Fields,
    /// For people.
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
    /// A role whose runs may use it; may be given often.
    #[arg(long, value_name = "ROLE", value_parser = ROLES)]
    role: Vec<String>,
    /// Skills may find it by kind and name alone.
    #[arg(long)]
    discoverable: bool,
    /// A host that it may be sent to, such as api.example.org, *.example.org or 10.0.0.5:5432; may be given often.
    /// Without any it goes wherever an operator's skill sends it.
    #[arg(long, value_name = "HOST")]
    host: Vec<String>,
    /// When it ends by itself: 90s, 30m, 1h or 7d.
    #[arg(long = "for", value_name = "TIME", value_parser = duration)]
    lasts: Option<Duration>,
}

/// Change fields of a credential, such as a renewed token; the others stay.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  steward credential change shop --from token=token.txt\n  steward credential change shop --ask token\n  steward credential change shop --discoverable true"
)]
pub struct Change {
    /// Its name, or the beginning or end of its id.
    credential: String,
    #[command(flatten)]
    fields: fields::Fields,
    /// A field that is asked for, without echo; may be given often.
    #[arg(long, value_name = "FIELD")]
    ask: Vec<String>,
    /// For people.
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
    /// Whether skills may find it by kind and name alone.
    #[arg(long, value_name = "BOOL")]
    discoverable: Option<bool>,
    /// The hosts that it may be sent to, in place of those before; may be given often, `any` for no limit.
    #[arg(long, value_name = "HOST")]
    host: Vec<String>,
}

pub async fn run(client: &Client, action: Option<CredentialAction>, term: Term) -> anyhow::Result<Exit> {
    match action.unwrap_or(CredentialAction::List) {
        CredentialAction::List => list(client, term).await,
        CredentialAction::Kinds => Ok(kinds(term)),
        CredentialAction::Show { credential } => {
            let found = CREDENTIAL.find(client, &credential).await?;
            Ok(term.shown(&found, || show(&found, term)))
        }
        CredentialAction::Uses { credential } => uses(client, &CREDENTIAL.find(client, &credential).await?, term).await,
        CredentialAction::Add(wanted) => add(client, wanted, term).await,
        CredentialAction::Change(wanted) => change(client, wanted, term).await,
        CredentialAction::Remove { credential, yes } => {
            let found = CREDENTIAL.find(client, &credential).await?;
            let name = format!("`{}`", text(&found, "name"));
            if !term.removal_confirmed(yes, &name, "")? {
                return Ok(Exit::Refused);
            }
            client.delete(&CREDENTIAL.path_of(&found)).await?;
            Ok(term.done(&format!("removed {name}")))
        }
        CredentialAction::Rotate => rotate(client, term).await,
    }
}

async fn rotate(client: &Client, term: Term) -> anyhow::Result<Exit> {
    let done: anyhow::Result<Value> = client.act("/api/credentials/rotate").await;
    let done = done.map_err(|error| {
        if Refused::is(&error, 403) {
            return error.context(
                "at a running server only an administrator changes the vault's key: do it in the studio under Credentials, or stop the server and run this again",
            );
        }
        error
    })?;
    let said = format!("{} sealed with a new key; back it up with the data", done["resealed"]);
    Ok(term.changed(&done, &said))
}

async fn list(client: &Client, term: Term) -> anyhow::Result<Exit> {
    let rows = client.rows(CREDENTIAL.path).await?;
    let empty = "There are no credentials. Keep one with: steward credential add NAME --kind token";
    Ok(term.listed(&rows, empty, |one| {
        let used = time(one, "used_at");
        let used = if used.is_empty() { "never used".to_owned() } else { format!("used {used}") };
        println!("{:<24} {:<12} {}", text(one, "name"), text(one, "kind"), term.dim(&used));
    }))
}

pub fn kinds(term: Term) -> Exit {
    let rows = CredentialKind::ALL.map(|kind| json!({"kind": kind.as_str(), "fields": kind.fields()}));
    term.shown(&rows, || {
        for kind in CredentialKind::ALL {
            let fields = kind.fields().iter().map(|field| {
                let secret = if field.secret { " (secret)" } else { "" };
                if field.required { format!("{}{secret}", field.name) } else { format!("[{}{secret}]", field.name) }
            });
            println!("{:<12} {}", kind.as_str(), fields.collect::<Vec<_>>().join(", "));
        }
    })
}

fn show(one: &Value, term: Term) {
    println!("{}  {}", term.bold(text(one, "name")), term.dim(text(one, "id")));
    if !text(one, "description").is_empty() {
        print_text(text(one, "description"));
    }
    println!("kind         {}", text(one, "kind"));
    for (field, value) in one["shown"].as_object().into_iter().flatten() {
        println!("{field:<12} {}", value.as_str().unwrap_or_default());
    }
    for field in texts(one, "secret") {
        println!("{field:<12} {}", term.dim("secret"));
    }
    let roles = joined(one, "roles");
    println!(
        "used by      agents that name it{}{}",
        if roles.is_empty() { String::new() } else { format!(", runs of the roles {roles}") },
        if one["discoverable"] == true { ", skills that look for its kind" } else { "" }
    );
    let hosts = joined(one, "hosts");
    println!("sent to      {}", if hosts.is_empty() { "any host that an operator's skill names" } else { &hosts });
    let times = [("made", "created_at"), ("changed", "changed_at"), ("last used", "used_at"), ("ends", "expires_at")];
    print_facts(times.map(|(title, field)| (title, time(one, field))));
}

async fn uses(client: &Client, one: &Value, term: Term) -> anyhow::Result<Exit> {
    let rows = client.rows(&format!("{}/uses", CREDENTIAL.path_of(one))).await?;
    Ok(term.listed(&rows, &format!("`{}` was never used.", text(one, "name")), |used| {
        let agent = used["agent_name"].as_str().unwrap_or("a person's test");
        let run = used["run"].as_str().unwrap_or("no run");
        println!("{}  {:<24} {:<16} {}", time(used, "at"), text(used, "tool"), agent, term.dim(run));
    }))
}

async fn add(client: &Client, wanted: Add, term: Term) -> anyhow::Result<Exit> {
    let kind: CredentialKind = serde_json::from_value(wanted.kind.into())?;
    let mut given = fields::given(kind, &wanted.fields)?;
    fields::missing(kind, &mut given, term).await?;
    let name = wanted.name;
    let body = json!({
        "name": name,
        "kind": kind.as_str(),
        "description": wanted.description.unwrap_or_default(),
        "fields": given.values,
        "roles": wanted.role,
        "discoverable": wanted.discoverable,
        "hosts": wanted.host,
        "expires_at": wanted.lasts.map(|lasts| client.now().plus(lasts)),
    });
    let kept: Value = client.post(CREDENTIAL.path, &body).await?;
    Ok(term.changed(&kept, &format!("`{name}` is kept; its secrets are sealed and never shown again")))
}

async fn change(client: &Client, wanted: Change, term: Term) -> anyhow::Result<Exit> {
    let found = CREDENTIAL.find(client, &wanted.credential).await?;
    let kind: CredentialKind = serde_json::from_value(found["kind"].clone())
        .map_err(|_| anyhow!("the kind {} is not known to this program", found["kind"]))?;
    let mut given = fields::given(kind, &wanted.fields)?;
    for field in &wanted.ask {
        fields::asked(kind, field, &mut given, term).await?;
    }
    let hosts: Vec<&String> = wanted.host.iter().filter(|host| *host != "any").collect();
    let body = object([
        ("fields", (!given.values.is_empty()).then(|| json!(given.values))),
        ("description", wanted.description.map(Value::from)),
        ("discoverable", wanted.discoverable.map(Value::from)),
        ("hosts", (!wanted.host.is_empty()).then(|| json!(hosts))),
    ]);
    if body.is_empty() {
        bail!("nothing to change; give a field with --from FIELD=FILE, --ask FIELD or --set FIELD=VALUE");
    }
    let changed: Value = client.patch(&CREDENTIAL.path_of(&found), &Value::Object(body)).await?;
    let said = format!("`{}` is changed, from the next call on", text(&changed, "name"));
    Ok(term.changed(&changed, &said))
}
