//! The server is killed while runs finish of which an address is told, between making a message, sending it and noting that
//! it arrived among others. Each run that finished is told at least once, under one id, and none that isn't there.

use crate::common::receiver::Receiver;
use crate::common::webhooks::deliver;
use crate::common::{Bench, Server};
use reqwest::Method;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};
use steward_testkit::model_server::{Behaviour, Script};
use steward_testkit::repetitions;

/// Where a server dies, and at which pass; then once in a while at any moment.
const POINTS: [&str; 4] =
    ["app.message.posted:1", "app.message.made:1", "app.message.sending:2", "app.message.posted:3"];
/// Runs that are started at each.
const EACH: usize = 3;

struct House {
    bench: Bench,
    receiver: Receiver,
    /// The path of the subscription.
    path: String,
    /// Runs that were started, as far as somebody was told.
    started: BTreeSet<String>,
}

impl House {
    fn start(&self, point: Option<&str>) -> Server {
        let allowed = self.receiver.address.to_string();
        let variables = [("STEWARD_ALLOW", allowed.as_str())];
        let point = point.map(|point| ("STEWARD_KILL_AT", point));
        Server::start_with(&self.bench, &variables.into_iter().chain(point).collect::<Vec<_>>())
    }

    fn call(&self, server: &Server, method: Method, path: &str, body: Option<&Value>) -> Value {
        let (status, answer) = server.request(&self.bench, method, path, Some(server.key.trim()), body);
        assert!(status.is_success(), "{path}: {status} {answer}");
        answer
    }

    fn all(&self, server: &Server, path: &str) -> Vec<Value> {
        let (mut all, mut cursor) = (Vec::new(), String::new());
        loop {
            let page = self.call(server, Method::GET, &format!("{path}?limit=100{cursor}"), None);
            all.extend(page["items"].as_array().unwrap().iter().cloned());
            match page["next_cursor"].as_str() {
                Some(next) => cursor = format!("&cursor={next}"),
                None => return all,
            }
        }
    }

    /// Has the server work until it dies; what it was asked may come to nothing.
    fn ask(&mut self, server: &Server, agent: &str) {
        let (path, body) = (format!("/api/chat/{agent}"), json!({"message": "Say it"}).to_string());
        let key = vec![("authorization".to_owned(), format!("Bearer {}", server.key.trim()))];
        for _ in 0..EACH {
            let said = deliver(server, &self.bench, &path, &key, &body);
            self.started.extend(said.and_then(|(_, said)| said["run_id"].as_str().map(str::to_owned)));
        }
    }

    /// Waits until every run ended and every message arrived.
    fn settled(&self, server: &Server) -> (BTreeSet<String>, Vec<Value>) {
        let begun = Instant::now();
        let mut pushed = BTreeSet::new();
        loop {
            let runs = self.all(server, "/api/runs");
            let mut messages = self.all(server, &format!("{}/messages", self.path));
            messages.retain(|one| one["kind"] != "test");
            let told: BTreeSet<&str> = messages.iter().map(run_of).collect();
            let ended = |run: &Value| run["status"] == "finished";
            let is_told = |run: &Value| told.contains(run["id"].as_str().unwrap());
            if runs.iter().all(|run| ended(run) && is_told(run)) && messages.iter().all(|one| one["status"] == "sent") {
                return (runs.iter().map(|run| run["id"].as_str().unwrap().to_owned()).collect(), messages);
            }
            // What a killed server had taken is put off for two minutes: this is done by hand, once for each.
            for one in messages.iter().filter(|one| one["status"] == "waiting") {
                let id = one["id"].as_str().unwrap();
                if begun.elapsed() > Duration::from_secs(3) && pushed.insert(id.to_owned()) {
                    self.call(server, Method::POST, &format!("{}/messages/{id}/send", self.path), None);
                }
            }
            assert!(begun.elapsed() < Duration::from_mins(5), "{runs:#?} {messages:#?}");
            std::thread::sleep(Duration::from_millis(100));
        }
    }
}

fn run_of(message: &Value) -> &str {
    message["happening"]["run_id"].as_str().unwrap()
}

/// The whole test.
pub fn run() {
    let bench = Bench::new(Script::always(Behaviour::text("Done.")));
    let receiver = Receiver::start(|_, _| 204);
    let mut house = House { bench, receiver, path: String::new(), started: BTreeSet::new() };
    let server = house.start(None);
    let agents = house.call(&server, Method::GET, "/api/agents", None);
    let agent = agents["items"][0]["id"].as_str().unwrap().to_owned();
    let wanted = json!({"name": "told", "address": house.receiver.url("/in"), "kinds": ["run.finished"]});
    let made = house.call(&server, Method::POST, "/api/subscriptions", Some(&wanted));
    house.path = format!("/api/subscriptions/{}", made["subscription"]["id"].as_str().unwrap());
    // The trail is looked at from its beginning on once this one has arrived.
    house.call(&server, Method::POST, &format!("{}/test", house.path), None);
    let test = house.receiver.wait(1)[0].headers["webhook-id"].clone();
    server.kill();

    let kills = repetitions(POINTS.len() + 1, 60);
    for kill in 0..kills {
        let point = POINTS.get(kill % (POINTS.len() + 1)).copied();
        let doomed = house.start(point);
        house.ask(&doomed, &agent);
        match point {
            Some(point) => wait_for_the_end(&doomed, point),
            None => std::thread::sleep(Duration::from_millis((kill as u64 * 67) % 1_500)),
        }
        doomed.kill();
    }
    let server = house.start(None);
    let (runs, messages) = house.settled(&server);
    let lost: Vec<&String> = house.started.difference(&runs).collect();
    assert!(lost.is_empty() && runs.len() >= kills, "{lost:?} of {} are gone", runs.len());
    let told: Vec<&str> = messages.iter().map(run_of).collect();
    assert_eq!(told.len(), runs.len(), "each run has one message");

    let (mut ids, mut tellings) = (BTreeMap::<String, BTreeSet<String>>::new(), 0);
    for came in house.receiver.came().iter().filter(|came| came.headers["webhook-id"] != test) {
        let body = came.json();
        assert_eq!(body["type"], "run.finished", "{body}");
        let run = body["data"]["run_id"].as_str().unwrap().to_owned();
        ids.entry(run).or_default().insert(came.headers["webhook-id"].clone());
        tellings += 1;
    }
    assert_eq!(ids.keys().cloned().collect::<BTreeSet<_>>(), runs, "told are those that finished, and no others");
    let twice = ids.iter().find(|(_, ids)| ids.len() != 1);
    assert_eq!(twice, None, "one message, one id");
    assert_eq!(ids.values().flatten().collect::<BTreeSet<_>>().len(), ids.len(), "an id of two runs");
    assert!(tellings > runs.len(), "a server that died after sending tells once more");
    println!("{kills} kills, {} runs, told {tellings} times", runs.len());
}

/// Until the server has passed the point where it dies.
fn wait_for_the_end(server: &Server, point: &str) {
    let begun = Instant::now();
    let address = server.url.strip_prefix("http://").unwrap();
    while std::net::TcpStream::connect(address).is_ok() {
        assert!(begun.elapsed() < Duration::from_mins(5), "{point} isn't passed");
        std::thread::sleep(Duration::from_millis(20));
    }
}
