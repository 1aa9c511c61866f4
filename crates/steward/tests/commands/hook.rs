use crate::commands::{both, on_terminal, with_input};
use crate::common::webhooks::{deliver, sign};
use crate::common::{Bench, Done, Server};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use steward_testkit::model_server::{Behaviour, Script};

const REQUEST: &str = "Look at {{payload.issue.title}}.";
const BODY: &str = r#"{"action": "opened", "issue": {"title": "It rains"}}"#;

fn add(bench: &Bench, name: &str, args: &[&str]) -> Done {
    bench.run(&[&["hook", "add", name], args, &[REQUEST]].concat())
}

fn shown(bench: &Bench, name: &str) -> Value {
    bench.run(&["hook", "show", name, "--json"]).exits(0).json()
}

fn names(bench: &Bench, args: &[&str]) -> Vec<String> {
    let listed = bench.run(&[&["hook", "list", "--json"], args].concat()).exits(0).json();
    listed.as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap().to_owned()).collect()
}

/// What stands behind a word at the beginning of a line.
fn fact<'o>(out: &'o str, name: &str) -> &'o str {
    let line = out.lines().find(|line| line.starts_with(name));
    line.unwrap_or_else(|| panic!("no {name}: {out}"))[name.len()..].trim()
}

#[test]
fn a_webhook_from_its_making_to_its_removal_and_back() {
    both(|bench, served| {
        bench.run(&["hook"]).exits(0).tells(&["no such webhooks", "steward hook add"]);
        let filters = ["--filter", "header:x-github-event=issues,push", "--filter", "/action=opened"];
        let made = add(bench, "issues", &[&["--signing", "github"][..], &filters].concat()).exits(0);
        let made = made.tells(&["made `issues`", "shown this once"]);
        assert_eq!(made.err.contains("steward serve"), !served, "{made:?}");
        let row = shown(bench, "issues");
        let (address, secret) = (fact(&made.out, "address"), fact(&made.out, "secret"));
        assert!(address.ends_with(row["path"].as_str().unwrap()), "{made:?}");
        assert_eq!(address.starts_with("http://127.0.0.1:"), served, "{made:?}");
        assert!(secret.len() == 64 && secret.ends_with(row["secrets"][0]["hint"].as_str().unwrap()), "{made:?}");
        assert_eq!((&row["agent"], &row["request"]), (&json!("steward"), &json!(REQUEST)));
        assert_eq!(row["filters"][0], json!({"header": "x-github-event", "one_of": ["issues", "push"]}));
        let shown_text = bench.run(&["hook", "show", "issues"]).exits(0).out;
        assert!(!shown_text.contains(secret), "{shown_text}");
        for part in [
            address,
            "nothing came yet",
            "header:x-github-event=issues,push",
            "/action=opened",
            "300 s",
            "ends in",
            "rests after 5",
            REQUEST,
        ] {
            assert!(shown_text.contains(part), "no `{part}` in {shown_text}");
        }

        let edit = ["hook", "edit", "issues", "--rename", "calls", "--pause-after", "never", "--window", "10m"];
        bench.run(&edit).exits(0).tells(&["changed `calls`"]);
        let row = shown(bench, "calls");
        assert_eq!((&row["pause_after_failures"], &row["window_seconds"]), (&Value::Null, &json!(600)));
        assert_eq!(
            (&row["request"], &row["filters"].as_array().unwrap().len()),
            (&json!(REQUEST), &2),
            "what was not said stays"
        );
        let edit = ["hook", "edit", "calls", "--filter", "none", "--event-id", "/id", "Say", "hello.", "--json"];
        let row = bench.run(&edit).exits(0).json();
        assert_eq!((&row["filters"], &row["request"]), (&json!([]), &json!("Say hello.")));
        assert_eq!((&row["event_id"], &row["signing"]), (&json!({"pointer": "/id"}), &json!({"kind": "github"})));
        let edit = ["hook", "edit", "calls", "--event-id", "none", "--signing", "token", "--header", "X-Key", "--json"];
        let row = bench.run(&edit).exits(0).json();
        assert_eq!((&row["event_id"], &row["signing"]["header"]), (&Value::Null, &json!("x-key")));

        bench.run(&["hook", "pause", "calls", "--note", "too many"]).exits(0).tells(&["hook resume calls"]);
        assert_eq!(shown(bench, "calls")["pause"]["note"], "too many");
        let listed = bench.run(&["hook", "list"]).exits(0).out;
        assert!(
            listed.contains("rests: paused by a person (too many)") && listed.contains("token in x-key"),
            "{listed}"
        );
        bench.run(&["hook", "resume", "calls"]).exits(0).tells(&["`calls` works again"]);

        bench.run(&["hook", "remove", "calls"]).exits(0).tells(&["hook restore calls"]);
        bench.run(&["hook", "show", "calls"]).exits(1).tells(&["there is no webhook `calls`"]);
        assert_eq!((names(bench, &[]), names(bench, &["--deleted"])), (vec![], vec!["calls".to_owned()]));
        bench.run(&["hook", "restore", "calls"]).exits(0).tells(&["`calls` is back"]);
        assert_eq!(names(bench, &["--mine", "--agent", "steward"]), ["calls"]);
        bench.run(&["hook", "deliveries", "calls"]).exits(0).tells(&["Nothing came yet"]);
        // The words of the API are known, too.
        bench.run(&["hook", "update", "calls", "--window-seconds", "60", "--pause-after-failures", "3"]).exits(0);
        assert_eq!(shown(bench, "calls")["window_seconds"], 60);
        bench.run(&["hook", "delete", "calls"]).exits(0);
        bench.run(&["hook", "create", "again", "--signing", "slack", "Say hello."]).exits(0);
        assert_eq!(names(bench, &[]), ["again"]);
    });
}

#[test]
fn secrets_come_from_files_and_follow_each_other() {
    both(|bench, _| {
        bench.work.write("secret.txt", "a heron stands in the reeds\n").unwrap();
        let made = add(bench, "alarms", &["--signing", "token", "--secret", "secret.txt"]).exits(0);
        assert!(!made.out.contains("heron") && made.out.contains("/hooks/"), "{made:?}");
        let piped = ["hook", "add", "piped", "--signing", "token", "--secret", "-", REQUEST];
        with_input(bench, &piped, "a wren sits in the hedge\n").exits(0);
        assert_eq!(shown(bench, "piped")["secrets"][0]["hint"], "edge");

        let added = bench
            .run(&["hook", "secret", "add", "alarms"])
            .exits(0)
            .tells(&["2 secrets now", "hook secret remove alarms"]);
        let new = fact(&added.out, "secret").to_owned();
        assert_eq!(new.len(), 64, "{added:?}");
        bench.run(&["hook", "secret", "add", "alarms", "--secret", "secret.txt"]).exits(1).tells(&["has this secret"]);
        bench.work.write("other.txt", "two herons stand in the reeds\n").unwrap();
        let json = bench.run(&["hook", "secret", "add", "alarms", "--secret", "other.txt", "--json"]).exits(0).json();
        assert_eq!(
            (&json["secret"], json["hook"]["secrets"].as_array().unwrap().len()),
            (&json!("two herons stand in the reeds"), 3)
        );
        bench
            .run(&["hook", "secret", "remove", "alarms", "nope"])
            .exits(1)
            .tells(&["no secret `nope`", "hook show alarms"]);
        let twins = bench.run(&["hook", "secret", "remove", "alarms", "eeds"]).exits(1);
        twins.tells(&["`eeds` fits 2"]);
        let hint = &new[new.len() - 4..];
        bench.run(&["hook", "secret", "remove", "alarms", hint]).exits(1).tells(&["gone for good", "-y"]);
        bench
            .run(&["hook", "secret", "remove", "alarms", hint, "-y"])
            .exits(0)
            .tells(&["removed the secret of `alarms`"]);
        let ids: Vec<Value> =
            shown(bench, "alarms")["secrets"].as_array().unwrap().iter().map(|one| one["id"].clone()).collect();
        assert_eq!(ids.len(), 2);
        let id = ids[0].as_str().unwrap();
        let kept = on_terminal(bench, &["hook", "secret", "remove", "alarms", id], &[("[y/N]", "n\n")]);
        assert!(kept.exits(4).out.contains("nothing was removed"));
        bench.run(&["hook", "secret", "remove", "alarms", id, "-y"]).exits(0);
        let last = ids[1].as_str().unwrap();
        bench
            .run(&["hook", "secret", "remove", "alarms", last, "-y"])
            .exits(1)
            .tells(&["its only secret", "add the new one first"]);

        // What was typed may be the secret itself.
        let typed = add(bench, "typed", &["--signing", "token", "--secret", "hunter2-hunter2"]).exits(1);
        assert!(!typed.err.contains("hunter2") && typed.err.contains("never stands in a command"), "{typed:?}");
        bench.work.write("empty.txt", "\n").unwrap();
        add(bench, "x", &["--signing", "token", "--secret", "empty.txt"]).exits(1).tells(&["is empty"]);
        let twice = ["hook", "add", "x", "--signing", "token", "--secret", "-", "-"];
        with_input(bench, &twice, "x").exits(1).tells(&["standard input can be read once"]);
        assert_eq!(names(bench, &[]), ["piped", "alarms"]);
    });
}

#[test]
fn what_cannot_be_is_refused_with_what_can() {
    both(|bench, _| {
        let github = ["--signing", "github"];
        for (args, expect) in [
            (vec!["--window", "5s"], ["window_seconds", "at least 10"]),
            (vec!["--pause-after", "0"], ["pause_after_failures", "at least 1"]),
            (vec!["--agent", "nobody"], ["no agent `nobody`", "steward agents"]),
            (vec!["--header", "X-Key"], ["signing", "Only the kind `token`"]),
            (vec!["--event-id", "header:authorization"], ["event_id", "holds a credential"]),
        ] {
            add(bench, "x", &[&github[..], &args].concat()).exits(1).tells(&expect);
        }
        let request = ["hook", "add", "x", "--signing", "github", "{{payload.issue[0]}}"];
        bench.run(&request).exits(1).tells(&["isn't a place in the payload", "{{payload.issue.0}}"]);
        for args in [
            vec!["--filter", "action=opened"],
            vec!["--filter", "/action!=closed"],
            vec!["--window", "soon"],
            vec!["--event-id", "id"],
            vec!["--pause-after", "often"],
        ] {
            add(bench, "x", &[&github[..], &args].concat()).exits(2);
        }
        add(bench, "x", &["--signing", "github", "--filter", "action"]).tells(&[
            "PLACE=VALUE",
            "header:NAME",
            "/action",
        ]);
        add(bench, "x", &[]).exits(2).tells(&["--signing"]);
        add(bench, "x", &["--signing", "pgp"]).exits(2).tells(&["standard", "gitlab", "token"]);
        assert!(names(bench, &[]).is_empty());

        for of_one in ["show", "pause", "resume", "deliveries", "remove", "edit"] {
            bench.run(&["hook", of_one, "nobody"]).exits(1).tells(&["no webhook `nobody`", "hook list"]);
        }
        bench.run(&["hook", "restore", "nobody"]).exits(1).tells(&["removed webhook", "list --deleted"]);
        add(bench, "twin", &github).exits(0);
        bench.run(&["hook", "edit", "twin"]).exits(1).tells(&["nothing was changed"]);
        bench
            .run(&["hook", "delivery", "twin", "3f2a"])
            .exits(1)
            .tells(&["no delivery `3f2a`", "hook deliveries twin"]);
        bench.run(&["hook", "replay", "twin", "3f2a"]).exits(1).tells(&["no delivery `3f2a`"]);
        bench.run(&["hook", "preview", "twin", "missing.json"]).exits(1).tells(&["cannot read missing.json"]);
        bench.run(&["hook", "preview", "twin", "-", "--header", "x"]).exits(2).tells(&["NAME: VALUE"]);
        add(bench, "twin", &github).exits(0);
        bench.run(&["hook", "remove", "twin"]).exits(1).tells(&["2 webhooks have the name `twin`", "give the id"]);
        let listed = bench.run(&["hook", "list", "--json"]).exits(0).json();
        let (newer, older) = (listed[0]["id"].as_str().unwrap(), listed[1]["id"].as_str().unwrap());
        bench.run(&["hook", "remove", newer]).exits(0);
        assert_eq!(shown(bench, "twin")["id"], older);
    });
}

#[test]
fn a_call_is_previewed() {
    both(|bench, _| {
        add(bench, "issues", &["--signing", "github", "--filter", "header:x-github-event=issues"]).exits(0);
        bench.work.write("call.json", BODY).unwrap();
        let seen = [
            "hook",
            "preview",
            "issues",
            "call.json",
            "--header",
            "X-GitHub-Event: issues",
            "--header",
            "X-GitHub-Delivery: d1",
        ];
        let seen = bench.run(&seen).exits(0).out;
        assert_eq!((fact(&seen, "would"), fact(&seen, "event")), ("it would start a run", "d1"));
        assert!(seen.ends_with("\nLook at It rains.\n"), "{seen}");
        let left_out = with_input(bench, &["hook", "preview", "issues", "-"], BODY).exits(0).out;
        assert!(
            fact(&left_out, "would").contains("start nothing: A filter wants the header `x-github-event`"),
            "{left_out}"
        );
        assert!(fact(&left_out, "event").contains("a repeat starts another run"), "{left_out}");
        let json = bench.run(&["hook", "preview", "issues", "call.json", "--json"]).exits(0).json();
        assert_eq!((&json["starts"], &json["event"]), (&json!(false), &Value::Null));
    });
}

/// What came, once something in it fits.
fn deliveries(bench: &Bench, name: &str, fits: impl Fn(&Value) -> bool) -> Vec<Value> {
    let begun = Instant::now();
    loop {
        let page = bench.run(&["hook", "deliveries", name, "--json"]).exits(0).json();
        let found = page["deliveries"].as_array().unwrap();
        if found.iter().any(&fits) {
            return found.clone();
        }
        assert!(begun.elapsed() < Duration::from_mins(5), "{page}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn what_came_is_seen_and_replayed() {
    let bench = Bench::new(Script::always(Behaviour::text("Hello.")));
    let server = Server::start(&bench);
    let made = add(&bench, "issues", &["--signing", "github"]).exits(0);
    let (address, secret) = (fact(&made.out, "address"), fact(&made.out, "secret"));
    let path = address.strip_prefix(&server.url).unwrap();
    let send = |event: &str, secret: &str| {
        deliver(&server, &bench, path, &sign("github", secret, event, BODY), BODY).unwrap().0
    };
    assert_eq!((send("first", secret), send("first", secret), send("first", "another secret")), (202, 200, 401));
    let found = deliveries(&bench, "issues", |one| one["outcome"] == "completed");
    let (id, run) = (found[0]["id"].as_str().unwrap(), found[0]["run_id"].as_str().unwrap());
    bench.run(&["runs", "show", run]).exits(0);
    let listed = bench.run(&["hook", "deliveries", "issues"]).exits(0).out;
    for part in [id, "started, completed  ", run, "event first, 52 bytes, came again once"] {
        assert!(listed.contains(part), "no `{part}` in {listed}");
    }
    let shown_text = bench.run(&["hook", "show", "issues"]).exits(0).out;
    assert!(fact(&shown_text, "refused").starts_with("1 since the server started"), "{shown_text}");
    assert!(fact(&shown_text, "last").contains("started, completed"), "{shown_text}");
    let content = bench.run(&["hook", "delivery", "issues", &id[id.len() - 8..]]).exits(0).out;
    assert!(content.contains("x-github-event issues") && content.contains(BODY), "{content}");
    assert!(!content.contains("x-hub-signature"), "{content}");
    assert_eq!(bench.run(&["hook", "delivery", "issues", id, "--json"]).exits(0).json()["body"], BODY);

    bench.run(&["hook", "replay", "issues", id]).exits(0).tells(&["starts a run", "hook deliveries issues"]);
    let found = deliveries(&bench, "issues", |one| one["id"] != id && one["outcome"] == "completed");
    assert_eq!(found.len(), 2);
    assert_ne!(found[0]["run_id"], found[1]["run_id"]);
    let short = bench.run(&["hook", "deliveries", "issues", "--limit", "1"]).exits(0).tells(&["higher --limit"]);
    assert_eq!(short.out.lines().count(), 2, "{short:?}");

    // Without a server it is kept, and starts with the next one.
    drop(server);
    bench.run(&["hook", "replay", "issues", id]).exits(0).tells(&["while a server runs"]);
    let waiting = bench.run(&["hook", "deliveries", "issues", "--json"]).exits(0).json();
    assert_eq!(waiting["deliveries"][0]["status"], "waiting");
    let _server = Server::start(&bench);
    deliveries(&bench, "issues", |one| one["id"] == waiting["deliveries"][0]["id"] && one["outcome"] == "completed");
}
