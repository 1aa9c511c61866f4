//! Clients that are too slow.

use crate::common::{Bench, Server};
use crate::events::crowd::{raise_open_files, spent};
use crate::events::reader::{chat, client};
use std::time::Duration;
use steward_testkit::model_server::{Behaviour, Reply, Script};

const READERS: usize = 151;
const PIECES: usize = 200;
const PIECE: usize = 4 * 1024;
/// Well below what it would take to keep everything for everybody: the text is in the log three times
/// (pieces, reply, end), so 150 × 2.4 MiB.
const MOST_MIB: u64 = 120;

/// They open the stream and take nothing until the run is over: the server keeps little for them,
/// and they get everything all the same.
#[test]
fn prove_readers_that_stall_cost_little_memory_and_miss_nothing() {
    raise_open_files();
    let reply = Reply { first_ms: 2000, ..Reply::text("x".repeat(PIECES * PIECE)).pieces(PIECE, 4) };
    let bench = Bench::new(Script::always(Behaviour::Reply(reply)));
    let server = Server::start(&bench);
    // What such a run takes by itself, once memory has settled.
    for _ in 0..2 {
        told(&bench, &server, 1);
    }
    let alone = spent(server.pid());
    let stalled = told(&bench, &server, READERS);
    let crowded = spent(server.pid());
    eprintln!("{} readers that stall: memory {} -> {} MiB", stalled.len(), alone.0, crowded.0);
    assert!(crowded.0 < alone.0 + MOST_MIB, "{alone:?} {crowded:?}");
    for reader in stalled.into_iter().take(8) {
        complete(&bench.runtime.block_on(async { reader.bytes().await.unwrap() }));
    }
}

/// A run with so many readers, of which only the first reads; the others.
fn told(bench: &Bench, server: &Server, count: usize) -> Vec<reqwest::Response> {
    let run = chat(bench, server, "Tell a very long story.");
    let (client, url) = (client(), format!("{}/api/runs/{run}/events", server.url));
    let mut readers: Vec<reqwest::Response> = (0..count)
        .map(|_| {
            let open = client.get(&url).bearer_auth(&server.key);
            bench.runtime.block_on(async { open.send().await.unwrap() })
        })
        .collect();
    let first = readers.remove(0);
    complete(&bench.runtime.block_on(async { first.bytes().await.unwrap() }));
    std::thread::sleep(Duration::from_secs(1));
    readers
}

/// The whole stream: each event once, in order, up to the last.
fn complete(stream: &[u8]) {
    let of = |name: &'static [u8]| {
        stream
            .split(|byte| *byte == b'\n')
            .filter_map(move |line| line.strip_prefix(name))
            .map(|value| String::from_utf8(value.to_vec()).unwrap())
    };
    for (index, id) in of(b"id: ").enumerate() {
        assert_eq!(id, (index + 1).to_string());
    }
    assert_eq!(of(b"event: ").next_back().as_deref(), Some("run.finished"));
}
