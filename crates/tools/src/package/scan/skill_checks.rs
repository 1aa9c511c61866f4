use super::Findings;
use crate::catalogue;
use crate::package::names;
use crate::package::read::{MAIN, PackageContents, SKILLS};
use steward_core::package::Severity;
use steward_core::policy::RiskClass;
use steward_core::skill::{DockerSpec, Skill, SkillSpec};

pub(super) fn skills(package: &PackageContents, found: &mut Findings) {
    let permissions = &package.front.permissions;
    if permissions.network.iter().any(|host| host.trim() == "*") {
        let message = "asks for every host (`network: [\"*\"]`); name the hosts instead";
        found.add(Severity::Warning, MAIN, 0, "wide_permission", message);
    }
    let mut foreign = names::tool_names(&permissions.tools);
    foreign.retain(|tool| !catalogue::known(tool) && !package.skills.iter().any(|skill| skill.name == *tool));
    if !foreign.is_empty() {
        let message = format!("names tools that Steward doesn't have: {}", foreign.join(", "));
        found.add(Severity::Info, MAIN, 0, "unknown_tool", message);
    }
    for skill in &package.skills {
        if let Some((severity, why)) = understated_risk(skill) {
            found.add(severity, SKILLS, 0, "mild_risk", format!("the skill `{}` {why}", skill.name));
        }
        if skill.spec.reads_host_files() {
            let message = format!(
                "the skill `{}` runs outside of the sandbox as Steward's own user, who can read the vault's key",
                skill.name
            );
            found.add(Severity::Danger, SKILLS, 0, "host_files", message);
        }
        if let Some(name) = skill.credential.as_ref().and_then(|wanted| wanted.name.as_ref()) {
            let skill = &skill.name;
            let message = format!(
                "the skill `{skill}` asks for the credential `{name}` by its name; check that it is meant for it"
            );
            found.add(Severity::Warning, SKILLS, 0, "named_credential", message);
        }
    }
}

/// Whether a skill would run without approval although skills of its kind ask.
fn understated_risk(skill: &Skill) -> Option<(Severity, String)> {
    let risk = skill.risk;
    match &skill.spec {
        SkillSpec::Ssh(spec) if risk < RiskClass::Destructive => Some(program(risk, &spec.command)),
        SkillSpec::Shell(spec) if risk < RiskClass::Destructive => Some(program(risk, &spec.command)),
        SkillSpec::Ansible(spec) if risk < RiskClass::Destructive && !spec.check => {
            Some((Severity::Danger, format!("runs a playbook as `{}`; its kind is `destructive`", word(risk))))
        }
        SkillSpec::Docker(spec)
            if risk == RiskClass::Read && !matches!(spec, DockerSpec::List | DockerSpec::Logs { .. }) =>
        {
            Some((Severity::Danger, "changes containers, but says `read`".to_owned()))
        }
        SkillSpec::Http(spec)
            if risk == RiskClass::Read && !matches!(spec.method.to_uppercase().as_str(), "" | "GET" | "HEAD") =>
        {
            Some((Severity::Danger, format!("sends a {} request, but says `read`", spec.method.to_uppercase())))
        }
        SkillSpec::Graphql(spec) if risk == RiskClass::Read && spec.query.trim_start().starts_with("mutation") => {
            Some((Severity::Danger, "sends a mutation, but says `read`".to_owned()))
        }
        SkillSpec::Sql(spec) if risk == RiskClass::Read && !spec.readonly => {
            Some((Severity::Danger, "may write to a database, but says `read`".to_owned()))
        }
        _ => None,
    }
}

/// A fixed command may be harmless, but a person has to say so.
fn program(risk: RiskClass, command: &[String]) -> (Severity, String) {
    let (command, risk) = (command.join(" "), word(risk));
    let why = format!("runs `{command}` as `{risk}`; its kind is `destructive`, so check that the command deserves it");
    (Severity::Danger, why)
}

fn word(risk: RiskClass) -> &'static str {
    match risk {
        RiskClass::Read => "read",
        RiskClass::Write => "write",
        RiskClass::External => "external",
        RiskClass::Destructive => "destructive",
    }
}
