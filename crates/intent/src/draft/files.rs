use super::{Desk, Draft, NAMED, Told, call, near, open};
use crate::read::number::{numbers, ordinal};
use crate::read::path::{PathMatch, is_database, is_rows};
use serde_json::{Map, Value, json};
use steward_core::ports::Entry;
use steward_core::text::{Word, parts, words};

/// Lines shown if no number is given.
const SOME: u64 = 10;
/// Files of more lines are shown in part.
const LONG: u64 = 150;
/// Lines of a long file that are shown.
const PART: u64 = 40;
impl Desk<'_> {
    pub(crate) fn list(&self) -> Draft {
        let text = self.wanted.text;
        let mut arguments = Map::new();
        let folder = self.view.folder(text).filter(|found| found.score >= NAMED);
        if let Some(found) = folder {
            arguments.insert("path".into(), json!(found.path));
        }
        let ending = words(text).into_iter().find_map(|word| {
            let bare = word.lower.trim_start_matches(['*', '.']).to_owned();
            let known = |entry: &Entry| entry.extension() == bare;
            (!bare.is_empty() && self.view.entries.iter().any(known)).then_some(bare)
        });
        if let Some(ending) = ending {
            arguments.insert("pattern".into(), json!(format!("**/*.{ending}")));
        }
        call("list", arguments.into(), "list", Vec::new())
    }

    /// A file, or those of its lines that hold what is asked about; `None` if the question is not about a file.
    pub(crate) async fn read(&self) -> Option<Draft> {
        let Some(file) = self.file() else {
            return Some(self.no_file());
        };
        // "The last one" of a file named before hardly means its last line.
        if matches!(self.wanted.kind, "head" | "tail") && file.span == (0, 0) && self.number((0, 0)).is_none() {
            return None;
        }
        let told = self.told(file.span);
        let name = parts(&file.path);
        let of_name = |word: &str| name.iter().any(|part| near::letters(word, part) > 0.0);
        let told: Vec<Told> = told.into_iter().filter(|one| !of_name(&one.text)).collect();
        if self.wanted.kind == "read" && !told.is_empty() {
            let (_, end) = file.span;
            let behind = end > 0 && told.iter().all(|one| one.start >= end);
            let proper = told.iter().any(|one| one.proper || one.quoted);
            if !(self.wanted.sure && behind) || proper {
                let lines = self.lines_of(&file.path, &told).await;
                let opens = self.wanted.sure && (behind || (told.len() == 1 && !is_rows(&file.path)));
                if lines.is_some() || !opens {
                    return lines;
                }
            }
        }
        self.shown(&file).await
    }

    async fn shown(&self, file: &PathMatch) -> Option<Draft> {
        let path = &file.path;
        if is_database(path) {
            return self.tables_of(path).await;
        }
        let total = self.view.count_lines(path).unwrap_or(0);
        // The header of a table is not a row.
        let header = u64::from(is_rows(path));
        let asked = self.number(file.span);
        let part = match self.wanted.kind {
            "head" => Some((1, asked.unwrap_or(SOME).saturating_add(header))),
            "tail" => {
                let count = asked.unwrap_or(SOME).min(total.max(1));
                Some((total.saturating_sub(count) + 1, count))
            }
            _ if total > LONG => Some((1, PART)),
            _ => None,
        };
        let mut arguments = json!({"path": path});
        let told = vec![("file", path.clone())];
        if let Some((start, lines)) = part {
            arguments["start"] = json!(start);
            arguments["lines"] = json!(lines.max(1));
            return Some(call("read", arguments, "part", told));
        }
        let frame = if self.wanted.kind == "summary" { "summary" } else { "read" };
        Some(call("read", arguments, frame, told))
    }

    pub(crate) async fn measure(&self) -> Option<Draft> {
        let Some(file) = self.file() else {
            let folder = self.view.folder(self.wanted.text);
            let folder = folder.filter(|_| self.wanted.kind == "size");
            return Some(folder.map_or_else(
                || self.no_file(),
                |found| {
                    let argv = json!({"argv": ["du", "-sh", found.path]});
                    call("terminal", argv, "size", vec![("file", found.path)])
                },
            ));
        };
        if self.wanted.kind == "lines" && is_rows(&file.path) && !self.counts_lines() {
            return self.table().await;
        }
        let (option, frame) = match self.wanted.kind {
            "words" => ("-w", "words"),
            "size" => ("-c", "bytes"),
            _ if is_rows(&file.path) => ("-l", "lines_of_table"),
            _ => ("-l", "lines"),
        };
        let argv = json!({"argv": ["wc", option, file.path]});
        Some(call("terminal", argv, frame, vec![("file", file.path)]))
    }

    /// Whether the word counts lines of a file; in other languages it also means rows.
    pub(crate) fn counts_lines(&self) -> bool {
        let said = words(self.wanted.text);
        self.file().is_some_and(|file| is_rows(&file.path))
            && said.iter().any(|word| word.lower == "line" || word.lower == "lines")
    }

    /// The number in the request, outside of the name of a file.
    pub(crate) fn number(&self, apart: (usize, usize)) -> Option<u64> {
        let all = words(self.wanted.text);
        let outside = |word: &Word<'_>| word.end <= apart.0 || word.start >= apart.1;
        let said = numbers(&all).find(|(_, word, value)| outside(word) && (1.0..1e6).contains(value));
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 1 and a million")]
        let said = said.map(|(.., value)| value as u64);
        said.filter(|_| !all.iter().any(|word| ordinal(word.text).is_some_and(|n| n > 1)))
    }
}

pub(crate) fn schema(database: &str, table: &str) -> Value {
    json!({"database": database, "query": {"schema": table}})
}

pub(crate) fn nothing() -> Draft {
    open("nothing_here", Vec::new())
}
