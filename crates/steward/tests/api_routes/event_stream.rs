use crate::api_routes::house::{House, client};
use futures::StreamExt;
use serde_json::{Value, json};
use std::time::Duration;
use steward_testkit::model_server::{Behaviour, Script};

#[test]
fn lists_hear_of_what_concerns_them() {
    let house = House::new(Script::always(Behaviour::text("Hello.")));
    let client = client();
    let request = client.get(format!("{}/api/events", house.server.url)).bearer_auth(&house.server.key);
    let answer = house.bench.runtime.block_on(request.send()).unwrap();
    assert_eq!(answer.status(), 200);
    let mut bytes = answer.bytes_stream();
    let (run, _) = house.finished("Hello?");
    let heard = house.bench.runtime.block_on(async {
        let mut text = String::new();
        let reading = async {
            while !text.contains("run.finished") {
                text.push_str(&String::from_utf8_lossy(&bytes.next().await.unwrap().unwrap()));
            }
        };
        tokio::time::timeout(Duration::from_mins(5), reading).await.unwrap();
        text
    });
    let notices: Vec<Value> = heard
        .lines()
        .filter_map(|line| line.strip_prefix("data: "))
        .map(|data| serde_json::from_str(data).unwrap())
        .collect();
    let last = run["last_seq"].as_u64().unwrap();
    assert_eq!(
        notices,
        [
            json!({"type": "run.started", "run_id": run["id"], "seq": 1}),
            json!({"type": "run.finished", "run_id": run["id"], "seq": last}),
        ]
    );
}

#[test]
fn the_program_tells_about_itself() {
    let house = House::new(Script::default());
    let about = house.get("/api/about");
    assert_eq!(about["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(about["database"], "sqlite");
    assert_eq!(about["runs_at_work"], 0);
    assert_eq!(about["event_version"], 1);
    let database = about["health"].as_array().unwrap().iter().find(|part| part["name"] == "database").unwrap();
    assert_eq!((&database["status"], &database["needed"]), (&json!("ok"), &json!(true)));
}
