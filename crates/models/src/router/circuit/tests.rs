#![allow(clippy::unwrap_used, reason = "tests")]

use super::{Circuit, Pass};
use crate::router::RouterOptions;
use crate::router::errors::Fault;
use proptest::prelude::*;
use std::time::Duration;
use steward_core::Timestamp;
use steward_core::ports::Breaker;

/// A circuit and its time.
struct Bench {
    circuit: Circuit,
    now: Timestamp,
    options: RouterOptions,
}

impl Bench {
    fn new() -> Self {
        Self { circuit: Circuit::default(), now: Timestamp(1_000_000), options: RouterOptions::default() }
    }

    fn fails(&mut self, fault: Fault) -> Pass {
        let pass = self.circuit.force(self.now);
        self.circuit.failed(pass, fault, self.now, &self.options);
        pass
    }

    fn wait(&mut self, seconds: u64) {
        self.now = self.now.plus(Duration::from_secs(seconds));
    }

    fn state(&self) -> (Breaker, Option<u64>) {
        self.circuit.state(self.now)
    }
}

const CLOSED: (Breaker, Option<u64>) = (Breaker::Closed, None);
const HALF: (Breaker, Option<u64>) = (Breaker::HalfOpen, None);

fn open(seconds: u64) -> (Breaker, Option<u64>) {
    (Breaker::Open, Some(seconds * 1000))
}

#[test]
fn it_opens_after_some_failures_in_a_row_and_an_answer_in_between_counts() {
    let mut bench = Bench::new();
    for _ in 0..5 {
        bench.fails(Fault::Once);
        bench.fails(Fault::Once);
        assert_eq!(bench.state(), CLOSED);
        let pass = bench.circuit.admit(bench.now).unwrap();
        bench.circuit.answered(pass);
        bench.circuit.completed();
    }
    bench.fails(Fault::Once);
    bench.fails(Fault::Once);
    bench.fails(Fault::Once);
    assert_eq!(bench.state(), open(10));
    assert_eq!(bench.circuit.admit(bench.now), None);
}

#[test]
fn answers_that_begin_and_always_break_open_it_too() {
    let mut bench = Bench::new();
    for _ in 0..3 {
        let pass = bench.circuit.admit(bench.now).unwrap();
        bench.circuit.answered(pass);
        bench.circuit.failed(pass, Fault::Once, bench.now, &bench.options);
    }
    assert_eq!(bench.state(), open(10));
}

#[test]
fn one_probe_at_a_time_and_its_answer_closes() {
    let mut bench = Bench::new();
    bench.fails(Fault::Dead);
    assert_eq!(bench.state(), open(15));
    bench.wait(14);
    assert_eq!(bench.circuit.admit(bench.now), None);
    bench.wait(1);
    assert_eq!(bench.state(), HALF);
    assert_eq!(bench.circuit.admit(bench.now), Some(Pass::Probe));
    assert_eq!(bench.circuit.admit(bench.now), None);
    assert_eq!(bench.circuit.force(bench.now), Pass::Forced);
    bench.circuit.answered(Pass::Probe);
    assert_eq!(bench.state(), CLOSED);
    assert_eq!(bench.circuit.admit(bench.now), Some(Pass::Free));
}

#[test]
fn a_probe_without_an_outcome_makes_room_for_the_next() {
    let mut bench = Bench::new();
    bench.fails(Fault::Dead);
    bench.wait(15);
    assert_eq!(bench.circuit.admit(bench.now), Some(Pass::Probe));
    bench.circuit.release(Pass::Probe);
    assert_eq!(bench.circuit.admit(bench.now), Some(Pass::Probe));
}

#[test]
fn each_time_it_waits_twice_as_long_up_to_a_limit() {
    let mut bench = Bench::new();
    for seconds in [15, 30, 60, 120, 240, 300, 300] {
        assert_ne!(bench.fails(Fault::Dead), Pass::Forced);
        assert_eq!(bench.state(), open(seconds));
        bench.wait(seconds);
        assert_eq!(bench.state(), HALF);
    }
    let probe = bench.circuit.admit(bench.now).unwrap();
    bench.circuit.answered(probe);
    bench.circuit.completed();
    bench.fails(Fault::Dead);
    assert_eq!(bench.state(), open(15), "a success begins anew");
}

#[test]
fn half_open_one_failure_is_enough() {
    let mut bench = Bench::new();
    bench.fails(Fault::Dead);
    bench.wait(15);
    assert_eq!(bench.fails(Fault::Once), Pass::Probe);
    assert_eq!(bench.state(), open(20));
}

#[test]
fn what_is_asked_while_it_is_open_makes_it_no_longer() {
    let mut bench = Bench::new();
    bench.fails(Fault::Dead);
    bench.wait(5);
    assert_eq!(bench.fails(Fault::Dead), Pass::Forced);
    assert_eq!(bench.state(), open(10));
    let pass = bench.circuit.force(bench.now);
    bench.circuit.answered(pass);
    assert_eq!(bench.state(), CLOSED, "but an answer closes it");
}

#[test]
fn the_endpoint_s_own_wait_is_kept() {
    let mut bench = Bench::new();
    bench.fails(Fault::Wait(Duration::from_secs(42)));
    assert_eq!(bench.state(), open(42));
    bench.fails(Fault::Wait(Duration::from_secs(7)));
    assert_eq!(bench.state(), open(42));
    bench.fails(Fault::Wait(Duration::from_secs(50)));
    assert_eq!(bench.state(), open(50));
    bench.fails(Fault::Wait(Duration::MAX));
    assert_eq!(bench.state(), open(24 * 3600));
}

#[test]
fn an_answer_to_what_was_asked_before_proves_nothing() {
    let mut bench = Bench::new();
    let early = bench.circuit.admit(bench.now).unwrap();
    bench.fails(Fault::Wait(Duration::from_mins(1)));
    bench.circuit.answered(early);
    bench.circuit.completed();
    assert_eq!(bench.state(), open(60));
}

#[test]
fn the_request_s_own_fault_is_an_answer_and_a_stop_is_nothing() {
    let mut bench = Bench::new();
    for fault in [Fault::Requests, Fault::Unknown] {
        for _ in 0..9 {
            bench.fails(fault);
        }
        assert_eq!(bench.state(), CLOSED);
    }
    bench.fails(Fault::Settings);
    assert_eq!(bench.state(), open(300));
    bench.wait(300);
    bench.fails(Fault::Requests);
    assert_eq!(bench.state(), CLOSED);
}

#[test]
fn a_clock_that_is_set_back_does_not_keep_it_open() {
    let mut bench = Bench::new();
    bench.fails(Fault::Dead);
    bench.now = Timestamp(0);
    assert_eq!(bench.state(), HALF);
}

#[derive(Debug, Clone)]
enum Step {
    Ask,
    Force,
    Wait(u64),
    /// What becomes of one of the attempts that run.
    End(usize, Option<Fault>),
    Drop(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let fault = prop_oneof![
        Just(None),
        Just(Some(Fault::Once)),
        Just(Some(Fault::Dead)),
        Just(Some(Fault::Settings)),
        Just(Some(Fault::Requests)),
        Just(Some(Fault::Unknown)),
        (0..100_u64).prop_map(|s| Some(Fault::Wait(Duration::from_secs(s)))),
    ];
    let step = prop_oneof![
        3 => Just(Step::Ask),
        1 => Just(Step::Force),
        2 => (0..40_u64).prop_map(Step::Wait),
        3 => (0..8_usize, fault).prop_map(|(at, fault)| Step::End(at, fault)),
        1 => (0..8_usize).prop_map(Step::Drop),
    ];
    prop::collection::vec(step, 0..60)
}

proptest! {
    /// Never more than one probe; soonest_ready is never refused; and once nothing is under way, time alone
    /// brings a connection back.
    #[test]
    fn whatever_happens(steps in steps()) {
        let mut bench = Bench::new();
        let mut running: Vec<Pass> = Vec::new();
        for step in steps {
            match step {
                Step::Ask => {
                    let closed = bench.state().0 == Breaker::Closed;
                    let pass = bench.circuit.admit(bench.now);
                    prop_assert!(!closed || pass == Some(Pass::Free));
                    running.extend(pass);
                }
                Step::Force => running.push(bench.circuit.force(bench.now)),
                Step::Wait(seconds) => bench.wait(seconds),
                Step::End(at, fault) if at < running.len() => {
                    let pass = running.remove(at);
                    if let Some(fault) = fault {
                        bench.circuit.failed(pass, fault, bench.now, &bench.options);
                    } else {
                        bench.circuit.answered(pass);
                        bench.circuit.completed();
                    }
                }
                Step::Drop(at) if at < running.len() => {
                    let pass = running.remove(at);
                    bench.circuit.release(pass);
                }
                Step::End(..) | Step::Drop(_) => {}
            }
            let probes = running.iter().filter(|pass| **pass == Pass::Probe).count();
            prop_assert!(probes <= 1, "{running:?}");
            let (state, wait) = bench.state();
            prop_assert_eq!(state == Breaker::Open, wait.is_some());
        }
        for pass in running {
            bench.circuit.release(pass);
        }
        bench.wait(25 * 3600);
        prop_assert!(bench.circuit.admit(bench.now).is_some());
    }
}
