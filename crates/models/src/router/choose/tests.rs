#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use super::{Chooser, Turns, choose};
use crate::price::Prices;
use crate::router::RouterOptions;
use crate::router::connections::ConnectionSet;
use crate::router::health::HealthTracker;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use steward_core::exam::{ExamReport, Grade};
use steward_core::model::{Auth, Capabilities, Connection, Price, Provider};
use steward_core::ports::{Assigned, Route, RouteRequest};
use steward_core::routing::{Balance, Role, Routing, Task};
use steward_core::{ConnectionId, Timestamp};
use steward_testkit::FakeClock;

fn id(n: u128) -> ConnectionId {
    ConnectionId(uuid::Uuid::from_u128(n))
}

/// Connection `n`, called a, b, c…
fn connection(n: u128) -> Connection {
    let name = char::from(b'a' + u8::try_from(n).unwrap() - 1).to_string();
    Connection {
        id: id(n),
        provider: Provider::Compatible,
        base_url: format!("http://127.0.0.1:{n}/v1"),
        model: format!("model-{name}"),
        name,
        auth: Auth::None,
        capabilities: Capabilities::default(),
        price: None,
        weight: 1,
        in_house: None,
        by_hand: Vec::new(),
        wire: None,
    }
}

struct Bench {
    known: ConnectionSet,
    prices: Prices,
    health: Arc<HealthTracker>,
    clock: Arc<FakeClock>,
    turns: Turns,
    routing: Routing,
    wanted: Option<ConnectionId>,
    assigned: Option<Assigned<'static>>,
    primary: Option<ConnectionId>,
    message: &'static str,
}

impl Bench {
    /// a to f; f is the system default, b the primary.
    fn new() -> Self {
        let clock = Arc::new(FakeClock::default());
        Self {
            known: ConnectionSet {
                connections: (1..=6).map(connection).collect(),
                default: Some(id(6)),
                ..ConnectionSet::default()
            },
            prices: Prices::built_in(),
            health: Arc::new(HealthTracker::new(clock.clone(), RouterOptions::default())),
            clock,
            turns: Turns::default(),
            routing: Routing { max_fallback_attempts: 9, ..Routing::default() },
            wanted: None,
            assigned: None,
            primary: Some(id(2)),
            message: "hello",
        }
    }

    fn route(&mut self) -> Route {
        let chooser = Chooser { known: &self.known, prices: &self.prices, health: &self.health };
        let request = RouteRequest {
            wanted: self.wanted,
            assigned: self.assigned,
            primary: self.primary,
            routing: &self.routing,
            message: self.message,
            task: None,
        };
        choose(&chooser, &mut self.turns, request).unwrap()
    }

    /// The names in order, such as `bf`.
    fn names(&mut self) -> String {
        let route = self.route();
        route.targets.into_iter().map(|one| one.name).collect()
    }

    fn price(&mut self, n: usize, input: u64) {
        self.known.connections[n - 1].price = Some(Price { input, cached: input, output: input });
    }

    fn grade(&mut self, n: usize, task: Task, grade: Grade) -> ExamReport {
        let one = &self.known.connections[n - 1];
        ExamReport {
            version: 1,
            endpoint: format!("{}/", one.base_url),
            model: one.model.clone(),
            server: String::new(),
            at: Timestamp(0),
            ms: 0,
            tokens: 0,
            checks: Vec::new(),
            constrained: Vec::new(),
            grades: BTreeMap::from([(task, grade)]),
            tokens_per_second: 0.0,
            first_token_ms: 0,
            prompt_tokens_per_second: 0.0,
            reuses_cache: false,
            capabilities: Capabilities::default(),
            notes: Vec::new(),
        }
    }

    fn same_model(&mut self, ns: &[usize]) {
        for n in ns {
            "shared".clone_into(&mut self.known.connections[n - 1].model);
        }
    }
}

#[test]
fn the_order_is_wanted_task_primary_chain_default() {
    let mut bench = Bench::new();
    assert_eq!(bench.names(), "bf");
    bench.routing.fallback_chain = vec![id(3), id(2), id(4), id(3)];
    assert_eq!(bench.names(), "bcdf");
    bench.routing.task_routing = BTreeMap::from([(Task::CodeGen, id(5))]);
    assert_eq!(bench.names(), "bcdf");
    bench.message = "debug this";
    assert_eq!(bench.names(), "ebcdf");
    bench.wanted = Some(id(4));
    assert_eq!(bench.names(), "debcf");
    bench.routing.max_fallback_attempts = 3;
    assert_eq!(bench.names(), "deb");
    bench.routing.max_fallback_attempts = 0;
    assert_eq!(bench.names(), "d", "one is always tried");
}

#[test]
fn a_default_that_cannot_plan_is_no_stand_in_for_one_that_can() {
    let mut bench = Bench::new();
    bench.known.connections[5].capabilities.plans = false;
    assert_eq!(bench.names(), "b");
    bench.routing.fallback_chain = vec![id(6)];
    assert_eq!(bench.names(), "bf", "a person chose it");
    bench.routing.fallback_chain.clear();
    bench.known.connections[1].capabilities.plans = false;
    assert_eq!(bench.names(), "bf");
}

#[test]
fn without_anything_it_is_the_system_default() {
    let mut bench = Bench::new();
    bench.primary = None;
    assert_eq!(bench.names(), "f");
    bench.known.default = None;
    assert_eq!(bench.names(), "a", "or the first");
}

#[test]
fn who_is_gone_is_left_out_with_a_note() {
    let mut bench = Bench::new();
    bench.routing.fallback_chain = vec![id(77), id(3), id(77), id(78)];
    bench.message = "Explain it";
    let route = bench.route();
    assert_eq!(route.task, Task::Reasoning);
    let expected = format!(
        "reasoning (`explain`): `b` (primary), then `c` (fallback), then `f` (system default); connections {}, {} are left out, since they are not there any more",
        id(77),
        id(78)
    );
    assert_eq!(route.reason, expected);
}

#[test]
fn a_connection_for_a_part_of_the_work_goes_before_the_usual_ones() {
    let mut bench = Bench::new();
    assert!(bench.names().starts_with('b'));
    bench.assigned = Some(Assigned::ByAgent(Role::Planner, id(4)));
    assert!(bench.names().starts_with("db"), "{}", bench.names());
    assert!(bench.route().reason.contains("`d` (planner), then `b` (primary)"), "{}", bench.route().reason);
    bench.routing.cost_aware = true;
    bench.price(2, 1);
    assert!(bench.names().starts_with('d'), "what was chosen stays first, whatever it costs");
    bench.wanted = Some(id(3));
    assert!(bench.names().starts_with("cd"), "{}", bench.names());
    bench.wanted = None;
    bench.assigned = Some(Assigned::BySetting(Role::Executor, "e"));
    assert!(bench.route().reason.contains("`e` (executor)"));
    // One that an agent names and that was removed is left out; what a setting names must be there.
    bench.assigned = Some(Assigned::ByAgent(Role::Planner, id(99)));
    assert!(bench.names().starts_with('b') && bench.route().reason.contains("left out"));
    let chooser = Chooser { known: &bench.known, prices: &bench.prices, health: &bench.health };
    let request = RouteRequest {
        wanted: None,
        assigned: Some(Assigned::BySetting(Role::Planner, "nowhere")),
        primary: bench.primary,
        routing: &bench.routing,
        message: "hello",
        task: None,
    };
    let error = choose(&chooser, &mut bench.turns, request).unwrap_err();
    assert!(error.message.contains("PLANNER_MODEL_SPEC names the connection `nowhere`"), "{error}");
    assert!(error.hint.contains("a, b, c, d, e, f") && error.hint.contains("unset"), "{error}");
}

#[test]
fn a_connection_that_the_caller_named_must_be_there() {
    let mut bench = Bench::new();
    bench.wanted = Some(id(99));
    let chooser = Chooser { known: &bench.known, prices: &bench.prices, health: &bench.health };
    let request = RouteRequest {
        wanted: bench.wanted,
        assigned: None,
        primary: bench.primary,
        routing: &bench.routing,
        message: "hello",
        task: None,
    };
    let error = choose(&chooser, &mut bench.turns, request).unwrap_err();
    assert!(error.message.contains("no connection"), "{error}");
    assert!(error.hint.contains("a, b, c, d, e, f"), "{error}");
    let none = Chooser { known: &ConnectionSet::default(), ..chooser };
    let request = RouteRequest { wanted: None, primary: None, ..request };
    let error = choose(&none, &mut bench.turns, request).unwrap_err();
    assert!(error.hint.contains("OPENAI_API_KEY"), "{error}");
}

#[test]
fn the_cheapest_that_suffices_goes_first() {
    let mut bench = Bench::new();
    bench.routing.fallback_chain = vec![id(1), id(3), id(4)];
    bench.routing.cost_aware = true;
    bench.message = "Explain it";
    bench.price(1, 100);
    bench.price(2, 900);
    bench.price(3, 200);
    bench.price(4, 50);
    // Nobody was examined: only the primary suffices.
    assert_eq!(bench.names(), "bacdf");
    let reports = vec![
        bench.grade(1, Task::Reasoning, Grade::D),
        bench.grade(3, Task::Reasoning, Grade::C),
        bench.grade(4, Task::Planning, Grade::A),
    ];
    bench.known.set_reports(reports);
    assert_eq!(bench.names(), "cbadf");
    let reports = vec![
        bench.grade(1, Task::Reasoning, Grade::A),
        bench.grade(2, Task::Reasoning, Grade::E),
        bench.grade(3, Task::Reasoning, Grade::B),
    ];
    bench.known.set_reports(reports);
    assert_eq!(bench.names(), "acbdf", "an exam goes before a setting");
    assert!(bench.route().reason.contains("`a` (fallback, cheapest that suffices)"));
    bench.routing.cost_aware = false;
    assert_eq!(bench.names(), "bacdf");
    bench.routing.cost_aware = true;
    bench.wanted = Some(id(5));
    assert_eq!(bench.names(), "eacbdf", "the caller's choice stays first");
}

#[test]
fn what_has_no_price_may_cost_anything() {
    let mut bench = Bench::new();
    bench.routing.fallback_chain = vec![id(3)];
    bench.routing.cost_aware = true;
    let reports = vec![bench.grade(3, Task::Chat, Grade::B)];
    bench.known.set_reports(reports);
    bench.price(3, 1_000_000);
    assert_eq!(bench.names(), "cbf");
    bench.known.connections[1].provider = Provider::Ollama;
    assert_eq!(bench.names(), "bcf", "one's own machine costs nothing");
}

#[test]
fn equals_take_turns_by_weight() {
    let mut bench = Bench::new();
    bench.routing.fallback_chain = vec![id(3), id(4), id(5)];
    bench.routing.balance = Balance::Weighted;
    bench.same_model(&[2, 4, 5]);
    bench.known.connections[1].weight = 3;
    bench.known.connections[4].weight = 0;
    let turns: Vec<String> = (0..8).map(|_| bench.names()).collect();
    // b, d and e are equals and share the first, third and fourth place; e is only a fallback.
    assert_eq!(turns, ["bcdef", "bcdef", "dcbef", "bcdef", "bcdef", "bcdef", "dcbef", "bcdef"]);
    bench.routing.balance = Balance::Fixed;
    assert_eq!(bench.names(), "bcdef");
}

#[test]
fn weights_of_nothing_leave_the_order() {
    let mut bench = Bench::new();
    bench.routing.fallback_chain = vec![id(3)];
    bench.routing.balance = Balance::Weighted;
    bench.same_model(&[2, 3]);
    bench.known.connections[1].weight = 0;
    bench.known.connections[2].weight = 0;
    assert_eq!(bench.names(), "bcf");
}

#[test]
fn of_equals_the_quickest_of_late_goes_first() {
    let mut bench = Bench::new();
    bench.routing.fallback_chain = vec![id(3), id(4)];
    bench.routing.balance = Balance::LeastLatency;
    bench.same_model(&[2, 3, 4]);
    assert_eq!(bench.names(), "bcdf");
    // As if they had been overtaken, which is a time too.
    for (n, ms) in [(2, 500), (3, 300), (4, 100)] {
        drop(bench.health.admit(id(n)));
        bench.health.overtaken(id(n), ms);
    }
    assert_eq!(bench.names(), "dcbf");
    bench.known.connections[3].weight = 0;
    assert_eq!(bench.names(), "cbdf");
    bench.clock.advance(Duration::from_mins(6));
    assert_eq!(bench.names(), "bcdf", "old times say nothing");
}
