use super::rows::{items, joined, texts};
use crate::client::Client;
use crate::term::Exit;
use clap::{Args, Subcommand};
use http::Method;
use serde_json::Value;

/// A small sample workspace to try things on.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  steward sample add      into the running server's workspace, else into the current folder\n  steward sample remove   takes away what nobody has changed"
)]
pub struct Sample {
    #[command(subcommand)]
    action: SampleAction,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Subcommand)]
pub enum SampleAction {
    /// Add its files; what is there already stays as it is.
    Add,
    /// Remove its files, but for those that were changed.
    Remove,
}

/// Works in the workspace of the running server, else in the current folder.
pub async fn run(client: &Client, args: &Sample) -> anyhow::Result<Exit> {
    let folder = match client.server_url() {
        Some(_) => client.workspace(None, false).await?,
        None => client.folder().await?,
    };
    let (method, done, left) = match args.action {
        SampleAction::Add => (Method::POST, "added to", "there already, and left as they are"),
        SampleAction::Remove => (Method::DELETE, "removed from", "changed since, and left as they are"),
    };
    let change: Value = client.request(method, "/api/sample", None).await?;
    println!("{} sample files {done} {}", items(&change, "done").len(), folder.display());
    for path in texts(&change, "done") {
        println!("  {path}");
    }
    let kept = joined(&change, "left");
    if !kept.is_empty() {
        println!("{left}: {kept}");
    }
    if args.action == SampleAction::Add {
        let start: Value = client.get("/api/start").await?;
        for one in texts(&start, "tries") {
            println!("try:  steward ask \"{one}\"");
        }
    }
    Ok(Exit::Done)
}
