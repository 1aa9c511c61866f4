//! Child processes that are this same program.

use clap::{Args, Subcommand};
use std::ffi::OsString;
use std::process::ExitCode;
use std::time::Duration;
use steward_knowledge::confined::{PageRequest, extract_child, page_child};
use steward_models::local::{ServeTuning, serve_supervised};

/// Commands that a program of ours starts itself with. They must not have its threads, settings or telemetry.
#[derive(Debug, Subcommand)]
pub enum Child {
    /// The local model's process; started by steward itself.
    #[command(hide = true)]
    ModelServer(ModelServer),
    /// Reads a document; started by steward itself, confined.
    #[command(hide = true)]
    ExtractChild(ExtractChild),
    /// Looks at a page that is a picture; started by steward itself, confined.
    #[command(hide = true)]
    OcrChild(OcrChild),
    /// Applies the sandbox and runs a command; started by steward itself.
    #[command(hide = true, disable_help_flag = true)]
    SandboxExec {
        /// Passed on.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<OsString>,
    },
}

/// `model-server`.
#[derive(Debug, Clone, Args)]
pub struct ModelServer {
    /// GGUF file. Text, like each `--model`: clap carries them under one name, which has one type.
    #[arg(long)]
    model: String,
    /// Threads; 0 is one per core.
    #[arg(long, default_value_t = 0)]
    threads: u32,
    /// Context window, tokens.
    #[arg(long, default_value_t = 4096)]
    context: u32,
    /// Exit after so many idle seconds; 0 never does.
    #[arg(long, default_value_t = 0)]
    idle_exit: u64,
}

/// `extract-child`.
#[derive(Debug, Clone, Args)]
pub struct ExtractChild {
    /// What people call the file.
    #[arg(long, allow_hyphen_values = true)]
    name: String,
    /// As JSON.
    #[arg(long)]
    limits: String,
}

/// `ocr-child`.
#[derive(Debug, Clone, Args)]
pub struct OcrChild {
    /// From 1.
    #[arg(long)]
    page: u32,
    /// As JSON.
    #[arg(long)]
    limits: String,
    /// As JSON.
    #[arg(long)]
    steps: String,
    #[arg(long)]
    purpose: String,
    /// Folder of the models. Text, like each path of these commands.
    #[arg(long)]
    models: Option<String>,
}

impl Child {
    pub fn run(self) -> ExitCode {
        match self {
            // Confines itself, then becomes the command.
            Self::SandboxExec { args } => steward_sandbox::helper::main(args),
            Self::ModelServer(args) => model_server(&args),
            Self::ExtractChild(ExtractChild { name, limits }) => extract_child(name, &limits),
            Self::OcrChild(OcrChild { page, limits, steps, purpose, models }) => {
                page_child(PageRequest { page, limits, steps, purpose, models })
            }
        }
    }
}

fn model_server(args: &ModelServer) -> ExitCode {
    let tuning = ServeTuning {
        threads: args.threads,
        context_tokens: args.context,
        idle_exit: (args.idle_exit > 0).then(|| Duration::from_secs(args.idle_exit)),
        ..ServeTuning::default()
    };
    match serve_supervised(args.model.clone().into(), tuning) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
