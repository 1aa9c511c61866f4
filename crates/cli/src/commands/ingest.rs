use super::rows::{COLLECTION, text};
use crate::client::{Client, Refused, with_query};
use crate::term::{Exit, Term, print_json};
use anyhow::{Context, bail};
use clap::Args;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Hand files in, to be found and asked about.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  steward ingest handbook.pdf\n  steward ingest contracts/ --collection Contracts --agent lawyer"
)]
pub struct IngestArgs {
    /// Files, or folders with all that is below them. What is hidden is left out.
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// The collection that they go to; it is made if it is missing.
    #[arg(long, value_name = "NAME", default_value = "Documents")]
    collection: String,
    /// An agent that they are linked to.
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// Don't wait until they are read.
    #[arg(long)]
    no_wait: bool,
    /// JSON instead of text.
    #[arg(long)]
    json: bool,
}

/// Between two looks at documents that are read.
const POLL: Duration = Duration::from_millis(500);

pub async fn run(client: &Client, args: IngestArgs, term: Term) -> anyhow::Result<Exit> {
    let term = term.with_json(args.json);
    let mut files = BTreeSet::new();
    for path in &args.paths {
        collect(path, &mut files).with_context(|| format!("cannot read {}", path.display()))?;
    }
    if files.is_empty() {
        bail!("there is no file in what was named; hidden files are left out");
    }
    let collection = ensure(client, &args.collection).await?;
    let mut sent = Vec::new();
    let mut failed = Vec::new();
    for (done, file) in files.iter().enumerate() {
        term.status(&format!("sending {} of {}: {}", done + 1, files.len(), file.display()));
        match send(client, file, &collection, args.agent.as_deref()).await {
            Ok(added) => sent.push(added),
            Err(error) => failed.push((file.clone(), format!("{error:#}"))),
        }
    }
    if !args.no_wait {
        wait(client, &mut sent, term).await?;
    }
    term.clear();
    for added in &sent {
        let document = &added["document"];
        if let Some(problem) = document["problem"]["message"].as_str() {
            let hint = text(&document["problem"], "hint");
            failed.push((PathBuf::from(text(document, "name")), format!("{problem} ({hint})")));
        }
    }
    if term.json {
        let failures: Vec<Value> =
            failed.iter().map(|(file, why)| json!({"file": file.display().to_string(), "problem": why})).collect();
        print_json(&json!({"collection": collection, "documents": sent, "failed": failures}));
    } else {
        report(&sent, &failed, &collection, args.no_wait, term);
    }
    Ok(if failed.is_empty() { Exit::Done } else { Exit::Failed })
}

fn report(sent: &[Value], failed: &[(PathBuf, String)], collection: &Value, no_wait: bool, term: Term) {
    let count = |kind: &str| sent.iter().filter(|one| text(one, "added") == kind).count();
    let chunks: u64 = sent.iter().filter_map(|one| one["document"]["chunks"].as_u64()).sum();
    for (file, why) in failed {
        println!("{} {}: {why}", term.red("failed"), file.display());
    }
    let known = count("unchanged") + count("duplicate");
    let known = if known > 0 { format!(", {known} were there already") } else { String::new() };
    let new = count("new") + count("changed");
    let name = text(collection, "name");
    if no_wait {
        println!("{new} sent to `{name}`{known}; they are read now: steward documents");
    } else {
        println!("{new} in `{name}`{known}, {chunks} chunks; ask them with: steward search \"…\"");
    }
}

async fn wait(client: &Client, sent: &mut [Value], term: Term) -> anyhow::Result<()> {
    loop {
        let mut open = 0;
        for added in sent.iter_mut() {
            let document = &added["document"];
            if matches!(text(document, "status"), "waiting" | "embedding") {
                let id = text(document, "id").to_owned();
                added["document"] = client.get(&format!("/api/documents/{id}")).await?;
                open += usize::from(matches!(text(&added["document"], "status"), "waiting" | "embedding"));
            }
        }
        if open == 0 {
            return Ok(());
        }
        term.status(&format!("reading: {} of {} done", sent.len() - open, sent.len()));
        tokio::time::sleep(POLL).await;
    }
}

async fn send(client: &Client, file: &Path, collection: &Value, agent: Option<&str>) -> anyhow::Result<Value> {
    let bytes = std::fs::read(file)?;
    let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let id = text(collection, "id").to_owned();
    let parts = [("collection", Some(id)), ("name", Some(name)), ("agent_id", agent.map(str::to_owned))];
    let path = with_query("/api/documents/upload", parts);
    client.upload(&path, Some(bytes)).await
}

/// The collection of this name, made if it is missing.
async fn ensure(client: &Client, name: &str) -> anyhow::Result<Value> {
    let all = client.rows(COLLECTION.path).await?;
    let wanted = name.to_lowercase();
    let known = all.into_iter().find(|one| text(one, "name").to_lowercase() == wanted || text(one, "id") == name);
    if let Some(known) = known {
        return Ok(known);
    }
    match client.post(COLLECTION.path, &json!({"name": name})).await {
        Err(error) if Refused::is(&error, 409) => {
            bail!("there is a collection `{name}` that you have no grant on; ask an operator, or name another")
        }
        made => made,
    }
}

fn collect(path: &Path, files: &mut BTreeSet<PathBuf>) -> std::io::Result<()> {
    if !path.metadata()?.is_dir() {
        files.insert(path.to_owned());
        return Ok(());
    }
    for entry in std::fs::read_dir(path)? {
        let entry = entry?;
        let hidden = entry.file_name().to_string_lossy().starts_with('.');
        // Links are not followed, so that no folder is read for ever.
        if !hidden && !entry.file_type()?.is_symlink() {
            collect(&entry.path(), files)?;
        }
    }
    Ok(())
}
