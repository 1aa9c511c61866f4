//! The server is killed around the instants at which schedules are due: each occurrence has one row and one fate, and one run
//! where it ran.

use crate::common::{Bench, Server};
use reqwest::Method;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};
use steward_testkit::model_server::{Behaviour, Reply, Script};
use steward_testkit::repetitions;

/// Overlap and missed policies, and how long an occurrence may be late before it is missed, seconds.
const SETTINGS: [(&str, &str, u64); 5] = [
    ("allow", "once", 60),
    ("skip", "skip", 1),
    ("queue_one", "once", 1),
    ("queue_all", "once", 60),
    ("cancel_other", "skip", 1),
];
/// Longest life of a server, ms; its end comes at other moments of a second each time.
const LIFE_MS: u64 = 2_300;

struct Bed {
    bench: Bench,
    server: Option<Server>,
}

impl Bed {
    fn call(&self, method: Method, path: &str, body: Option<&Value>) -> Value {
        let server = self.server.as_ref().unwrap();
        let (status, answer) = server.request(&self.bench, method, path, Some(server.key.trim()), body);
        assert!(status.is_success(), "{path}: {status} {answer}");
        answer
    }

    fn all(&self, path: &str) -> Vec<Value> {
        let (mut all, mut cursor) = (Vec::new(), String::new());
        loop {
            let page = self.call(Method::GET, &format!("{path}limit=100{cursor}"), None);
            all.extend(page["items"].as_array().unwrap().iter().cloned());
            match page["next_cursor"].as_str() {
                Some(next) => cursor = format!("&cursor={next}"),
                None => return all,
            }
        }
    }

    fn restart(&mut self) {
        if let Some(server) = self.server.take() {
            server.kill();
        }
        self.server = Some(Server::start(&self.bench));
    }

    fn make(&self, (overlap, missed, grace): (&str, &str, u64)) -> String {
        let agents = self.call(Method::GET, "/api/agents", None);
        let made = json!({
            "name": format!("{overlap} {missed}"), "agent_id": agents["items"][0]["id"], "request": "Say when: {{due}}",
            "when": {"timing": {"kind": "interval", "every_seconds": 1}, "zone": "UTC"},
            "overlap": overlap, "missed": {"kind": missed}, "grace_seconds": grace, "pause_after_failures": null,
        });
        let made = self.call(Method::POST, "/api/schedules", Some(&made));
        format!("/api/schedules/{}", made["id"].as_str().unwrap())
    }
}

/// The whole test.
pub fn run() {
    let script = Script::always(Behaviour::Reply(Reply::text("It is done, and it took a while.").pieces(3, 60)));
    let mut bed = Bed { bench: Bench::new(script), server: None };
    bed.restart();
    let schedules: Vec<String> = SETTINGS.into_iter().map(|setting| bed.make(setting)).collect();
    let kills = repetitions(8, 200);
    for kill in 0..kills {
        let life = (kill as u64 * 397) % LIFE_MS;
        std::thread::sleep(Duration::from_millis(200 + life));
        bed.restart();
    }
    for path in &schedules {
        bed.call(Method::POST, &format!("{path}/pause"), Some(&json!({})));
    }
    let mut started = BTreeSet::new();
    for path in &schedules {
        started.extend(check(&bed, path));
    }
    let runs = bed.all("/api/runs?origin=schedule&");
    let known: BTreeSet<String> = runs.iter().map(|run| run["id"].as_str().unwrap().to_owned()).collect();
    assert_eq!(known, started, "no run without its occurrence, and none that is gone");
    println!("{kills} kills, {} runs of {} schedules", known.len(), schedules.len());
}

/// Waits until all that is due has its fate; answers the runs.
fn check(bed: &Bed, path: &str) -> BTreeSet<String> {
    let begun = Instant::now();
    let occurrences = loop {
        let all = bed.all(&format!("{path}/occurrences?"));
        // Two stand before they are due.
        let open = all.iter().filter(|one| one["status"] == "planned").count();
        if open <= 2 && all.iter().all(|one| one["status"] != "queued") {
            break all;
        }
        assert!(begun.elapsed() < Duration::from_mins(5), "{all:#?}");
        std::thread::sleep(Duration::from_millis(100));
    };
    let nominal: Vec<i64> = occurrences.iter().map(|one| one["nominal"].as_i64().unwrap()).collect();
    assert!(nominal.windows(2).all(|pair| pair[0] - pair[1] == 1_000), "{path}: a gap, or one twice: {nominal:?}");
    let of = |status: &str| occurrences.iter().filter(|one| one["status"] == status).collect::<Vec<_>>();
    let ran = of("ran");
    assert!(!ran.is_empty(), "{path}");
    // One that waited when the schedule was paused is skipped, after others had joined it.
    let taken = |one: &Value| one["status"] == "ran" || one["reason"] == "paused";
    for joined in of("joined") {
        let into = occurrences.iter().find(|one| one["nominal"] == joined["joined"]);
        assert!(into.is_some_and(taken), "{path}: joined what didn't run: {joined} {into:?}");
    }
    let runs: BTreeSet<String> = ran.iter().map(|one| one["run_id"].as_str().unwrap().to_owned()).collect();
    assert_eq!(runs.len(), ran.len(), "{path}: a run of two occurrences");
    assert!(occurrences.iter().all(|one| (one["status"] == "ran") == one["run_id"].is_string()), "{path}");
    runs
}
