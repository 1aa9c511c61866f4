//! Which changes of a skill are a developer's own, and which give it a reach that is an operator's to give.

use crate::app::{Action, App, AppResult, Caller, Resource, authorize};
use crate::authorize::SkillReach;
use crate::skills::of;
use steward_access::LOCAL_USER;
use steward_core::policy::RiskClass;
use steward_core::ports::Users as _;
use steward_core::skill::{HttpSpec, Skill, SkillKind, SkillSpec, SqlSpec};

impl App {
    /// `before` is the skill as it is; the same as `after` where it is removed.
    pub(crate) async fn may_change_skill(
        &self,
        caller: &Caller,
        before: Option<&Skill>,
        after: &Skill,
    ) -> AppResult<()> {
        if let Some(before) = before {
            authorize(caller, Action::Write, of(before))?;
        }
        if !after.spec.private_hosts().is_empty() || after.spec.leaves_sandbox() {
            authorize(caller, Action::Write, Resource::SkillChange { reach: SkillReach::PrivateHosts })?;
        }
        if after.spec.reads_host_files() && !self.is_local_user(caller).await? {
            authorize(caller, Action::Administer, Resource::ServerPaths)?;
        }
        let mut reach = skill_reach(before, after);
        if let Some(before) = before.filter(|_| reach == SkillReach::Own)
            && !self.store.agents_with(self.tenant(), before.id).await?.is_empty()
        {
            reach = SkillReach::InUse;
        }
        authorize(caller, Action::Write, Resource::SkillChange { reach })
    }

    /// Whoever works with the machine's own key has read it from the data folder, so the files there are open to them.
    async fn is_local_user(&self, caller: &Caller) -> AppResult<bool> {
        let user = self.store.user(self.tenant(), caller.user()).await?;
        Ok(user.is_some_and(|user| user.email == LOCAL_USER))
    }
}

fn skill_reach(before: Option<&Skill>, after: &Skill) -> SkillReach {
    let both = || before.into_iter().chain([after]);
    if both().any(|skill| reaches_servers(skill.kind())) {
        SkillReach::Servers
    } else if both().any(|skill| skill.credential.is_some()) {
        SkillReach::Credential
    } else if both().any(|skill| !skill.spec.private_hosts().is_empty()) {
        SkillReach::PrivateHosts
    } else if is_judged_milder(before, after) {
        SkillReach::LowerRisk
    } else {
        SkillReach::Own
    }
}

fn reaches_servers(kind: SkillKind) -> bool {
    matches!(kind, SkillKind::Ssh | SkillKind::Shell | SkillKind::Ansible | SkillKind::Docker | SkillKind::Mcp)
}

/// Whether fewer of its calls would need a person than before, or than what it does calls for.
fn is_judged_milder(before: Option<&Skill>, after: &Skill) -> bool {
    let milder = |before: &Skill| after.risk < before.risk || (before.untrusted && !after.untrusted);
    let sends = match &after.spec {
        SkillSpec::Http(HttpSpec { method, .. }) => {
            !["", "GET", "HEAD"].iter().any(|safe| method.eq_ignore_ascii_case(safe))
        }
        _ => false,
    };
    // Whether strangers write into a database is its owner's to say.
    let trusts = matches!(&after.spec, SkillSpec::Sql(SqlSpec { trusted: true, .. }));
    before.is_some_and(milder) || trusts || (sends && after.risk < RiskClass::External)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::skill_reach;
    use crate::authorize::SkillReach;
    use serde_json::{Value, json};
    use steward_core::skill::Skill;

    fn skill(kind: &str, config: &Value, risk: &str, change: &Value) -> Skill {
        let mut skill = json!({
            "id": "00000000-0000-0000-0000-000000000001", "name": "s", "version": 1, "description": "d",
            "parameters": {"type": "object"}, "type": kind, "config": config, "risk": risk, "effect": "read", "at": 0,
        });
        skill.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        serde_json::from_value(skill).unwrap()
    }

    fn http(method: &str, risk: &str, change: &Value) -> Skill {
        skill("http", &json!({"method": method, "url": "https://example.org/x"}), risk, change)
    }

    #[test]
    fn a_skill_reaches_further_by_what_it_names_and_by_what_is_taken_from_it() {
        use SkillReach as R;
        let get = || http("GET", "read", &json!({}));
        let post = || http("POST", "external", &json!({}));
        let allowed =
            || skill("http", &json!({"url": "http://10.0.0.1/x", "allow": ["10.0.0.1:80"]}), "read", &json!({}));
        let keyed = || http("GET", "read", &json!({"credential": {"kind": "token"}}));
        let python = |risk: &str| skill("python", &json!({"code": "def run(p): return 1"}), risk, &json!({}));
        for (name, before, after, expect) in vec![
            ("a read of the web", None, get(), R::Own),
            ("a post, as external", None, post(), R::Own),
            ("a post that calls itself a read", None, http("POST", "read", &json!({})), R::LowerRisk),
            ("a post that calls itself a write", None, http("post", "write", &json!({})), R::LowerRisk),
            ("rows", None, skill("sql", &json!({"database": "sqlite:a.db"}), "read", &json!({})), R::Own),
            (
                "trust in rows",
                None,
                skill("sql", &json!({"database": "sqlite:a.db", "trusted": true}), "read", &json!({})),
                R::LowerRisk,
            ),
            ("python", None, python("read"), R::Own),
            ("a shell", None, skill("shell", &json!({"command": ["id"]}), "destructive", &json!({})), R::Servers),
            ("a credential", None, keyed(), R::Credential),
            (
                "an optional credential",
                None,
                http("GET", "read", &json!({"credential": {"optional": true}})),
                R::Credential,
            ),
            ("a private host", None, allowed(), R::PrivateHosts),
            ("no change", Some(get()), get(), R::Own),
            ("a higher risk", Some(python("read")), python("write"), R::Own),
            ("a lower risk", Some(python("write")), python("read"), R::LowerRisk),
            ("trust", Some(http("GET", "read", &json!({"untrusted": true}))), get(), R::LowerRisk),
            ("mistrust", Some(get()), http("GET", "read", &json!({"untrusted": true})), R::Own),
            (
                "python in place of a shell",
                Some(skill("shell", &json!({"command": ["id"]}), "read", &json!({}))),
                python("read"),
                R::Servers,
            ),
            ("one that had a credential", Some(keyed()), get(), R::Credential),
            ("one that reached a private host", Some(allowed()), get(), R::PrivateHosts),
        ] {
            assert_eq!(skill_reach(before.as_ref(), &after), expect, "{name}");
        }
    }
}
