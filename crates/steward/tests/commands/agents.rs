use crate::commands::both;
use crate::common::Bench;
use serde_json::{Value, json};

fn shown(bench: &Bench, name: &str) -> Value {
    bench.run(&["agents", "show", name, "--json"]).exits(0).json()
}

#[test]
fn an_agent_from_its_making_to_its_removal_and_back() {
    both(|bench, _| {
        let add = [
            "agents",
            "add",
            "reporter",
            "--instructions",
            "You write short reports.",
            "--tools",
            "read,list,write",
            "--allow",
            "write",
            "--deny",
            "list",
            "--budget",
            "query",
            "--temperature",
            "0.5",
            "--plan",
            "off",
        ];
        bench.run(&add).exits(0).tells(&["made `reporter`", "--agent reporter"]);
        bench.run(&add).exits(1).tells(&["another agent has the name"]);
        let agent = shown(bench, "reporter");
        assert_eq!(agent["instructions"], "You write short reports.");
        assert_eq!(agent["tools"], json!(["read", "list", "write"]));
        assert_eq!(agent["policy"]["write"], "allow");
        assert_eq!(agent["policy"]["external"], "ask", "what was not said is as usual");
        assert_eq!(agent["policy"]["tools"], json!({"list": "deny"}));
        assert_eq!((&agent["budget"], &agent["deep"]["enabled"]), (&json!("query"), &json!(false)));

        let edit = ["agents", "edit", "reporter", "--rename", "writer", "--tools", "all", "--json"];
        let agent = bench.run(&edit).exits(0).json();
        assert_eq!((&agent["name"], &agent["tools"]), (&json!("writer"), &json!([])));
        assert_eq!(agent["policy"]["write"], "allow", "what was not said stays");

        bench.run(&["agents", "remove", "writer"]).exits(0).tells(&["restore writer"]);
        bench.run(&["agents", "show", "writer"]).exits(1).tells(&["there is no agent `writer`"]);
        let removed = bench.run(&["agents", "--removed", "--json"]).exits(0).json();
        assert_eq!(removed[0]["name"], "writer");
        bench.run(&["agents", "restore", "writer"]).exits(0).tells(&["`writer` is back"]);
        assert_eq!(shown(bench, "writer")["instructions"], "You write short reports.");
    });
}

#[test]
fn what_cannot_be_is_refused_with_what_can() {
    both(|bench, _| {
        for (args, expect) in [
            (vec!["agents", "add", "x", "--tools", "reed"], "there is no tool `reed`"),
            (vec!["agents", "add", "x", "--deny", "reed"], "there is no tool `reed`"),
            (vec!["agents", "add", "x", "--prefers", "nowhere"], "nowhere"),
            (vec!["agents", "add", "x", "--temperature", "7"], "use at most 2"),
            (vec!["agents", "add", "x", "--allow", "write", "--ask", "write"], "named twice"),
            (vec!["agents", "add", "--from", "gone.json"], "cannot read gone.json"),
            (vec!["agents", "edit", "steward"], "nothing was changed"),
            (vec!["agents", "edit", "nobody", "--tools", "all"], "there is no agent `nobody`"),
            (vec!["agents", "remove", "nobody"], "there is no agent `nobody`"),
            (vec!["agents", "restore", "nobody"], "agents --removed"),
        ] {
            bench.run(&args).exits(1).tells(&[expect]);
        }
        let agents = bench.run(&["agents", "--json"]).exits(0).json();
        assert_eq!(agents.as_array().unwrap().len(), 1, "{agents}");
    });
}

#[test]
fn a_file_in_the_published_names_makes_one() {
    both(|bench, _| {
        let body = json!({
            "name": "infra", "system_prompt": "You keep servers.",
            "llm_routing": {"fallback_chain": [], "cost_aware": true, "max_fallback_attempts": 2},
            "config": {"deep_planning_enabled": true, "deep_planning_max_steps": 4, "deep_planning_style": "concise"},
        });
        bench.work.write("infra.json", body.to_string()).unwrap();
        bench.run(&["agents", "add", "--from", "infra.json"]).exits(0);
        let agent = shown(bench, "infra");
        assert_eq!(agent["instructions"], "You keep servers.");
        assert_eq!(agent["routing"]["cost_aware"], true);
        assert_eq!(agent["deep"], json!({"enabled": true, "max_steps": 4, "style": "concise"}));
        // The body of the reference, word for word.
        let skill = json!({
            "name": "summarise_ticket", "type": "python_inline",
            "description": "Summarise a Jira ticket payload",
            "code": "def run(payload):\n return {\"summary\": payload[\"description\"][:280]}\n",
            "sandbox": true
        });
        bench.work.write("skill.json", skill.to_string()).unwrap();
        let create = ["skill", "create", "skill.json", "--agent", "infra", "--json"];
        let made = bench.run(&create).exits(0).json();
        assert_eq!(made[0]["version"], 1, "{made}");
        let again = bench.run(&create).exits(0).json();
        assert_eq!(again[0]["version"], 1, "the same again is the same: {again}");
        let test = [
            "skill",
            "test",
            "summarise_ticket",
            "--run",
            "--json",
            "--arguments",
            r#"{"description": "The printer is on fire.", "id": 7}"#,
        ];
        let done = bench.run(&test).exits(0).json();
        assert_eq!(done["data"], json!({"summary": "The printer is on fire."}), "{done}");
    });
}
