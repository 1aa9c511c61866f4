use crate::api_routes::house::{House, text};
use reqwest::Method;
use serde_json::json;
use steward_testkit::model_server::{Behaviour, Reply, Script};

#[test]
fn a_conversation_goes_on_is_found_forked_and_deleted() {
    let script = Script::always(Behaviour::text("Certainly."));
    let house = House::new(script);
    let (first, id) = house.finished("\n The harbour in winter \nand more");
    let path = format!("/api/conversations/{id}");
    let body = json!({"message": "And the lighthouse?", "conversation_id": id});
    let again = house.post(&format!("/api/chat/{}", house.agent()), body, 202);
    let second = house.wait(&text(&again["run_id"]), "finished");
    let detail = house.get(&path);
    assert_eq!(detail["title"], "The harbour in winter");
    assert_eq!(detail["open_run"], json!(null));
    assert_eq!(detail["agent_name"], "steward");
    let said: Vec<&str> =
        detail["messages"].as_array().unwrap().iter().map(|message| message["role"].as_str().unwrap()).collect();
    assert_eq!(said, ["user", "assistant", "user", "assistant"]);
    let runs: Vec<_> = detail["runs"].as_array().unwrap().iter().map(|run| run["id"].clone()).collect();
    assert_eq!(runs, [first["id"].clone(), second["id"].clone()]);
    assert_eq!(house.items("/api/conversations?q=LIGHTHOUSE").len(), 1);
    assert_eq!(house.items("/api/conversations?q=desert").len(), 0);
    let fork = house.post(&format!("{path}/fork"), json!({"before_run": second["id"]}), 201);
    assert_eq!(fork["forked_from"], id.as_str());
    let forked = house.get(&format!("/api/conversations/{}", text(&fork["id"])));
    assert_eq!(forked["messages"].as_array().unwrap().len(), 2);
    let renamed = house.send(Method::PATCH, &path, Some(json!({"title": "Winter"})), 200);
    assert_eq!(renamed["title"], "Winter");
    house.send(Method::PATCH, &path, Some(json!({"title": " "})), 422);
    house.send(Method::DELETE, &path, None, 204);
    assert_eq!(house.items("/api/conversations").len(), 1, "the fork");
    assert_eq!(house.items("/api/conversations?deleted=true")[0]["id"], id.as_str());
    house.post(&format!("/api/chat/{}", house.agent()), json!({"message": "x", "conversation_id": id}), 409);
    let back = house.post(&format!("{path}/restore"), json!({}), 200);
    assert_eq!(back["deleted_at"], json!(null));
}

#[test]
fn a_busy_conversation_says_which_run_is_in_the_way() {
    let reply = Reply::text("one two three four").pieces(4, 10);
    let house = House::new(Script::always(Behaviour::Stall { reply }));
    let (run, id) = house.chat("Go.");
    house.wait(&run, "running");
    let body = json!({"message": "And?", "conversation_id": id});
    let problem = house.post(&format!("/api/chat/{}", house.agent()), body, 409);
    assert_eq!(problem["code"], "conversation_busy");
    assert_eq!(problem["run_id"], run.as_str());
    let path = format!("/api/conversations/{id}");
    assert_eq!(house.get(&path)["open_run"], run.as_str());
    let problem = house.send(Method::DELETE, &path, None, 409);
    assert_eq!(problem["run_id"], run.as_str());
    assert_eq!(house.items("/api/runs?status=running").len(), 1);
    house.post(&format!("/api/runs/{run}/steer"), json!({"text": "Faster."}), 202);
    house.post(&format!("/api/runs/{run}/stop"), json!({}), 202);
    let stopped = house.wait(&run, "finished");
    assert_eq!(stopped["outcome"]["status"], "stopped");
    assert_eq!(stopped["outcome"]["by"], "local@steward");
    house.send(Method::DELETE, &path, None, 204);
    house.post(&format!("/api/runs/{run}/stop"), json!({}), 409);
    house.post(&format!("/api/runs/{run}/steer"), json!({"text": "x"}), 409);
    let resumed = house.post(&format!("/api/runs/{run}/resume"), json!({}), 200);
    assert_eq!(resumed["resumed"], false);
}

#[test]
fn what_cannot_be_said_begins_nothing() {
    let house = House::new(Script::default());
    let path = format!("/api/chat/{}", house.agent());
    let nobody = "019c0e3a-7b1d-7c44-9d43-3f6f1f6a2b11";
    assert_eq!(house.post(&path, json!({"message": " "}), 422)["field"], "message");
    assert_eq!(house.post(&path, json!({"message": "x", "modus": "plan"}), 422)["field"], "modus");
    house.post(&format!("/api/chat/{nobody}"), json!({"message": "x"}), 404);
    house.post("/api/chat/steward", json!({"message": "x"}), 404);
    house.post(&path, json!({"message": "x", "conversation_id": nobody}), 404);
    let (status, problem) = house.call(Method::POST, &path, Some(json!({"message": "x", "connection_id": nobody})));
    assert!((400..500).contains(&status), "{status} {problem}");
    assert!(house.items("/api/runs").is_empty());
    assert!(house.items("/api/conversations").is_empty());
    assert!(house.items("/api/conversations?deleted=true").is_empty());
}
