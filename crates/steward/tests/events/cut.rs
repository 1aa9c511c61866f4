//! Clients that are cut off and come back.

use crate::common::{Bench, Server};
use crate::events::reader::{Reader, chat, client, is_last};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use serde_json::Value;
use steward_testkit::model_server::{Behaviour, Reply, Script};
use steward_testkit::repetitions;

const CLIENTS: u64 = 10;
/// Cuts in the gate and at full length.
const CUTS: (usize, usize) = (100, 1000);

/// About 900 pieces in 4 seconds.
fn long_reply() -> Reply {
    let text = "wordword ".repeat(900);
    Reply::text(text).pieces(9, 4)
}

/// All events of a run, read with cuts after random numbers of events; how many cuts there were.
async fn read_with_cuts(url: &str, key: &str, run: &str, seed: u64) -> (Vec<Value>, usize) {
    let (client, mut random) = (client(), StdRng::seed_from_u64(seed));
    let (mut events, mut cuts): (Vec<Value>, usize) = (Vec::new(), 0);
    loop {
        let after = events.last().map_or(0, |last| last["seq"].as_u64().unwrap());
        let mut reader = Reader::open(&client, url, key, run, after).await.unwrap();
        for _ in 0..random.random_range(0..9) {
            events.push(reader.next().await.expect("an event before the run's last"));
            if events.last().is_some_and(is_last) {
                assert!(reader.next().await.is_none(), "the stream ends");
                return (events, cuts);
            }
        }
        cuts += 1;
    }
}

fn without_gap_or_duplicate(events: &[Value]) {
    for (index, event) in events.iter().enumerate() {
        assert_eq!(event["seq"], index as u64 + 1, "{event}");
    }
}

#[test]
fn long_cuts_lose_nothing_and_repeat_nothing() {
    let bench = Bench::new(Script::always(Behaviour::Reply(long_reply())));
    let server = Server::start(&bench);
    let (mut cuts, mut runs) = (0, 0);
    while cuts < repetitions(CUTS.0, CUTS.1) {
        let run = chat(&bench, &server, "Tell a long story.");
        let readers = (0..CLIENTS).map(|n| {
            let (url, key, run) = (server.url.clone(), server.key.clone(), run.clone());
            let seed = runs * CLIENTS + n;
            bench.runtime.spawn(async move { read_with_cuts(&url, &key, &run, seed).await })
        });
        let readers: Vec<_> = readers.collect();
        let mut first: Option<Vec<Value>> = None;
        for reader in readers {
            let (events, cut) = bench.runtime.block_on(reader).unwrap();
            without_gap_or_duplicate(&events);
            cuts += cut;
            assert_eq!(first.get_or_insert_with(|| events.clone()), &events);
        }
        runs += 1;
    }
    eprintln!("{cuts} cuts over {runs} runs and {CLIENTS} clients: no gap, no duplicate");
}

#[test]
fn long_a_killed_server_loses_nothing_that_was_seen() {
    const KILLS: (usize, usize) = (4, 20);
    // A run that is cut off often reaches the limit of its model calls, so each has a few kills only.
    const KILLS_A_RUN: u64 = 4;
    let bench = Bench::new(Script::always(Behaviour::Reply(long_reply())));
    let mut server = Server::start(&bench);
    let mut random = StdRng::seed_from_u64(11);
    let client = client();
    let (mut kills, mut seen) = (0, 0);
    while kills < repetitions(KILLS.0, KILLS.1) {
        let run = chat(&bench, &server, "Tell a long story.");
        let mut events: Vec<Value> = Vec::new();
        for _ in 0..KILLS_A_RUN {
            let count = random.random_range(1..150);
            bench.runtime.block_on(read(&client, &server, &run, &mut events, count));
            if events.last().is_some_and(is_last) {
                break;
            }
            server.kill();
            kills += 1;
            server = Server::start(&bench);
        }
        bench.runtime.block_on(read(&client, &server, &run, &mut events, usize::MAX));
        assert!(events.last().is_some_and(is_last), "{:?}", events.last());
        without_gap_or_duplicate(&events);
        seen += events.len();
    }
    eprintln!("{kills} kills: {seen} events seen, no gap, no duplicate");
}

/// Reads up to `count` more events.
async fn read(client: &reqwest::Client, server: &Server, run: &str, events: &mut Vec<Value>, count: usize) {
    if events.last().is_some_and(is_last) {
        return;
    }
    let after = events.last().map_or(0, |last| last["seq"].as_u64().unwrap());
    let mut reader = Reader::open(client, &server.url, &server.key, run, after).await.unwrap();
    for _ in 0..count {
        let Some(event) = reader.next().await else {
            return;
        };
        events.push(event);
    }
}
