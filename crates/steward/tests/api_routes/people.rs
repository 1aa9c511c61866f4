use crate::api_routes::house::{House, key, text};
use reqwest::Method;
use serde_json::{Value, json};
use steward_testkit::model_server::{Behaviour, Script};

const PEOPLE: [(&str, &str); 4] = [("ann", "developer"), ("bob", "developer"), ("vic", "viewer"), ("olga", "operator")];

/// A run of Ann's that waits for an approval.
fn anns(house: &House) -> (String, String, String) {
    let path = format!("/api/chat/{}", house.agent());
    let body = Some(json!({"message": "Write a note."}));
    let (status, started) = house.call_as(&key("ann"), Method::POST, &path, body);
    assert_eq!(status, 202, "{started}");
    let (run, conversation) = (text(&started["run_id"]), text(&started["conversation_id"]));
    let detail = house.wait(&run, "parked");
    (run, conversation, text(&detail["waiting_approval"]))
}

fn house() -> House {
    let call = Behaviour::calls([("write", json!({"path": "n.md", "content": "x"}))]);
    let script = Script::of([call, Behaviour::text("Done.")]);
    House::with_people(script, &PEOPLE)
}

fn status(house: &House, name: &str, method: Method, path: &str, body: Option<Value>) -> u16 {
    house.call_as(&key(name), method, path, body).0
}

#[test]
fn what_nobody_owns_is_the_operators() {
    let house = House::with_talk_of_nobody(Script::default(), &PEOPLE);
    let talk = format!("/api/conversations/{}", uuid::Uuid::from_u128(77));
    for (name, expect, listed) in [("ann", 404, 0), ("vic", 404, 0), ("olga", 200, 1)] {
        assert_eq!(status(&house, name, Method::GET, &talk, None), expect, "{name}");
        let (_, page) = house.call_as(&key(name), Method::GET, "/api/conversations", None);
        assert_eq!(page["items"].as_array().unwrap().len(), listed, "{name}");
    }
    let rename = Some(json!({"title": "mine"}));
    assert_eq!(status(&house, "ann", Method::PATCH, &talk, rename), 404);
    let chat = format!("/api/chat/{}", house.agent());
    let go_on = json!({"message": "and?", "conversation_id": uuid::Uuid::from_u128(77)});
    assert_eq!(status(&house, "ann", Method::POST, &chat, Some(go_on)), 404);
}

#[test]
fn what_is_not_theirs_is_not_there() {
    let house = house();
    let (run, conversation, approval) = anns(&house);
    let looks = [format!("/api/runs/{run}"), format!("/api/runs/{run}/log"), format!("/api/approvals/{approval}")];
    for path in &looks {
        for (name, expect) in [("ann", 200), ("bob", 404), ("vic", 404), ("olga", 200)] {
            assert_eq!(status(&house, name, Method::GET, path, None), expect, "{name} {path}");
        }
    }
    let events = format!("/api/runs/{run}/events");
    let talk = format!("/api/conversations/{conversation}");
    assert_eq!(status(&house, "bob", Method::GET, &events, None), 404);
    assert_eq!(status(&house, "bob", Method::GET, &talk, None), 404);
    assert_eq!(status(&house, "olga", Method::GET, &talk, None), 404, "conversations are one's own");
    let asks = |name: &str| {
        let path = format!("/api/approvals/{approval}");
        let (_, entry) = house.call_as(&key(name), Method::GET, &path, None);
        entry["run"]["conversation_id"].clone()
    };
    assert_eq!(asks("ann"), conversation.as_str());
    assert_eq!(asks("olga"), Value::Null, "no link to what is not hers");
    assert_eq!(status(&house, "ann", Method::GET, &talk, None), 200);
    for (list, theirs) in [
        ("/api/runs", [1, 0, 0, 1]),
        ("/api/runs?mine=true", [1, 0, 0, 0]),
        ("/api/approvals", [1, 0, 0, 1]),
        ("/api/conversations", [1, 0, 0, 0]),
    ] {
        for ((name, _), count) in PEOPLE.iter().zip(theirs) {
            let (_, page) = house.call_as(&key(name), Method::GET, list, None);
            assert_eq!(page["items"].as_array().unwrap().len(), count, "{name} {list}");
        }
    }
    let decide = format!("/api/approvals/{approval}/decide");
    let stop = format!("/api/runs/{run}/stop");
    let yes = Some(json!({"answer": {"decision": "approve"}}));
    for path in [&decide, &stop] {
        assert_eq!(status(&house, "bob", Method::POST, path, yes.clone()), 404, "{path}");
        assert_eq!(status(&house, "vic", Method::POST, path, yes.clone()), 403, "{path}");
    }
    assert_eq!(status(&house, "olga", Method::POST, &decide, yes), 200);
    let done = house.wait(&run, "finished");
    assert_eq!(done["asked_by"], "ann@example.org");
}

#[test]
fn roles_decide_what_may_be_changed() {
    let house = house();
    let agent = house.agent();
    let chat = format!("/api/chat/{agent}");
    let restore = format!("/api/agents/{agent}/restore");
    let message = json!({"message": " "});
    for (path, body, expect) in [
        // 422: they may, and the request can't be.
        (&chat, message, [422, 422, 403, 422]),
        (&"/api/agents".to_owned(), json!({}), [403, 403, 403, 422]),
        (&restore, json!({}), [403, 403, 403, 409]),
        (&"/api/kept/run".to_owned(), json!({}), [200, 200, 403, 200]),
    ] {
        for ((name, _), expect) in PEOPLE.iter().zip(expect) {
            let (found, answer) = house.call_as(&key(name), Method::POST, path, Some(body.clone()));
            if path == &restore && expect == 409 {
                // An agent that is not deleted: nothing to take back, or nothing changed.
                assert!(found < 500 && found != 403, "{name} {path}: {answer}");
            } else {
                assert_eq!(found, expect, "{name} {path}: {answer}");
            }
        }
    }
    for list in ["/api/agents", "/api/tools", "/api/connections", "/api/grants", "/api/kept", "/api/about"] {
        assert_eq!(status(&house, "vic", Method::GET, list, None), 200, "{list}");
        assert_eq!(house.call_as("sk-steward-nobody", Method::GET, list, None).0, 401, "{list}");
    }
    let ask = json!({"model": "steward", "input": "x", "messages": [{"role": "user", "content": "x"}]});
    for path in ["/v1/responses", "/v1/chat/completions"] {
        assert_eq!(status(&house, "vic", Method::POST, path, Some(ask.clone())), 403, "{path}");
    }
}

#[test]
fn reminders_are_their_users_and_shared_ones_are_for_who_may_use_the_agent() {
    let args = json!({"text": "water the plants", "at": "2126-11-22T09:00:00Z"});
    let call = Behaviour::calls([("reminders_create", args)]);
    let house = House::with_people(Script::of([call, Behaviour::text("It is set.")]), &PEOPLE);
    let (run, _) = house.chat("Remind me to water the plants.");
    let detail = house.wait(&run, "parked");
    let answer = json!({"answer": {"decision": "approve"}});
    house.post(&format!("/api/approvals/{}/decide", text(&detail["waiting_approval"])), answer, 200);
    house.wait(&run, "finished");
    let seen = |name: &str| {
        let (_, page) = house.call_as(&key(name), Method::GET, "/api/reminders", None);
        page["items"].as_array().unwrap().len()
    };
    let own = house.get("/api/reminders")["items"].clone();
    assert_eq!((own.as_array().unwrap().len(), &own[0]["may_change"]), (1, &json!(true)));
    assert_eq!([seen("ann"), seen("vic"), seen("olga")], [0, 0, 0]);
    let path = format!("/api/reminders/{}", text(&own[0]["id"]));
    for name in ["ann", "olga"] {
        assert_eq!(status(&house, name, Method::PATCH, &path, Some(json!({"done": true}))), 404, "{name}");
        assert_eq!(status(&house, name, Method::DELETE, &path, None), 404, "{name}");
    }
    // What all share: set by an operator, who may edit the agent.
    let shared = json!({"own_data": {"shared": true}, "policy": {"tools": {"reminders_create": "allow"}}});
    house.send(Method::PATCH, &format!("/api/universal-agents/{}", house.agent()), Some(shared), 200);
    let args = json!({"text": "close the books", "at": "2126-11-22T09:00:00Z"});
    let set = [Behaviour::calls([("reminders_create", args)]), Behaviour::text("It is set.")];
    house.bench.model.replace(Script::of(set));
    house.finished("Remind us to close the books.");
    assert_eq!([seen("ann"), seen("vic"), seen("olga")], [1, 1, 1]);
    let (_, page) = house.call_as(&key("ann"), Method::GET, "/api/reminders", None);
    let one = &page["items"][0];
    assert_eq!((&one["text"], &one["may_change"]), (&json!("close the books"), &json!(false)));
    let path = format!("/api/reminders/{}", text(&one["id"]));
    assert_eq!(status(&house, "ann", Method::PATCH, &path, Some(json!({"done": true}))), 403);
    assert_eq!(status(&house, "olga", Method::PATCH, &path, Some(json!({"at": 1_000}))), 200);
    let access = format!("/api/access/agent/{}", house.agent());
    house.send(Method::PUT, &access, Some(json!({"restricted": true})), 200);
    assert_eq!([seen("ann"), seen("vic"), seen("olga")], [0, 0, 1]);
    // The agent is renamed and deleted: what is one's own stays in sight.
    house.send(Method::PATCH, &format!("/api/universal-agents/{}", house.agent()), Some(json!({"name": "clerk"})), 200);
    let mine = |text: &str| {
        let all = house.get("/api/reminders")["items"].clone();
        all.as_array().unwrap().iter().find(|one| one["text"] == text).cloned()
    };
    assert_eq!(mine("water the plants").unwrap()["agent"], "clerk");
    house.send(Method::DELETE, &format!("/api/agents/{}", text(&own[0]["agent_id"])), None, 204);
    assert!(mine("water the plants").is_some() && mine("close the books").is_none());
}
