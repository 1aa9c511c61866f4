use crate::commands::both;
use crate::common::{Bench, Done};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt as _;

fn averages() -> Value {
    json!({
        "name": "averages", "type": "python", "description": "Mean of numbers.",
        "config": {"code": "import statistics\n\ndef run(payload):\n    return {'mean': statistics.mean(payload['values'])}\n"},
        "parameters": {"type": "object", "required": ["values"], "additionalProperties": false,
            "properties": {"values": {"type": "array", "items": {"type": "number"}}}},
    })
}

fn keep(bench: &Bench, name: &str, skill: &Value) {
    bench.work.write(name, skill.to_string()).unwrap();
}

fn has(bench: &Bench, agent: &str) -> Vec<Value> {
    let list = ["skill", "list", "--agent", agent, "--json"];
    let rows = bench.run(&list).exits(0).json();
    rows.as_array().unwrap().clone()
}

fn names(done: &Done) -> Vec<String> {
    let rows = done.json();
    let rows = rows.as_array().unwrap().iter();
    rows.map(|row| row["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_skill_from_a_file_to_its_end() {
    both(|bench, _| {
        assert_eq!(bench.run(&["skill", "--json"]).exits(0).json(), json!([]));
        bench.run(&["skill"]).exits(0).tells(&["skill create"]);
        keep(bench, "averages.json", &averages());
        let create = ["skill", "create", "averages.json"];
        bench.run(&create).exits(0).tells(&["version 1"]);
        bench.run(&create).exits(1).tells(&["there is a skill"]);
        let mut changed = averages();
        changed["description"] = json!("Arithmetic mean.");
        keep(bench, "averages.json", &changed);
        let upsert = ["skill", "create", "averages.json", "--upsert", "--json"];
        let done = bench.run(&upsert).exits(0).json();
        assert_eq!(done[0]["version"], 2, "{done}");
        assert_eq!(names(&bench.run(&["skill", "list", "--json"])), ["averages"]);
        let none = ["skill", "list", "--type", "ssh", "--json"];
        assert_eq!(bench.run(&none).exits(0).json(), json!([]));

        bench.run(&["skill", "attach", "averages"]).exits(0);
        assert_eq!(has(bench, "steward").len(), 1);
        let shown = bench.run(&["skill", "show", "averages"]).exits(0);
        for part in ["Arithmetic mean.", "version 2", "agents       steward", "values"] {
            assert!(shown.out.contains(part), "no `{part}` in {shown:#?}");
        }
        let id = done[0]["id"].as_str().unwrap();
        let by_id = bench.run(&["skill", "show", &id[20..], "--json"]).exits(0);
        assert_eq!(by_id.json()["name"], "averages");
        bench.run(&["skill", "rollback", "averages", "1"]).exits(0).tells(&["version 3"]);
        let versions = ["skill", "show", "averages", "--versions", "--json"];
        assert_eq!(bench.run(&versions).exits(0).json().as_array().unwrap().len(), 3);

        bench.run(&["skill", "detach", "averages"]).exits(0);
        assert!(has(bench, "steward").is_empty());
        bench.run(&["skill", "remove", "averages"]).exits(0);
        bench.run(&["skill", "show", "averages"]).exits(1).tells(&["steward skill list"]);
        bench.run(&["skill", "attach", "averages", "nobody"]).exits(1);
    });
}

#[test]
fn a_skill_is_tried_and_asked_about_first() {
    both(|bench, _| {
        // The program may run as another user.
        let everybody = std::fs::Permissions::from_mode(0o777);
        std::fs::set_permissions(bench.work.path(), everybody).unwrap();
        let shell = json!({"name": "mark", "type": "shell", "description": "Leaves a mark.",
            "config": {"command": ["touch", "mark"], "writes": true}});
        keep(bench, "both.json", &json!([averages(), shell]));
        let create = ["skill", "create", "both.json", "--agent", "steward"];
        bench.run(&create).exits(0).tells(&["`averages`", "`mark`", "steward has it"]);
        assert_eq!(has(bench, "steward").len(), 2);
        let arguments = r#"{"values": [1, 2, 6]}"#;
        let dry = ["skill", "test", "averages", "--arguments", arguments];
        assert!(!bench.run(&dry).exits(0).out.contains("mean\":"), "it only looks");
        let run = ["skill", "test", "averages", "--arguments", arguments, "--run", "--json"];
        let told = bench.run(&run).exits(0).json();
        assert_eq!(told["data"], json!({"mean": 3}), "{told}");
        let wrong = ["skill", "test", "averages", "--arguments", "{}", "--run"];
        bench.run(&wrong).exits(1).tells(&["values"]);
        let broken = ["skill", "test", "averages", "--arguments", "{values}"];
        bench.run(&broken).exits(1).tells(&["no JSON"]);

        let mark = ["skill", "test", "mark", "--run"];
        bench.run(&mark).exits(1).tells(&["changes something", "-y"]);
        assert!(bench.work.read("mark").is_err());
        let yes = ["skill", "test", "mark", "--run", "-y"];
        let done = bench.run(&yes);
        assert_eq!(done.code, Some(0), "{done:#?}");
        assert_eq!(bench.work.read("mark").unwrap(), "");
    });
}

#[test]
fn what_is_no_skill_is_refused_with_the_way_out() {
    both(|bench, _| {
        for (content, part) in [
            ("{", "no JSON"),
            ("[]", "holds no skill"),
            (r#"{"type": "sql"}"#, "holds no skill"),
            (r#"{"name": "x", "type": "telepathy", "description": "x", "config": {}}"#, "telepathy"),
        ] {
            bench.work.write("bad.json", content).unwrap();
            bench.run(&["skill", "create", "bad.json"]).exits(1).tells(&[part]);
        }
        bench.run(&["skill", "create", "gone.json"]).exits(1).tells(&["cannot read gone.json"]);
        bench.run(&["skill", "fetch"]).exits(2);
    });
}

#[test]
fn a_package_comes_in_is_accepted_and_goes_out_again() {
    both(|bench, _| {
        let ready = bench.run(&["skill", "packages", "--ready", "--json"]).exits(0).json();
        assert_eq!(ready.as_array().unwrap().len(), 4, "{ready}");
        let import = ["skill", "import", "--ready", "legal-agent"];
        let taken = bench.run(&import).exits(0);
        assert!(taken.out.contains("quarantined"), "{taken:#?}");
        let taken = taken.tells(&["steward skill accept legal-agent"]);
        let hash = taken.out.lines().find_map(|line| line.strip_prefix("hash "));
        let hash = hash.unwrap().trim().to_owned();
        assert!(has(bench, "steward").is_empty(), "nothing of it is used");
        for short in ["", &hash[..7], "0000000000"] {
            let accept = ["skill", "accept", "legal-agent", short];
            bench.run(&accept).exits(1).tells(&["steward skill packages legal-agent"]);
        }
        let accept = ["skill", "accept", "legal-agent", &hash[..12], "--agent", "steward"];
        let active = bench.run(&accept).exits(0);
        assert!(active.out.contains("active"), "{active:#?}");
        assert!(!has(bench, "steward").is_empty());

        let export = ["skill", "export", "legal-agent"];
        bench.run(&export).exits(0).tells(&["legal-agent.skill"]);
        bench.run(&export).exits(1).tells(&["--force"]);
        let again = bench.run(&["skill", "import", "legal-agent.skill", "--json"]).exits(0);
        assert_eq!(again.json()["revision"], 1, "the same content makes no new revision");
        bench.work.write("no.skill", "no archive").unwrap();
        bench.run(&["skill", "import", "no.skill"]).exits(1).tells(&["archive"]);
        bench.run(&["skill", "remove", "legal-agent", "--package"]).exits(0);
        assert!(has(bench, "steward").is_empty());
        let packages = bench.run(&["skill", "packages", "--json"]).exits(0).json();
        assert_eq!(packages[0]["state"], "removed", "{packages}");
        let none = ["skill", "remove", "nothing", "--package"];
        bench.run(&none).exits(1).tells(&["no package `nothing`"]);
    });
}

#[test]
fn host_keys_are_listed_and_forgotten() {
    both(|bench, _| {
        let print = format!("SHA256:{}", "a".repeat(43));
        let trust = ["skill", "trust-host", "web1.example.org:2222", &print];
        bench.run(&trust).exits(0).tells(&["is trusted with"]);
        let rows = bench.run(&["skill", "hosts", "--json"]).exits(0).json();
        let row = json!({"host": "web1.example.org", "port": 2222, "fingerprint": print});
        assert_eq!(rows, json!([row]));
        let forget = ["skill", "forget-host", "web1.example.org:2222"];
        bench.run(&forget).exits(0);
        bench.run(&forget).exits(1).tells(&["steward skill hosts"]);
    });
}
