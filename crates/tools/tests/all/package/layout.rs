//! Folder, front matter, definitions, permissions.

use super::{files, package, refused};
use serde_json::json;
use std::collections::BTreeMap;
use steward_core::policy::RiskClass;
use steward_core::skill::{SkillKind, SkillSpec};
use steward_tools::package::{Files, PackageError, front_matter, parse_folder, undeclared, write};

fn one(main: &str) -> Files {
    BTreeMap::from([("SKILL.md".to_owned(), main.as_bytes().to_vec())])
}

fn said(main: &str) -> String {
    parse_folder("p", one(main)).expect_err("was taken").to_string()
}

#[test]
fn a_package_is_one_folder_with_its_name() {
    let top = write("p", &files("p", &[]));
    let text = |bytes: Vec<u8>| refused(&bytes);
    assert!(text(write("q", &files("p", &[]))).contains("called `q`, the package `p`"));
    assert!(text(write("p", &BTreeMap::new())).contains("empty"));
    let none = BTreeMap::from([("readme.md".to_owned(), b"x".to_vec())]);
    assert!(text(write("p", &none)).contains("has no SKILL.md"));
    let other = BTreeMap::from([("skill.md".to_owned(), b"x".to_vec())]);
    assert!(text(write("p", &other)).contains("there is `skill.md`"));
    assert!(!top.is_empty());
}

#[test]
fn the_open_format_is_understood_and_nothing_is_lost() {
    let text = "\u{feff}---\r\nname: pdf-forms\r\ndescription: |\r\n  Fills forms.\r\n  Use for PDFs.\r\nlicense: Apache-2.0\r\ncompatibility: needs poppler\r\nmetadata:\r\n  author: somebody\r\n  version: \"1.2\"\r\n  steward-network: \"a.example b.example\"\r\n  steward-scripts: \"true\"\r\nallowed-tools: read grep\r\nx-vendor: {a: [1, 2]}\r\n---\r\n\r\n# Forms\r\nDo it.\r\n";
    let (front, body) = front_matter(text).unwrap();
    assert_eq!(front.name, "pdf-forms");
    assert_eq!(front.description, "Fills forms.\nUse for PDFs.");
    assert_eq!(front.license.as_deref(), Some("Apache-2.0"));
    assert_eq!(front.compatibility.as_deref(), Some("needs poppler"));
    assert_eq!(front.version.as_deref(), Some("1.2"));
    assert_eq!(front.metadata["author"], "somebody");
    assert_eq!(front.permissions.network, ["a.example", "b.example"]);
    assert_eq!(front.permissions.tools, ["read", "grep"]);
    assert!(front.permissions.scripts);
    assert_eq!(front.other["x-vendor"], json!({"a": [1, 2]}));
    assert_eq!(body, "# Forms\nDo it.");
}

#[test]
fn what_is_wrong_with_the_front_matter_is_said() {
    for (main, why) in [
        ("# Only text", "no front matter"),
        ("", "no front matter"),
        ("---\nname: p\n", "no end"),
        ("---\n- a\n---\nx", "must be fields"),
        ("---\nname: p\n---\nx", "no `description`"),
        ("---\ndescription: d\n---\nx", "no `name`"),
        ("---\nname: 12\ndescription: d\n---\nx", "`name` must be text"),
        ("---\nname: p\ndescription: ' '\n---\nx", "`description` has 0"),
        ("---\nname: P\ndescription: d\n---\nx", "no name of a package"),
        ("---\nname: a--b\ndescription: d\n---\nx", "no name of a package"),
        ("---\nname: -a\ndescription: d\n---\nx", "no name of a package"),
        ("---\nname: ../p\ndescription: d\n---\nx", "no name of a package"),
        ("---\nname: p\ndescription: [\n---\nx", "YAML can't be read"),
        ("---\nname: p\nname: q\ndescription: d\n---\nx", "YAML can't be read"),
        ("---\nname: p\ndescription: &a d\nx: *a\n---\nx", "YAML can't be read"),
        ("---\nname: p\ndescription: d\nmetadata: 3\n---\nx", "`metadata`"),
        ("---\nname: p\ndescription: d\npermissions: {net: []}\n---\nx", "`permissions.net`"),
        ("---\nname: p\ndescription: d\npermissions: {network: a.example}\n---\nx", "are lists"),
    ] {
        let said = said(main);
        assert!(said.contains(why), "{main:?}: {said}");
    }
    for end in ["", "\n", "\n \n\n", "\r\n"] {
        let files = BTreeMap::from([("SKILL.md".to_owned(), format!("---\nname: p\ndescription: d\n---{end}").into())]);
        assert_eq!(parse_folder("p", files).unwrap().body, "", "{end:?}: the open format demands no text");
    }
    let long = format!("---\nname: p\ndescription: {}\n---\nx", "d".repeat(1025));
    assert!(said(&long).contains("1025 characters; write 1 to 1024"));
    let deep = format!("---\nname: p\ndescription: d\nx: {}1{}\n---\nx", "[".repeat(500), "]".repeat(500));
    assert!(said(&deep).contains("YAML can't be read"));
    let bytes = BTreeMap::from([("SKILL.md".to_owned(), vec![0xff, 0xfe, b'-'])]);
    assert!(parse_folder("p", bytes).unwrap_err().to_string().contains("UTF-8"));
}

#[test]
fn definitions_become_skills_with_the_safe_defaults() {
    let read = package(
        "p",
        &[
            (
                "skills/check.json",
                r#"{"name": "check_host", "type": "ssh_command", "description": "Looks.", "config": {"host": "h.example", "command": ["uptime"]}}"#,
            ),
            (
                "skills/add-up.yaml",
                "type: python_inline\ndescription: Adds.\nconfig:\n  file: scripts/add.py\nparameters:\n  type: object\n  properties: {a: {type: number}}\n",
            ),
            (
                "skills/more.yml",
                "- {name: rows, type: sql, description: Reads., config: {statement: select 1}}\n- {name: clean, type: sql, description: Deletes., config: {statement: delete from t, readonly: false}}\n",
            ),
            ("scripts/add.py", "def run(payload):\n    return payload['a']\n"),
        ],
    );
    let skill = |name: &str| read.skills.iter().find(|one| one.name == name).unwrap();
    assert_eq!(read.skills.len(), 4);
    assert_eq!(skill("check_host").kind(), SkillKind::Ssh);
    assert_eq!(skill("check_host").risk, RiskClass::Destructive);
    let SkillSpec::Python(python) = &skill("add_up").spec else {
        panic!("no python skill");
    };
    assert!(python.code.starts_with("def run"));
    assert_eq!(skill("rows").risk, RiskClass::Read);
    assert_eq!(skill("clean").risk, RiskClass::Destructive);
}

#[test]
fn definitions_that_make_no_sense_are_named() {
    for (path, text, why) in [
        ("skills/a.json", "{", "JSON can't be read"),
        ("skills/a.txt", "x", "no skill definition"),
        ("skills/a.json", "[1]", "a skill is an object"),
        ("skills/a.json", r#"{"type": "http"}"#, "`description` is missing"),
        ("skills/a.json", r#"{"description": "d"}"#, "`type` is missing"),
        ("skills/a.json", r#"{"type": "magic", "description": "d"}"#, "no type of skill"),
        ("skills/A b.json", r#"{"type": "http", "description": "d"}"#, "no name of a skill"),
        ("skills/grep.json", r#"{"type": "http", "description": "d"}"#, "built-in tool"),
        ("skills/p.json", r#"{"type": "http", "description": "d"}"#, "two skills are called `p`"),
        ("skills/a.json", r#"{"type": "http", "description": "d", "id": "1"}"#, "`id` is unknown"),
        ("skills/a.json", r#"{"type": "http", "description": "d", "config": {"uri": ""}}"#, "uri"),
        ("skills/a.json", r#"{"type": "http", "description": "d", "parameters": []}"#, "JSON Schema"),
        (
            "skills/a.json",
            r#"{"type": "http", "description": "d", "parameters": {"type": "object", "properties": {"a": {"type": "nonsense"}}}}"#,
            "`parameters`",
        ),
        (
            "skills/a.json",
            r#"{"type": "python", "description": "d", "config": {"file": "scripts/no.py"}}"#,
            "there is no `scripts/no.py`",
        ),
    ] {
        let error = parse_folder("p", files("p", &[(path, text)])).expect_err(text);
        let said = error.to_string();
        assert!(said.contains(why), "{text}: {said}");
        assert!(matches!(error, PackageError::Definition { .. }), "{said}");
    }
}

const HTTP: &str =
    r#"{"type":"http","description":"d","config":{"method":"GET","url":"https://api.a.example:8443/v1/{{id}}"}}"#;
/// What a package declares, a skill of it, and what is missing; empty: nothing.
const DECLARED: &[(&str, &str, &str)] = &[
    ("{}", HTTP, "reaches api.a.example"),
    ("{network: [a.example]}", HTTP, "reaches api.a.example"),
    ("{network: ['*.b.example']}", HTTP, "reaches api.a.example"),
    ("{network: ['*.a.example']}", HTTP, ""),
    ("{network: [API.a.example]}", HTTP, ""),
    ("{network: ['*']}", HTTP, ""),
    ("{}", r#"{"type":"http","description":"d","config":{"url":"{{url}}"}}"#, "fixed text"),
    (
        "{network: ['*']}",
        r#"{"type":"http","description":"d","config":{"url":"https://a.example","allow":["10.0.0.1:80"]}}"#,
        "private hosts",
    ),
    ("{}", r#"{"type":"scrape","description":"d"}"#, "reaches *"),
    ("{}", r#"{"type":"graphql","description":"d","config":{"url":"https://g.example/q","query":"{a}"}}"#, "g.example"),
    (
        "{scripts: true}",
        r#"{"type":"ssh","description":"d","config":{"host":"H.example","jump":"me@j.example:22","command":["ls"]}}"#,
        "reaches j.example",
    ),
    (
        "{network: [h.example]}",
        r#"{"type":"ssh","description":"d","config":{"host":"h.example","command":["ls"]}}"#,
        "scripts: true",
    ),
    ("{}", r#"{"type":"shell","description":"d","config":{"command":["ls"]}}"#, "scripts: true"),
    ("{scripts: true}", r#"{"type":"shell","description":"d","config":{"command":["ls"]}}"#, ""),
    ("{}", r#"{"type":"python","description":"d","config":{"file":"scripts/a.py"}}"#, "runs a script"),
    ("{}", r#"{"type":"python","description":"d","config":{"code":"def run(payload): return 1"}}"#, ""),
    ("{}", r#"{"type":"sql","description":"d","config":{"database":"postgres://db.example/x"}}"#, "db.example"),
    ("{}", r#"{"type":"sql","description":"d","config":{"database":"sqlite:data.db"}}"#, ""),
    ("{}", r#"{"type":"sql","description":"d","credential":{"kind":"database"}}"#, "add `database`"),
    ("{}", r#"{"type":"sql","description":"d","credential":{"name":"prod"}}"#, "credential.kind"),
    ("{credentials: [database]}", r#"{"type":"sql","description":"d","credential":{"kind":"database"}}"#, ""),
    ("{credentials: [magic]}", r#"{"type":"sql","description":"d"}"#, "no kind of credential"),
    (
        "{scripts: true}",
        r#"{"type":"ansible","description":"d","config":{"playbook":"- hosts: all","inventory":"[web]\nw1 ansible_host=w1.example\n[web:vars]\na=b","network":true}}"#,
        "w1.example",
    ),
    (
        "{scripts: true}",
        r#"{"type":"docker","description":"d","config":{"action":"run","image":"a","network":true}}"#,
        "reaches *",
    ),
    ("{}", r#"{"type":"mcp","description":"d","config":{"server":"s","tool":"t","hash":"h"}}"#, "MCP server"),
    ("{}", r#"{"type":"agent_delegation","description":"d","config":{"agent":"a"}}"#, ""),
];

#[test]
fn what_is_used_must_be_declared() {
    let check = |permissions: &str, skill: &str| {
        let main = format!("---\nname: p\ndescription: d\npermissions: {permissions}\n---\nx");
        let mut all = one(&main);
        all.insert("skills/a.json".into(), skill.as_bytes().to_vec());
        all.insert("scripts/a.py".into(), b"def run(payload): return 1".to_vec());
        undeclared(&parse_folder("p", all).unwrap()).join("; ")
    };
    for (permissions, skill, wanted) in DECLARED {
        let missing = check(permissions, skill);
        let fits = if wanted.is_empty() { missing.is_empty() } else { missing.contains(wanted) };
        assert!(fits, "{permissions} {skill}: {missing:?}");
    }
}
