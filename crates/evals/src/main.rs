//! `steward-evals`: measurements of Steward. It composes the same program, with data of its own.

mod answers;
mod asks;
mod bfcl;
mod cli;
mod deep;
mod facts;
mod gateway;
mod labelled;
mod local_model;
mod ocr;
mod pages;
mod passages;
mod requests;

use clap::Parser;
use cli::{Cli, Suite};
use std::process::ExitCode;
use steward::start::start;

fn main() -> ExitCode {
    let Cli { global, suite } = Cli::parse();
    match suite {
        // Before there are threads, settings or telemetry.
        Suite::Child(child) => child.run(),
        Suite::Gateway(args) => gateway::run(&args),
        Suite::Answers(args) => start(&global, false, |_, _| async move { answers::run(&args) }),
        Suite::Asks(args) => start(&global, false, |settings, term| asks::run(settings, args, term)),
        Suite::Deep(args) => start(&global, false, |settings, term| deep::run(settings, args, term)),
        Suite::Facts(args) => start(&global, false, |settings, term| facts::run(settings, args, term)),
        Suite::Passages(args) => start(&global, false, |settings, term| passages::run(settings, args, term)),
        Suite::Bfcl(args) => start(&global, false, |settings, term| bfcl::run(settings, args, term)),
        Suite::Ocr(args) => start(&global, false, |settings, _| ocr::run(settings, args)),
        Suite::LocalModel(args) => start(&global, false, |settings, _| local_model::run(settings, args)),
    }
}
