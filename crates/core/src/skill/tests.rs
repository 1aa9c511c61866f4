#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use super::{Skill, SkillKind, SkillLimits, SkillSpec};
use crate::credential::CredentialKind;
use crate::policy::RiskClass;
use crate::tool::EffectClass;
use serde_json::{Value, json};

const ALIASES: [(&str, SkillKind); 6] = [
    ("python_inline", SkillKind::Python),
    ("http_call", SkillKind::Http),
    ("shell_exec", SkillKind::Shell),
    ("ssh_command", SkillKind::Ssh),
    ("sql_query", SkillKind::Sql),
    ("scrapling", SkillKind::Scrape),
];

/// The least that configures a kind.
fn config(kind: SkillKind) -> Value {
    match kind {
        SkillKind::Internal => json!({"prompt": "Be exact."}),
        SkillKind::Ssh => json!({"host": "web-1", "command": ["uptime"]}),
        SkillKind::Http => json!({"method": "GET", "url": "https://example.org/{{id}}"}),
        SkillKind::Graphql => json!({"url": "https://example.org/", "query": "{ me }"}),
        SkillKind::Python => json!({"code": "def run(payload):\n    return 1"}),
        SkillKind::Sql => json!({"statement": "select {{id}}"}),
        SkillKind::Shell => json!({"command": ["ls"]}),
        SkillKind::Ansible => json!({"playbook": "- hosts: all", "inventory": "localhost"}),
        SkillKind::Docker => json!({"action": "logs", "container": "{{name}}"}),
        SkillKind::Scrape => json!({}),
        SkillKind::Huggingface => json!({"model": "facebook/bart-large-mnli"}),
        SkillKind::AgentDelegation => json!({"agent": "zoe"}),
        SkillKind::Mcp => json!({"server": "git", "tool": "log", "hash": "00"}),
    }
}

fn skill(kind: &str, config: &Value) -> Value {
    json!({
        "id": "00000000-0000-0000-0000-000000000001",
        "name": "one",
        "version": 1,
        "description": "d",
        "parameters": {"type": "object"},
        "type": kind,
        "config": config,
        "risk": "read",
        "effect": "read",
        "at": 5,
    })
}

#[test]
fn kinds_are_read_by_their_names_and_aliases() {
    for kind in SkillKind::ALL {
        assert_eq!(kind.as_str().parse(), Ok(kind));
        assert_eq!(serde_json::to_value(kind).unwrap(), kind.as_str());
    }
    for (alias, kind) in ALIASES {
        assert_eq!(alias.parse(), Ok(kind));
        assert_eq!(format!(" {}\n", alias.to_uppercase()).parse(), Ok(kind));
        assert_eq!(serde_json::to_value(kind).unwrap(), kind.as_str());
    }
    for wrong in ["", "http call", "perl", "pythoninline"] {
        let error = wrong.parse::<SkillKind>().unwrap_err();
        assert!(error.contains(&format!("`{wrong}`")), "{error}");
        for kind in SkillKind::ALL {
            assert!(error.contains(kind.as_str()), "{error}");
        }
    }
}

#[test]
fn every_kind_is_configured_under_its_names() {
    let aliases = ALIASES.iter().map(|(alias, kind)| (*alias, *kind));
    let names = SkillKind::ALL.map(|kind| (kind.as_str(), kind));
    for (name, kind) in names.into_iter().chain(aliases) {
        let read: SkillSpec = serde_json::from_value(json!({"type": name, "config": config(kind)})).unwrap();
        assert_eq!(read.kind(), kind);
        let written = serde_json::to_value(&read).unwrap();
        assert_eq!(written["type"], kind.as_str(), "aliases are read, not written");
        assert_eq!(serde_json::from_value::<SkillSpec>(written).unwrap(), read);
        // The same inside a skill, also from text, as the store has it.
        let whole = skill(name, &config(kind)).to_string();
        let whole: Skill = serde_json::from_str(&whole).unwrap();
        assert_eq!(whole.spec, read, "{name}");
        let again = serde_json::to_string(&whole).unwrap();
        assert_eq!(serde_json::from_str::<Skill>(&again).unwrap(), whole);
        assert_eq!(whole.kind(), kind);
        assert!(whole.enabled && whole.limits == SkillLimits::default());
    }
}

#[test]
fn what_is_left_out_is_the_safe_side() {
    let spec = |kind: &str, config: Value| -> SkillSpec {
        serde_json::from_value(json!({"type": kind, "config": config})).unwrap()
    };
    let SkillSpec::Sql(sql) = spec("sql", json!({})) else {
        panic!("sql");
    };
    assert!(sql.readonly);
    let SkillSpec::Ssh(ssh) = spec("ssh_command", config(SkillKind::Ssh)) else {
        panic!("ssh");
    };
    assert_eq!((ssh.port, ssh.sudo, ssh.success), (22, false, vec![0]));
    let SkillSpec::Internal(internal) = spec("internal", json!({"system_prompt": "p"})) else {
        panic!("internal");
    };
    assert_eq!(internal.prompt, "p");
    for kind in SkillKind::ALL {
        let (risk, effect) = kind.defaults();
        let runs = matches!(kind, SkillKind::Ssh | SkillKind::Shell | SkillKind::Ansible | SkillKind::Docker);
        assert_eq!(risk == RiskClass::Destructive, runs, "{kind:?}");
        assert!(!runs || effect == EffectClass::Write);
    }
    assert!(SkillKind::Sql.credentials().contains(&CredentialKind::Database));
}

#[test]
fn fields_that_are_not_known_are_refused() {
    for kind in SkillKind::ALL {
        let mut config = config(kind);
        config["nonsense"] = json!(1);
        let refused = serde_json::from_value::<SkillSpec>(json!({"type": kind.as_str(), "config": config}));
        let error = refused.unwrap_err().to_string();
        assert!(error.contains("nonsense"), "{kind:?}: {error}");
    }
}

#[test]
fn a_skill_is_a_tool_unless_it_is_a_prompt_or_off() {
    let read = |kind: SkillKind| -> Skill { serde_json::from_value(skill(kind.as_str(), &config(kind))).unwrap() };
    let tool = read(SkillKind::AgentDelegation).tool().unwrap();
    let of = tool.skill.unwrap();
    assert_eq!((of.version, of.kind), (1, SkillKind::AgentDelegation));
    assert_eq!(of.agent.as_deref(), Some("zoe"));
    assert_eq!(tool.result_limit, SkillLimits::default().result_chars);
    assert_eq!(read(SkillKind::Internal).tool(), None);
    let off = Skill { enabled: false, ..read(SkillKind::Http) };
    assert_eq!(off.tool(), None);
}
