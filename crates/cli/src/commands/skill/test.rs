//! `steward skill test`.

use super::find;
use crate::client::Client;
use crate::commands::picked::text;
use crate::exit::Exit;
use crate::term::Term;
use anyhow::{Context, bail};
use serde_json::{Value, json};

pub(super) struct Wanted {
    pub skill: String,
    pub arguments: String,
    pub run: bool,
    pub yes: bool,
    pub agent: Option<String>,
}

pub(super) async fn run(client: &Client, wanted: Wanted, as_json: bool, term: Term) -> anyhow::Result<Exit> {
    let skill = find(client, &wanted.skill).await?;
    let arguments: Value = serde_json::from_str(&wanted.arguments)
        .context("--arguments is no JSON; write an object in single quotes, such as '{\"limit\": 10}'")?;
    let mut body = json!({"arguments": arguments, "dry_run": true, "confirm": true});
    if let Some(name) = &wanted.agent {
        body["agent"] = json!(client.agent_named(Some(name)).await?.id);
    }
    let path = format!("/api/skills/{}/test", text(&skill, "id"));
    let looks = text(&skill, "risk") == "read";
    if wanted.run && !wanted.yes && !looks {
        if !term.can_ask {
            bail!(
                "`{}` changes something or sends it out; look at what it would do without --run, then add -y",
                text(&skill, "name")
            );
        }
        let dry: Value = client.post(&path, &body).await?;
        term.say(text(&dry, "preview"));
        if !term.agrees("Do it? [y/N]") {
            term.say("nothing was done");
            return Ok(Exit::Refused);
        }
    }
    body["dry_run"] = json!(!wanted.run);
    let told: Value = client.post(&path, &body).await?;
    let fine = told["ok"] == true;
    if as_json {
        println!("{told}");
    } else if !wanted.run {
        println!("{}", text(&told, "preview"));
    } else if fine {
        println!("{}", text(&told, "output"));
        term.say(&term.dim(&format!("in {} ms", told["ms"])));
    } else {
        term.say(&format!("{} {}", term.red("failed:"), text(&told, "error")));
    }
    Ok(if fine { Exit::Done } else { Exit::Failed })
}
