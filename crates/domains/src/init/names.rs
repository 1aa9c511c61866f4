//! Names and titles from what a database calls its tables and columns.

use crate::chunks::{MAX_NAME_CHARS, MAX_NAME_WORDS, shown_name};
use crate::syntax::lexer::{begins_identifier, continues_identifier};
use std::collections::{HashMap, HashSet};
use steward_core::tables::Table;

/// The words of a name in lower case: `InvoiceLine`, `invoice_line` and `Invoice Line` have the same two.
pub(super) fn words(name: &str) -> Vec<String> {
    let chars: Vec<char> = name.chars().collect();
    let mut words: Vec<String> = Vec::new();
    let mut word = String::new();
    for (at, c) in chars.iter().enumerate() {
        let before = at.checked_sub(1).map(|before| chars[before]);
        let next = chars.get(at + 1);
        // `HTTPServer` is two words, `UserID` too.
        let begins = c.is_uppercase()
            && (before.is_some_and(|before| before.is_lowercase() || before.is_numeric())
                || (before.is_some_and(char::is_uppercase) && next.is_some_and(|next| next.is_lowercase())));
        let part = continues_identifier(*c) && *c != '_';
        if (!part || begins) && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if part {
            word.extend(c.to_lowercase().filter(|c| continues_identifier(*c)));
        }
    }
    words.extend(Some(word).filter(|word| !word.is_empty()));
    words
}

pub(super) fn snake(name: &str) -> String {
    let snake: String = short(name).join("_");
    match snake.chars().next() {
        Some(first) if begins_identifier(first) => snake,
        Some(_) => format!("t_{snake}"),
        None => "t".to_owned(),
    }
}

/// Its first words: whole sentences are no names, and whoever wrote a file chose what stands above its columns.
fn short(name: &str) -> Vec<String> {
    let mut room = MAX_NAME_CHARS;
    let mut short: Vec<String> = Vec::new();
    for mut word in words(name).into_iter().take(MAX_NAME_WORDS) {
        if word.chars().count() > room {
            word = if short.is_empty() { word.chars().take(room).collect() } else { String::new() };
        }
        if word.is_empty() {
            break;
        }
        room = room.saturating_sub(word.chars().count() + 1);
        short.push(word);
    }
    short
}

/// For people: `Invoice Line`.
pub(super) fn title(name: &str) -> String {
    let words = short(name);
    if words.is_empty() {
        return shown_name(name);
    }
    words.iter().map(|word| capitalized(word)).collect::<Vec<String>>().join(" ")
}

pub(super) fn capitalized(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or(String::new(), |first| first.to_uppercase().chain(chars).collect())
}

/// For sentences: `invoice line`.
pub(super) fn phrase(name: &str) -> String {
    let words = short(name);
    if words.is_empty() { shown_name(name) } else { words.join(" ") }
}

/// Without the schema.
pub(super) fn bare(table: &str) -> &str {
    table.rsplit_once('.').map_or(table, |(_, bare)| bare)
}

/// Gives each name once.
#[derive(Default)]
pub(super) struct Namer {
    taken: HashSet<String>,
}

impl Namer {
    pub(super) fn unique(&mut self, wanted: &str) -> String {
        let name = if self.is_free(wanted) {
            wanted.to_owned()
        } else {
            let mut number = 2_u32;
            while !self.is_free(&format!("{wanted}_{number}")) {
                number += 1;
            }
            format!("{wanted}_{number}")
        };
        self.taken.insert(name.clone());
        name
    }

    pub(super) fn is_free(&self, name: &str) -> bool {
        !self.taken.contains(name)
    }

    pub(super) fn take(&mut self, name: &str) {
        self.taken.insert(name.to_owned());
    }
}

/// A name for the domain of each table. Tables of the same name in several schemas keep the schema in it.
pub(super) fn of_domains(tables: &[Table]) -> Vec<String> {
    let mut count: HashMap<String, usize> = HashMap::new();
    for table in tables {
        *count.entry(snake(bare(&table.name))).or_default() += 1;
    }
    let mut namer = Namer::default();
    tables
        .iter()
        .map(|table| {
            let short = snake(bare(&table.name));
            let shared = count.get(&short).is_some_and(|count| *count > 1);
            namer.unique(&if shared { snake(&table.name) } else { short })
        })
        .collect()
}
