//! Many readers, many runs.

use crate::common::{Bench, Server};
use crate::events::reader::{Reader, chat, client, is_last};
use serde_json::Value;
use std::time::Instant;
use steward_testkit::model_server::{Behaviour, Reply, Script};
use steward_testkit::{is_thorough, repetitions};

/// In the gate and at full length.
const READERS: (usize, usize) = (50, 500);
const RUNS: (usize, usize) = (40, 200);

/// Resident memory in MiB and processor time in seconds of a process.
pub fn spent(pid: u32) -> (u64, f64) {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let kib: u64 = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))
        .and_then(|rest| rest.split_whitespace().next()?.parse().ok())
        .unwrap();
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    let ticks: f64 = fields[11].parse::<f64>().unwrap() + fields[12].parse::<f64>().unwrap();
    (kib / 1024, ticks / 100.0)
}

async fn all(client: reqwest::Client, url: String, key: String, run: String) -> Vec<Value> {
    let mut reader = Reader::open(&client, &url, &key, &run, 0).await.unwrap();
    let mut events = Vec::new();
    while let Some(event) = reader.next().await {
        events.push(event);
    }
    events
}

fn complete(events: &[Value]) {
    assert!(events.last().is_some_and(is_last), "{:?}", events.last());
    for (index, event) in events.iter().enumerate() {
        assert_eq!(event["seq"], index as u64 + 1, "{event}");
    }
}

#[test]
fn long_readers_of_one_run() {
    raise_open_files();
    let count = repetitions(READERS.0, READERS.1);
    let text = "wordword ".repeat(200);
    let reply = Reply { first_ms: 1500, ..Reply::text(text).pieces(9, 20) };
    let bench = Bench::new(Script::always(Behaviour::Reply(reply)));
    let server = Server::start(&bench);
    let before = spent(server.pid());
    let run = chat(&bench, &server, "Tell a story.");
    let (client, begun) = (client(), Instant::now());
    let readers: Vec<_> = (0..count)
        .map(|_| {
            let (url, key) = (server.url.clone(), server.key.clone());
            bench.runtime.spawn(all(client.clone(), url, key, run.clone()))
        })
        .collect();
    let mut events = 0;
    for reader in readers {
        let seen = bench.runtime.block_on(reader).unwrap();
        complete(&seen);
        events += seen.len();
    }
    let after = spent(server.pid());
    eprintln!(
        "{count} readers of one run: {events} events in {:.1} s; memory {} -> {} MiB, processor {:.1} s",
        begun.elapsed().as_secs_f64(),
        before.0,
        after.0,
        after.1 - before.1
    );
}

/// Begins a run and reads it to its end.
async fn begun(client: reqwest::Client, url: String, key: String, chat: String) -> Vec<Value> {
    let answer = client
        .post(&chat)
        .bearer_auth(&key)
        .json(&serde_json::json!({"message": "Tell a story."}))
        .send()
        .await
        .unwrap();
    let started: Value = serde_json::from_str(&answer.text().await.unwrap()).unwrap();
    let run = started["run_id"].as_str().unwrap_or_else(|| panic!("{started}"));
    all(client, url, key, run.to_owned()).await
}

/// How many runs are at work.
fn at_work(bench: &Bench, server: &Server) -> u64 {
    let (_, about) = server.request(bench, reqwest::Method::GET, "/api/about", Some(&server.key), None);
    about["runs_at_work"].as_u64().unwrap()
}

#[test]
fn long_runs_at_once() {
    raise_open_files();
    let count = repetitions(RUNS.0, RUNS.1);
    let text = "wordword ".repeat(40);
    // The first piece comes when all have begun.
    let reply = Reply { first_ms: if is_thorough() { 10_000 } else { 4_000 }, ..Reply::text(text).pieces(9, 25) };
    let bench = Bench::new(Script::always(Behaviour::Reply(reply)));
    let server = Server::start(&bench);
    let before = spent(server.pid());
    let (_, page) = server.request(&bench, reqwest::Method::GET, "/api/agents", Some(&server.key), None);
    let chat = format!("{}/api/chat/{}", server.url, page["items"][0]["id"].as_str().unwrap());
    let (client, start) = (client(), Instant::now());
    let readers: Vec<_> = (0..count)
        .map(|_| {
            let (url, key) = (server.url.clone(), server.key.clone());
            bench.runtime.spawn(begun(client.clone(), url, key, chat.clone()))
        })
        .collect();
    let mut most = 0;
    while start.elapsed().as_secs() < 60 && most < count as u64 {
        most = most.max(at_work(&bench, &server));
    }
    let mut events = 0;
    for reader in readers {
        let seen = bench.runtime.block_on(reader).unwrap();
        complete(&seen);
        assert_eq!(seen.last().unwrap()["outcome"]["status"], "completed");
        events += seen.len();
    }
    // The count is looked at now and then, so the last ones may be missed.
    assert!(most > count as u64 * 9 / 10, "{most} of {count} at work at once");
    let after = spent(server.pid());
    eprintln!(
        "{count} runs at once: {events} events in {:.1} s; memory {} -> {} MiB, processor {:.1} s",
        start.elapsed().as_secs_f64(),
        before.0,
        after.0,
        after.1 - before.1
    );
}

/// This process holds hundreds of connections.
pub fn raise_open_files() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let wanted = Rlimit { current: limit.maximum, maximum: limit.maximum };
    setrlimit(Resource::Nofile, wanted).unwrap();
}
