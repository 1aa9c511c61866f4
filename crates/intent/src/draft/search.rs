use super::{Desk, Draft, NAMED, Told, call, near, open};
use crate::read::path::{PathMatch, is_database, is_rows};
use serde_json::json;
use std::collections::BTreeSet;
use std::path::Path;
use steward_core::text::stem;

/// Most files that are searched, and bytes of each.
const FILES: usize = 200;
const BYTES: u64 = 1 << 20;
/// Shorter words occur in too many lines.
const SHORTEST: usize = 4;
/// Longest text that is shown whole, lines.
const SHORT: u64 = 60;
/// A word in more lines is not distinctive.
const LINES: usize = 12;
/// Extensions of prose files.
const DOCUMENTS: &[&str] = &["md", "markdown", "txt", "rst"];
/// Up to this many different words in capitals are the levels of a log.
const LEVELS: usize = 12;

impl Desk<'_> {
    pub(crate) async fn search(&self) -> Draft {
        let file = self.file();
        let folder = self.view.folder(self.wanted.text).filter(|f| f.score >= NAMED);
        let place = file.clone().or(folder);
        let mut told = self.told(place.as_ref().map_or((0, 0), |place| place.span));
        if let Some(file) = &file
            && told.len() > 1
        {
            // Every line of a file is about what the file is called.
            told.retain(|one| one.quoted || near::letters(&one.text, name_of(&file.path)) == 0.0);
        }
        let whole = || file.as_ref().and_then(|file| self.whole(file));
        if told.is_empty() {
            return whole().unwrap_or_else(|| open("which_words", Vec::new()));
        }
        let text = self.read_all(place.as_ref().map(|place| place.path.as_str())).await;
        let Some((pattern, exact)) = self.pattern(&told, &text).await else {
            return whole().unwrap_or_else(|| open("which_words", Vec::new()));
        };
        let mut arguments = json!({"pattern": pattern, "fixed": true, "ignore_case": !exact});
        if let Some(place) = place {
            arguments["path"] = json!(place.path);
        }
        let frame = if self.wanted.kind == "search_count" { "found_count" } else { "found" };
        call("grep", arguments, frame, vec![("pattern", pattern)])
    }

    /// Lines that hold words of the request, in the file that it names, else in the document that holds most of them.
    pub(crate) async fn mention(&self) -> Option<Draft> {
        let named = self.file();
        let told = self.told(named.as_ref().map_or((0, 0), |file| file.span));
        if let Some(file) = named {
            let lines = self.lines_of(&file.path, &told).await;
            return lines.or_else(|| self.whole(&file));
        }
        let documents =
            self.view.entries.iter().filter(|entry| !entry.folder && DOCUMENTS.contains(&entry.extension().as_str()));
        let mut best: Option<(usize, Draft)> = None;
        for entry in documents {
            if let Some((count, draft)) = self.holding(&entry.path, &told).await
                && best.as_ref().is_none_or(|(known, _)| count > *known)
            {
                best = Some((count, draft));
            }
        }
        best.map(|(_, draft)| draft)
    }

    /// The whole of a short text that the request names.
    fn whole(&self, file: &PathMatch) -> Option<Draft> {
        let path = &file.path;
        let named = file.span != (0, 0) && !is_database(path) && !is_rows(path);
        let lines = self.view.count_lines(path).filter(|lines| named && (1..=SHORT).contains(lines));
        lines.map(|_| call("read", json!({"path": path}), "whole", vec![("file", path.clone())]))
    }

    /// The lines of a file that hold the most distinctive of these words.
    pub(crate) async fn lines_of(&self, path: &str, told: &[Told]) -> Option<Draft> {
        if is_database(path) || is_rows(path) {
            return None;
        }
        self.holding(path, told).await.map(|(_, draft)| draft)
    }

    /// How many of the words a file holds, and its lines with the most distinctive one; `None` if they are too few.
    async fn holding(&self, path: &str, told: &[Told]) -> Option<(usize, Draft)> {
        let text = self.read_all(Some(path)).await.to_lowercase();
        let begins = |line: &str, word: &str| {
            let starts = |at: usize| line[..at].chars().next_back().is_none_or(|c| !c.is_alphanumeric());
            line.match_indices(word).any(|(at, _)| starts(at))
        };
        // Words of the file's name say nothing about its lines.
        let about = told.iter().filter(|one| near::letters(&one.text, name_of(path)) == 0.0);
        let about: Vec<(&Told, String)> = about.map(|one| (one, stem(&one.text))).collect();
        let in_lines = |word: &str| text.lines().filter(|line| begins(line, word)).count();
        let held: Vec<(&Told, &String, usize)> = about
            .iter()
            .map(|(one, word)| (*one, word, in_lines(word)))
            .filter(|(_, word, lines)| (1..=LINES).contains(lines) && word.chars().count() >= SHORTEST)
            .collect();
        let line = text.lines().max_by_key(|line| held.iter().filter(|(_, word, _)| begins(line, word)).count())?;
        let here = held.iter().filter(|(_, word, _)| begins(line, word));
        let (_, pattern, _) =
            here.min_by_key(|(one, word, lines)| (!one.quoted, *lines, !one.proper, usize::MAX - word.len()))?;
        let proper = |one: &Told| one.proper || one.quoted;
        let names = about.iter().any(|(one, _)| proper(one));
        // Half of the words, or each name; the words between names belong to the question.
        let half = held.len() * 2 >= about.len() && (!names || held.iter().any(|(one, ..)| proper(one)));
        let count = held.iter().filter(|(one, ..)| proper(one)).count();
        let each_name = names && count == about.iter().filter(|(one, _)| proper(one)).count();
        let enough = half || each_name;
        let arguments = json!({"pattern": pattern, "path": path, "fixed": true, "ignore_case": true});
        let draft =
            call("grep", arguments, "mention", vec![("pattern", (*pattern).clone()), ("file", path.to_owned())]);
        enough.then_some((held.len(), draft))
    }

    /// The words that occur in the files, and whether case matters. `None` if several could be meant.
    async fn pattern(&self, told: &[Told], text: &str) -> Option<(String, bool)> {
        let lower = text.to_lowercase();
        let capitals: BTreeSet<&str> = text
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| word.len() > 2 && word.chars().all(|c| c.is_ascii_uppercase()))
            .collect();
        let runs = runs(told);
        for run in &runs {
            let singular = stem(run);
            let level = singular.to_uppercase();
            if let Some(level) = capitals.get(level.as_str()) {
                return Some(((*level).to_owned(), true));
            }
            for form in [run.to_lowercase(), singular] {
                if form.chars().count() > 2 && lower.contains(&form) {
                    let pattern = if form == run.to_lowercase() { run.clone() } else { form };
                    return Some((pattern, false));
                }
            }
        }
        // "Fehler" is what a log calls ERROR.
        if !capitals.is_empty() && capitals.len() <= LEVELS {
            let names: Vec<String> = capitals.iter().map(|word| word.to_lowercase()).collect();
            for run in &runs {
                if let Some(at) = near::meaning(&run.to_lowercase(), &names, self.embedder).await
                    && let Some(level) = capitals.iter().nth(at)
                {
                    return Some(((*level).to_owned(), true));
                }
            }
        }
        let named = told.len() == 1 || told.iter().any(|one| one.quoted || one.proper);
        runs.into_iter().next().filter(|_| named).map(|run| (run, false))
    }

    /// The text of a file, of the files of a folder, or of all.
    async fn read_all(&self, place: Option<&str>) -> String {
        let paths: Vec<_> = self
            .view
            .entries
            .iter()
            .filter(|entry| !entry.folder && !is_database(&entry.path))
            .filter(|entry| place.is_none_or(|place| Path::new(&entry.path).starts_with(place)))
            .take(FILES)
            .map(|entry| entry.path.clone())
            .collect();
        let read = self.view.blocking(move |view| {
            let mut text = String::new();
            for bytes in paths.iter().filter_map(|path| view.read(path, BYTES)) {
                text.push_str(&String::from_utf8_lossy(&bytes));
                text.push('\n');
            }
            text
        });
        read.await.unwrap_or_default()
    }
}

/// A path without its extension.
fn name_of(path: &str) -> &str {
    path.rsplit_once('.').map_or(path, |(name, _)| name)
}

/// Quotations first, then words in capitals, then adjacent words, then single ones.
fn runs(told: &[Told]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    found.extend(told.iter().filter(|one| one.quoted).map(|one| one.text.clone()));
    let level = |text: &str| text.len() > 1 && !text.chars().any(char::is_lowercase);
    found.extend(told.iter().filter(|one| level(&one.text)).map(|one| one.text.clone()));
    let mut run: Vec<&Told> = Vec::new();
    for one in told {
        if run.last().is_some_and(|last| last.at + 1 != one.at) {
            found.push(joined(&run));
            run.clear();
        }
        run.push(one);
    }
    found.push(joined(&run));
    found.extend(told.iter().map(|one| one.text.clone()));
    let mut seen = BTreeSet::new();
    found.retain(|text| !text.is_empty() && seen.insert(text.clone()));
    found
}

fn joined(run: &[&Told]) -> String {
    let words: Vec<&str> = run.iter().map(|one| one.text.as_str()).collect();
    words.join(" ")
}
