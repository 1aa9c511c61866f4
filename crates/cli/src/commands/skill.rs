mod hosts;
mod packages;

use crate::args::{SkillAction, SkillArgs, SkillFilter};
use crate::client::{Client, DEFAULT_AGENT, encoded};
use crate::commands::picked::{content_of, first_line, pick, text, time};
use crate::exit::Exit;
use crate::term::Term;
use anyhow::{Context, bail};
use http::Method;
use serde_json::{Value, json};
use std::path::Path;
use steward_core::agent::Agent;

pub async fn run(client: &Client, args: SkillArgs, term: Term) -> anyhow::Result<Exit> {
    let action = args.action.unwrap_or_else(|| SkillAction::List(SkillFilter::default()));
    act(client, action, args.json, term).await
}

async fn act(client: &Client, action: SkillAction, json: bool, term: Term) -> anyhow::Result<Exit> {
    match action {
        SkillAction::List(filter) => list(client, &filter, json, term).await,
        SkillAction::Show { skill, versions } => show(client, &skill, versions, json, term).await,
        SkillAction::Create { file, upsert, agent } => {
            create(client, &file, upsert, agent.as_deref(), json, term).await
        }
        SkillAction::Test { skill, arguments, run, yes, agent } => {
            let wanted = Test { skill, arguments, run, yes, agent };
            test(client, wanted, json, term).await
        }
        SkillAction::Attach { skill, agent } => attach(client, &skill, agent.as_deref(), true, term).await,
        SkillAction::Detach { skill, agent } => attach(client, &skill, agent.as_deref(), false, term).await,
        SkillAction::Rollback { skill, version } => rollback(client, &skill, version, json, term).await,
        SkillAction::Remove { skill, package } => remove(client, &skill, package, term).await,
        SkillAction::Import { .. }
        | SkillAction::Export { .. }
        | SkillAction::Packages { .. }
        | SkillAction::Accept { .. } => packages::run(client, action, json, term).await,
        SkillAction::TrustHost { server, fingerprint } => hosts::trust(client, &server, &fingerprint, term).await,
        SkillAction::Hosts => hosts::list(client, json, term).await,
        SkillAction::ForgetHost { server } => hosts::forget(client, &server, term).await,
    }
}

async fn find(client: &Client, wanted: &str) -> anyhow::Result<Value> {
    let path = format!("/api/skills?text={}", encoded(wanted));
    let named = client.rows(&path).await?;
    if named.iter().any(|row| row["name"] == wanted) {
        return pick(named, wanted, "skill", "steward skill list");
    }
    let all = client.rows("/api/skills").await?;
    pick(all, wanted, "skill", "steward skill list")
}

async fn list(client: &Client, filter: &SkillFilter, as_json: bool, term: Term) -> anyhow::Result<Exit> {
    let agent = match &filter.agent {
        Some(name) => Some(client.agent_named(Some(name)).await?.id.to_string()),
        None => None,
    };
    let wanted = [("kind", &filter.kind), ("text", &filter.search), ("agent", &agent), ("package", &filter.package)];
    let query: Vec<String> =
        wanted.iter().filter_map(|(name, value)| Some(format!("{name}={}", encoded(value.as_ref()?)))).collect();
    let path = if query.is_empty() { "/api/skills".to_owned() } else { format!("/api/skills?{}", query.join("&")) };
    let skills = client.rows(&path).await?;
    if as_json {
        println!("{}", json!(skills));
        return Ok(Exit::Done);
    }
    if skills.is_empty() && query.is_empty() {
        term.say("There are no skills. Make one with: steward skill create FILE\nor take a package in: steward skill import --ready infra-agent");
    } else if skills.is_empty() {
        term.say("No skill is like that. All: steward skill list");
    }
    for skill in &skills {
        let state = if skill["enabled"] == false { "  switched off" } else { "" };
        println!(
            "{:<24} {:<12} {:<12} {}{state}",
            text(skill, "name"),
            text(skill, "type"),
            text(skill, "risk"),
            term.dim(&first_line(text(skill, "description"), 70)),
        );
    }
    Ok(Exit::Done)
}

async fn show(client: &Client, wanted: &str, versions: bool, as_json: bool, term: Term) -> anyhow::Result<Exit> {
    let skill = find(client, wanted).await?;
    let path = format!("/api/skills/{}", text(&skill, "id"));
    if versions {
        let all = client.rows(&format!("{path}/versions")).await?;
        return Ok(versions_of(&all, as_json, term));
    }
    let skill: Value = client.get(&path).await?;
    if as_json {
        println!("{skill}");
        return Ok(Exit::Done);
    }
    let agents = client.agents().await?;
    tell(&skill, &agents, term);
    Ok(Exit::Done)
}

fn versions_of(versions: &[Value], as_json: bool, term: Term) -> Exit {
    if as_json {
        println!("{}", json!(versions));
        return Exit::Done;
    }
    for one in versions {
        println!(
            "{:>4}  {}  {:<24} {}",
            one["version"],
            time(one, "at"),
            text(one, "by"),
            term.dim(&first_line(text(one, "description"), 60))
        );
    }
    Exit::Done
}

fn tell(skill: &Value, agents: &[Agent], term: Term) {
    println!("{}  {}", term.bold(text(skill, "name")), term.dim(text(skill, "id")));
    println!("{}\n", text(skill, "description"));
    println!("type         {}, version {}", text(skill, "type"), skill["version"]);
    println!("risk         {}; after a crash in mid-call: {}", text(skill, "risk"), text(skill, "effect"));
    if skill["enabled"] == false {
        println!("state        switched off");
    }
    if let Some(package) = skill["package"].as_str() {
        println!("package      {package}");
    }
    if skill["credential"].is_object() {
        let wanted = &skill["credential"];
        let named = wanted["name"].as_str().or(wanted["kind"].as_str());
        println!("credential   {}", named.unwrap_or("any that suits"));
    }
    if let Some(back) = skill["compensation"]["skill"].as_str() {
        println!("taken back   by {back}");
    }
    let has = |agent: &&Agent| {
        let id = agent.id.to_string();
        let ids = skill["agents"].as_array().into_iter().flatten();
        ids.filter_map(Value::as_str).any(|one| one == id)
    };
    let names: Vec<&str> = agents.iter().filter(has).map(|agent| agent.name.as_str()).collect();
    let names = if names.is_empty() {
        format!("nobody; give it with: steward skill attach {}", skill["name"].as_str().unwrap_or("NAME"))
    } else {
        names.join(", ")
    };
    println!("agents       {names}");
    for (title, field) in [("inputs", "parameters"), ("config", "config")] {
        println!("\n{}\n{:#}", term.dim(title), skill[field]);
    }
}

async fn rollback(client: &Client, wanted: &str, version: u32, as_json: bool, term: Term) -> anyhow::Result<Exit> {
    let skill = find(client, wanted).await?;
    let path = format!("/api/skills/{}/rollback", text(&skill, "id"));
    let body = json!({"version": version});
    let now: Value = client.post(&path, &body).await?;
    let said = format!("`{}` is as in version {version} again, now version {}", text(&now, "name"), now["version"]);
    Ok(term.changed(&now, as_json, &said))
}

async fn create(
    client: &Client,
    file: &Path,
    upsert: bool,
    agent: Option<&str>,
    as_json: bool,
    term: Term,
) -> anyhow::Result<Exit> {
    let skills = read(file)?;
    let agent = match agent {
        Some(name) => Some((name, client.agent_named(Some(name)).await?.id)),
        None => None,
    };
    let mut made = Vec::new();
    for skill in &skills {
        let name = text(skill, "name");
        let kept = if let Some((_, id)) = agent {
            let path = format!("/api/universal-agents/{id}/skills:create_and_attach");
            let mut both: Value = client.post(&path, skill).await?;
            both["skill"].take()
        } else {
            let path = format!("/api/skills?upsert={upsert}");
            client.post(&path, skill).await?
        };
        if !as_json {
            let whose = agent.map_or_else(String::new, |(agent, _)| format!(", and {agent} has it"));
            term.say(&format!("`{name}` is kept, version {}{whose}", kept["version"]));
        }
        made.push(kept);
    }
    if as_json {
        println!("{}", json!(made));
    }
    Ok(Exit::Done)
}

fn read(file: &Path) -> anyhow::Result<Vec<Value>> {
    let shown = file.display();
    let value: Value = serde_json::from_str(&content_of(file)?).with_context(|| format!("{shown} is no JSON"))?;
    let all = match value {
        Value::Array(all) => all,
        one => vec![one],
    };
    let named = |one: &Value| one["name"].as_str().is_some_and(|name| !name.is_empty());
    if all.is_empty() || !all.iter().all(named) {
        bail!("{shown} holds no skill; write an object with name, description, type and config, or a list of them");
    }
    Ok(all)
}

struct Test {
    skill: String,
    arguments: String,
    run: bool,
    yes: bool,
    agent: Option<String>,
}

async fn test(client: &Client, wanted: Test, as_json: bool, term: Term) -> anyhow::Result<Exit> {
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

async fn attach(
    client: &Client,
    wanted: &str,
    agent: Option<&str>,
    attached: bool,
    term: Term,
) -> anyhow::Result<Exit> {
    let skill = find(client, wanted).await?;
    let agent = agent.unwrap_or(DEFAULT_AGENT);
    let id = client.agent_named(Some(agent)).await?.id;
    let path = format!("/api/agents/{id}/skills/{}", text(&skill, "id"));
    let method = if attached { Method::PUT } else { Method::DELETE };
    client.request::<Value>(method, &path, None).await?;
    let name = text(&skill, "name");
    term.say(&if attached {
        format!("{agent} has `{name}` from its next run on")
    } else {
        format!("{agent} no longer has `{name}`")
    });
    Ok(Exit::Done)
}

async fn remove(client: &Client, wanted: &str, package: bool, term: Term) -> anyhow::Result<Exit> {
    if package {
        let path = format!("/api/skills/packages/{}", encoded(wanted));
        client.delete(&path).await?;
        term.say(&format!("the package `{wanted}` is out of use; its revisions stay: steward skill packages {wanted}"));
        return Ok(Exit::Done);
    }
    let skill = find(client, wanted).await?;
    let path = format!("/api/skills/{}", text(&skill, "id"));
    client.delete(&path).await?;
    Ok(term.done(&format!("removed `{}`", text(&skill, "name"))))
}
