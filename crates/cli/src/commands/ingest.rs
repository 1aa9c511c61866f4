use crate::args::{IngestArgs, SearchArgs};
use crate::client::{Client, Refused, encoded};
use crate::commands::picked::text;
use crate::exit::Exit;
use crate::term::Term;
use anyhow::{Context, bail};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Between two looks at documents that are read.
const POLL: Duration = Duration::from_millis(500);
/// Lines of a passage that are shown.
const LINES: usize = 6;

pub async fn run(client: &Client, args: IngestArgs, term: Term) -> anyhow::Result<Exit> {
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
            let hint = document["problem"]["hint"].as_str().unwrap_or_default();
            failed.push((PathBuf::from(text(document, "name")), format!("{problem} ({hint})")));
        }
    }
    if args.json {
        let failures: Vec<Value> =
            failed.iter().map(|(file, why)| json!({"file": file.display().to_string(), "problem": why})).collect();
        println!("{}", json!({"collection": collection, "documents": sent, "failed": failures}));
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
    let agent = agent.map(|agent| format!("&agent_id={}", encoded(agent))).unwrap_or_default();
    let id = text(collection, "id");
    let path = format!("/api/documents/upload?collection={id}&name={}{agent}", encoded(&name));
    client.upload(&path, Some(bytes)).await
}

/// The collection of this name, made if it is missing.
async fn ensure(client: &Client, name: &str) -> anyhow::Result<Value> {
    let known = find(client, name).await?;
    if let Some(known) = known {
        return Ok(known);
    }
    match client.post("/api/collections", &json!({"name": name})).await {
        Ok(made) => Ok(made),
        Err(error) => {
            let conflict = error.downcast_ref::<Refused>().is_some_and(|refused| refused.status == 409);
            if conflict {
                bail!("there is a collection `{name}` that you have no grant on; ask an operator, or name another");
            }
            Err(error)
        }
    }
}

async fn find(client: &Client, name: &str) -> anyhow::Result<Option<Value>> {
    let all: Vec<Value> = client.get("/api/collections").await?;
    let wanted = name.to_lowercase();
    Ok(all.into_iter().find(|one| text(one, "name").to_lowercase() == wanted || text(one, "id") == name))
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

pub async fn search(client: &Client, args: SearchArgs, term: Term) -> anyhow::Result<Exit> {
    let mut body = json!({"query": args.query, "collections": args.collection, "limit": args.limit});
    if let Some(agent) = &args.agent {
        body["agent_id"] = json!(agent);
    }
    if let Some(kind) = &args.doc_type {
        body["doc_type"] = json!(kind);
    }
    let result: Value = client.post("/api/documents/search", &body).await?;
    if args.json {
        println!("{result}");
        return Ok(Exit::Done);
    }
    if let Some(notice) = result["notice"].as_str() {
        term.say(notice);
    }
    let found = result["found"].as_array().cloned().unwrap_or_default();
    if found.is_empty() {
        let documents = result["documents"].as_u64().unwrap_or_default();
        println!("nothing found in {documents} documents; `steward documents` lists them");
        return Ok(Exit::Done);
    }
    for (place, one) in (1..).zip(&found) {
        let chunk = &one["chunk"];
        let page = chunk["first_page"].as_u64().filter(|page| *page > 1 || text(one, "doc_type") == "pdf");
        let page = page.map(|page| format!(", page {page}")).unwrap_or_default();
        let headings = crate::commands::picked::joined(&chunk["headings"]).replace(", ", " › ");
        println!("{} {}{page}  {}", term.bold(&format!("[{place}]")), text(one, "name"), term.dim(&headings));
        for line in text(chunk, "text").lines().filter(|line| !line.trim().is_empty()).take(LINES) {
            println!("    {line}");
        }
    }
    Ok(Exit::Done)
}
