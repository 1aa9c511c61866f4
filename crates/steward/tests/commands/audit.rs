use super::{Bench, both};
use serde_json::json;
use steward_testkit::database;
use steward_testkit::model_server::Script;

#[test]
fn the_audit_trail_is_listed_exported_and_checked() {
    let bench = Bench::new(Script::default());
    bench.run(&["agents", "add", "reporter", "--instructions", "You write reports."]).exits(0);
    bench.run(&["agents", "remove", "reporter"]).exits(0);
    bench.run(&["audit"]).exits(0).tells(&["agents.create", "agents.delete", "local@steward"]);
    let listed = bench.run(&["audit", "--action", "agents.create", "--json"]).exits(0).json();
    let entry = &listed["entries"][0];
    assert_eq!((&entry["detail"]["name"], &entry["origin"]), (&json!("reporter"), &json!("cli")), "{listed}");
    let seq = entry["seq"].to_string();
    bench.run(&["audit", "show", &seq]).exits(0).tells(&["agents.create", "reporter", "hash"]);
    bench.run(&["audit", "list", "--result", "failed"]).exits(0).tells(&["No entry fits"]);

    let file = bench.work.path().join("audit.csv");
    let path = file.display().to_string();
    bench.run(&["audit", "export", "--format", "csv", "-o", &path]).exits(0).tells(&["written"]);
    assert!(std::fs::read_to_string(&file).unwrap().contains("agents.delete"));
    bench.run(&["audit", "export", "--action", "agents"]).exits(0).tells(&["\"action\":\"agents.create\""]);

    let checked = bench.run(&["audit", "verify", "--json"]).exits(0).json();
    let known = format!("{}:{}", checked["head"]["seq"], checked["head"]["hash"].as_str().unwrap());
    bench.run(&["audit", "verify", "--known", &known]).exits(0).tells(&["The chain holds"]);
    bench.run(&["audit", "verify", "--known", "1:abc"]).exits(1).tells(&["broken", "entry 1"]);
    bench.run(&["audit", "verify", "--known", "nonsense"]).exits(1).tells(&["NUMBER:HASH"]);
    bench.run(&["audit", "retention"]).exits(0).tells(&["for good"]);
    bench.run(&["audit", "retention", "--days", "365"]).exits(0).tells(&["365 days"]);
    bench.run(&["audit", "retention", "--forever"]).exits(0).tells(&["for good"]);

    database::change(&bench.data(), "update audit_entries set actor = 'eve' where seq = 2");
    bench.run(&["audit", "verify"]).exits(1).tells(&["The chain is broken", "entry 2"]);
}

#[test]
fn at_a_running_server_an_administrator_is_wanted() {
    both(|bench, served| {
        let done = bench.run(&["audit"]);
        if served {
            done.exits(1).tells(&["only an administrator", "STEWARD_API_KEY"]);
        } else {
            done.exits(0);
        }
    });
}
