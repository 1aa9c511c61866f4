use crate::api_routes::house::{House, client, frames, text};
use reqwest::Method;
use serde_json::{Value, json};
use steward_testkit::model_server::{Behaviour, Reply, Script};

fn sea() -> Script {
    Script::always(Behaviour::Reply(Reply::text("Blue as ink.").pieces(3, 5)))
}

fn stream(house: &House, run: &str, after: &str, header: Option<&str>) -> (u16, Value) {
    let client = client();
    let mut request =
        client.get(format!("{}/api/runs/{run}/events{after}", house.server.url)).bearer_auth(&house.server.key);
    if let Some(id) = header {
        request = request.header("last-event-id", id);
    }
    house.bench.runtime.block_on(async {
        let answer = request.send().await.unwrap();
        let status = answer.status().as_u16();
        let body = answer.text().await.unwrap();
        (status, serde_json::from_str(&body).unwrap_or(Value::String(body)))
    })
}

#[test]
fn a_finished_run_gives_its_log_and_the_rest_of_its_stream() {
    let house = House::new(sea());
    let (run, _) = house.finished("The sea?");
    let (id, last) = (text(&run["id"]), run["last_seq"].as_u64().unwrap());
    assert_eq!(run["answer"], "Blue as ink.");
    assert_eq!((&run["mode"], &run["undoable"], &run["waiting_approval"]), (&json!("loop"), &json!(0), &json!(null)));
    assert!(run["budget"]["model_calls"].is_u64() && !run["forkable"].as_array().unwrap().is_empty());
    let (mut log, mut after) = (Vec::new(), 0);
    for _ in 0..=last {
        let page = house.get(&format!("/api/runs/{id}/log?after={after}&limit=3"));
        log.extend(page["items"].as_array().unwrap().clone());
        let Some(next) = page["next_cursor"].as_str() else {
            break;
        };
        after = next.parse().unwrap();
    }
    let seqs: Vec<u64> = log.iter().map(|event| event["seq"].as_u64().unwrap()).collect();
    assert_eq!(seqs, (1..=last).collect::<Vec<_>>());
    assert_eq!((&log[0]["type"], &log[0]["run_id"]), (&json!("run.started"), &json!(id)));
    assert_eq!(frames(&stream(&house, &id, "", None).1), log);
    assert_eq!(frames(&stream(&house, &id, "?after=2", None).1), log[2..]);
    assert_eq!(frames(&stream(&house, &id, "?after=2", Some("4")).1), log[4..]);
    assert_eq!(frames(&stream(&house, &id, "", Some(&last.to_string())).1), Vec::<Value>::new());
    for (header, status) in [("9999", 422), ("x", 422)] {
        let (found, problem) = stream(&house, &id, "", Some(header));
        assert_eq!((found, &problem["status"]), (status, &json!(status)), "{problem}");
    }
    let nobody = "019c0e3a-7b1d-7c44-9d43-3f6f1f6a2b11";
    assert_eq!(stream(&house, nobody, "", None).0, 404);
    house.send(Method::GET, &format!("/api/runs/{nobody}/log"), None, 404);
}

#[test]
fn runs_are_filtered_and_paged() {
    let house = House::new(sea());
    let ids: Vec<Value> =
        ["The sea?", "The sky?", "The grass?"].iter().map(|message| house.finished(message).0["id"].clone()).collect();
    for (query, count) in [
        ("", 3),
        ("?status=finished&outcome=completed&origin=api", 3),
        ("?status=parked", 0),
        ("?outcome=failed", 0),
        ("?origin=chat", 0),
        ("?q=SKY", 1),
        ("?q=ink", 3),
        ("?verdict=no-claims&mine=true", 3),
        ("?agent_id=019c0e3a-7b1d-7c44-9d43-3f6f1f6a2b11", 0),
    ] {
        assert_eq!(house.items(&format!("/api/runs{query}")).len(), count, "{query}");
    }
    let (mut seen, mut cursor) = (Vec::new(), String::new());
    for _ in 0..3 {
        let page = house.get(&format!("/api/runs?limit=1{cursor}"));
        seen.push(page["items"][0]["id"].clone());
        cursor = page["next_cursor"].as_str().map(|at| format!("&cursor={at}")).unwrap_or_default();
    }
    seen.reverse();
    assert_eq!(seen, ids);
    assert_eq!(cursor, "", "no page after the last");
    for query in ["?status=lost", "?limit=0", "?limit=101", "?cursor=x", "?agent_id=x"] {
        house.send(Method::GET, &format!("/api/runs{query}"), None, 422);
    }
}

#[test]
fn a_fork_has_the_agent_of_now_and_comes_from_where_it_was_asked() {
    let house = House::new(sea());
    let agent = |instructions: &str| {
        json!({
            "name": "fisher", "instructions": instructions, "tools": ["read"], "connection": null,
            "policy": {"read": "allow", "write": "ask", "external": "ask", "destructive": "deny", "tools": {}},
            "budget": "query", "tuning": {"temperature": 0.5, "max_tokens": 200, "timeout_ms": 60000},
        })
    };
    let id = text(&house.post("/api/agents", agent("Fish."), 201)["id"]);
    let run = house.post(&format!("/api/chat/{id}"), json!({"message": "The sea?"}), 202);
    let run = house.wait(&text(&run["run_id"]), "finished");
    let path = format!("/api/runs/{}/fork", text(&run["id"]));
    house.send(Method::PUT, &format!("/api/agents/{id}"), Some(agent("Rest.")), 200);
    for body in [json!({}), json!({"input": "The lake?"})] {
        let fork = text(&house.post(&path, body, 201)["run_id"]);
        assert_eq!(house.wait(&fork, "finished")["origin"], run["origin"]);
        let log = house.items(&format!("/api/runs/{fork}/log"));
        assert_eq!(log[0]["setup"]["agent"]["instructions"], "Rest.");
    }
    let chosen = text(&house.items("/api/connections")[0]["id"]);
    let asked = json!({"message": "The sea?", "connection_id": chosen});
    let asked = text(&house.post(&format!("/api/chat/{id}"), asked, 202)["run_id"]);
    house.wait(&asked, "finished");
    let fork = text(&house.post(&format!("/api/runs/{asked}/fork"), json!({}), 201)["run_id"]);
    let setup = &house.items(&format!("/api/runs/{fork}/log"))[0]["setup"];
    assert_eq!((&setup["connection"], &setup["names_connection"]), (&json!(chosen), &json!(true)));
    house.send(Method::DELETE, &format!("/api/agents/{id}"), None, 204);
    house.post("/api/agents", agent("Another of that name."), 201);
    assert_eq!(house.post(&path, json!({}), 409)["code"], "agent_deleted");
}

#[test]
fn a_run_is_replayed_forked_and_kept() {
    let house = House::new(sea());
    let (run, conversation) = house.finished("The sea?");
    let id = text(&run["id"]);
    let replay = house.post(&format!("/api/runs/{id}/replay"), json!({}), 200);
    assert_eq!((&replay["same"], &replay["events"]), (&json!(true), &run["last_seq"]), "{replay}");
    let fork = house.post(&format!("/api/runs/{id}/fork"), json!({"input": "The lake?"}), 201);
    let other = house.wait(&text(&fork["run_id"]), "finished");
    assert_eq!((&other["forked_from"], &other["input"]), (&json!(id), &json!("The lake?")));
    assert_ne!(fork["conversation_id"], conversation.as_str());
    let branch = house.get(&format!("/api/conversations/{}", text(&fork["conversation_id"])));
    assert_eq!(branch["messages"][0]["text"], "The lake?");
    assert_eq!(branch["forked_from"], conversation.as_str());
    assert_eq!(house.post(&format!("/api/runs/{id}/fork"), json!({"seq": 999}), 422)["field"], "seq");
    let keep = format!("/api/runs/{id}/keep");
    assert_eq!(house.post(&keep, json!({"name": "a/b"}), 422)["field"], "name");
    let kept = house.post(&keep, json!({"name": "the sea"}), 201);
    assert_eq!(kept["run_id"], id.as_str());
    house.post(&format!("/api/runs/{}/keep", text(&other["id"])), json!({"name": "the sea"}), 409);
    assert_eq!(house.get(&format!("/api/runs/{id}"))["kept_as"], "the sea");
    assert_eq!(house.items("/api/kept"), [kept]);
    let reports = house.post("/api/kept/run", json!({}), 200);
    assert_eq!((&reports["items"][0]["same"], &reports["items"][0]["name"]), (&json!(true), &json!("the sea")));
    house.send(Method::DELETE, "/api/kept/the%20sea", None, 204);
    house.send(Method::DELETE, "/api/kept/the%20sea", None, 404);
    assert!(house.items("/api/kept").is_empty());
}
