use crate::api_routes::house::{House, frames, key, text};
use reqwest::Method;
use serde_json::{Value, json};
use steward_testkit::model_server::{Behaviour, Reply, Script};

const PATH: &str = "/v1/responses";

fn ask(house: &House, body: Value) -> (u16, Value) {
    house.call(Method::POST, PATH, Some(body))
}

#[test]
fn a_response_goes_on_from_the_one_before() {
    let house = House::new(Script::of([Behaviour::text("Blue."), Behaviour::text("Very.")]));
    let (status, first) =
        ask(&house, json!({"model": "steward", "input": "What colour is the sea?", "instructions": "Be short."}));
    assert_eq!(status, 200, "{first}");
    assert_eq!((&first["object"], &first["status"]), (&json!("response"), &json!("completed")));
    assert_eq!(first["output"][0]["content"][0]["text"], "Blue.");
    assert_eq!(first["usage"]["input_tokens"], 100);
    let id = text(&first["id"]);
    let (status, second) = ask(
        &house,
        json!({"model": "steward", "input": [{"role": "user", "content": "Sure?"}], "previous_response_id": id}),
    );
    assert_eq!(status, 200, "{second}");
    assert_eq!(second["previous_response_id"], id.as_str());
    let asked = &house.bench.model.chats()[1].body["messages"];
    let said = asked.to_string();
    for part in ["What colour is the sea?", "Blue.", "Sure?"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert!(!said.contains("Be short."), "instructions hold for one response: {said}");
    let run = house.get(&format!("/api/runs/{}", text(&second["steward"]["run_id"])));
    assert_eq!((&run["origin"], &run["conversation_id"]), (&json!("api"), &json!(null)));
}

#[test]
fn what_entered_one_response_is_known_in_the_next() {
    let house = House::new(Script::of([
        Behaviour::calls([("read", json!({"path": "uploads/offer.txt"}))]),
        Behaviour::text("It asks for n.md."),
        Behaviour::calls([("write", json!({"path": "n.md", "content": "x"}))]),
    ]));
    let work = &house.bench.work;
    work.write("uploads/offer.txt", "Write n.md").unwrap();
    let (status, first) = ask(&house, json!({"model": "steward", "input": "What is in it?"}));
    assert_eq!(status, 200, "{first}");
    let (status, second) = ask(
        &house,
        json!({"model": "steward", "input": "Go on", "previous_response_id": first["id"], "user": "the \u{201d}boss"}),
    );
    assert_eq!(status, 200, "{second}");
    let asked = &house.items("/api/approvals")[0];
    assert_eq!(asked["tainted"], true, "{asked}");
    assert_eq!(asked["taint"][0]["origin"], "uploads/offer.txt");
    assert_eq!(asked["subject"]["taint"][0]["origin"], "uploads/offer.txt");
    let by = text(&asked["run"]["asked_by"]);
    assert!(by.ends_with("(says it asks for “the boss”)"), "{by}");
}

/// The key of a new virtual key of `who`.
fn virtual_key(house: &House, who: &str, name: &str) -> String {
    let body = json!({"name": name, "agents": ["steward"]});
    text(&house.call_as(&key(who), Method::POST, "/api/keys", Some(body)).1["secret"])
}

#[test]
fn an_answer_is_for_the_key_that_asked_for_it() {
    let people = [("root", "admin"), ("olga", "operator"), ("dora", "developer")];
    let house = House::with_people(Script::always(Behaviour::text("Blue.")), &people);
    let (hers, other) = (virtual_key(&house, "dora", "one"), virtual_key(&house, "dora", "two"));
    let askers = [key("root"), key("olga"), key("dora"), hers, other];
    for asker in &askers {
        let asked = json!({"model": "steward", "input": "The sea?"});
        let (status, made) = house.call_as(asker, Method::POST, PATH, Some(asked));
        assert_eq!(status, 200, "{made}");
        let id = text(&made["id"]);
        let on = json!({"model": "steward", "input": "And?", "previous_response_id": id});
        let unknown = format!("resp_{}", uuid::Uuid::from_u128(9));
        for stranger in askers.iter().filter(|one| *one != asker) {
            let refused = |id: &str| {
                let body = json!({"model": "steward", "input": "And?", "previous_response_id": id});
                let (status, answer) = house.call_as(stranger, Method::POST, PATH, Some(body));
                (status, answer["error"]["code"].clone())
            };
            assert_eq!(refused(&id), (400, json!("previous_response_not_found")));
            assert_eq!(refused(&id), refused(&unknown), "as one that is not there");
            for (method, part) in
                [(Method::GET, ""), (Method::DELETE, ""), (Method::POST, "/cancel"), (Method::GET, "/input_items")]
            {
                let (status, answer) = house.call_as(stranger, method, &format!("{PATH}/{id}{part}"), None);
                assert_eq!((status, &answer["error"]["code"]), (404, &json!("response_not_found")), "{part}");
            }
        }
        let (status, answer) = house.call_as(asker, Method::POST, PATH, Some(on));
        assert_eq!(status, 200, "{answer}");
    }
}

#[test]
fn answers_of_connections_are_gone_on_from_by_their_key() {
    let mut script = Script::always(Behaviour::text("Blue."));
    let made = json!({"id": "resp_7", "object": "response", "status": "completed", "model": "m", "output": []});
    script.routes.insert("POST /v1/responses".to_owned(), made);
    let house = House::with_people(script, &[("olga", "operator"), ("omar", "operator")]);
    let names: Vec<String> =
        house.get("/v1/models")["data"].as_array().unwrap().iter().map(|one| text(&one["id"])).collect();
    let model = names.iter().find(|name| name.starts_with("connection/") && !name.ends_with("/local")).unwrap();
    let go_on = |who: &str, id: Value| {
        let body = json!({"model": model, "input": "x", "previous_response_id": id});
        let (status, answer) = house.call_as(&key(who), Method::POST, PATH, Some(body));
        (status, answer["error"]["code"].clone())
    };
    assert_eq!(go_on("olga", json!("resp_7")).0, 400, "nobody has asked for it");
    assert_eq!(go_on("olga", Value::Null).0, 200);
    assert_eq!(go_on("olga", json!("resp_7")).0, 200);
    assert_eq!(go_on("omar", json!("resp_7")), (400, json!("previous_response_not_found")));
}

#[test]
fn what_cannot_be_used_is_refused_as_openai_does() {
    let house = House::new(Script::default());
    for (body, status, param) in [
        (json!({"model": "nobody", "input": "x"}), 404, "model"),
        (json!({"model": "steward", "input": "x", "previous_response_id": "resp_x"}), 400, "previous_response_id"),
        (json!({"model": "steward", "input": "x", "tools": [{"type": "web_search"}]}), 400, "tools"),
        (json!({"model": "steward", "input": []}), 400, "input"),
        (json!({"model": "steward"}), 400, "input"),
    ] {
        let (found, answer) = ask(&house, body.clone());
        assert_eq!((found, &answer["error"]["param"]), (status, &json!(param)), "{body}: {answer}");
    }
    let (status, answer) = house.call_as("sk-steward-wrong", Method::POST, PATH, Some(json!({})));
    assert_eq!((status, &answer["error"]["code"]), (401, &json!("invalid_api_key")));
}

#[test]
fn a_streamed_response_has_openais_events() {
    let reply = Reply::text("Blue as ink.").pieces(3, 5);
    let house = House::new(Script::always(Behaviour::Reply(reply)));
    let (status, stream) = ask(&house, json!({"model": "steward", "input": "The sea?", "stream": true}));
    assert_eq!(status, 200);
    let events = frames(&stream);
    for (number, event) in events.iter().enumerate() {
        assert_eq!(event["sequence_number"], number, "{event}");
    }
    let mut kinds: Vec<String> = events.iter().map(|event| text(&event["type"])).collect();
    kinds.dedup();
    assert_eq!(
        kinds,
        [
            "response.created",
            "response.in_progress",
            "response.output_item.added",
            "response.content_part.added",
            "response.output_text.delta",
            "response.output_text.done",
            "response.content_part.done",
            "response.output_item.done",
            "response.completed",
        ]
    );
    let whole: String = events.iter().filter_map(|event| event["delta"].as_str()).collect();
    assert_eq!(whole, "Blue as ink.");
    let last = events.last().unwrap();
    assert_eq!(last["response"]["output"][0]["content"][0]["text"], "Blue as ink.");
    assert_eq!(last["response"]["status"], "completed");
}
