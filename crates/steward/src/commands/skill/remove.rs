//! `steward skill remove`.

use super::find;
use crate::backend::{Backend, encoded};
use crate::commands::picked::text;
use crate::exit::Exit;
use crate::term::Term;
use reqwest::Method;
use serde_json::Value;

pub(super) async fn run(backend: &Backend, wanted: &str, package: bool, term: Term) -> anyhow::Result<Exit> {
    if package {
        let path = format!("/api/skills/packages/{}", encoded(wanted));
        backend.api::<Value>(Method::DELETE, &path, None).await?;
        term.say(&format!("the package `{wanted}` is out of use; its revisions stay: steward skill packages {wanted}"));
        return Ok(Exit::Done);
    }
    let skill = find(backend, wanted).await?;
    let path = format!("/api/skills/{}", text(&skill, "id"));
    backend.api::<Value>(Method::DELETE, &path, None).await?;
    term.say(&format!("removed `{}`", text(&skill, "name")));
    Ok(Exit::Done)
}
