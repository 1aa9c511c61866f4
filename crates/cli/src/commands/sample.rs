use crate::args::{Sample, SampleAction};
use crate::client::Client;
use crate::exit::Exit;

/// Works in the workspace of the running server, else in the current folder.
pub async fn run(client: &Client, args: &Sample) -> anyhow::Result<Exit> {
    let folder = match client.server_url() {
        Some(_) => client.workspace(None, false).await?,
        None => client.folder().await?,
    };
    let change = client.sample(args.action == SampleAction::Add).await?;
    let (done, left) = match args.action {
        SampleAction::Add => ("added to", "there already, and left as they are"),
        SampleAction::Remove => ("removed from", "changed since, and left as they are"),
    };
    println!("{} sample files {done} {}", change.done.len(), folder.display());
    for path in &change.done {
        println!("  {path}");
    }
    if !change.left.is_empty() {
        println!("{left}: {}", change.left.join(", "));
    }
    if args.action == SampleAction::Add {
        for one in client.tries().await? {
            println!("try:  steward ask \"{one}\"");
        }
    }
    Ok(Exit::Done)
}
