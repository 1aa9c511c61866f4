//! Agents that ask agents, over the real store.

use crate::engine::bed::{
    asked, connection, finished, kinds, request, service, service_with, store_of, until, untrusted,
};
use crate::engine::outcome;
use crate::engine::skilled::asking;
use serde_json::json;
use std::path::Path;
use steward_core::agent::Agent;
use steward_core::approval::Answer;
use steward_core::budget::{Limit, Spent};
use steward_core::event::{Event, EventBody, Mode, Origin, Outcome, ToolResult};
use steward_core::policy::TOOL_RULES_SETTING;
use steward_core::ports::{
    BudgetScope, Period, Role, RunFilter, RunRow, RunStatus, Settings as _, SpendLimit, User, Users as _,
};
use steward_core::receipts::Verdict;
use steward_core::{AgentId, BudgetId, RunId, TenantId, Timestamp, UserId};
use steward_engine::{ForkRun, RunService, StartRun};
use steward_testkit::model_server::{Behaviour, Rule, Script, ScriptedModelServer};
use tokio::task::JoinSet;
use uuid::Uuid;

const TENANT: TenantId = TenantId::DEFAULT;

fn agent(name: &str, id: u128) -> Agent {
    Agent { id: AgentId(Uuid::from_u128(id)), name: name.to_owned(), ..request("x", Mode::Loop, Path::new("/")).agent }
}

fn rule(role: &str, contains: &str, then: Behaviour) -> Rule {
    Rule { contains: contains.to_owned(), role: Some(role.to_owned()), times: None, then }
}

fn ask(agent: &str, task: &str) -> Behaviour {
    Behaviour::calls([(format!("ask_{agent}"), json!({"task": task}))])
}

async fn scripted(rules: Vec<Rule>) -> ScriptedModelServer {
    let script = Script { rules, otherwise: Some(Behaviour::text("I was asked nothing.")), ..Script::default() };
    ScriptedModelServer::start(script).await.unwrap()
}

async fn with_agents(service: &RunService, agents: &[(&str, u128)]) {
    for (name, id) in agents {
        let store = store_of(service);
        store.save_agent(TENANT, &agent(name, *id)).await.unwrap();
    }
}

fn child_of(events: &[Event]) -> RunId {
    events
        .iter()
        .find_map(|event| match &event.body {
            EventBody::RunDelegated { child, .. } => Some(*child),
            _ => None,
        })
        .unwrap()
}

async fn rows(service: &RunService) -> Vec<RunRow> {
    let filter = RunFilter { limit: 500, ..RunFilter::default() };
    store_of(service).runs(TENANT, filter).await.unwrap().items
}

fn yes() -> Answer {
    Answer::Approve { grant: None, until: None }
}

#[tokio::test(flavor = "multi_thread")]
async fn another_agent_does_a_part_and_its_work_counts() {
    let dir = tempfile::tempdir().unwrap();
    let data = tempfile::tempdir().unwrap();
    let model = scripted(vec![
        rule("user", "Have the herons", ask("helper", "write the report")),
        rule(
            "user",
            "Please: write the report",
            Behaviour::calls([("write", json!({"path": "report.md", "content": "7 herons"}))]),
        ),
        rule("tool", "I wrote report.md", Behaviour::text("I wrote report.md.")),
        rule("tool", "", Behaviour::text("I wrote report.md.")),
    ])
    .await;
    let first = service(data.path(), &model).await;
    let parents = asking(&first, &[("a", "helper")]);
    with_agents(&parents, &[("helper", 60)]).await;
    let ann = UserId(Uuid::from_u128(1));
    let user = User::new(ann, "ann@example.org", "Ann", Role::Operator, Timestamp(0));
    store_of(&parents).create_user(TENANT, &user).await.unwrap();
    let asked = StartRun { user: Some(ann), ..request("Have the herons reported", Mode::Loop, dir.path()) };
    let run = parents.start(asked).await.unwrap();
    let begun = until(&parents, run, |body| matches!(body, EventBody::RunDelegated { .. })).await;
    let child = child_of(&begun);
    // The child asks in the same inbox; nobody holds the parent meanwhile, not even over a restart.
    let question = asked_once_made(&parents, child).await;
    let approval = parents.deps().store.approval(TENANT, question).await.unwrap();
    assert_eq!(approval.run_id, child);
    parents.shutdown().await;
    drop(parents);
    let parents = asking(&first, &[("a", "helper")]);
    assert_eq!(parents.at_work(), 0);
    let waiting = parents.deps().store.run(TENANT, run).await.unwrap();
    assert_eq!(waiting.status, RunStatus::Parked);
    parents.serve();
    parents.decide(question, yes(), "me").await.unwrap();

    let events = finished(&parents, run).await;
    assert_eq!(outcome(&events), (Outcome::Completed, "I wrote report.md.".into()));
    let below = finished(&parents, child).await;
    let Some(EventBody::RunStarted { setup, .. }) = below.first().map(|event| &event.body) else {
        panic!("{:?}", kinds(&below))
    };
    assert_eq!(setup.input, "Please: write the report");
    assert_eq!((setup.parent, setup.depth), (Some(run), 1));
    assert!(setup.askers.contains(&ann), "who asked above asks here too");
    assert_eq!(setup.origin, Origin::Delegation);
    // One call was made before it, one is kept for the answer.
    assert_eq!(setup.budget.model_calls, 8);
    assert_eq!(setup.budget.depth, 2);

    let ended = parents.state(child).await.unwrap();
    let state = parents.state(run).await.unwrap();
    assert_eq!(state.children.len(), 1);
    assert_eq!((state.spent.model_calls, state.spent.below), (2, 2));
    let own = state.usage.prompt_tokens + state.usage.completion_tokens;
    assert_eq!(state.spent.tokens, own + ended.spent.tokens);
    let row = parents.deps().store.run(TENANT, run).await.unwrap();
    assert_eq!(row.tokens, state.spent.tokens);
    assert_eq!(row.verdict, Some(Verdict::Verified), "by the child's receipt");
    let result = events.iter().find_map(|event| match &event.body {
        EventBody::ToolResult { result: ToolResult::Ok { data, origins, .. }, .. } => {
            Some((data.clone().unwrap(), origins.clone()))
        }
        _ => None,
    });
    let (said, origins) = result.unwrap();
    assert_eq!(said["run"], json!(child));
    assert_eq!(said["outcome"], "completed");
    assert_eq!(said["verdict"], "verified");
    assert!(origins.is_empty());
    parents.shutdown().await;
    model.assert_clean();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fork_of_delegated_work_stays_under_the_rules_of_who_delegated_it() {
    let dir = tempfile::tempdir().unwrap();
    let data = tempfile::tempdir().unwrap();
    let model = scripted(vec![
        rule("tool", "", Behaviour::text("The helper counted.")),
        rule("user", "Please: count", Behaviour::text("Seven herons.")),
        rule("user", "", ask("helper", "count")),
    ])
    .await;
    let service = asking(&service(data.path(), &model).await, &[("a", "helper")]);
    with_agents(&service, &[("helper", 60)]).await;
    let two = |agent: u128| json!({"name": format!("of {agent}"), "decision": "ask", "four_eyes": true, "risks": ["destructive"], "agents": [AgentId(Uuid::from_u128(agent))]});
    let rules = json!({"version": 1, "rules": [two(6), two(60), two(61)]});
    store_of(&service).set_setting(TENANT, TOOL_RULES_SETTING, &rules).await.unwrap();
    let run = service.start(request("How many herons?", Mode::Loop, dir.path())).await.unwrap();
    let child = child_of(&finished(&service, run).await);
    finished(&service, child).await;

    let mut forked = child;
    for _ in 0..2 {
        let start = StartRun { agent: agent("helper", 60), ..request("", Mode::Loop, dir.path()) };
        forked = service.fork(ForkRun { run: forked, seq: None, start }).await.unwrap();
        finished(&service, forked).await;
        let setup = service.state(forked).await.unwrap().setup.unwrap();
        let names: Vec<&str> = setup.rules.iter().map(|rule| rule.name.as_str()).collect();
        assert_eq!(names, ["of 60", "of 6"]);
        assert_eq!((setup.parent, setup.depth), (None, 0));
    }
    service.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_reaches_through_an_agent_another_that_they_may_not_use() {
    let dir = tempfile::tempdir().unwrap();
    let data = tempfile::tempdir().unwrap();
    let model = scripted(vec![
        rule("tool", "may not use the agent `helper`", Behaviour::text("I can't ask it.")),
        rule("tool", "", Behaviour::text("It says seven.")),
        rule("user", "Please: count", Behaviour::text("Seven.")),
        rule("user", "", ask("helper", "count")),
    ])
    .await;
    let service = asking(&service(data.path(), &model).await, &[("a", "helper")]);
    with_agents(&service, &[("helper", 60)]).await;
    let (ann, store) = (UserId(Uuid::from_u128(1)), store_of(&service));
    let user = User::new(ann, "ann@example.org", "Ann", Role::Developer, Timestamp(0));
    store.create_user(TENANT, &user).await.unwrap();
    for (restricted, says, runs) in [(false, "It says seven.", 2), (true, "I can't ask it.", 3)] {
        // The name may be another agent's since the skill was saved.
        store.set_restricted(TENANT, AgentId(Uuid::from_u128(60)).into(), restricted).await.unwrap();
        let asked = StartRun { user: Some(ann), ..request("How many?", Mode::Loop, dir.path()) };
        let run = service.start(asked).await.unwrap();
        let events = finished(&service, run).await;
        assert_eq!(outcome(&events), (Outcome::Completed, says.into()));
        assert_eq!(rows(&service).await.len(), runs);
    }
    service.shutdown().await;
}

/// The question of a run that may not have begun yet.
async fn asked_once_made(service: &RunService, run: RunId) -> steward_core::ApprovalId {
    for _ in 0..500 {
        if service.deps().store.run(TENANT, run).await.is_ok() {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    asked(service, run).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_ends_the_whole_tree() {
    let dir = tempfile::tempdir().unwrap();
    let data = tempfile::tempdir().unwrap();
    let model = scripted(vec![
        rule("user", "level 1", ask("b", "level 2")),
        rule("user", "level 2", ask("c", "level 3")),
        rule("user", "level 3", Behaviour::HangBeforeHeaders),
    ])
    .await;
    let service = asking(&service(data.path(), &model).await, &[("a", "b"), ("b", "c")]);
    with_agents(&service, &[("b", 61), ("c", 62)]).await;
    let run = service.start(request("level 1", Mode::Loop, dir.path())).await.unwrap();
    for _ in 0..1000 {
        if model.chats().len() == 3 {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    assert_eq!(model.chats().len(), 3, "all three are at work");
    let begun = std::time::Instant::now();
    service.stop(run, "me").await.unwrap();
    finished(&service, run).await;
    let all = rows(&service).await;
    assert_eq!(all.len(), 3);
    for row in all {
        let events = finished(&service, row.id).await;
        assert!(matches!(outcome(&events).0, Outcome::Stopped { by } if by == "me"), "{:?}", kinds(&events));
    }
    println!("the tree of three ended after {:?}", begun.elapsed());
    service.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn agents_that_ask_each_other_end_at_the_third_level() {
    let dir = tempfile::tempdir().unwrap();
    let data = tempfile::tempdir().unwrap();
    let model = scripted(vec![
        rule("tool", "no further agent", Behaviour::text("the bottom")),
        rule("tool", "", Behaviour::text("passed on")),
        rule("user", "", ask("a", "again")),
    ])
    .await;
    let service = asking(&service(data.path(), &model).await, &[("a", "a")]);
    with_agents(&service, &[("a", 6)]).await;
    let run = service.start(request("begin", Mode::Loop, dir.path())).await.unwrap();
    let events = finished(&service, run).await;
    assert_eq!(outcome(&events), (Outcome::Completed, "passed on".into()));
    let all = rows(&service).await;
    assert_eq!(all.len(), 4, "three below the first");
    let mut depths = Vec::new();
    for row in &all {
        depths.push(service.state(row.id).await.unwrap().setup.unwrap().depth);
    }
    depths.sort_unstable();
    assert_eq!(depths, [0, 1, 2, 3]);
    service.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_is_gone_is_told_and_the_run_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let data = tempfile::tempdir().unwrap();
    let model = scripted(vec![
        rule("tool", "there is no agent", Behaviour::text("Nobody is there.")),
        rule("user", "", ask("nobody", "x")),
    ])
    .await;
    let service = asking(&service(data.path(), &model).await, &[("a", "nobody")]);
    let run = service.start(request("begin", Mode::Loop, dir.path())).await.unwrap();
    let events = finished(&service, run).await;
    assert_eq!(outcome(&events), (Outcome::Completed, "Nobody is there.".into()));
    service.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn fifty_runs_and_their_children_stay_within_one_budget() {
    let dir = tempfile::tempdir().unwrap();
    let data = tempfile::tempdir().unwrap();
    let model = scripted(vec![
        rule("tool", "", Behaviour::text("The helper counted.")),
        rule("user", "Please: count", Behaviour::text("Seven herons.")),
        rule("user", "", ask("helper", "count")),
    ])
    .await;
    let one = connection(&model, untrusted());
    let (first, store) = service_with(data.path(), vec![one]).await;
    let service = asking(&first, &[("a", "helper")]);
    with_agents(&service, &[("helper", 60)]).await;
    // What one pair takes, and the most that one call sets aside.
    let start = || {
        let mut asked = request("How many herons?", Mode::Loop, dir.path());
        asked.agent.tuning.max_tokens = 100;
        asked
    };
    let run = service.start(start()).await.unwrap();
    let pair = finished(&service, run).await;
    let reserved = pair
        .iter()
        .filter_map(|event| match &event.body {
            EventBody::ModelRequested { reserved, .. } => Some(*reserved),
            _ => None,
        })
        .max()
        .unwrap();
    let took = service.state(run).await.unwrap().spent.tokens;
    let most = took * 8 + reserved;
    let limit = SpendLimit {
        id: BudgetId(Uuid::from_u128(1)),
        scope: BudgetScope::Installation,
        period: Period::Total,
        tokens: Some(most),
        cost_micros: None,
    };
    store.save_spend_limit(TENANT, &limit).await.unwrap();
    let mut runs = JoinSet::new();
    for _ in 0..50 {
        let (service, asked) = (service.clone(), start());
        runs.spawn(async move {
            let run = service.start(asked).await.unwrap();
            let events = finished(&service, run).await;
            (run, outcome(&events).0)
        });
    }
    let mut all = Vec::new();
    while let Some(ended) = runs.join_next().await {
        let states = store.spend_limits(TENANT, Timestamp(0)).await.unwrap();
        assert!(states[0].tokens <= most + reserved, "{states:?}");
        all.push(ended.unwrap());
    }
    let (mut done, mut limited) = (0, 0);
    for (run, ended) in all {
        match ended {
            Outcome::Completed => done += 1,
            Outcome::Limited { limit: Limit::Spend, .. } => limited += 1,
            other => panic!("{other:?}"),
        }
        let state = service.state(run).await.unwrap();
        let mut below = Spent::default();
        for child in &state.children {
            let child = service.state(child.run).await.unwrap();
            below.tokens += child.spent.tokens;
            below.model_calls += child.spent.model_calls;
        }
        let own = state.usage.prompt_tokens + state.usage.completion_tokens;
        assert_eq!(state.spent.tokens, own + below.tokens);
        assert_eq!(state.spent.below, below.model_calls);
    }
    let states = store.spend_limits(TENANT, Timestamp(0)).await.unwrap();
    println!("{done} pairs done, {limited} limited, {} of {most} tokens", states[0].tokens);
    assert_eq!(states[0].reserved_tokens, 0, "all is settled");
    assert!(states[0].tokens <= most, "{states:?}");
    assert!(limited > 0 && states[0].tokens >= took, "{done} {limited}");
    service.shutdown().await;
}
