//! `steward skill remove`.

use super::find;
use crate::client::{Client, encoded};
use crate::commands::picked::text;
use crate::exit::Exit;
use crate::term::Term;

pub(super) async fn run(client: &Client, wanted: &str, package: bool, term: Term) -> anyhow::Result<Exit> {
    if package {
        let path = format!("/api/skills/packages/{}", encoded(wanted));
        client.delete(&path).await?;
        term.say(&format!("the package `{wanted}` is out of use; its revisions stay: steward skill packages {wanted}"));
        return Ok(Exit::Done);
    }
    let skill = find(client, wanted).await?;
    let path = format!("/api/skills/{}", text(&skill, "id"));
    client.delete(&path).await?;
    term.say(&format!("removed `{}`", text(&skill, "name")));
    Ok(Exit::Done)
}
