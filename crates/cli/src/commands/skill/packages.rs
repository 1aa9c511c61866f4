use crate::args::SkillAction;
use crate::client::{Client, encoded};
use crate::commands::picked::{first_line, joined, text, time};
use crate::exit::Exit;
use crate::term::Term;
use anyhow::{Context, bail};
use serde_json::{Value, json};
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Fewest characters of a hash.
const LEAST: usize = 8;

pub(super) async fn run(client: &Client, action: SkillAction, as_json: bool, term: Term) -> anyhow::Result<Exit> {
    let package = match action {
        SkillAction::Import { file, ready, activate, agent } => {
            let from = (file.as_deref(), ready.as_deref());
            import(client, from, activate, agent.as_deref()).await?
        }
        SkillAction::Accept { package, hash, dangers, agent } => {
            accept(client, &package, &hash, dangers, agent.as_deref()).await?
        }
        SkillAction::Export { package, revision, output, force } => {
            return export(client, &package, revision, output, force, term).await;
        }
        SkillAction::Packages { package, diff, ready } => {
            return match package {
                _ if ready => ready_ones(client, as_json).await,
                None => list(client, as_json, term).await,
                Some(name) if diff => differences(client, &name, as_json, term).await,
                Some(name) => revisions(client, &name, as_json, term).await,
            };
        }
        _ => return Ok(Exit::Failed),
    };
    if as_json {
        println!("{package}");
    } else {
        tell(&package, term);
    }
    Ok(Exit::Done)
}

async fn import(
    client: &Client,
    (file, ready): (Option<&Path>, Option<&str>),
    activate: bool,
    agent: Option<&str>,
) -> anyhow::Result<Value> {
    let mut path = match agent {
        Some(name) => {
            let id = client.agent_named(Some(name)).await?.id;
            format!("/api/universal-agents/{id}/import-skill-pack")
        }
        None => format!("/api/skills/import-package?activate={activate}"),
    };
    if let Some(ready) = ready {
        path += if agent.is_some() { "?ready=" } else { "&ready=" };
        path += &encoded(ready);
        return Ok(package_in(client.upload(&path, None).await?));
    }
    let file = file.context("name the archive, or a package that comes with Steward with --ready")?;
    let bytes = std::fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
    Ok(package_in(client.upload(&path, Some(bytes)).await?))
}

/// An agent may be given several.
fn package_in(mut answer: Value) -> Value {
    match answer["packages"].as_array_mut() {
        Some(packages) if !packages.is_empty() => packages.swap_remove(0),
        _ => answer,
    }
}

async fn accept(client: &Client, name: &str, hash: &str, dangers: bool, agent: Option<&str>) -> anyhow::Result<Value> {
    let path = format!("/api/skills/packages/{}", encoded(name));
    let revisions = client.rows(&path).await?;
    let fits: Vec<&str> = revisions
        .iter()
        .map(|one| text(one, "hash"))
        .filter(|one| hash.len() >= LEAST && one.starts_with(hash))
        .collect();
    let [hash] = fits[..] else {
        bail!(
            "no revision of `{name}` has the hash `{hash}`; look at it with `steward skill packages {name}` and give at least {LEAST} characters of its hash"
        );
    };
    let mut body = json!({"hash": hash, "dangers": dangers});
    if let Some(agent) = agent {
        body["agent"] = json!(client.agent_named(Some(agent)).await?.id);
    }
    let accept = format!("{path}/accept");
    client.post(&accept, &body).await
}

async fn export(
    client: &Client,
    name: &str,
    revision: Option<u32>,
    output: Option<PathBuf>,
    force: bool,
    term: Term,
) -> anyhow::Result<Exit> {
    let mut path = format!("/api/skills/packages/{}/export", encoded(name));
    if let Some(revision) = revision {
        path = format!("{path}?revision={revision}");
    }
    let bytes = client.download(&path).await?;
    // By now the name is that of a package, without folders.
    let output = output.unwrap_or_else(|| format!("{name}.skill").into());
    if output == Path::new("-") {
        std::io::stdout().write_all(&bytes).context("standard output can't be written")?;
        return Ok(Exit::Done);
    }
    let shown = output.display();
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    if !force {
        options.create_new(true);
    }
    let mut file = options.open(&output).with_context(|| {
        format!("cannot write {shown}; choose another place with --output, or overwrite it with --force")
    })?;
    file.write_all(&bytes).with_context(|| format!("cannot write {shown}"))?;
    Ok(term.done(&format!("wrote {shown}, {} bytes", bytes.len())))
}

async fn ready_ones(client: &Client, as_json: bool) -> anyhow::Result<Exit> {
    let path = "/api/skills/ready-packages";
    let names: Vec<String> = client.get(path).await?;
    if as_json {
        println!("{}", json!(names));
        return Ok(Exit::Done);
    }
    for name in names {
        println!("{name:<24} steward skill import --ready {name}");
    }
    Ok(Exit::Done)
}

async fn list(client: &Client, as_json: bool, term: Term) -> anyhow::Result<Exit> {
    let packages = client.rows("/api/skills/packages").await?;
    if term.listed(
        &packages,
        as_json,
        "There are no packages. Those that come with Steward: steward skill packages --ready",
    ) {
        return Ok(Exit::Done);
    }
    for one in &packages {
        println!(
            "{:<24} {:<12} revision {:<4} {}",
            text(one, "name"),
            text(one, "state"),
            one["revision"],
            term.dim(&first_line(text(one, "description"), 60))
        );
    }
    Ok(Exit::Done)
}

async fn revisions(client: &Client, name: &str, as_json: bool, term: Term) -> anyhow::Result<Exit> {
    let path = format!("/api/skills/packages/{}", encoded(name));
    let all = client.rows(&path).await?;
    if as_json {
        println!("{}", json!(all));
        return Ok(Exit::Done);
    }
    for one in &all {
        tell(one, term);
        println!();
    }
    Ok(Exit::Done)
}

async fn differences(client: &Client, name: &str, as_json: bool, term: Term) -> anyhow::Result<Exit> {
    let path = format!("/api/skills/packages/{}/diff", encoded(name));
    let diff: Value = client.get(&path).await?;
    if as_json {
        println!("{diff}");
    } else {
        tell_diff(&diff, term);
    }
    Ok(Exit::Done)
}

fn tell(package: &Value, term: Term) {
    let (name, hash) = (text(package, "name"), text(package, "hash"));
    let state = text(package, "state");
    let version = package["version"].as_str().map_or_else(String::new, |version| format!(" ({version})"));
    println!("{} revision {}{version}: {state}", term.bold(name), package["revision"]);
    println!("{}", text(package, "description"));
    println!("hash         {hash}");
    println!("imported     {} by {}", time(package, "at"), text(package, "by"));
    let needs = &package["permissions"];
    for (title, field) in [("network", "network"), ("tools", "tools"), ("credentials", "credentials")] {
        let named = joined(&needs[field]);
        if !named.is_empty() {
            println!("{title:<12} {named}");
        }
    }
    if needs["scripts"] == true {
        println!("scripts      run");
    }
    let files = package["files"].as_object().into_iter().flatten();
    for (path, bytes) in files {
        println!("file         {path} ({bytes} bytes)");
    }
    let references = package["references"].as_u64().unwrap_or_default();
    if references > 0 {
        let of = format!("{references} of them, below references/");
        match state {
            "active" => println!("documents    {of}, in the collection `References of {name}`"),
            "quarantined" => println!("documents    {of}, once it is accepted"),
            _ => {}
        }
    }
    for finding in package["findings"].as_array().into_iter().flatten() {
        let severity = text(finding, "severity");
        let severity = match severity {
            "danger" => term.red(severity),
            "warning" => term.yellow(severity),
            _ => term.dim(severity),
        };
        println!("{severity} {}:{} {}", text(finding, "file"), finding["line"], text(finding, "message"));
    }
    if state == "quarantined" {
        term.say(&format!("Nothing of it is used yet. Once it was looked at: steward skill accept {name} {hash}"));
    }
}

fn tell_diff(diff: &Value, term: Term) {
    let files = diff["files"].as_array().map(Vec::as_slice);
    let files = files.unwrap_or_default();
    if files.is_empty() {
        term.say("They are the same.");
    }
    for file in files {
        println!("{} {}", term.bold(text(file, "change")), text(file, "path"));
        println!("{}", text(file, "diff"));
    }
}
