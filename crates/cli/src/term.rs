//! Output for people. Colour and progress only on a terminal; NO_COLOR is honoured.

use crate::exit::Exit;
use anyhow::Context;
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use serde::Serialize;
use serde_json::json;
use std::io::{IsTerminal, Write};
use tokio::signal::unix::{SignalKind, signal};

/// What a shell reports of a program ended by SIGPIPE.
const PIPE_CLOSED: i32 = 141;

#[derive(Debug, Clone, Copy)]
pub struct Term {
    colour: bool,
    /// Whether standard error is a terminal, so that progress may be shown.
    pub live: bool,
    pub can_ask: bool,
}

impl Term {
    /// Inspects the standard streams. `no_color`: the variable NO_COLOR is set.
    pub fn detect(no_color: bool) -> Self {
        let live = std::io::stderr().is_terminal();
        Self { colour: live && !no_color, live, can_ask: std::io::stdin().is_terminal() && live }
    }

    fn paint(self, code: &str, text: &str) -> String {
        if self.colour { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }

    pub fn dim(self, text: &str) -> String {
        self.paint("2", text)
    }

    pub fn green(self, text: &str) -> String {
        self.paint("32", text)
    }

    pub fn red(self, text: &str) -> String {
        self.paint("31", text)
    }

    pub fn yellow(self, text: &str) -> String {
        self.paint("33", text)
    }

    pub fn bold(self, text: &str) -> String {
        self.paint("1", text)
    }

    pub fn say(self, line: &str) {
        let _ = writeln!(std::io::stderr(), "{line}");
    }

    pub fn done(self, line: &str) -> Exit {
        self.say(line);
        Exit::Done
    }

    /// Prints what a command changed as JSON, or says it in a line.
    pub fn changed(self, now: &impl Serialize, as_json: bool, line: &str) -> Exit {
        if as_json {
            println!("{}", json!(now));
        } else {
            self.say(line);
        }
        Exit::Done
    }

    /// Prints a list as JSON, or a note that it is empty; returns whether nothing is left to show.
    pub fn listed<T: Serialize>(self, rows: &[T], as_json: bool, empty: &str) -> bool {
        if as_json {
            println!("{}", json!(rows));
        } else if rows.is_empty() {
            self.say(empty);
        }
        as_json || rows.is_empty()
    }

    /// A progress note that the next line replaces; nothing without a terminal.
    pub fn status(self, text: &str) {
        if self.live {
            let mut out = std::io::stderr();
            let _ = write!(out, "\r\x1b[K{}", self.dim(text));
            let _ = out.flush();
        }
    }

    pub fn clear(self) {
        if self.live {
            let mut out = std::io::stderr();
            let _ = write!(out, "\r\x1b[K");
            let _ = out.flush();
        }
    }

    /// `None` at the end of input.
    pub fn ask(self, question: &str) -> Option<String> {
        let mut out = std::io::stderr();
        let _ = write!(out, "{question} ");
        let _ = out.flush();
        let mut line = String::new();
        match std::io::stdin().read_line(&mut line) {
            Ok(0) | Err(_) => None,
            Ok(_) => Some(line.trim().to_owned()),
        }
    }

    pub fn agrees(self, question: &str) -> bool {
        self.ask(question).is_some_and(|answer| matches!(answer.to_lowercase().as_str(), "y" | "yes"))
    }

    /// Asks without showing what is typed; `None` at the end of input. Ctrl-C restores the terminal.
    pub async fn ask_hidden(self, question: &str) -> anyhow::Result<Option<String>> {
        // Installed before the question is shown, so that no interrupt ends us in between.
        let mut interrupted = signal(SignalKind::interrupt()).context("SIGINT can't be caught")?;
        let quiet = Quiet::begin()?;
        let asked = question.to_owned();
        let answer = tokio::select! {
            answer = tokio::task::spawn_blocking(move || self.ask(&asked)) => answer?,
            _ = interrupted.recv() => {
                drop(quiet);
                self.say("");
                anyhow::bail!("stopped");
            }
        };
        drop(quiet);
        self.say("");
        Ok(answer)
    }
}

/// A terminal without echo, until it is dropped.
struct Quiet(Termios);

impl Quiet {
    fn begin() -> anyhow::Result<Self> {
        let before = tcgetattr(std::io::stdin()).context("standard input is no terminal")?;
        let mut quiet = before.clone();
        quiet.local_modes.remove(LocalModes::ECHO);
        tcsetattr(std::io::stdin(), OptionalActions::Flush, &quiet)
            .context("the terminal can't hide what is typed; give the secret by a file")?;
        Ok(Self(before))
    }
}

/// Ends us silently when a reader such as `head` ends; SIGPIPE would do so for every other pipe as well.
pub fn end_without_a_reader() {
    let otherwise = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let text = panic.payload_as_str().unwrap_or_default();
        if text.starts_with("failed printing to stdout") && text.contains("Broken pipe") {
            std::process::exit(PIPE_CLOSED);
        }
        otherwise(panic);
    }));
}

impl Drop for Quiet {
    fn drop(&mut self) {
        let _ = tcsetattr(std::io::stdin(), OptionalActions::Now, &self.0);
    }
}
