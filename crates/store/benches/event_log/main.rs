//! Durable events a second of the event log, and beside it plain sqlx through a pool.
//!
//! `cargo bench -p steward-store --bench event_log -- [--engine sqlite|postgres|both]
//! [--seconds N] [--producers N]`
//!
//! Every producer has a run of its own and appends one event of 500 bytes at a time, waiting until
//! it is durable. PostgreSQL is a server of the bench's own on this machine, with fsync.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a bench")]

mod load;
mod options;
mod ours;
mod plain;

use load::{Figures, drive};
use options::Options;
use ours::Ours;
use plain::Plain;
use steward_testkit::postgres::TestPostgres;

fn main() {
    let options = Options::parse();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let fsync = load::fsync_micros();
    println!("one write of 4 KB with fdatasync on this disk: {fsync} µs (median)\n");
    println!("{:<34}{:>10}{:>12}{:>10}{:>10}{:>10}", "", "producers", "events/s", "p50 ms", "p99 ms", "max ms");
    let figures = runtime.block_on(async {
        let mut figures = Vec::new();
        if options.sqlite {
            sqlite(&options, &mut figures).await;
        }
        if options.postgres {
            postgres(&options, &mut figures).await;
        }
        figures
    });
    let rows: Vec<_> = figures.iter().map(Figures::json).collect();
    println!("\n{}", serde_json::json!({ "fdatasync_us": fsync, "rows": rows }));
}

async fn sqlite(options: &Options, figures: &mut Vec<Figures>) {
    for producers in [1, options.producers] {
        let dir = tempfile::tempdir().unwrap();
        let ours = Ours::sqlite(dir.path(), producers).await;
        let figure = drive("sqlite, store", producers, options.time, &ours).await;
        ours.verify(&figure).await;
        figures.push(figure);
    }
    let dir = tempfile::tempdir().unwrap();
    let plain = Plain::sqlite(dir.path(), options.producers).await;
    figures.push(drive("sqlite, sqlx pool of 8", options.producers, options.time, &plain).await);
}

async fn postgres(options: &Options, figures: &mut Vec<Figures>) {
    let server = TestPostgres::start().await.unwrap();
    for producers in [1, options.producers, options.producers * 4] {
        let url = server.fresh_database().await.unwrap();
        let ours = Ours::postgres(&url, producers).await;
        let figure = drive("postgres, store", producers, options.time, &ours).await;
        ours.verify(&figure).await;
        figures.push(figure);
    }
    let url = server.fresh_database().await.unwrap();
    let plain = Plain::postgres(&url, options.producers).await;
    figures.push(drive("postgres, sqlx pool of 32", options.producers, options.time, &plain).await);
}
