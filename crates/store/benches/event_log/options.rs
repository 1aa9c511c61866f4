//! Command line.

use std::time::Duration;

/// What to measure.
pub struct Options {
    pub sqlite: bool,
    pub postgres: bool,
    pub time: Duration,
    pub producers: usize,
}

impl Options {
    /// From the program's arguments; ends the program on a wrong one.
    pub fn parse() -> Self {
        let mut options = Self { sqlite: true, postgres: true, time: Duration::from_secs(5), producers: 64 };
        let mut words = std::env::args().skip(1);
        while let Some(word) = words.next() {
            let known = match word.as_str() {
                // Cargo's own.
                "--bench" => true,
                "--engine" => options.engine(words.next().as_deref()),
                "--seconds" => number(words.next()).is_some_and(|seconds| {
                    options.time = Duration::from_secs(seconds);
                    seconds > 0
                }),
                "--producers" => number(words.next()).is_some_and(|producers| {
                    options.producers = usize::try_from(producers).unwrap_or(usize::MAX);
                    (1..=4096).contains(&producers)
                }),
                _ => false,
            };
            if !known {
                eprintln!(
                    "{word}: not understood; use --engine sqlite|postgres|both, --seconds N, \
                     --producers N (at most 4096)"
                );
                std::process::exit(2);
            }
        }
        options
    }

    fn engine(&mut self, name: Option<&str>) -> bool {
        (self.sqlite, self.postgres) = match name {
            Some("sqlite") => (true, false),
            Some("postgres") => (false, true),
            Some("both") => (true, true),
            _ => return false,
        };
        true
    }
}

fn number(word: Option<String>) -> Option<u64> {
    word?.parse().ok()
}
