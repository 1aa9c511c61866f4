//! The server is killed while a webhook is called, between accepting a delivery and starting its run among others. A sender
//! tries until it is answered. Each event is one delivery with one run, whoever was told what.

use crate::common::webhooks::{deliver, sign};
use crate::common::{Bench, Server};
use reqwest::Method;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};
use steward_testkit::model_server::{Behaviour, Script};
use steward_testkit::repetitions;

/// Where a server dies, and at which pass.
const POINTS: [&str; 6] = [
    "app.delivery.kept:1",
    "app.delivery.starting:1",
    "app.delivery.started:1",
    "app.delivery.kept:3",
    "app.delivery.starting:2",
    "app.delivery.started:3",
];
/// Events that are sent to each.
const EACH: usize = 4;

struct Sender {
    bench: Bench,
    hook: Value,
    secret: String,
    /// Events that nobody has answered for yet.
    open: Vec<String>,
}

impl Sender {
    fn call(&self, server: &Server, method: Method, path: &str, body: Option<&Value>) -> Value {
        let (status, answer) = server.request(&self.bench, method, path, Some(server.key.trim()), body);
        assert!(status.is_success(), "{path}: {status} {answer}");
        answer
    }

    fn make(&mut self, server: &Server) {
        let agents = self.call(server, Method::GET, "/api/agents", None);
        let wanted = json!({
            "name": "calls", "agent_id": agents["items"][0]["id"], "request": "Look at {{event}}",
            "signing": {"kind": "standard"}, "pause_after_failures": null,
        });
        let made = self.call(server, Method::POST, "/api/hooks", Some(&wanted));
        self.hook = made["hook"].clone();
        made["secret"].as_str().unwrap().clone_into(&mut self.secret);
    }

    /// Sends what is open; what is answered isn't any more.
    fn send(&mut self, server: &Server) {
        let (bench, path, secret) = (&self.bench, self.hook["path"].as_str().unwrap(), &self.secret);
        self.open.retain(|event| {
            let body = json!({"event": event}).to_string();
            let answer = deliver(server, bench, path, &sign("standard", secret, event, &body), &body);
            assert!(answer.as_ref().is_none_or(|(status, _)| matches!(status, 200 | 202)), "{answer:?}");
            answer.is_none()
        });
    }

    fn all(&self, server: &Server, path: &str) -> Vec<Value> {
        let (mut all, mut cursor) = (Vec::new(), String::new());
        loop {
            let page = self.call(server, Method::GET, &format!("{path}limit=100{cursor}"), None);
            all.extend(page["items"].as_array().unwrap().iter().cloned());
            match page["next_cursor"].as_str() {
                Some(next) => cursor = format!("&cursor={next}"),
                None => return all,
            }
        }
    }

    /// Waits until nothing waits for its run; answers all deliveries.
    fn settled(&self, server: &Server) -> Vec<Value> {
        let path = format!("/api/hooks/{}/deliveries?", self.hook["id"].as_str().unwrap());
        let begun = Instant::now();
        loop {
            let all = self.all(server, &path);
            if all.iter().all(|one| one["status"] != "waiting") {
                return all;
            }
            assert!(begun.elapsed() < Duration::from_mins(5), "{all:#?}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

/// The whole test.
pub fn run() {
    let bench = Bench::new(Script::always(Behaviour::text("It was looked at.")));
    let server = Server::start(&bench);
    let mut sender = Sender { bench, hook: Value::Null, secret: String::new(), open: Vec::new() };
    sender.make(&server);
    server.kill();
    let kills = repetitions(POINTS.len() + 1, 91);
    let mut sent = 0;
    for kill in 0..kills {
        let point = POINTS.get(kill % (POINTS.len() + 1));
        let variables: Vec<(&str, &str)> = point.map(|point| ("STEWARD_KILL_AT", *point)).into_iter().collect();
        let doomed = Server::start_with(&sender.bench, &variables);
        sender.open.extend((0..EACH).map(|number| format!("event-{kill}-{number}")));
        sent += EACH;
        sender.send(&doomed);
        match point {
            Some(point) => wait_for_the_end(&sender, &doomed, point),
            // Once in a while at any moment.
            None => std::thread::sleep(Duration::from_millis((kill as u64 * 67) % 300)),
        }
        doomed.kill();
        let server = Server::start(&sender.bench);
        sender.send(&server);
        assert!(sender.open.is_empty(), "{:?}", sender.open);
        check(&sender, &server, sent);
        server.kill();
    }
    println!("{kills} kills, {sent} events");
}

/// Until the server has passed the point where it dies, which may be after it answered.
fn wait_for_the_end(sender: &Sender, server: &Server, point: &str) {
    let begun = Instant::now();
    while deliver(server, &sender.bench, "/healthz", &Vec::new(), "").is_some() {
        assert!(begun.elapsed() < Duration::from_mins(5), "{point} isn't passed");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn check(sender: &Sender, server: &Server, sent: usize) {
    let deliveries = sender.settled(server);
    let events: BTreeSet<&str> = deliveries.iter().map(|one| one["event"].as_str().unwrap()).collect();
    assert_eq!((events.len(), deliveries.len()), (sent, sent), "an event is missing, or there twice");
    let unstarted = deliveries.iter().find(|one| one["status"] != "started" || !one["run_id"].is_string());
    assert_eq!(unstarted, None);
    let runs: BTreeSet<&str> = deliveries.iter().map(|one| one["run_id"].as_str().unwrap()).collect();
    assert_eq!(runs.len(), sent, "a run of two deliveries");
    let known = sender.all(server, "/api/runs?origin=webhook&");
    let known: BTreeSet<&str> = known.iter().map(|run| run["id"].as_str().unwrap()).collect();
    assert_eq!(known, runs, "no run without its delivery, and none that is gone");
}
