use super::id_of;
use crate::client::{Client, encoded, with_query};
use crate::commands::rows::{first_line, items, joined, print_facts, text, time};
use crate::term::{Exit, Term, print_text};
use anyhow::{Context, bail};
use clap::Args;
use serde_json::{Value, json};
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Fewest characters of a hash.
const LEAST: usize = 8;

/// Take a skill package in; it is not used before it is accepted.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Examples:\n  steward skill import server-care.skill\n  steward skill import --ready infra-agent --agent steward\n  steward skill packages --ready"
)]
pub struct Import {
    /// The archive, NAME.skill.
    #[arg(required_unless_present = "ready")]
    file: Option<PathBuf>,
    /// A package that comes with Steward, by name.
    #[arg(long, value_name = "NAME", conflicts_with = "file")]
    ready: Option<String>,
    /// Put it to use at once if its scan finds nothing dangerous.
    #[arg(long)]
    activate: bool,
    /// Put it to use likewise and give its skills to this agent.
    #[arg(long, short = 'a', value_name = "NAME")]
    agent: Option<String>,
}

/// Write a skill package to a file.
#[derive(Debug, Clone, Args)]
pub struct Export {
    /// Its name.
    package: String,
    /// The revision [default: the one in use, else the latest].
    #[arg(long, value_name = "N")]
    revision: Option<u32>,
    /// Where to [default: NAME.skill]; `-` is standard output.
    #[arg(long, short = 'o', value_name = "FILE")]
    output: Option<PathBuf>,
    /// Overwrite a file that is there.
    #[arg(long)]
    force: bool,
}

/// List skill packages; show the revisions of one, or what an upgrade changes.
#[derive(Debug, Clone, Args)]
pub struct Packages {
    /// Only this one, with all its revisions and findings.
    package: Option<String>,
    /// What its latest revision changes of the one in use, file by file.
    #[arg(long, requires = "package")]
    diff: bool,
    /// Those that come with Steward.
    #[arg(long, conflicts_with_all = ["package", "diff"])]
    ready: bool,
}

/// Put a revision of a package to use, as it was looked at; also goes back to an earlier one.
#[derive(Debug, Clone, Args)]
pub struct Accept {
    /// The package.
    package: String,
    /// The hash that was shown, or at least 8 characters of its beginning.
    hash: String,
    /// Accept what its scan found dangerous.
    #[arg(long)]
    dangers: bool,
    /// Give its skills to this agent.
    #[arg(long, short = 'a', value_name = "NAME")]
    agent: Option<String>,
}

pub(super) async fn run(client: &Client, wanted: Packages, term: Term) -> anyhow::Result<Exit> {
    match wanted.package {
        _ if wanted.ready => ready_ones(client, term).await,
        None => list(client, term).await,
        Some(name) if wanted.diff => differences(client, &name, term).await,
        Some(name) => revisions(client, &name, term).await,
    }
}

pub(super) async fn import(client: &Client, wanted: Import, term: Term) -> anyhow::Result<Exit> {
    let path = match wanted.agent {
        Some(name) => {
            let id = client.agent_named(Some(&name)).await?.id;
            format!("/api/universal-agents/{id}/import-skill-pack")
        }
        None => format!("/api/skills/import-package?activate={}", wanted.activate),
    };
    let file = match (&wanted.ready, wanted.file) {
        (Some(_), _) => None,
        (None, Some(file)) => Some(std::fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?),
        (None, None) => bail!("name the archive, or a package that comes with Steward with --ready"),
    };
    let mut answer: Value = client.upload(&with_query(&path, [("ready", wanted.ready)]), file).await?;
    // An agent may be given several.
    let package = match answer["packages"].as_array_mut() {
        Some(packages) if !packages.is_empty() => packages.swap_remove(0),
        _ => answer,
    };
    Ok(term.shown(&package, || tell(&package, term)))
}

pub(super) async fn accept(client: &Client, wanted: &Accept, term: Term) -> anyhow::Result<Exit> {
    let (name, hash) = (&wanted.package, &wanted.hash);
    let path = path_of(name);
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
    let mut body = json!({"hash": hash, "dangers": wanted.dangers});
    if let Some(id) = id_of(client, wanted.agent.as_deref()).await? {
        body["agent"] = id.into();
    }
    let package: Value = client.post(&format!("{path}/accept"), &body).await?;
    Ok(term.shown(&package, || tell(&package, term)))
}

pub(super) async fn export(client: &Client, wanted: Export, term: Term) -> anyhow::Result<Exit> {
    let name = wanted.package;
    let revision = wanted.revision.map(|revision| revision.to_string());
    let path = with_query(&format!("{}/export", path_of(&name)), [("revision", revision)]);
    let bytes = client.download(&path).await?;
    // By now the name is that of a package, without folders.
    let output = wanted.output.unwrap_or_else(|| format!("{name}.skill").into());
    if output == Path::new("-") {
        std::io::stdout().write_all(&bytes).context("standard output can't be written")?;
        return Ok(Exit::Done);
    }
    let shown = output.display();
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    if !wanted.force {
        options.create_new(true);
    }
    let mut file = options.open(&output).with_context(|| {
        format!("cannot write {shown}; choose another place with --output, or overwrite it with --force")
    })?;
    file.write_all(&bytes).with_context(|| format!("cannot write {shown}"))?;
    Ok(term.done(&format!("wrote {shown}, {} bytes", bytes.len())))
}

async fn ready_ones(client: &Client, term: Term) -> anyhow::Result<Exit> {
    let names: Vec<String> = client.get("/api/skills/ready-packages").await?;
    Ok(term.shown(&names, || {
        for name in &names {
            println!("{name:<24} steward skill import --ready {name}");
        }
    }))
}

async fn list(client: &Client, term: Term) -> anyhow::Result<Exit> {
    let packages = client.rows("/api/skills/packages").await?;
    Ok(term.listed(
        &packages,
        "There are no packages. Those that come with Steward: steward skill packages --ready",
        |one| {
            println!(
                "{:<24} {:<12} revision {:<4} {}",
                text(one, "name"),
                text(one, "state"),
                one["revision"],
                term.dim(&first_line(text(one, "description"), 60))
            );
        },
    ))
}

async fn revisions(client: &Client, name: &str, term: Term) -> anyhow::Result<Exit> {
    let all = client.rows(&path_of(name)).await?;
    Ok(term.shown(&all, || {
        for one in &all {
            tell(one, term);
            println!();
        }
    }))
}

async fn differences(client: &Client, name: &str, term: Term) -> anyhow::Result<Exit> {
    let diff: Value = client.get(&format!("{}/diff", path_of(name))).await?;
    Ok(term.shown(&diff, || {
        let files = items(&diff, "files");
        if files.is_empty() {
            term.say("They are the same.");
        }
        for file in files {
            println!("{} {}", term.bold(text(file, "change")), text(file, "path"));
            print_text(text(file, "diff"));
        }
    }))
}

pub(super) fn path_of(package: &str) -> String {
    format!("/api/skills/packages/{}", encoded(package))
}

fn tell(package: &Value, term: Term) {
    let (name, hash) = (text(package, "name"), text(package, "hash"));
    let state = text(package, "state");
    let version = package["version"].as_str().map_or_else(String::new, |version| format!(" ({version})"));
    println!("{} revision {}{version}: {state}", term.bold(name), package["revision"]);
    print_text(text(package, "description"));
    println!("hash         {hash}");
    println!("imported     {} by {}", time(package, "at"), text(package, "by"));
    let needs = &package["permissions"];
    print_facts(["network", "tools", "credentials"].map(|field| (field, joined(needs, field))));
    if needs["scripts"] == true {
        println!("scripts      run");
    }
    for (path, bytes) in package["files"].as_object().into_iter().flatten() {
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
    for finding in items(package, "findings") {
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
