use crate::commands::on_terminal;
use crate::common::{Bench, Done, Server, finish};
use serde_json::{Value, json};
use steward_testkit::model_server::Script;

const ADMIN: [(&str, &str); 2] =
    [("STEWARD_ADMIN_EMAIL", "ada@example.org"), ("STEWARD_ADMIN_PASSWORD", "a heron stands in the reeds")];
const ANN: &str = "ann@example.org";
const BEN: &str = "ben@example.org";

fn listed(done: &Done) -> Vec<Value> {
    done.json().as_array().unwrap().clone()
}

/// Leaves the group `writers` with Ann.
fn groups(run: &impl Fn(&[&str]) -> Done) {
    for email in [ANN, BEN] {
        run(&["user", "invite", email, "--role", "developer"]).exits(0);
    }
    run(&["group"]).exits(0).tells(&["steward group create"]);
    run(&["group", "create", "editors", "--description", "for the web site"]).exits(0).tells(&["group add"]);
    run(&["group", "create", "EDITORS"]).exits(1).tells(&["another group has the name EDITORS", "another name"]);
    run(&["group", "create", " "]).exits(1).tells(&["a group needs a name"]);

    run(&["group", "add", "editors", ANN, BEN]).exits(0).tells(&[ANN, BEN, "next request"]);
    run(&["group", "add", "editors", ANN, "nobody@example.org"]).exits(1).tells(&["steward user list"]);
    run(&["group", "add", "editors"]).exits(2);
    run(&["group", "rename", "Editors", "writers"]).exits(0).tells(&["called `writers`"]);
    let shown = run(&["group", "show", "writers", "--json"]).exits(0).json();
    assert_eq!((&shown["members"], &shown["source"]), (&json!(2), &Value::Null));
    assert_eq!(shown["users"][1]["email"], BEN);
    let id = shown["id"].as_str().unwrap();
    run(&["group", "describe", &id[id.len() - 8..], "for the news"]).exits(0);
    assert_eq!(listed(&run(&["group", "list", "--search", "NEWS", "--json"]).exits(0)).len(), 1);
    assert!(listed(&run(&["group", "list", "--search", "web", "--json"]).exits(0)).is_empty());
    let dropped = run(&["group", "drop", "writers", BEN, "--json"]).exits(0).json();
    assert_eq!(dropped["members"], 1);
    let text = run(&["group", "show", "writers"]).exits(0);
    assert!(text.out.contains("for the news") && text.out.contains(ANN) && !text.out.contains(BEN), "{text:?}");
    run(&["group", "show", "gone"]).exits(1).tells(&["there is no group `gone`", "steward group list"]);
}

/// Who may use an agent: nobody, a group, a user, and everybody again.
fn grants(run: &impl Fn(&[&str]) -> Done) {
    let why = |user: &str| run(&["access", "why", "agent", "reporter", "--user", user, "--json"]).exits(0).json();
    let show = || run(&["access", "show", "agent", "reporter", "--json"]).exits(0).json();
    let of = |user: &str| listed(&run(&["access", "of", user, "--json"]).exits(0));
    run(&["agents", "add", "reporter", "--instructions", "You write short reports."]).exits(0);
    assert_eq!((&show()["restricted"], &show()["grants"]), (&json!(false), &json!([])));
    assert_eq!(why(ANN)["level"], "use");

    run(&["access", "restrict", "agent", "reporter"]).exits(0).tells(&["only those with a grant"]);
    assert_eq!(why(ANN)["level"], Value::Null);
    assert!(why(ANN)["missing"].as_str().unwrap().contains("the grant `use`"));
    run(&["access", "give", "agent", "reporter", "--group", "Writers"]).exits(0).tells(&["the grant `use`"]);
    run(&["access", "give", "agent", "reporter", "--user", ANN, "--level", "edit"]).exits(0);
    assert_eq!((&why(ANN)["level"], &why(BEN)["level"]), (&json!("edit"), &Value::Null));
    let told = run(&["access", "why", "agent", "reporter", "--user", ANN]).exits(0);
    assert!(told.out.contains("the group writers, which they are in"), "{told:?}");
    let text = run(&["access", "show", "agent", "reporter"]).exits(0);
    assert!(text.out.contains("those with a grant") && text.out.contains("writers"), "{text:?}");
    let held: Vec<_> = of(ANN).iter().map(|grant| (grant["level"].clone(), grant["group"].clone())).collect();
    assert!(
        held.contains(&(json!("edit"), Value::Null)) && held.contains(&(json!("use"), json!("writers"))),
        "{held:?}"
    );
    assert!(of(BEN).is_empty());
    assert!(listed(&run(&["access", "of", "--json"]).exits(0)).is_empty(), "an operator needs none");

    run(&["access", "take", "agent", "reporter", "--user", ANN]).exits(0).tells(&["has no grant of their own"]);
    run(&["access", "take", "agent", "reporter", "--user", ANN])
        .exits(1)
        .tells(&["steward access show agent reporter"]);
    assert_eq!(why(ANN)["level"], "use", "by the group");
    let id = show()["id"].as_str().unwrap().to_owned();
    run(&["access", "open", "agent", &id]).exits(0).tells(&["everybody may use the agent `reporter`"]);
    assert_eq!(why(BEN)["level"], "use");
    run(&["access", "take", "agent", "reporter", "--group", "writers"]).exits(0).tells(&["it is open"]);
}

fn refused(run: &impl Fn(&[&str]) -> Done) {
    for (args, expect) in [
        (vec!["access", "show", "agent", "nobody"], "there is no agent `nobody`"),
        (vec!["access", "show", "skill", "nothing"], "steward skill list"),
        (vec!["access", "show", "agent", "00000000-0000-7000-8000-000000000009"], "not found"),
        (vec!["access", "give", "agent", "reporter", "--user", "nobody@example.org"], "there is no user"),
        (vec!["access", "give", "agent", "reporter", "--group", "nobody"], "there is no group"),
        (vec!["access", "why", "agent", "reporter", "--user", "nobody@example.org"], "there is no user"),
        (vec!["access", "open", "credential", "shop"], "never open to everybody"),
    ] {
        run(&args).exits(1).tells(&[expect]);
    }
    for args in [
        vec!["access"],
        vec!["access", "show", "run", "x"],
        vec!["access", "give", "agent", "reporter"],
        vec!["access", "give", "agent", "reporter", "--user", ANN, "--group", "writers"],
        vec!["access", "give", "agent", "reporter", "--user", ANN, "--level", "own"],
    ] {
        run(&args).exits(2);
    }
}

fn manage(bench: &Bench, run: impl Fn(&[&str]) -> Done) {
    bench.work.write("token.txt", "not shown").unwrap();
    run(&["credential", "add", "shop", "--kind", "token", "--from", "token=token.txt"]).exits(0);
    groups(&run);
    grants(&run);
    refused(&run);
    let restricted = run(&["access", "show", "credential", "shop", "--json"]).exits(0).json();
    assert_eq!(restricted["restricted"], true);

    run(&["access", "defaults"]).exits(0).tells(&["open to everybody"]);
    run(&["access", "defaults", "--new-restricted", "true"]).exits(0).tells(&["those with a grant only"]);
    run(&["agents", "add", "second", "--instructions", "You count."]).exits(0);
    assert_eq!(run(&["access", "show", "agent", "second", "--json"]).exits(0).json()["restricted"], true);

    run(&["access", "give", "agent", "second", "--group", "writers"]).exits(0);
    run(&["group", "remove", "writers"]).exits(1).tells(&["-y"]);
    run(&["group", "remove", "writers", "-y"]).exits(0).tells(&["its members stay"]);
    let left = run(&["access", "show", "agent", "second", "--json"]).exits(0).json();
    assert_eq!(left["grants"], json!([]));
    run(&["user", "show", ANN]).exits(0);
}

#[test]
fn the_owner_of_the_data_manages_groups_and_grants() {
    let bench = Bench::new(Script::default());
    manage(&bench, |args| bench.run(args));
    bench.run(&["group", "create", "x"]).exits(0);
    on_terminal(&bench, &["group", "remove", "x"], &[("[y/N]", "n\n")]).exits(4);
    on_terminal(&bench, &["group", "remove", "x"], &[("[y/N]", "y\n")]).exits(0);
}

#[test]
fn at_a_server_operators_give_grants_and_administrators_make_groups() {
    let bench = Bench::new(Script::default());
    let server = Server::start_with(&bench, &ADMIN);
    bench.run(&["group"]).exits(0);
    bench.run(&["group", "create", "x"]).exits(1).tells(&["administrator", "STEWARD_API_KEY", "Groups"]);
    bench.run(&["access", "restrict", "agent", "steward"]).exits(0);
    bench.run(&["access", "open", "agent", "steward"]).exits(0);
    bench.run(&["access", "defaults", "--new-restricted", "true"]).exits(1).tells(&["administrator"]);
    bench.run(&["access", "of", ADMIN[0].1]).exits(1).tells(&["administrator"]);

    let call = |path: &str, token: Option<&str>, body: Option<&Value>| {
        let (status, answer) = server.request(&bench, reqwest::Method::POST, path, token, body);
        assert!(status.is_success(), "{path}: {status} {answer}");
        answer
    };
    let login = json!({"email": ADMIN[0].1, "password": ADMIN[1].1});
    let session = call("/api/auth/login", None, Some(&login));
    let key = call("/api/auth/api-key", session["access_token"].as_str(), None);
    manage(&bench, |args| {
        let mut command = bench.command(args);
        command.env("STEWARD_API_KEY", key["api_key"].as_str().unwrap());
        finish(command)
    });
}
