//! A server with webhooks, and how they are called.

use crate::api_routes::house::{House, text, wait};
use crate::common::webhooks::{Headers, deliver, sign};
use serde_json::{Value, json};
use steward_testkit::model_server::{Behaviour, Script};

const PEOPLE: [(&str, &str); 5] =
    [("ann", "developer"), ("bob", "developer"), ("vic", "viewer"), ("oli", "operator"), ("root", "admin")];

pub fn house(script: Script) -> House {
    House::with_people(script, &PEOPLE)
}

pub fn done() -> Script {
    Script::always(Behaviour::text("Done."))
}

pub fn input(house: &House, more: Value) -> Value {
    let mut input = json!({
        "name": "issues", "agent_id": house.agent(), "signing": {"kind": "standard"},
        "request": "Look at {{payload.issue.title}} ({{event}}) for {{hook}}",
    });
    input.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    input
}

/// A webhook and how it is called.
pub struct Made {
    /// Under `/api`.
    pub path: String,
    /// Where senders send to.
    pub door: String,
    pub way: String,
    pub secret: String,
    pub row: Value,
}

impl Made {
    pub fn of(made: &Value) -> Self {
        let hook = &made["hook"];
        Self {
            path: format!("/api/hooks/{}", text(&hook["id"])),
            door: text(&hook["path"]),
            way: text(&hook["signing"]["kind"]),
            secret: text(&made["secret"]),
            row: hook.clone(),
        }
    }

    pub fn new(house: &House, more: Value) -> Self {
        Self::of(&house.post("/api/hooks", input(house, more), 201))
    }

    pub fn call(&self, house: &House, headers: &Headers, body: &str) -> (u16, Value) {
        deliver(&house.server, &house.bench, &self.door, headers, body).unwrap()
    }

    /// Signed as it should be.
    pub fn send(&self, house: &House, event: &str, body: &Value) -> (u16, Value) {
        let body = body.to_string();
        self.call(house, &sign(&self.way, &self.secret, event, &body), &body)
    }

    /// Sends it, and answers the delivery once it doesn't wait any more and its run, if there is one, has ended.
    pub fn settled(&self, house: &House, event: &str, body: &Value) -> Value {
        let (status, answer) = self.send(house, event, body);
        assert_eq!((status, &answer["repeated"]), (202, &json!(false)), "{answer}");
        self.wait(house, &text(&answer["id"]))
    }

    pub fn wait(&self, house: &House, id: &str) -> Value {
        let path = format!("{}/deliveries/{id}", self.path);
        wait("a delivery with its fate", || {
            let found = house.get(&path)["delivery"].clone();
            let ends = found["status"] != "waiting" && (found["run_id"].is_null() || found["outcome"].is_string());
            ends.then_some(found)
        })
    }

    pub fn deliveries(&self, house: &House) -> Vec<Value> {
        house.items(&format!("{}/deliveries?limit=100", self.path))
    }

    pub fn now(&self, house: &House) -> Value {
        house.get(&self.path)
    }
}

pub fn runs(house: &House) -> Vec<Value> {
    house.items("/api/runs?origin=webhook&limit=100")
}
