//! What Steward's gateway adds to a call: its own load driver and upstream, direct and through Steward (and LiteLLM)
//! in turns. Driver, upstream and gateways are separate processes, the first two with one thread each.
//!
//! `gateway-bench --steward PROGRAM [--litellm PYTHON] [--rounds 5] [--seconds 2] [--gap-ms 2] [--connections 1,16,64]`

mod load;
mod measure;
mod places;
mod relay;
mod report;
mod upstream;

use load::{Kind, Place, drive};
use measure::{Round, cpu_time};
use report::Table;
use std::io::{Error, Result};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

const USAGE: &str = "usage: gateway-bench --steward PROGRAM [--litellm PYTHON] [--rounds N] [--seconds S] [--gap-ms MS] [--connections 1,16,64]";

struct Options {
    upstream: bool,
    relay: Option<String>,
    steward: Option<PathBuf>,
    litellm: Option<PathBuf>,
    rounds: usize,
    time: Duration,
    gap: Duration,
    connections: Vec<usize>,
}

fn options() -> std::result::Result<Options, String> {
    let mut options = Options {
        upstream: false,
        relay: None,
        steward: None,
        litellm: None,
        rounds: 5,
        time: Duration::from_secs(2),
        gap: Duration::from_millis(2),
        connections: vec![1, 16, 64],
    };
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        if arg == "--upstream" {
            options.upstream = true;
            continue;
        }
        let value = args.next().ok_or_else(|| format!("{arg} needs a value; {USAGE}"))?;
        let wrong = |_| format!("{arg} `{value}` is no number; {USAGE}");
        match arg.as_str() {
            "--relay" => options.relay = Some(value),
            "--steward" => options.steward = Some(value.into()),
            "--litellm" => options.litellm = Some(value.into()),
            "--rounds" => options.rounds = value.parse().map_err(wrong)?,
            "--seconds" => options.time = Duration::from_secs(value.parse().map_err(wrong)?),
            "--gap-ms" => options.gap = Duration::from_millis(value.parse().map_err(wrong)?),
            "--connections" => {
                options.connections =
                    value.split(',').map(str::parse).collect::<std::result::Result<_, _>>().map_err(wrong)?;
            }
            other => return Err(format!("`{other}` is not understood; {USAGE}")),
        }
    }
    Ok(options)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let done = match options() {
        Ok(options) if options.upstream => upstream::serve(options.gap).await,
        Ok(Options { relay: Some(to), .. }) => relay::serve(&to).await,
        Ok(options) => bench(&options).await,
        Err(why) => Err(Error::other(why)),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

async fn bench(options: &Options) -> Result<()> {
    let program = options.steward.as_ref().ok_or_else(|| Error::other(USAGE))?;
    let data = tempfile::tempdir()?;
    let (_upstream, direct) = places::upstream(options.gap)?;
    let (_steward, steward) = places::steward(program, data.path(), &direct).await?;
    let virtual_key = places::with_virtual_key(&steward).await?;
    let (_relay, relay) = places::relay(&direct)?;
    let mut places = vec![direct.clone(), relay, steward, virtual_key];
    let mut _litellm = None;
    if let Some(python) = &options.litellm {
        let (running, place) = places::litellm(python, data.path(), &direct).await?;
        _litellm = Some(running);
        places.push(place);
    }
    let mut own_errors = 0;
    for &connections in &options.connections {
        let mut table = Table::default();
        for _ in 0..options.rounds {
            for kind in Kind::ALL {
                let rounds = turn(&places, kind, connections, options.time).await?;
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

/// One round at each place, one after the other.
async fn turn(places: &[Place], kind: Kind, connections: usize, time: Duration) -> Result<Vec<Round>> {
    let mut rounds = Vec::new();
    for place in places {
        let before = place.process.map(cpu_time).unwrap_or_default();
        let answers = drive(place, kind, connections, time).await?;
        if let Some(why) = &answers.why {
            let (name, errors) = (&place.name, answers.errors);
            eprintln!("{name}, {connections} connection(s), {kind:?}: {errors} errors, the first: {why}");
        }
        // What is written behind the answers counts too.
        if place.process.is_some() {
            tokio::time::sleep(Duration::from_millis(300)).await;
        }
        let after = place.process.map(cpu_time).unwrap_or_default();
        rounds.push(Round::of(&answers, after.saturating_sub(before)));
    }
    Ok(rounds)
}
