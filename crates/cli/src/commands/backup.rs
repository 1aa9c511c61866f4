use crate::client::{ByteStream, Client};
use crate::commands::rows::for_administrators;
use crate::options::size;
use crate::term::{Exit, Term, print_text};
use anyhow::{Context, bail};
use clap::{Args, Subcommand};
use futures::TryStreamExt as _;
use http::Method;
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use steward_core::Timestamp;

/// Fewest characters of a passphrase; the server checks it too.
const SHORTEST: usize = 12;

/// Copy the whole installation into one file, while the server runs or without one.
#[derive(Debug, Clone, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    after_help = "Examples:\n  steward backup /srv/backups/monday.backup\n  steward backup /srv/backups/monday.backup --passphrase-fd 3 3< passphrase.txt\n  steward backup /srv/backups/monday.backup --without-keys\n  steward backup verify /srv/backups/monday.backup\n  steward backup list\n\nThe passphrase seals the whole file, keys included; it is typed, or read from a file descriptor or the vault, never from the command line. Without one, keys and files that may hold secrets are left out. Only administrators of the installation may. Without a server you are one. Beside a running server, put an administrator's API key (studio: Settings) into STEWARD_API_KEY."
)]
pub struct Backup {
    #[command(flatten)]
    make: Make,
    #[command(subcommand)]
    pub action: Option<BackupAction>,
    /// JSON instead of text.
    #[arg(long, global = true)]
    pub json: bool,
}

/// What is made.
#[derive(Debug, Clone, Args)]
pub struct Make {
    /// The file, on the server, which isn't there yet and whose name ends with `.backup`.
    #[arg(value_name = "FILE", required = true)]
    file: Option<PathBuf>,
    #[command(flatten)]
    passphrase: PassphraseArgs,
    /// The passphrase is the secret of this credential in the vault; keep it elsewhere too, since a lost vault can't tell it.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["passphrase_fd", "without_keys"])]
    passphrase_credential: Option<String>,
    /// Don't seal it; keys and files that may hold secrets are left out.
    #[arg(long, conflicts_with = "passphrase_fd")]
    without_keys: bool,
    /// Leave the files of workspaces out.
    #[arg(long)]
    without_workspaces: bool,
}

/// Where a passphrase comes from, if it isn't typed.
#[derive(Debug, Clone, Default, Args)]
pub struct PassphraseArgs {
    /// Read the passphrase from this open file descriptor, as in `--passphrase-fd 3 3< FILE`.
    #[arg(long, value_name = "NUMBER")]
    passphrase_fd: Option<u32>,
}

#[derive(Debug, Clone, Subcommand)]
pub enum BackupAction {
    /// Show the last backups.
    List,
    /// Show the ids of people who were erased, for a restore of an older backup.
    Erasures,
    /// Restore a backup into a scratch folder and check it: hashes, database, audit trail, files, kept runs.
    Verify(Verify),
}

#[derive(Debug, Clone, Args)]
pub struct Verify {
    /// The file.
    pub file: PathBuf,
    #[command(flatten)]
    pub passphrase: PassphraseArgs,
    /// Folder for the scratch copy, which goes again; the system's for temporary files if left out.
    #[arg(long, value_name = "DIR")]
    pub scratch: Option<PathBuf>,
}

#[derive(Deserialize)]
struct Progress {
    stage: String,
    done: u64,
    total: u64,
    report: Option<Value>,
    failure: Option<Failure>,
}

#[derive(Deserialize)]
struct Failure {
    title: String,
    hint: String,
}

#[derive(Deserialize)]
struct Report {
    path: String,
    bytes: u64,
    files: u64,
    sealed: bool,
    ms: u64,
    left_out: Vec<LeftOut>,
}

#[derive(Deserialize)]
struct LeftOut {
    path: String,
    why: String,
}

#[derive(Deserialize)]
struct Record {
    at: Timestamp,
    path: String,
    bytes: u64,
    sealed: bool,
    error: Option<String>,
}

impl PassphraseArgs {
    /// The passphrase of a backup that has one.
    pub async fn read(&self, term: Term) -> anyhow::Result<SecretString> {
        if let Some(given) = self.given()? {
            return Ok(given);
        }
        if !std::io::stdin().is_terminal() {
            bail!(
                "the backup is sealed: give its passphrase by --passphrase-fd NUMBER, as in `--passphrase-fd 3 3< FILE`"
            );
        }
        let typed = term.ask_hidden("Passphrase of the backup: ").await?.unwrap_or_default();
        Ok(SecretString::from(typed))
    }

    fn given(&self) -> anyhow::Result<Option<SecretString>> {
        let Some(number) = self.passphrase_fd else { return Ok(None) };
        let text = std::fs::read_to_string(format!("/dev/fd/{number}"))
            .with_context(|| format!("no passphrase can be read from file descriptor {number}"))?;
        let line = text.strip_suffix('\n').unwrap_or(&text);
        let line = line.strip_suffix('\r').unwrap_or(line);
        if line.is_empty() {
            bail!("file descriptor {number} gives no passphrase");
        }
        Ok(Some(SecretString::from(line)))
    }
}

pub async fn run(client: &Client, args: Backup, term: Term) -> anyhow::Result<Exit> {
    let term = term.with_json(args.json);
    let done = match args.action {
        None => create(client, &args.make, term).await,
        Some(BackupAction::List) => list(client, term).await,
        Some(BackupAction::Erasures) => erasures(client, term).await,
        Some(BackupAction::Verify(_)) => bail!("a backup is verified without the API; please report this"),
    };
    done.map_err(|error| for_administrators(client, error, "makes backups"))
}

async fn create(client: &Client, make: &Make, term: Term) -> anyhow::Result<Exit> {
    let file = make.file.as_deref().unwrap_or(Path::new(""));
    let path = std::path::absolute(file).context("the file has no name")?;
    let passphrase = new_passphrase(make, term).await?;
    let credential = match &make.passphrase_credential {
        None => None,
        Some(name) => Some(credential_id(client, name).await?),
    };
    let body = json!({
        "path": path,
        "passphrase": passphrase.as_ref().map(ExposeSecret::expose_secret),
        "passphrase_credential": credential,
        "workspaces": !make.without_workspaces,
    });
    let mut pieces = client.pieces(Method::POST, "/api/backups", Some(&body)).await?;
    let report = loop {
        let Some(step) = next_line(&mut pieces).await? else {
            bail!("the backup was cut off, and nothing of it is kept; the server's log says why");
        };
        if let Some(failure) = step.failure {
            bail!("{}; {}", failure.title, failure.hint);
        }
        if let Some(report) = step.report {
            break report;
        }
        let what = if step.stage == "database" { "copied of the database" } else { "written" };
        term.status(&format!("{what}: {} of {}…", size(step.done), size(step.total)));
    };
    term.clear();
    let found: Report = serde_json::from_value(report.clone()).context("the report is not understood")?;
    Ok(term.shown(&report, || print_text(&told(&found, term))))
}

/// `None`: keys are left out, as was asked for.
async fn new_passphrase(make: &Make, term: Term) -> anyhow::Result<Option<SecretString>> {
    if make.without_keys || make.passphrase_credential.is_some() {
        return Ok(None);
    }
    if let Some(given) = make.passphrase.given()? {
        return Ok(Some(given));
    }
    if !std::io::stdin().is_terminal() {
        bail!(
            "nobody is there to type a passphrase: give it by --passphrase-fd NUMBER, as in `--passphrase-fd 3 3< FILE`, or leave the keys out by --without-keys"
        );
    }
    let first = term.ask_hidden("Passphrase for the backup: ").await?.unwrap_or_default();
    if first.chars().count() < SHORTEST {
        bail!("choose {SHORTEST} characters or more, or leave the keys out by --without-keys");
    }
    if term.ask_hidden("The same again: ").await?.as_ref() != Some(&first) {
        bail!("these are two different passphrases; nothing was made");
    }
    Ok(Some(SecretString::from(first)))
}

async fn credential_id(client: &Client, name: &str) -> anyhow::Result<Value> {
    let all = client.rows("/api/credentials").await?;
    let found = all.iter().find(|one| one["name"] == name || one["id"] == name);
    let found = found.with_context(|| format!("there is no credential `{name}`; `steward credential` lists them"))?;
    Ok(found["id"].clone())
}

fn told(made: &Report, term: Term) -> String {
    let seconds = made.ms / 1000;
    let mut text = format!(
        "{}: {}, {} files, {} s\n",
        term.green(&format!("Backed up to {}", made.path)),
        size(made.bytes),
        made.files,
        seconds
    );
    text += if made.sealed {
        "It is sealed and has the keys: without the passphrase nobody can use it, you neither.\n"
    } else {
        "It is not sealed: whoever reads it reads all data. Keys are left out, so secrets of the vault must be entered again.\n"
    };
    for one in &made.left_out {
        let _ = writeln!(text, "left out: {} ({})", one.path, one.why);
    }
    let _ = write!(text, "Check it: steward backup verify {}", made.path);
    text
}

async fn list(client: &Client, term: Term) -> anyhow::Result<Exit> {
    let rows = client.rows("/api/backups").await?;
    Ok(term.listed(&rows, "No backup was made yet: steward backup FILE", |row| {
        let Ok(row) = serde_json::from_value::<Record>(row.clone()) else { return };
        let what = match &row.error {
            Some(error) => term.red(&format!("failed: {error}")),
            None if row.sealed => format!("{}, sealed", size(row.bytes)),
            None => format!("{}, without keys", size(row.bytes)),
        };
        println!("{}  {}  {what}", row.at.rfc3339(), row.path);
    }))
}

/// One a line, as a restore reads them.
async fn erasures(client: &Client, term: Term) -> anyhow::Result<Exit> {
    for row in client.rows("/api/backups/erasures").await? {
        println!("{row}");
    }
    term.note("restore an older backup with them: steward restore FILE --erasures LIST");
    Ok(Exit::Done)
}

/// The last whole line of what has come.
async fn next_line(pieces: &mut ByteStream) -> anyhow::Result<Option<Progress>> {
    let mut text = Vec::new();
    while let Some(piece) = pieces.try_next().await? {
        text.extend_from_slice(&piece);
        if text.ends_with(b"\n") {
            let last = text.trim_ascii_end().rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
            return serde_json::from_slice(last).map(Some).context("a line is not understood");
        }
    }
    Ok(None)
}
