//! Skills that stand for accepted tools.

use super::error::McpError;
use super::name::names;
use steward_core::mcp::{AcceptedTool, McpServer, McpTool};
use steward_core::skill::{McpSpec, Skill, SkillKind, SkillLimits, SkillSpec};
use steward_core::{SkillId, Timestamp};

/// Category of the catalogue.
const CATEGORY: &str = "mcp";
/// Longest call of a tool elsewhere.
const TIMEOUT_MS: u64 = 60_000;

/// The tool of this name, accepted and unchanged since.
pub(super) fn callable<'a>(server: &'a McpServer, tool: &str) -> Result<(&'a McpTool, &'a AcceptedTool), McpError> {
    let Some(found) = server.tools.iter().find(|one| one.name == tool) else {
        let known: Vec<&str> = server.tools.iter().map(|one| one.name.as_str()).collect();
        return Err(McpError::NoTool {
            server: server.name.clone(),
            tool: tool.to_owned(),
            known: if known.is_empty() { "none that is known; check it first".to_owned() } else { known.join(", ") },
        });
    };
    let Some(accepted) = &found.accepted else {
        return Err(McpError::NotAccepted { server: server.name.clone(), tool: tool.to_owned() });
    };
    if !found.may_be_called() {
        return Err(changed(server, found));
    }
    Ok((found, accepted))
}

/// That a tool is not what was accepted.
pub(super) fn changed(server: &McpServer, tool: &McpTool) -> McpError {
    McpError::Changed {
        server: server.name.clone(),
        tool: tool.name.clone(),
        what: if tool.gone {
            "place in the server's list".to_owned()
        } else {
            super::pin::changed(tool).unwrap_or_else(|| "definition".to_owned())
        },
        diff: super::pin::diff(tool).unwrap_or_default(),
    }
}

/// Whether a skill stands for this tool.
pub(super) fn stands_for(skill: &Skill, server: &str, tool: &str) -> bool {
    matches!(&skill.spec, SkillSpec::Mcp(spec) if spec.server == server && spec.tool == tool)
}

/// Name of the skill for a tool.
pub(super) fn name_of(server: &McpServer, tool: &str) -> Option<String> {
    names(server).remove(tool)
}

/// A skill for `tool`, as it was accepted. What a person has chosen for the one before, its risk class above all,
/// stays.
pub(super) fn skill(
    server: &McpServer,
    tool: &str,
    before: Option<Skill>,
    fresh: SkillId,
    at: Timestamp,
    by: &str,
) -> Result<Skill, McpError> {
    let (_, accepted) = callable(server, tool)?;
    let name = name_of(server, tool).unwrap_or_default();
    let spec =
        SkillSpec::Mcp(McpSpec { server: server.name.clone(), tool: tool.to_owned(), hash: accepted.hash.clone() });
    if let Some(before) = before {
        if !stands_for(&before, &server.name, tool) {
            return Err(McpError::Invalid(format!(
                "another skill is called `{name}`; rename it, then attach `{tool}` again"
            )));
        }
        return Ok(Skill {
            description: accepted.description.clone(),
            parameters: accepted.parameters.clone(),
            spec,
            at,
            by: by.to_owned(),
            ..before
        });
    }
    let (risk, effect) = SkillKind::Mcp.defaults();
    Ok(Skill {
        id: fresh,
        name,
        version: 1,
        description: accepted.description.clone(),
        utterances: Vec::new(),
        parameters: accepted.parameters.clone(),
        spec,
        risk,
        effect,
        credential: None,
        compensation: None,
        limits: SkillLimits { timeout_ms: TIMEOUT_MS, ..SkillLimits::default() },
        enabled: true,
        untrusted: false,
        package: None,
        category: CATEGORY.to_owned(),
        at,
        by: by.to_owned(),
    })
}
