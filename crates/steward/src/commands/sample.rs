//! `steward sample`: a small workspace to try things on.

use crate::backend::Backend;
use crate::cli::{Sample, SampleAction};
use crate::compose::Options;
use crate::exit::Exit;
use crate::settings::Settings;
use crate::term::Term;

/// Runs the command: in the workspace of the running server, else in the current folder.
pub async fn run(settings: Settings, args: Sample, term: Term) -> anyhow::Result<Exit> {
    let backend = Backend::open(&settings, Options::default(), term).await?;
    let changed = backend.sample(args.action == SampleAction::Add, term).await;
    backend.close().await;
    let (folder, change) = changed?;
    let (done, left) = match args.action {
        SampleAction::Add => ("added to", "there already, and left as they are"),
        SampleAction::Remove => ("removed from", "changed since, and left as they are"),
    };
    println!("{} sample files {done} {folder}", change.done.len());
    for path in &change.done {
        println!("  {path}");
    }
    if !change.left.is_empty() {
        println!("{left}: {}", change.left.join(", "));
    }
    if args.action == SampleAction::Add {
        let files: Vec<String> = change.done.into_iter().chain(change.left).collect();
        for one in steward_intent::tries(&files, "en") {
            println!("try:  steward ask \"{one}\"");
        }
    }
    Ok(Exit::Done)
}
