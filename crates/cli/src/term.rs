//! Output for people, and the code that says how it ended. Colour and progress only on a terminal; NO_COLOR is honoured.
//!
//! Much of what is printed was written by others. Whatever a terminal would obey in it is shown, not done: nobody who
//! decides by what stands there sees a line that a stranger made.

use anyhow::{Context, bail};
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use serde::Serialize;
use serde_json::json;
use std::fmt;
use std::hash::{BuildHasher as _, RandomState};
use std::io::{IsTerminal, Write};
use std::process::ExitCode;
use std::sync::LazyLock;
use steward_core::text::steers_output;
use tokio::signal::unix::{SignalKind, signal};

/// Prints a line for people. It stands before that of std, so that no command forgets [`printable`]; JSON is for
/// [`print_json`].
macro_rules! println {
    () => { $crate::term::print_line(format_args!("")) };
    ($($line:tt)*) => { $crate::term::print_line(format_args!($($line)*)) };
}

/// Stands for the beginning of an escape sequence of ours until it is printed. Each process draws its own, so no text from
/// elsewhere has it.
static ESCAPE: LazyLock<String> = LazyLock::new(|| {
    let drawn = RandomState::new().hash_one("escape").to_be_bytes();
    let private = drawn.chunks_exact(2).map(|two| 0xF_0000 + u32::from(two[0]) * 256 + u32::from(two[1]));
    private.filter_map(char::from_u32).collect()
});

/// The text with what a terminal would obey written out, as `\u{1b}`. `lines`: it may have several, and tabs.
fn printable(text: &str, lines: bool) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut left = text.chars().peekable();
    while let Some(c) = left.next() {
        match c {
            '\n' | '\t' if lines => shown.push(c),
            '\r' if lines && left.peek() == Some(&'\n') => {}
            c if steers_output(c) => shown.extend(c.escape_default()),
            c => shown.push(c),
        }
    }
    shown.replace(ESCAPE.as_str(), "\x1b[")
}

/// What `println!` does in this room.
#[expect(clippy::print_stdout, reason = "the one place")]
pub fn print_line(line: fmt::Arguments<'_>) {
    std::println!("{}", printable(&line.to_string(), false));
}

/// Prints a text of several lines for people.
#[expect(clippy::print_stdout, reason = "the one place")]
pub fn print_text(text: &str) {
    std::println!("{}", printable(text.strip_suffix('\n').unwrap_or(text), true));
}

/// Prints a part of a text, as it comes in.
pub fn print_piece(text: &str) {
    let mut out = std::io::stdout();
    let _ = out.write_all(printable(text, true).as_bytes());
    let _ = out.flush();
}

/// Prints a file for programs, such as CSV.
#[expect(clippy::print_stdout, reason = "the one place")]
pub fn print_exactly(text: &str) {
    std::print!("{text}");
}

#[expect(clippy::print_stdout, reason = "the one place")]
pub fn print_json(value: &impl Serialize) {
    std::println!("{}", json!(value));
}

/// What a shell reports of a program ended by SIGPIPE.
const PIPE_CLOSED: i32 = 141;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    Done,
    Failed,
    /// Something waits for a person.
    Waiting,
    /// A person refused or stopped it.
    Refused,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        // 2 is clap's code for wrong usage.
        Self::from(match exit {
            Exit::Done => 0,
            Exit::Failed => 1,
            Exit::Waiting => 3,
            Exit::Refused => 4,
        })
    }
}

#[derive(Debug, Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct Term {
    colour: bool,
    /// Whether standard error is a terminal, so that progress may be shown.
    pub live: bool,
    pub can_ask: bool,
    /// Print JSON instead of text.
    pub json: bool,
}

impl Term {
    /// Inspects the standard streams. `no_color`: the variable NO_COLOR is set.
    pub fn detect(no_color: bool) -> Self {
        let live = std::io::stderr().is_terminal();
        Self { colour: live && !no_color, live, can_ask: std::io::stdin().is_terminal() && live, json: false }
    }

    #[must_use]
    pub fn with_json(self, json: bool) -> Self {
        Self { json, ..self }
    }

    fn paint(self, code: &str, text: &str) -> String {
        if self.colour { format!("{0}{code}m{text}{0}0m", *ESCAPE) } else { text.to_owned() }
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

    /// Whether something is right.
    pub fn mark(self, right: bool) -> String {
        if right { self.green("✓") } else { self.red("✗") }
    }

    /// Says a line; a line break in it is shown as `\n`.
    pub fn say(self, line: &str) {
        let _ = writeln!(std::io::stderr(), "{}", printable(line, false));
    }

    /// Says a text of several lines. All but the first are set in, so that none looks like one of ours.
    pub fn say_text(self, text: &str) {
        let _ = writeln!(std::io::stderr(), "{}", printable(text.trim_end(), true).replace('\n', "\n    "));
    }

    /// Says what is only good to know.
    pub fn note(self, line: &str) {
        self.say(&self.dim(line));
    }

    /// Says what to look out for.
    pub fn warn(self, line: &str) {
        self.say(&self.yellow(line));
    }

    pub fn done(self, line: &str) -> Exit {
        self.say(line);
        Exit::Done
    }

    /// Prints what was found as JSON, or has `text` print it.
    pub fn shown(self, found: &impl Serialize, text: impl FnOnce()) -> Exit {
        if self.json {
            print_json(found);
        } else {
            text();
        }
        Exit::Done
    }

    /// Prints a list as JSON, or has `text` print each row; `empty` says that there is none.
    pub fn listed<T: Serialize>(self, rows: &[T], empty: &str, text: impl FnMut(&T)) -> Exit {
        if rows.is_empty() && !self.json {
            self.say(empty);
        }
        self.shown(&rows, || rows.iter().for_each(text))
    }

    /// Prints what a command changed as JSON, or says it in a line.
    pub fn changed(self, now: &impl Serialize, line: &str) -> Exit {
        self.shown(now, || self.say(line))
    }

    /// A progress note that the next line replaces; nothing without a terminal.
    pub fn status(self, text: &str) {
        if self.live {
            let mut out = std::io::stderr();
            let _ = write!(out, "\r\x1b[K{}", printable(&self.dim(text), false));
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
        let _ = write!(out, "{} ", printable(question, false));
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

    /// Whether a person wants it, or has said so by `yes`. `nobody`: the error where nobody can be asked; `refused`: what is
    /// said if they don't want it.
    pub fn confirmed(self, yes: bool, question: &str, nobody: &str, refused: &str) -> anyhow::Result<bool> {
        if yes {
            return Ok(true);
        }
        if !self.can_ask {
            bail!("{nobody}");
        }
        let agreed = self.agrees(&format!("{question} [y/N]"));
        if !agreed {
            self.say(refused);
        }
        Ok(agreed)
    }

    /// The same for what is removed for good. `with`: what goes too, as in ", with its grants".
    pub fn removal_confirmed(self, yes: bool, what: &str, with: &str) -> anyhow::Result<bool> {
        let nobody = format!("{what} would be gone for good{with}; add -y if that is meant");
        self.confirmed(yes, &format!("Remove {what} for good{with}?"), &nobody, "nothing was removed")
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
                bail!("stopped");
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

#[cfg(test)]
mod tests {
    use super::{Term, printable};

    const COLOURED: Term = Term { colour: true, live: false, can_ask: false, json: false };

    #[test]
    fn what_a_terminal_would_obey_is_shown() {
        for (text, line, lines) in [
            ("a\x1b[2Jb", "a\\u{1b}[2Jb", "a\\u{1b}[2Jb"),
            ("a\nb\tc", "a\\nb\\tc", "a\nb\tc"),
            ("a\r\nb\rc", "a\\r\\nb\\rc", "a\nb\\rc"),
            ("\u{9b}31m\u{7f}\0", "\\u{9b}31m\\u{7f}\\u{0}", "\\u{9b}31m\\u{7f}\\u{0}"),
            ("\u{202e}txt.exe\u{2066}", "\\u{202e}txt.exe\\u{2066}", "\\u{202e}txt.exe\\u{2066}"),
            ("Grüße „שלום“ 👩‍💻 \\n", "Grüße „שלום“ 👩‍💻 \\n", "Grüße „שלום“ 👩‍💻 \\n"),
        ] {
            assert_eq!(
                (printable(text, false), printable(text, true)),
                (line.to_owned(), lines.to_owned()),
                "{text:?}"
            );
        }
    }

    #[test]
    fn only_our_own_colours_are_colours() {
        let line = format!("{} {}", COLOURED.green("\x1b[31mfine\n"), "\x1b[31mred");
        assert_eq!(printable(&line, false), "\x1b[32m\\u{1b}[31mfine\\n\x1b[0m \\u{1b}[31mred");
    }
}
