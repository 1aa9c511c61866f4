//! Nodes are killed around a delegation: no child is lost, none is made twice, each parent ends.

use crate::crash::bed::{Bed, TENANT, mark};
use crate::crash::node::Node;
use crate::crash::settle;
use serde_json::json;
use std::collections::BTreeSet;
use std::time::Duration;
use steward_core::agent::Agent;
use steward_core::event::{EventBody, Origin};
use steward_core::ports::{Agents as _, RunStatus, RunStore as _};
use steward_core::{AgentId, RunId};
use steward_store::Store;
use steward_testkit::EffectOptions;
use steward_testkit::model_server::{Behaviour, Reply, Rule, Script};

/// Where a node dies, one after the other; each gets two requests.
const POINTS: [&str; 12] = [
    "engine.delegated.after:1",
    "engine.child.made:1",
    "engine.child.parked:1",
    "engine.child.ended:1",
    "engine.intent.after:1",
    "engine.effect.after:1",
    "engine.result.after:1",
    "engine.model.responded:2",
    "engine.delegated.after:2",
    "engine.child.made:2",
    "engine.child.parked:2",
    "engine.child.ended:2",
];
const EACH: usize = 2;

fn script(requests: usize) -> Script {
    let rule = |role: &str, contains: String, then| Rule { contains, role: Some(role.to_owned()), times: None, then };
    let mut script = Script { otherwise: Some(Behaviour::text("I was asked nothing.")), ..Script::default() };
    let done = Behaviour::text("The work is over.");
    script.rules.push(rule("tool", String::new(), done));
    for n in 0..requests {
        let count = Behaviour::calls([("effect_write", json!({"n": n}))]);
        script.rules.push(rule("user", format!("Count {}", mark(n)), count));
        let ask = Behaviour::calls([("effect_ask", json!({"n": n}))]);
        script.rules.push(rule("user", mark(n), ask));
    }
    script
}

/// The agent that delegates, and the one that counts.
async fn agents(store: &Store) {
    let mut steward = store.agent_by_name(TENANT, "steward").await.unwrap().unwrap();
    steward.tools = vec!["effect_ask".to_owned()];
    let counter = Agent {
        id: AgentId(uuid::Uuid::from_u128(2)),
        name: "counter".to_owned(),
        tools: vec!["effect_write".to_owned()],
        ..steward.clone()
    };
    for agent in [steward, counter] {
        store.save_agent(TENANT, &agent).await.unwrap();
    }
}

/// The whole test.
pub async fn run(database: Option<String>) {
    let requests = POINTS.len() * EACH;
    let effects =
        EffectOptions { before: Duration::from_millis(5), after: Duration::from_millis(5), deduplicate: false };
    let bed = Bed::new(database, 0, Reply::text("unused"), effects).await;
    bed.model.replace(script(requests));
    agents(&bed.store().await).await;
    let mut died = 0;
    for (turn, point) in POINTS.iter().enumerate() {
        let mut node = Node::start(&bed, Some(point), &format!("n{turn}"));
        let clients: Vec<_> = (0..EACH).map(|n| bed.send(&node, turn * EACH + n)).collect();
        if node.ends(Duration::from_secs(8)).await {
            died += 1;
        } else {
            node.kill().await;
        }
        for client in clients {
            client.abort();
        }
    }
    let rounds = settle::settle(&bed).await;
    let store = bed.store().await;
    let children = judge(&store).await;
    let counts = bed.effects.counts();
    assert!(counts.values().all(|count| count.effects == 1), "{counts:?}");
    println!(
        "{died} of {} nodes died at their point, {children} delegations, {} effects, {rounds} rounds to settle",
        POINTS.len(),
        counts.len()
    );
    assert!(children > 0 && died >= POINTS.len() / 2);
}

/// Each delegation has its one child, each child its one parent, all have ended, and each result of a
/// child stands once in its parent.
async fn judge(store: &Store) -> usize {
    let (mut wanted, mut found) = (BTreeSet::new(), BTreeSet::new());
    for row in settle::runs(store).await {
        assert_eq!(row.status, RunStatus::Finished, "{row:?}");
        if row.origin == Origin::Delegation {
            assert!(found.insert(row.id));
        }
        let events = store.events(TENANT, row.id, 0, 10_000).await.unwrap();
        let of = |pick: &dyn Fn(&EventBody) -> Option<RunId>| -> Vec<RunId> {
            events.iter().filter_map(|one| pick(&one.event.body)).collect()
        };
        let begun = of(&|body| match body {
            EventBody::RunDelegated { child, .. } => Some(*child),
            _ => None,
        });
        let ended = of(&|body| match body {
            EventBody::RunReturned { child, .. } => Some(*child),
            _ => None,
        });
        assert_eq!(begun, ended, "{}", row.id);
        assert!(begun.len() <= 1, "asked again: {}", row.id);
        wanted.extend(begun);
    }
    assert_eq!(wanted, found, "made, and no others");
    wanted.len()
}
