//! What options of several commands share.

use clap::{Args, Subcommand, ValueEnum};
use std::time::Duration;

/// Roles of users.
pub const ROLES: [&str; 4] = ["admin", "operator", "developer", "viewer"];

// What a command does, of which none means to list. It has no doc comment, since that would be the command's help text,
// which stands at its actions.
#[derive(Debug, Clone, Args)]
pub struct Actions<A: Subcommand> {
    #[command(subcommand)]
    pub action: Option<A>,
    /// JSON instead of text.
    #[arg(long, global = true)]
    pub json: bool,
}

/// The word that a choice is written as, here and in the API.
pub trait Word: ValueEnum {
    fn word(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }
}

impl<T: ValueEnum> Word for T {}

/// Bytes for people, in units of a thousand.
pub fn size(bytes: u64) -> String {
    let units = [(1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "KB")];
    match units.iter().find(|(unit, _)| bytes >= *unit) {
        Some((unit, name)) => format!("{}.{} {name}", bytes / unit, bytes % unit / (unit / 10)),
        None => format!("{bytes} bytes"),
    }
}

/// `90s`, `30m`, `1h`, `7d`.
pub fn duration(text: &str) -> Result<Duration, String> {
    let text = text.trim();
    let wrong = || format!("`{text}` is no length of time; write it as 90s, 30m, 1h or 7d");
    let unit = text.chars().last().ok_or_else(wrong)?;
    let seconds: u64 = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3600,
        'd' => 86_400,
        _ => return Err(wrong()),
    };
    let count: u64 = text[..text.len() - 1].trim().parse().map_err(|_| wrong())?;
    match count.checked_mul(seconds) {
        Some(all) if all > 0 => Ok(Duration::from_secs(all)),
        _ => Err(wrong()),
    }
}

#[cfg(test)]
mod tests {
    use super::{duration, size};

    #[test]
    fn sizes_are_short() {
        assert_eq!((size(12).as_str(), size(1_250_000).as_str()), ("12 bytes", "1.2 MB"));
        assert_eq!((size(999).as_str(), size(3_000_000_000).as_str()), ("999 bytes", "3.0 GB"));
    }

    #[test]
    fn reads_what_people_write() {
        for (text, seconds) in [("90s", 90), ("30m", 1800), (" 1h ", 3600), ("7d", 604_800)] {
            assert_eq!(duration(text).unwrap().as_secs(), seconds);
        }
        for text in ["", "h", "1", "1w", "-1h", "0h", "1.5h", "99999999999999999999d", "1\u{fc}"] {
            assert!(duration(text).unwrap_err().contains("90s"), "{text}");
        }
    }
}
