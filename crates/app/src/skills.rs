mod reach;
mod trial;

use crate::app::{Action, App, AppError, AppResult, Caller, Resource, authorize};
use crate::authorize::readable_page;
use crate::dto::skills::{SkillInput, SshHost, SshHostInput};
use crate::inputs::is_line;
use std::sync::Arc;
use steward_core::ports::{Agents as _, SkillFilter, Skills as _, StoreError};
use steward_core::skill::Skill;
use steward_core::{AgentId, SkillId, ports};
use steward_tools::skills::{FileHostKeys, HostKeysError, SshAddress};

/// Longest description, characters.
const MAX_DESCRIPTION: usize = 4000;
const MAX_UTTERANCES: usize = 50;
/// Longest category, characters.
const MAX_CATEGORY: usize = 64;
const SSH: u16 = 22;

impl App {
    pub async fn skills(
        &self,
        caller: &Caller,
        filter: SkillFilter,
        after: Option<&str>,
        limit: u32,
    ) -> AppResult<ports::Page<Skill>> {
        authorize(caller, Action::Read, Resource::Skills)?;
        if let Some(agent) = filter.agent {
            let known = self.store.agent(self.tenant(), agent).await;
            if matches!(known, Err(StoreError::NotFound(_))) {
                return Err(AppError::invalid("agent", format!("there is no agent {agent}"), "see GET /api/agents"));
            }
        }
        let filter = &filter;
        readable_page(
            caller,
            after,
            limit,
            of,
            |skill| skill.name.as_str(),
            |after| async move {
                self.store.skills(self.tenant(), filter, after.as_deref(), limit).await.map_err(AppError::from)
            },
        )
        .await
    }

    pub async fn skill(&self, caller: &Caller, id: SkillId) -> AppResult<(Skill, Vec<AgentId>)> {
        authorize(caller, Action::Read, Resource::Skills)?;
        let tenant = self.tenant();
        let skill = self.store.skill(tenant, id).await?;
        authorize(caller, Action::Read, of(&skill))?;
        let agents = self.store.agents_with(tenant, id).await?;
        Ok((skill, agents))
    }

    /// With `upsert` one of this name becomes its next version, unless it is the same. Also returns whether it is new.
    pub async fn create_skill(&self, caller: &Caller, input: SkillInput, upsert: bool) -> AppResult<(Skill, bool)> {
        authorize(caller, Action::Write, Resource::Skills)?;
        let there = self.store.skill_by_name(self.tenant(), &input.name).await?;
        if let Some(there) = there.as_ref().filter(|_| !upsert) {
            return Err(AppError::conflict(
                "skill_exists",
                format!("there is a skill `{}`", there.name),
                "choose another name, or send it with ?upsert=true to change that one",
            ));
        }
        let skill = self.to_skill(caller, there.as_ref(), input).await?;
        self.check_skill(&skill).await?;
        if there.is_none() {
            // Given first: without it its author could not change it again.
            self.prepare_new_resource(caller, skill.id.into()).await?;
        }
        Ok((self.store.save_skill(self.tenant(), &skill).await?, there.is_none()))
    }

    /// The next version of a skill. Runs at work keep the version they began with.
    pub async fn replace_skill(&self, caller: &Caller, id: SkillId, input: SkillInput) -> AppResult<Skill> {
        let tenant = self.tenant();
        authorize(caller, Action::Write, Resource::Skills)?;
        let before = self.store.skill(tenant, id).await?;
        let mut skill = self.to_skill(caller, Some(&before), input).await?;
        skill.package = before.package;
        self.check_skill(&skill).await?;
        Ok(self.store.save_skill(tenant, &skill).await?)
    }

    /// Takes it from all agents, too; its versions stay readable for the runs that used it.
    pub async fn remove_skill(&self, caller: &Caller, id: SkillId) -> AppResult<()> {
        let tenant = self.tenant();
        authorize(caller, Action::Write, Resource::Skills)?;
        let skill = self.store.skill(tenant, id).await?;
        self.may_change_skill(caller, Some(&skill), &skill).await?;
        let agents = self.store.agents_with(tenant, id).await?;
        for agent in agents.iter().filter(|_| skill.package.is_some()) {
            let before = self.live_agent(*agent).await?.skills;
            let after: Vec<SkillId> = before.iter().copied().filter(|one| *one != id).collect();
            self.follow_skills(*agent, &before, &after).await?;
        }
        Ok(self.store.remove_skill(tenant, id).await?)
    }

    /// All versions of a skill, the latest first; those of a removed one too.
    pub async fn skill_versions(&self, caller: &Caller, id: SkillId) -> AppResult<Vec<Skill>> {
        authorize(caller, Action::Read, Resource::Skills)?;
        let all = self.store.skill_versions(self.tenant(), id).await?;
        let Some(latest) = all.first() else {
            return Err(AppError::not_found(format!("skill {id}")));
        };
        authorize(caller, Action::Read, of(latest))?;
        Ok(all)
    }

    pub async fn roll_back_skill(&self, caller: &Caller, id: SkillId, version: u32) -> AppResult<Skill> {
        authorize(caller, Action::Write, Resource::Skills)?;
        let now = self.store.skill(self.tenant(), id).await?;
        let mut skill = self.store.skill_version(self.tenant(), id, version).await?;
        self.may_change_skill(caller, Some(&now), &skill).await?;
        skill.at = self.now();
        skill.by = caller.by();
        self.check_skill(&skill).await?;
        Ok(self.store.save_skill(self.tenant(), &skill).await?)
    }

    /// Servers whose host key was accepted, by name.
    pub async fn ssh_hosts(&self, caller: &Caller) -> AppResult<Vec<SshHost>> {
        authorize(caller, Action::Read, Resource::SshHosts)?;
        let all = self.on_host_keys(FileHostKeys::all).await?;
        let hosts = all.into_iter();
        Ok(hosts.map(|(at, fingerprint)| SshHost { host: at.host, port: at.port, fingerprint }).collect())
    }

    /// Accepts the host key of a server, in place of the one before.
    pub async fn trust_ssh_host(&self, caller: &Caller, input: SshHostInput) -> AppResult<SshHost> {
        authorize(caller, Action::Write, Resource::SshHosts)?;
        let place = SshAddress::new(input.host.trim(), input.port.unwrap_or(SSH))?;
        let before = self.host_keys.accept(&place, &input.fingerprint).await?;
        tracing::info!(%place, fingerprint = input.fingerprint, ?before, by = caller.by(), "a host key was accepted");
        Ok(SshHost { host: place.host, port: place.port, fingerprint: input.fingerprint })
    }

    /// Accepts no key of a server any more: ssh skills don't reach it until one is accepted anew.
    pub async fn forget_ssh_host(&self, caller: &Caller, host: &str, port: Option<u16>) -> AppResult<()> {
        authorize(caller, Action::Write, Resource::SshHosts)?;
        let unknown = || AppError::not_found(format!("host key of {host}"));
        // What is no host has no key.
        let place = SshAddress::new(host, port.unwrap_or(SSH)).map_err(|_| unknown())?;
        let wanted = place.clone();
        let before = self.on_host_keys(move |keys| keys.forget(&wanted)).await?;
        let before = before.ok_or_else(unknown)?;
        tracing::info!(%place, before, by = caller.by(), "a host key was forgotten");
        Ok(())
    }

    async fn on_host_keys<T: Send + 'static>(
        &self,
        work: impl FnOnce(&FileHostKeys) -> Result<T, HostKeysError> + Send + 'static,
    ) -> AppResult<T> {
        let keys = Arc::clone(&self.host_keys);
        let done = tokio::task::spawn_blocking(move || work(&keys)).await;
        Ok(done.map_err(|error| AppError::unavailable(error.to_string()))??)
    }

    /// The skill that the input describes, the next version of `before`, where the caller may make it.
    pub(crate) async fn to_skill(
        &self,
        caller: &Caller,
        before: Option<&Skill>,
        input: SkillInput,
    ) -> AppResult<Skill> {
        let id = before.map_or_else(|| SkillId(self.new_id()), |before| before.id);
        let skill = input.skill(id, self.now(), caller.by()).map_err(|(field, why)| match field {
            "config" => AppError::of_body(field, &why),
            _ => AppError::invalid(field, why, "see GET /api/skills/kinds for what each type takes"),
        })?;
        self.may_change_skill(caller, before, &skill).await?;
        Ok(skill)
    }

    /// Refuses a skill that can't be, naming the field. What carries skills out checks their form and their config.
    pub(crate) async fn check_skill(&self, skill: &Skill) -> AppResult<()> {
        let length = skill.description.chars().count();
        if length == 0 || length > MAX_DESCRIPTION {
            return Err(AppError::invalid(
                "description",
                format!("a description has 1 to {MAX_DESCRIPTION} characters"),
                "say in a sentence or two what it does and when to use it",
            ));
        }
        if !skill.category.is_empty() && !is_line(&skill.category, MAX_CATEGORY) {
            return Err(AppError::invalid(
                "category",
                format!("a category has at most {MAX_CATEGORY} characters on one line"),
                "choose a word or two, or leave it empty",
            ));
        }
        if skill.utterances.len() > MAX_UTTERANCES {
            return Err(AppError::invalid(
                "utterances",
                format!("more than {MAX_UTTERANCES} utterances"),
                "keep the most different ones",
            ));
        }
        if let Some(back) = &skill.compensation {
            let deps = self.deps();
            if self.store.skill_by_name(deps.tenant, &back.skill).await?.is_none() {
                return Err(AppError::invalid(
                    "compensation.skill",
                    format!("there is no skill `{}`", back.skill),
                    "make it first",
                ));
            }
        }
        self.deps().tools.check_skill(skill).map_err(|why| refused_skill(&why))
    }
}

pub(crate) fn of(skill: &Skill) -> Resource<'_> {
    Resource::Skill { id: skill.id, name: &skill.name }
}

/// What carries skills out says `field: what is wrong`, or what is wrong with the config.
fn refused_skill(why: &str) -> AppError {
    const FIELDS: [&str; 7] = [
        "name",
        "description",
        "parameters",
        "limits.timeout_ms",
        "limits.result_chars",
        "compensation.skill",
        "compensation.arguments",
    ];
    match why.split_once(": ") {
        Some((field, what)) if FIELDS.contains(&field) => {
            AppError::invalid(field, what, "correct this field; GET /api/skills/kinds has a whole skill of each type")
        }
        _ => AppError::invalid("config", why, "correct the skill's config"),
    }
}
