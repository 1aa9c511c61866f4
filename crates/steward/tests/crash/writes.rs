//! Writes to files and to a database under kills: none is lost, none happens twice, and where the world shows what
//! became of one nobody is asked.

use crate::crash::bed::{Bed, TENANT, agent, mark};
use crate::crash::kill_loop::{Chance, fate, number};
use crate::crash::node::Node;
use crate::crash::settle::{self, runs};
use rusqlite::Connection;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;
use steward_core::SkillId;
use steward_core::event::{Event, EventBody, ToolResult};
use steward_core::policy::{Decision, RiskClass};
use steward_core::ports::RunStore as _;
use steward_core::skill::{Skill, SkillLimits, SkillSpec, SqlSpec};
use steward_core::tool::EffectClass;
use steward_testkit::model_server::{Behaviour, Rule, Script};
use steward_testkit::{EffectOptions, repetitions};
use uuid::Uuid;

/// Kills in the gate and at full length, unless `STEWARD_KILLS` says otherwise.
const KILLS: (usize, usize) = (14, 36);
/// Most requests that one node gets.
const REQUESTS: u64 = 3;
/// What is in stock at first.
const STOCK: i64 = 1_000_000;

/// Points, and how many passes before the last one there may be.
const POINTS: [(&str, u64); 9] = [
    ("engine.intent.after", 3),
    ("engine.stage.before", 3),
    ("engine.stage.after", 3),
    ("engine.effect.after", 3),
    ("engine.result.before", 3),
    ("engine.result.after", 2),
    ("engine.settled", 1),
    ("engine.model.responded", 3),
    ("store.commit.after", 25),
];

/// The call of the `n`-th request. Lines, rows and sales of the same kind share a file or a table, and some are alike in
/// every byte.
fn call(n: usize) -> (&'static str, Value) {
    let write = |path: String, content: String, mode: &str| {
        let args = json!({"path": path, "content": content, "mode": mode});
        ("write", args)
    };
    match n % 5 {
        0 => write("log.txt".to_owned(), mark(n), "append"),
        1 => write("same.txt".to_owned(), "again".to_owned(), "append"),
        2 => write(format!("own/{n}.txt"), mark(n), "overwrite"),
        3 => ("add_order", json!({"name": mark(n)})),
        _ => ("sell", json!({"item": "nut"})),
    }
}

fn script(requests: usize) -> Script {
    let rule = |role: &str, contains: String, then| Rule { contains, role: Some(role.to_owned()), times: None, then };
    let mut rules = vec![rule("tool", String::new(), Behaviour::text("It is done."))];
    rules.extend((0..requests).map(|n| rule("user", mark(n), Behaviour::calls([call(n)]))));
    Script { otherwise: Some(Behaviour::text("I was asked nothing.")), rules, ..Script::default() }
}

fn skill(number: u128, name: &str, input: &str, statement: &str) -> Skill {
    Skill {
        id: SkillId(Uuid::from_u128(number)),
        name: name.to_owned(),
        version: 1,
        description: "Changes the shop.".to_owned(),
        utterances: Vec::new(),
        parameters: json!({"type": "object", "properties": {input: {"type": "string"}}, "required": [input], "additionalProperties": false}),
        spec: SkillSpec::Sql(SqlSpec {
            trusted: false,
            database: "sqlite:shop.db".to_owned(),
            statement: statement.to_owned(),
            readonly: false,
            max_rows: 10,
            max_changes: 10,
        }),
        risk: RiskClass::Write,
        effect: EffectClass::Write,
        credential: None,
        compensation: None,
        limits: SkillLimits::default(),
        enabled: true,
        package: None,
        untrusted: false,
        category: String::new(),
        at: steward_core::Timestamp(0),
        by: String::new(),
    }
}

async fn bed(requests: usize) -> Bed {
    let skills = [
        skill(21, "add_order", "name", "INSERT INTO orders (name) VALUES ({{name}})"),
        skill(22, "sell", "item", "UPDATE stock SET left = left - 1 WHERE item = {{item}}"),
    ];
    let mut agent = agent(vec!["write".to_owned()]);
    agent.policy.write = Decision::Allow;
    agent.skills = skills.iter().map(|skill| skill.id).collect();
    let bed = Bed::with(None, script(requests), EffectOptions::default(), agent, &skills).await;
    let shop = Connection::open(bed.work().join("shop.db")).unwrap();
    shop.execute_batch(&format!(
        "CREATE TABLE orders (id INTEGER PRIMARY KEY, name TEXT);
         CREATE TABLE stock (item TEXT PRIMARY KEY, left INTEGER);
         INSERT INTO stock VALUES ('nut', {STOCK});"
    ))
    .unwrap();
    bed
}

/// What became of the calls of one kind.
#[derive(Debug, Default, Clone, Copy)]
struct Told {
    runs: usize,
    done: usize,
    failed: usize,
    /// Cut off, and settled: it had happened, it had not.
    happened: usize,
    again: usize,
    /// Left to a person.
    left: usize,
}

/// The whole test.
pub async fn run() {
    let kills = number("STEWARD_KILLS").map_or_else(|| repetitions(KILLS.0, KILLS.1), |n| usize::try_from(n).unwrap());
    let seed = number("STEWARD_SEED").unwrap_or(20_261_122);
    println!("writes: {kills} kills, STEWARD_SEED={seed}");
    let bed = bed(kills * 3).await;
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
                let n = asked - 1;
                bed.send_text(&node, n, &format!("Please do {}", mark(n)))
            })
            .collect();
        let row = died.entry(name).or_default();
        if node.ends(limit).await {
            assert!(point.is_some(), "a node ended by itself:\n{}", node.log());
            row.0 += 1;
        } else {
            node.kill().await;
            row.0 += u32::from(point.is_none());
            row.1 += u32::from(point.is_some());
        }
        for client in clients {
            if client.is_finished() {
                client.await.unwrap();
            } else {
                client.abort();
            }
        }
    }
    let rounds = settle::settle(&bed).await;
    let told = judge(&bed).await;
    println!("\nwrites: killed                  there   elsewhere (point not passed in time)");
    for (name, (there, elsewhere)) in &died {
        println!("  {name:<30} {there:>5} {elsewhere:>5}");
    }
    let all = told.values().fold(Told::default(), |sum, one| Told {
        runs: sum.runs + one.runs,
        done: sum.done + one.done,
        failed: sum.failed + one.failed,
        happened: sum.happened + one.happened,
        again: sum.again + one.again,
        left: sum.left + one.left,
    });
    for (kind, one) in &told {
        println!("  {kind:<12} {one:?}");
    }
    println!(
        "  all          {all:?}; 0 lost, 0 twice; asked {asked}, settled in {rounds} rounds, {:.1?}",
        begun.elapsed()
    );
    let cut_off = all.happened + all.again + all.left;
    assert!(kills < KILLS.1 || cut_off > 0, "no write was interrupted; the loop proves nothing");
    assert!(all.left * 50 <= cut_off.max(50), "{} of {cut_off} interrupted writes were left to a person", all.left);
}

/// Holds the logs to the world. What was left to a person, who looked away, may have happened or not.
async fn judge(bed: &Bed) -> BTreeMap<&'static str, Told> {
    let store = bed.store().await;
    store.check().await.unwrap();
    let rows = runs(&store).await;
    let marks = bed.accepted.lock().unwrap().clone();
    for mark in &marks {
        let of = rows.iter().filter(|row| row.title.contains(mark)).count();
        assert_eq!(of, 1, "runs of the accepted request {mark}");
    }
    let mut told: BTreeMap<&'static str, Told> = BTreeMap::new();
    let shop = Connection::open(bed.work().join("shop.db")).unwrap();
    for row in &rows {
        let stored = store.events(TENANT, row.id, 0, 10_000).await.unwrap();
        let events: Vec<Event> = stored.into_iter().map(|stored| stored.event).collect();
        let text = row.title.rsplit("n=").next().unwrap();
        let n: usize = text.split(';').next().unwrap().parse().unwrap();
        let kind = ["append", "append same", "overwrite", "insert", "update"][n % 5];
        let one = told.entry(kind).or_default();
        one.runs += 1;
        let (done, left) = outcome(&events, one);
        // Those that can be told apart, one by one.
        let count = match n % 5 {
            0 => lines(&bed.work().join("log.txt"), &mark(n)),
            2 => lines(&bed.work().join(format!("own/{n}.txt")), &mark(n)),
            3 => count(&shop, "SELECT count(*) FROM orders WHERE name = ?1", &mark(n)),
            _ => continue,
        };
        assert!(
            count == i64::from(done) || left && count <= 1,
            "run {} ({kind} {n}) is in the world {count} times; done {done}",
            row.id
        );
    }
    // The others by how many there are.
    let sum = |kind: &str| told.get(kind).copied().unwrap_or_default();
    let range = |one: Told| {
        let done = i64::try_from(one.done).unwrap();
        done..=done + i64::try_from(one.left).unwrap()
    };
    let same = lines(&bed.work().join("same.txt"), "again");
    assert!(range(sum("append same")).contains(&same), "{same} lines: {told:?}");
    let sold = STOCK - count(&shop, "SELECT left FROM stock WHERE item = ?1", "nut");
    assert!(range(sum("update")).contains(&sold), "{sold} sold: {told:?}");
    told
}

/// Whether the call of a run was done, and whether a person was asked.
fn outcome(events: &[Event], one: &mut Told) -> (bool, bool) {
    let (mut done, mut left) = (false, false);
    for event in events {
        match &event.body {
            EventBody::ToolIntent { evidence, .. } => one.again += usize::from(evidence.is_some()),
            EventBody::ToolUncertain { why, .. } => {
                println!("  left to a person: {why}");
                left = true;
                one.left += 1;
            }
            EventBody::ToolResult { result, evidence, .. } => {
                one.happened += usize::from(evidence.is_some());
                done = matches!(result, ToolResult::Ok { .. });
                one.failed += usize::from(!done);
                if let ToolResult::Error { message, .. } = result {
                    println!("  failed: {message}");
                }
            }
            _ => {}
        }
    }
    one.done += usize::from(done);
    (done, left)
}

fn lines(path: &Path, line: &str) -> i64 {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let found = text.lines().filter(|one| *one == line).count();
    i64::try_from(found).unwrap()
}

fn count(shop: &Connection, sql: &str, value: &str) -> i64 {
    shop.query_row(sql, [value], |row| row.get(0)).unwrap()
}
