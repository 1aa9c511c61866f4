//! Start, ask, kill; again and again on one database.

use crate::crash::bed::Bed;
use crate::crash::node::Node;
use crate::crash::{oracle, settle};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};
use steward_testkit::model_server::Reply;
use steward_testkit::{EffectOptions, repetitions};

/// Kills of one loop in the gate and at full length, unless `STEWARD_KILLS` says otherwise. Every third is at a random
/// time, so the gate reaches each point twice.
const KILLS: (usize, usize) = (42, 120);
/// Most requests that one node gets.
const REQUESTS: u64 = 3;
/// Longest wait for a point to be passed.
const PATIENCE: Duration = Duration::from_secs(3);

/// Points, and how many passes before the last one there may be.
const POINTS: [(&str, u64); 14] = [
    ("engine.intent.before", 2),
    ("engine.intent.after", 2),
    ("engine.effect.after", 2),
    ("engine.result.before", 2),
    ("engine.result.after", 2),
    ("engine.model.before", 4),
    ("engine.model.requested", 4),
    ("engine.model.streaming", 8),
    ("engine.model.answered", 3),
    ("engine.model.responded", 3),
    ("store.commit.before", 25),
    ("store.commit.after", 25),
    ("start.opened", 1),
    ("start.resumed", 1),
];

/// A small generator of one's own, so that a seed means the same for ever (SplitMix64).
pub struct Chance(pub u64);

impl Chance {
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % limit
    }
}

pub fn number(name: &str) -> Option<u64> {
    let text = std::env::var_os(name)?;
    Some(text.to_str().and_then(|text| text.parse().ok()).unwrap_or_else(|| panic!("{name} is not a number")))
}

/// Where a node is to die: a point and its pass, or a time.
pub fn fate(turn: usize, points: &[(&str, u64)], chance: &mut Chance) -> (String, Option<String>, Duration) {
    // Every third dies at a random time, the others at the points in turn.
    if turn % 3 == 2 {
        let after = Duration::from_millis(5 + chance.below(396));
        return ("at a random time".to_owned(), None, after);
    }
    let (point, passes) = points[(turn - turn / 3) % points.len()];
    let pass = 1 + chance.below(passes);
    (point.to_owned(), Some(format!("{point}:{pass}")), PATIENCE)
}

/// The whole test on one database.
pub async fn run(engine: &str, database: Option<String>) {
    let kills = number("STEWARD_KILLS").map_or_else(|| repetitions(KILLS.0, KILLS.1), |n| usize::try_from(n).unwrap());
    let seed = number("STEWARD_SEED").unwrap_or(20_261_121);
    println!("{engine}: {kills} kills, STEWARD_SEED={seed}");
    let reply = Reply::text("It was counted, and this answer takes its time.").pieces(8, 15);
    let wait = Duration::from_millis(8);
    let effects = EffectOptions { before: wait, after: wait, deduplicate: false };
    let bed = Bed::new(database, kills * 3, reply, effects).await;
    let begun = Instant::now();
    let mut chance = Chance(seed);
    let mut asked = 0;
    let mut died: BTreeMap<String, (u32, u32)> = BTreeMap::new();
    for turn in 0..kills {
        let (name, point, limit) = fate(turn, &POINTS, &mut chance);
        let mut node = Node::start(&bed, point.as_deref(), "node");
        let requests = 1 + chance.below(REQUESTS);
        let clients: Vec<_> = (0..requests)
            .map(|_| {
                asked += 1;
                bed.send(&node, asked - 1)
            })
            .collect();
        let row = died.entry(name).or_default();
        if node.ends(limit).await {
            assert!(point.is_some(), "a node ended by itself:\n{}", node.log());
            row.0 += 1;
        } else {
            node.kill().await;
            if point.is_some() {
                row.1 += 1;
            } else {
                row.0 += 1;
            }
        }
        for client in clients {
            if client.is_finished() {
                client.await.unwrap();
            } else {
                client.abort();
            }
        }
    }
    let loop_time = begun.elapsed();
    let rounds = settle::settle(&bed).await;
    let found = oracle::judge(&bed).await;
    println!("\n{engine}: killed                    there   elsewhere (point not passed in time)");
    for (name, (there, elsewhere)) in &died {
        println!("  {name:<30} {there:>5} {elsewhere:>5}");
    }
    println!("  {found}");
    println!("  asked {asked}, settled in {rounds} rounds; loop {loop_time:.1?}, all {:.1?}", begun.elapsed());
    for (point, _) in POINTS {
        let there = died.get(point).map_or(0, |row| row.0);
        assert!(kills < 100 || there > 0, "no node died at {point}");
    }
    assert!(kills < 100 || found.uncertain > 0, "no write was interrupted; the loop proves nothing");
    assert!(found.limited * 5 < found.runs, "too few runs got through to prove something");
}
