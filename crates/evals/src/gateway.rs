//! `steward-evals gateway`: what Steward's gateway adds to a call. A load driver and an upstream of our own, measured
//! directly and through Steward (and LiteLLM) in turns. Driver, upstream and gateway are separate processes, the first
//! two with one thread each.

mod load;
mod measure;
mod places;
mod report;
mod upstream;

use crate::cli::Gateway;
use load::{Kind, Place, drive};
use measure::{Round, cpu_time};
use report::Table;
use std::io::{Error, Result};
use std::process::ExitCode;
use std::time::Duration;
use steward::term::Exit;

pub fn run(args: &Gateway) -> ExitCode {
    let work = async {
        match args {
            Gateway { upstream: true, gap_ms, .. } => upstream::serve(Duration::from_millis(*gap_ms)).await,
            Gateway { relay: Some(to), .. } => upstream::relay(to).await,
            args => bench(args).await,
        }
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    match runtime.and_then(|runtime| runtime.block_on(work)) {
        Ok(()) => Exit::Done.into(),
        Err(error) => {
            eprintln!("error: {error}");
            Exit::Failed.into()
        }
    }
}

async fn bench(args: &Gateway) -> Result<()> {
    let program = match &args.steward {
        Some(program) => program.clone(),
        None => std::env::current_exe()?.with_file_name("steward"),
    };
    let data = tempfile::tempdir()?;
    let (_upstream, direct) = places::upstream(args.gap_ms)?;
    let (_steward, steward) = places::steward(&program, data.path(), &direct).await?;
    let virtual_key = places::with_virtual_key(&steward).await?;
    let (_relay, relay) = places::relay(&direct)?;
    let mut places = vec![direct.clone(), relay, steward, virtual_key];
    let mut _litellm = None;
    if let Some(python) = &args.litellm {
        let (running, place) = places::litellm(python, data.path(), &direct).await?;
        _litellm = Some(running);
        places.push(place);
    }
    let mut own_errors = 0;
    for &connections in &args.connections {
        let mut table = Table::default();
        for _ in 0..args.rounds {
            for kind in Kind::ALL {
                let rounds = turn(&places, kind, connections, Duration::from_secs(args.seconds)).await?;
                let own = places.iter().zip(&rounds).filter(|(place, _)| !place.foreign);
                own_errors += own.map(|(_, round)| round.errors).sum::<usize>();
                table.add(kind, rounds);
            }
        }
        table.show(&places, connections);
    }
    if own_errors > 0 {
        return Err(Error::other(format!("{own_errors} requests failed; see above")));
    }
    Ok(())
}

async fn turn(places: &[Place], kind: Kind, connections: usize, time: Duration) -> Result<Vec<Round>> {
    let mut rounds = Vec::new();
    for place in places {
        let before = place.process.map(cpu_time).unwrap_or_default();
        let answers = drive(place, kind, connections, time).await?;
        if let Some(why) = &answers.why {
            let (name, errors) = (&place.name, answers.errors);
            eprintln!("{name}, {connections} connection(s), {kind:?}: {errors} errors, the first: {why}");
        }
        // What is written after the answers counts, too.
        if place.process.is_some() {
            tokio::time::sleep(Duration::from_millis(300)).await;
        }
        let after = place.process.map(cpu_time).unwrap_or_default();
        rounds.push(Round::of(&answers, after.saturating_sub(before)));
    }
    Ok(rounds)
}
