//! Nodes are killed at every point where it could hurt; afterwards each log and the outside world must agree.

mod bed;
mod delegation;
mod hooks;
mod kill_loop;
mod node;
mod oracle;
mod schedules;
mod settle;
mod subscriptions;
mod takeover;
mod writes;

use steward_testkit::postgres::TestPostgres;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn long_kill_loop_sqlite() {
    kill_loop::run("SQLite", None).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn long_kill_loop_postgres() {
    let server = TestPostgres::shared().await.unwrap();
    kill_loop::run("PostgreSQL", Some(server.fresh_database().await.unwrap())).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn long_writes_under_kills() {
    writes::run().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn long_takeover_of_a_stopped_node() {
    let server = TestPostgres::shared().await.unwrap();
    takeover::run(server).await;
}

#[test]
fn long_schedules_under_kills() {
    schedules::run();
}

#[test]
fn long_webhooks_under_kills() {
    hooks::run();
}

#[test]
fn long_subscriptions_under_kills() {
    subscriptions::run();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn long_delegation_under_kills() {
    delegation::run(None).await;
}
