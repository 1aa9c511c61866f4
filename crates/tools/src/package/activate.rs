use super::error::PackageError;
use super::read::{Files, MAIN, PackageContents, REFERENCES, SKILLS};
use super::references::first_heading;
use super::{Packages, names};
use crate::skills::all_skills;
use serde_json::json;
use std::fmt::Write as _;
use steward_core::package::SkillPackage;
use steward_core::ports::SkillFilter;
use steward_core::skill::{InternalSpec, Skill, SkillKind, SkillLimits, SkillSpec};
use steward_core::{SkillId, TenantId};

/// The internal skill first; skills that this revision lacks are removed. Names are checked before any change.
pub(super) async fn activate_skills(
    packages: &Packages,
    tenant: TenantId,
    package: &SkillPackage,
    read: PackageContents,
    by: &str,
) -> Result<Vec<SkillId>, PackageError> {
    let mut wanted = vec![prompt_skill(&read, SkillId(packages.ids.next()))];
    wanted.extend(read.skills);
    for skill in &mut wanted {
        let known = packages.skills.skill_by_name(tenant, &skill.name).await?;
        skill.id = match known {
            Some(known) if known.package.as_deref() == Some(package.name.as_str()) => known.id,
            Some(_) => {
                return Err(PackageError::Taken { skill: skill.name.clone(), package: package.name.clone() });
            }
            None => SkillId(packages.ids.next()),
        };
        (packages.check)(skill)
            .map_err(|problem| PackageError::Definition { file: format!("the skill `{}`", skill.name), problem })?;
        skill.package = Some(package.name.clone());
        skill.at = packages.clock.now();
        by.clone_into(&mut skill.by);
    }
    let mut ids = Vec::new();
    for skill in &wanted {
        ids.push(packages.skills.save_skill(tenant, skill).await?.id);
    }
    remove_skills(packages, tenant, &package.name, &ids).await?;
    Ok(ids)
}

pub(super) async fn remove_skills(
    packages: &Packages,
    tenant: TenantId,
    name: &str,
    keep: &[SkillId],
) -> Result<(), PackageError> {
    let filter = SkillFilter { package: Some(name.to_owned()), ..SkillFilter::default() };
    let all = all_skills(packages.skills.as_ref(), tenant, &filter).await?;
    for skill in all.iter().filter(|skill| !keep.contains(&skill.id)) {
        packages.skills.remove_skill(tenant, skill.id).await?;
    }
    Ok(())
}

fn prompt_skill(read: &PackageContents, id: SkillId) -> Skill {
    let (risk, effect) = SkillKind::Internal.defaults();
    Skill {
        id,
        name: names::skill_of(&read.front.name),
        version: 0,
        description: read.front.description.clone(),
        utterances: Vec::new(),
        parameters: json!({"type": "object", "properties": {}}),
        spec: SkillSpec::Internal(InternalSpec {
            prompt: prompt_text(read),
            tools: names::tool_names(&read.front.permissions.tools),
        }),
        risk,
        effect,
        credential: None,
        compensation: None,
        limits: SkillLimits::default(),
        enabled: true,
        untrusted: false,
        package: None,
        category: String::new(),
        at: steward_core::Timestamp(0),
        by: String::new(),
    }
}

fn prompt_text(read: &PackageContents) -> String {
    // A package may be no more than its description and files.
    let text = if read.body.is_empty() { &read.front.description } else { &read.body };
    let mut prompt = text.clone();
    let list = listing(&read.files);
    if !list.is_empty() {
        let name = &read.front.name;
        let _ = write!(
            prompt,
            "\n\n## Reference files of {name}\nFind a passage with `reference_search`, or read a file with `reference_read`, before you answer from memory.\n{list}"
        );
    }
    prompt
}

/// Files an agent may read, with their first headings.
fn listing(files: &Files) -> String {
    let mut list = String::new();
    for (path, content) in files.iter().filter(|(path, _)| is_reference(path)) {
        let title = std::str::from_utf8(content).ok().and_then(first_heading);
        let title = title.map(|title| format!(": {title}")).unwrap_or_default();
        let _ = writeln!(list, "- {path}{title}");
    }
    list.trim_end().to_owned()
}

/// Whether it is knowledge, which is searched like other documents.
pub(super) fn is_knowledge(path: &str) -> bool {
    path.starts_with(REFERENCES)
}

/// Whether agents may read this file: all but the prompt, which they have, and the definitions.
pub(super) fn is_reference(path: &str) -> bool {
    path != MAIN && !path.starts_with(SKILLS)
}
