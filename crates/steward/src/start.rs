use crate::cli::Global;
use crate::open_files;
use crate::settings::{Settings, variable};
use crate::term::{self, Exit, Term};
use std::process::ExitCode;
use steward_app::config::unread_variables;
use steward_infra::logs;
use steward_sandbox::memory;

/// Runs a command and reports errors. `serving`: it logs, and nobody reads its output.
pub fn start<F>(global: &Global, serving: bool, command: impl FnOnce(Settings, Term) -> F) -> ExitCode
where
    F: Future<Output = anyhow::Result<Exit>>,
{
    let settings = match Settings::read(global) {
        Ok(settings) => settings,
        Err(error) => return fail(Term::detect(true), &error),
    };
    let term = Term::detect(settings.no_color);
    if serving {
        memory::give_back_early();
    }
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return fail(term, &anyhow::anyhow!("cannot start: {error}")),
    };
    if !serving {
        term::end_without_a_reader();
    }
    let exit = runtime.block_on(async {
        #[cfg(feature = "failpoints")]
        crate::crash::arm();
        logs::init(settings.log.as_deref(), serving, !settings.no_color);
        if serving {
            open_files::raise_limit();
            for unread in unread_variables(|name| variable(name).is_some()) {
                tracing::warn!("{unread}");
            }
        }
        command(settings, term).await
    });
    // Blocking reads of a terminal never end by themselves.
    runtime.shutdown_background();
    match exit {
        Ok(exit) => exit.into(),
        Err(error) => fail(term, &error),
    }
}

fn fail(term: Term, error: &anyhow::Error) -> ExitCode {
    term.clear();
    term.say_text(&format!("{} {error:#}", term.red("error:")));
    Exit::Failed.into()
}
