use crate::commands::{both, on_terminal, with_input};
use crate::common::receiver::Receiver;
use crate::common::{Bench, Done, Server, change_database};
use reqwest::Method;
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use steward_testkit::model_server::{Behaviour, Script};

const ADDRESS: &str = "https://hooks.example.org/services/T0/B0/heron";

/// Made with the address in a file.
fn add(bench: &Bench, name: &str, args: &[&str]) -> Done {
    bench.work.write("address.txt", format!("{ADDRESS}\n")).unwrap();
    bench.run(&[&["subscription", "add", name, "--address", "address.txt"], args].concat())
}

fn shown(bench: &Bench, name: &str) -> Value {
    bench.run(&["subscription", "show", name, "--json"]).exits(0).json()
}

fn names(bench: &Bench, args: &[&str]) -> Vec<String> {
    let listed = bench.run(&[&["subscription", "list", "--json"], args].concat()).exits(0).json();
    listed.as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap().to_owned()).collect()
}

/// What stands behind a word at the beginning of a line.
fn fact<'o>(out: &'o str, name: &str) -> &'o str {
    let line = out.lines().find(|line| line.starts_with(name));
    line.unwrap_or_else(|| panic!("no {name}: {out}"))[name.len()..].trim()
}

#[test]
fn a_subscription_from_its_making_to_its_removal_and_back() {
    both(|bench, served| {
        bench.run(&["subscription"]).exits(0).tells(&["no such subscriptions", "steward subscription add"]);
        let kinds = ["--kind", "run.failed", "--kind", "approval.requested"];
        let made = add(bench, "on-call", &[&["--language", "de"][..], &kinds].concat()).exits(0);
        let made = made.tells(&["made `on-call`, which leads to https://hooks.example.org", "shown this once"]);
        let made = made.tells(&["steward subscription test on-call"]);
        assert_eq!(made.err.contains("steward serve"), !served, "{made:?}");
        let (row, secret) = (shown(bench, "on-call"), fact(&made.out, "secret"));
        assert!(secret.starts_with("whsec_"), "{made:?}");
        assert!(secret.ends_with(row["secrets"][0]["hint"].as_str().unwrap()), "{made:?} {row}");
        assert_eq!((&row["form"], &row["language"], &row["all"]), (&json!("standard"), &json!("de"), &json!(false)));
        assert_eq!(row["kinds"], json!(["run.failed", "approval.requested"]));
        let shown_text = bench.run(&["subscription", "show", "on-call"]).exits(0).out;
        assert!(!shown_text.contains(secret) && !shown_text.contains("heron"), "{shown_text}");
        for part in [
            "nothing was told yet",
            "https://hooks.example.org",
            "run.failed, approval.requested",
            "what is its owner's",
        ] {
            assert!(shown_text.contains(part), "no `{part}` in {shown_text}");
        }

        let edit =
            ["subscription", "edit", "on-call", "--rename", "calls", "--all", "--link-base", "https://s.example.org"];
        bench.run(&edit).exits(0).tells(&["changed `calls`"]);
        let row = shown(bench, "calls");
        assert_eq!((&row["all"], &row["link_base"]), (&json!(true), &json!("https://s.example.org")));
        assert_eq!((&row["language"], &row["kinds"]), (&json!("de"), &json!(["run.failed", "approval.requested"])));
        let edit = ["subscription", "edit", "calls", "--kind", "any", "--all=false", "--link-base", "none", "--json"];
        let row = bench.run(&edit).exits(0).json();
        assert_eq!((&row["kinds"], &row["all"], &row["link_base"]), (&json!([]), &json!(false), &Value::Null));
        let edit = ["subscription", "edit", "calls", "--address", "-", "--json"];
        let row = with_input(bench, &edit, "https://other.example.org/x\n").exits(0).json();
        assert_eq!(row["place"], "https://other.example.org");
        bench.work.write("token.txt", "syt_wren\n").unwrap();
        let edit = ["subscription", "edit", "calls", "--token", "token.txt", "--json"];
        assert!(!bench.run(&edit).exits(0).out.contains("wren"));
        bench.run(&["subscription", "edit", "calls", "--no-token"]).exits(0);

        bench
            .run(&["subscription", "pause", "calls", "--note", "too many"])
            .exits(0)
            .tells(&["subscription resume calls"]);
        assert_eq!(shown(bench, "calls")["pause"]["note"], "too many");
        let listed = bench.run(&["subscription", "list"]).exits(0).out;
        let lines = "rests: paused by a person (too many)";
        assert!(
            listed.contains(lines) && listed.contains("standard to https://other.example.org; everything"),
            "{listed}"
        );
        bench.run(&["subscription", "resume", "calls"]).exits(0).tells(&["`calls` works again"]);

        bench.run(&["subscription", "remove", "calls"]).exits(0).tells(&["subscription restore calls"]);
        bench.run(&["subscription", "show", "calls"]).exits(1).tells(&["there is no subscription `calls`"]);
        assert_eq!((names(bench, &[]), names(bench, &["--deleted"])), (vec![], vec!["calls".to_owned()]));
        bench.run(&["subscription", "restore", "calls"]).exits(0).tells(&["`calls` is back"]);
        assert_eq!(names(bench, &["--mine"]), ["calls"]);
        bench.run(&["subscription", "messages", "calls"]).exits(0).tells(&["Nothing was told yet"]);
        bench.run(&["subscription", "messages", "calls", "--failed"]).exits(0).tells(&["No message was given up"]);
        // The words of the API are known, too.
        bench.run(&["subscription", "update", "calls", "--form", "slack"]).exits(0);
        let back = bench.run(&["subscription", "update", "calls", "--form", "standard"]).exits(0);
        assert!(!back.out.contains("whsec_"), "{back:?}");
        bench.run(&["subscription", "delete", "calls"]).exits(0);
        let again = ["subscription", "create", "again", "--form", "ntfy", "--address", "address.txt"];
        let made = bench.run(&again).exits(0);
        assert!(!made.out.contains("secret"), "messages of ntfy aren't signed: {made:?}");
        assert_eq!(names(bench, &[]), ["again"]);
    });
}

#[test]
fn addresses_and_tokens_come_from_files_and_secrets_follow_each_other() {
    both(|bench, _| {
        let made = with_input(bench, &["subscription", "add", "piped", "--address", "-"], ADDRESS).exits(0);
        assert!(!format!("{made:?}").contains("heron"), "{made:?}");
        bench.work.write("room.txt", "https://matrix.example.org/!room:example.org").unwrap();
        let room = ["subscription", "add", "room", "--form", "matrix", "--address", "room.txt"];
        bench.run(&room).exits(1).tells(&["token"]);
        with_input(bench, &[&room[..], &["--token", "-"]].concat(), "syt_wren\n").exits(0);
        bench.run(&["subscription", "secret", "add", "room"]).exits(1).tells(&["aren't signed"]);

        // What was typed may be the secret itself.
        let typed = bench.run(&["subscription", "add", "typed", "--address", ADDRESS]).exits(1);
        assert!(!typed.err.contains("heron") && typed.err.contains("never stands in a command"), "{typed:?}");
        bench.work.write("empty.txt", "\n").unwrap();
        bench.run(&["subscription", "add", "x", "--address", "empty.txt"]).exits(1).tells(&["is empty"]);
        let twice = ["subscription", "add", "x", "--address", "-", "--token", "-"];
        with_input(bench, &twice, "x").exits(1).tells(&["standard input can be read once"]);
        assert_eq!(names(bench, &[]), ["room", "piped"]);

        let added = bench
            .run(&["subscription", "secret", "add", "piped"])
            .exits(0)
            .tells(&["2 secrets now", "subscription secret remove piped"]);
        let new = fact(&added.out, "secret").to_owned();
        let hint = &new[new.len() - 4..];
        bench
            .run(&["subscription", "secret", "remove", "piped", "nope"])
            .exits(1)
            .tells(&["no secret `nope`", "subscription show piped"]);
        bench.run(&["subscription", "secret", "remove", "piped", hint]).exits(1).tells(&["gone for good", "-y"]);
        let kept = on_terminal(bench, &["subscription", "secret", "remove", "piped", hint], &[("[y/N]", "n\n")]);
        assert!(kept.exits(4).out.contains("nothing was removed"));
        bench
            .run(&["subscription", "secret", "remove", "piped", hint, "-y"])
            .exits(0)
            .tells(&["removed the secret of `piped`"]);
        let last = shown(bench, "piped")["secrets"][0]["id"].as_str().unwrap().to_owned();
        let last = bench.run(&["subscription", "secret", "remove", "piped", &last, "-y"]).exits(1);
        last.tells(&["its only secret", "add the new one first"]);
    });
}

#[test]
fn what_cannot_be_is_refused_with_what_can() {
    both(|bench, _| {
        bench.work.write("wrong.txt", "ftp://example.org/x").unwrap();
        let wrong = ["subscription", "add", "x", "--address", "wrong.txt"];
        bench.run(&wrong).exits(1).tells(&["address", "https://"]);
        add(bench, "x", &["--link-base", "here"]).exits(1).tells(&["link_base", "https://steward.example.org"]);
        add(bench, "x", &["--kind", "test"]).exits(2).tells(&["run.failed", "backup.finished"]);
        add(bench, "x", &["--form", "pigeon"]).exits(2).tells(&["standard", "gotify"]);
        add(bench, "x", &["--language", "fr"]).exits(2).tells(&["en", "de"]);
        bench.run(&["subscription", "add", "x"]).exits(2).tells(&["--address"]);
        assert!(names(bench, &[]).is_empty());
        for of_one in ["show", "pause", "resume", "messages", "test", "remove", "edit"] {
            let none = ["no subscription `nobody`", "subscription list"];
            bench.run(&["subscription", of_one, "nobody"]).exits(1).tells(&none);
        }
        let none = ["removed subscription", "list --deleted"];
        bench.run(&["subscription", "restore", "nobody"]).exits(1).tells(&none);
        add(bench, "twin", &[]).exits(0);
        bench.run(&["subscription", "edit", "twin"]).exits(1).tells(&["nothing was changed"]);
        let none = ["no message `3f2a`", "subscription messages twin"];
        bench.run(&["subscription", "send", "twin", "3f2a"]).exits(1).tells(&none);
        add(bench, "twin", &[]).exits(0);
        let two = ["2 subscriptions have the name `twin`", "give the id"];
        bench.run(&["subscription", "remove", "twin"]).exits(1).tells(&two);
    });
}

/// What was told, once something in it fits.
fn messages(bench: &Bench, name: &str, fits: impl Fn(&Value) -> bool) -> Vec<Value> {
    let begun = Instant::now();
    loop {
        let page = bench.run(&["subscription", "messages", name, "--json"]).exits(0).json();
        let found = page["messages"].as_array().unwrap();
        if found.iter().any(&fits) {
            return found.clone();
        }
        assert!(begun.elapsed() < Duration::from_mins(5), "{page}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// A run that ended.
fn finished(bench: &Bench, server: &Server) -> String {
    let agents = bench.run(&["agents", "--json"]).exits(0).json();
    let chat = format!("/api/chat/{}", agents[0]["id"].as_str().unwrap());
    let said = json!({"message": "Say it"});
    let (status, answer) = server.request(bench, Method::POST, &chat, Some(server.key.trim()), Some(&said));
    assert!(status.is_success(), "{answer}");
    let (run, begun) = (answer["run_id"].as_str().unwrap(), Instant::now());
    loop {
        let path = format!("/api/runs/{run}");
        let (_, found) = server.request(bench, Method::GET, &path, Some(server.key.trim()), None);
        if found["status"] == "finished" {
            return run.to_owned();
        }
        assert!(begun.elapsed() < Duration::from_mins(5), "{found}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn what_happens_in_a_pause_or_after_a_removal_is_not_told() {
    let receiver = Receiver::start(|_, _| 200);
    let bench = Bench::new(Script::always(Behaviour::text("Hello.")));
    bench.work.write("address.txt", receiver.url("/in")).unwrap();
    // Made before any server ran: all that follows is told.
    bench.run(&["subscription", "add", "in", "--address", "address.txt", "--kind", "run.finished"]).exits(0);
    let server = Server::start_with(&bench, &[("STEWARD_ALLOW", &receiver.address.to_string())]);
    let mut runs = vec![finished(&bench, &server)];
    receiver.wait(1);
    for (rest, back) in [("pause", "resume"), ("remove", "restore")] {
        bench.run(&["subscription", rest, "in"]).exits(0);
        finished(&bench, &server);
        bench.run(&["subscription", back, "in"]).exits(0);
        runs.push(finished(&bench, &server));
        receiver.wait(runs.len());
    }
    let told: Vec<Value> = receiver.came().iter().map(|came| came.json()["data"]["run_id"].clone()).collect();
    assert_eq!(json!(told), json!(runs));
}

#[test]
fn what_was_told_is_seen_tried_and_sent_again() {
    let receiver = Receiver::start(|came, _| match came.path.as_str() {
        "/gone" => 410,
        "/busy" => 503,
        _ => 200,
    });
    let bench = Bench::new(Script::always(Behaviour::text("Hello.")));
    let server = Server::start_with(&bench, &[("STEWARD_ALLOW", &receiver.address.to_string())]);
    for name in ["in", "gone", "busy"] {
        bench.work.write("address.txt", receiver.url(&format!("/{name}"))).unwrap();
        let made = ["subscription", "add", name, "--address", "address.txt", "--kind", "run.finished"];
        bench.run(&made).exits(0);
    }
    bench.run(&["subscription", "pause", "gone"]).exits(0);
    bench.run(&["subscription", "pause", "busy"]).exits(0);
    bench.run(&["subscription", "test", "in"]).exits(0).tells(&["it arrived: sent", "200 ok"]);
    bench.run(&["subscription", "test", "busy"]).exits(1).tells(&["it didn't arrive: tried once", "503 ok"]);
    let gone = bench.run(&["subscription", "test", "gone", "--json"]).exits(1).json();
    assert_eq!((&gone["status"], &gone["kind"]), (&json!("given_up"), &json!("test")));
    let failed = bench.run(&["subscription", "messages", "gone", "--failed"]).exits(0).out;
    assert!(failed.contains("given up: 410 ok") && failed.contains(gone["id"].as_str().unwrap()), "{failed}");

    finished(&bench, &server);
    let told = messages(&bench, "in", |one| one["kind"] == "run.finished" && one["status"] == "sent");
    let (id, run) = (told[0]["id"].as_str().unwrap(), told[0]["happening"]["run_id"].as_str().unwrap());
    bench.run(&["runs", "show", run]).exits(0);
    let listed = bench.run(&["subscription", "messages", "in"]).exits(0).out;
    for part in [id, run, "run.finished  sent ", ": 200 ok"] {
        assert!(listed.contains(part), "no `{part}` in {listed}");
    }
    assert!(fact(&bench.run(&["subscription", "show", "in"]).exits(0).out, "last").contains("run.finished  sent"));
    let of_message = |came: &crate::common::receiver::Came| came.headers["webhook-id"].ends_with(id);
    assert_eq!(receiver.came().iter().filter(|came| of_message(came)).count(), 1);
    let send = ["subscription", "send", "in", &id[id.len() - 8..]];
    bench.run(&send).exits(0).tells(&["sent once more", "subscription messages in"]);
    let begun = Instant::now();
    while receiver.came().iter().filter(|came| of_message(came)).count() < 2 {
        assert!(begun.elapsed() < Duration::from_mins(5), "{:?}", receiver.came());
        std::thread::sleep(Duration::from_millis(50));
    }

    // Without a server it waits for one.
    drop(server);
    bench.run(&["subscription", "test", "in"]).exits(0).tells(&["waits to be sent", "while a server runs"]);
    bench.run(&["subscription", "send", "in", id]).exits(0).tells(&["while a server runs"]);
    let waiting = bench.run(&["subscription", "messages", "in", "--json"]).exits(0).json();
    assert_eq!(waiting["messages"][0]["status"], "waiting");
    let _server = Server::start_with(&bench, &[("STEWARD_ALLOW", &receiver.address.to_string())]);
    messages(&bench, "in", |one| one["id"] == waiting["messages"][0]["id"] && one["status"] == "sent");
}

/// As after a restore without the vault's rows.
#[test]
fn an_address_that_is_gone_is_given_anew() {
    let bench = Bench::new(Script::default());
    add(&bench, "lost", &[]).exits(0);
    let hint = shown(&bench, "lost")["secrets"][0]["hint"].clone();
    let id = shown(&bench, "lost")["id"].as_str().unwrap().replace('-', "");
    let file = bench.data().join("steward.db");
    change_database(
        &file,
        &format!("delete from credentials where lower(hex(id)) = '{id}' or replace(id, '-', '') = '{id}'"),
    );
    bench
        .run(&["subscription", "edit", "lost", "--all"])
        .exits(1)
        .tells(&["isn't in the vault", "enter the address anew"]);
    bench.run(&["subscription", "edit", "lost", "--address", "address.txt"]).exits(0);
    let secrets = shown(&bench, "lost")["secrets"].clone();
    assert!(
        secrets.as_array().unwrap().len() == 1 && secrets[0]["hint"] != hint,
        "the old one signs nothing: {secrets}"
    );
    bench.run(&["subscription", "edit", "lost", "--all"]).exits(0);
}
