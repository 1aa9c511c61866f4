//! Text for people. Colour and progress only on a terminal; NO_COLOR is honoured.

use std::io::{IsTerminal, Write};

/// Where text goes and whether it may be coloured.
#[derive(Debug, Clone, Copy)]
pub struct Term {
    colour: bool,
    /// Whether standard error is a terminal: progress may be shown.
    pub live: bool,
    /// Whether a person can be asked on standard input.
    pub can_ask: bool,
}

impl Term {
    /// From the standard streams. `no_color`: the variable NO_COLOR is set.
    pub fn detect(no_color: bool) -> Self {
        let live = std::io::stderr().is_terminal();
        Self {
            colour: live && !no_color,
            live,
            can_ask: std::io::stdin().is_terminal() && live,
        }
    }

    fn paint(self, code: &str, text: &str) -> String {
        if self.colour {
            format!("\x1b[{code}m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }

    /// Less important.
    pub fn dim(self, text: &str) -> String {
        self.paint("2", text)
    }

    /// Good.
    pub fn green(self, text: &str) -> String {
        self.paint("32", text)
    }

    /// Bad.
    pub fn red(self, text: &str) -> String {
        self.paint("31", text)
    }

    /// Take note.
    pub fn yellow(self, text: &str) -> String {
        self.paint("33", text)
    }

    /// Headings, names.
    pub fn bold(self, text: &str) -> String {
        self.paint("1", text)
    }

    /// A line of progress, on standard error.
    pub fn say(self, line: &str) {
        let _ = writeln!(std::io::stderr(), "{line}");
    }

    /// A progress note that the next line replaces; nothing where there is no terminal.
    pub fn status(self, text: &str) {
        if self.live {
            let mut out = std::io::stderr();
            let _ = write!(out, "\r\x1b[K{}", self.dim(text));
            let _ = out.flush();
        }
    }

    /// Clears the progress note.
    pub fn clear(self) {
        if self.live {
            let mut out = std::io::stderr();
            let _ = write!(out, "\r\x1b[K");
            let _ = out.flush();
        }
    }

    /// Asks on the terminal; `None` at the end of input.
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
}
