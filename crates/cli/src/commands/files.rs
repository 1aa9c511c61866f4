use super::rows::{for_administrators, joined, text, time};
use super::user;
use crate::client::{Client, encoded, with_query};
use crate::term::{Exit, Term};
use anyhow::Context;
use clap::Subcommand;
use serde_json::{Value, json};
use std::fmt::Write as _;
use steward_core::UserId;
use steward_core::run::{UPLOADS, is_in};

/// Files that people sent into the workspace, and which of its files come from outside.
#[derive(Debug, Clone, Subcommand)]
#[command(
    after_help = "Examples:\n  steward files\n  steward files remove uploads/offer.txt\n  steward files origins\n  steward files clear notes/page.md   once you have read it\n\nWithout a running server, the workspace is the current folder."
)]
pub enum FilesAction {
    /// List what was sent: your own files; for operators, everybody's.
    List {
        /// Only those of this user: the email, or the id.
        #[arg(long, value_name = "USER")]
        user: Option<String>,
    },
    /// Remove a file of the workspace for good.
    Remove {
        /// Its path in the workspace.
        path: String,
        /// Don't ask.
        #[arg(long, short = 'y')]
        yes: bool,
    },
    /// List files and folders that runs wrote after reading something from outside, or confidential. For operators.
    Origins,
    /// Forget where a file or folder comes from: you have read it, and runs read it as the house's own. For operators.
    Clear {
        /// Its path as `steward files origins` shows it; `.` is the whole workspace.
        path: String,
        /// Don't ask.
        #[arg(long, short = 'y')]
        yes: bool,
    },
}

const FILES: &str = "/api/files";
const ORIGINS: &str = "/api/files/origins";
/// How the whole workspace is written, whose path is empty.
const WHOLE: &str = ".";

pub async fn run(client: &Client, action: Option<FilesAction>, term: Term) -> anyhow::Result<Exit> {
    match action.unwrap_or(FilesAction::List { user: None }) {
        FilesAction::List { user } => list(client, user.as_deref(), term).await,
        FilesAction::Remove { path, yes } => {
            let folder = client.workspace(None, false).await?;
            let what = format!("`{}`", folder.join(&path).display());
            if !term.removal_confirmed(yes, &what, "")? {
                return Ok(Exit::Refused);
            }
            client.delete(&format!("{FILES}?path={}", encoded(&path))).await?;
            Ok(term.changed(&json!({"path": path}), &format!("removed {what}")))
        }
        FilesAction::Origins => origins(client, term).await,
        FilesAction::Clear { path, yes } => clear(client, &path, yes, term).await,
    }
}

async fn list(client: &Client, user: Option<&str>, term: Term) -> anyhow::Result<Exit> {
    let mut id = None;
    if let Some(wanted) = user {
        id = Some(if let Ok(id) = wanted.parse::<UserId>() {
            id.to_string()
        } else {
            let found = user::find(client, wanted).await;
            let found = found.map_err(|error| for_administrators(client, error, "finds users by their email"))?;
            text(&found, "id").to_owned()
        });
    }
    let rows = client.rows(&with_query(&format!("{FILES}/uploads"), [("user", id)])).await?;
    let empty = if user.is_some() {
        "They have sent no files; `steward files` shows all."
    } else {
        "Nobody has sent files. They are sent in the studio's chat, or with POST /api/files."
    };
    Ok(term.listed(&rows, empty, |file| {
        let by = file["by"].as_str().unwrap_or("a removed user");
        let about = format!("{} bytes, {} by {by}", file["bytes"], time(file, "at"));
        println!("{}  {}", text(file, "path"), term.dim(&about));
    }))
}

async fn origins(client: &Client, term: Term) -> anyhow::Result<Exit> {
    client.workspace(None, false).await?;
    let rows: Vec<Value> = client.get(ORIGINS).await?;
    Ok(term.listed(&rows, "Nothing is recorded as from outside; only what lies in uploads/ counts so.", |entry| {
        println!("{}  {}", path_of(entry), term.dim(&format!("since {}", time(entry, "at"))));
        let from = joined(entry, "origins");
        if !from.is_empty() {
            println!("    from {from}");
        }
        let level = &entry["level"];
        if !level.is_null() {
            let (how, label, source) = (text(level, "classification"), text(level, "label"), text(level, "source"));
            println!("    {}", term.yellow(&format!("{how}: label `{label}`, seen in {source}")));
        }
    }))
}

async fn clear(client: &Client, path: &str, yes: bool, term: Term) -> anyhow::Result<Exit> {
    let folder = client.workspace(None, false).await?;
    let rows: Vec<Value> = client.get(ORIGINS).await?;
    let none = || {
        format!("nothing is recorded of `{path}` in {}; `steward files origins` shows of what it is", folder.display())
    };
    let entry = rows.into_iter().find(|entry| path_of(entry) == path).with_context(none)?;
    let from = joined(&entry, "origins");
    let mut what = format!("`{path}`");
    if !from.is_empty() {
        write!(what, ", which comes from {from},")?;
    }
    if !entry["level"].is_null() {
        write!(what, " which is {},", text(&entry["level"], "classification"))?;
    }
    let question = format!("Have you read {what} and may runs read it as the house's own?");
    let nobody = format!("runs would read {what} as the house's own; read it first, and add -y if that is meant");
    if !term.confirmed(yes, &question, &nobody, "it stays as from outside")? {
        return Ok(Exit::Refused);
    }
    client.delete(&format!("{ORIGINS}?path={}", encoded(text(&entry, "path")))).await?;
    let more = if is_in(path, UPLOADS) { "; but all that lies in uploads/ counts as from outside" } else { "" };
    Ok(term.changed(&entry, &format!("runs read `{path}` as the house's own from now on{more}")))
}

/// Its path, for people.
fn path_of(entry: &Value) -> &str {
    match text(entry, "path") {
        "" => WHOLE,
        path => path,
    }
}
