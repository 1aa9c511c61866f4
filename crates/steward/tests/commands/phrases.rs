//! Whatever command an error, a hint or a page names must be one.

use clap::Parser as _;
use clap::error::ErrorKind;
use std::path::{Path, PathBuf};
use steward::cli::Cli;

/// Words after `steward` in sentences that speak of the program, not of a command.
const PROSE: [&str; 4] = ["server", "ended", "again", "vault"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn files(folder: &Path, ending: &str, all: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, ending, all);
        } else if path.extension().is_some_and(|end| end == ending) {
            all.push(path);
        }
    }
}

/// String literals of a Rust source, their line breaks and quotes as such. Comments are left out.
fn literals(source: &str) -> Vec<String> {
    let mut all = Vec::new();
    for line in joined(source).lines() {
        let line = line.trim_start();
        if line.starts_with("//") {
            continue;
        }
        let mut rest = line;
        while let Some(at) = rest.find('"') {
            let (mut text, mut end) = (String::new(), None);
            let mut letters = rest[at + 1..].char_indices();
            while let Some((index, letter)) = letters.next() {
                match letter {
                    '"' => {
                        end = Some(at + 1 + index + 1);
                        break;
                    }
                    '\\' => match letters.next() {
                        Some((_, 'n')) => text.push('\n'),
                        Some((_, escaped)) => text.push(escaped),
                        None => {}
                    },
                    other => text.push(other),
                }
            }
            all.push(text);
            let Some(end) = end else { break };
            rest = &rest[end..];
        }
    }
    all
}

/// Literals that go on in the next line (`\` at the end) as one line.
fn joined(source: &str) -> String {
    let mut all = String::new();
    for line in source.lines() {
        if let Some(begun) = line.strip_suffix('\\') {
            all.push_str(begun);
            continue;
        }
        let goes_on = !all.is_empty() && !all.ends_with('\n');
        all.push_str(if goes_on { line.trim_start() } else { line });
        all.push('\n');
    }
    all
}

/// `steward …` in a text, each to its end.
fn phrases(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices("steward ") {
        let before = text[..at].chars().next_back();
        if before.is_some_and(|c| c.is_alphanumeric() || "-_/.@:".contains(c)) {
            continue;
        }
        let quoted = before == Some('`');
        let rest = &text[at..];
        let end = if quoted {
            rest.find('`').unwrap_or(rest.len())
        } else {
            ["`", ")", "\n", ";", ", ", "  ", "…", " — ", ": ", ". "]
                .iter()
                .filter_map(|stop| rest.find(stop))
                .min()
                .unwrap_or(rest.len())
        };
        let phrase = rest[..end].trim_end_matches(['.', ',', ':']).trim();
        let named = phrase.split(' ').nth(1).unwrap_or_default();
        let word = named.chars().all(|c| c.is_ascii_lowercase() || c == '-');
        if !named.is_empty() && word && !PROSE.contains(&named) {
            found.push(phrase.to_owned());
        }
    }
    found
}

/// Whether clap takes it, and if not, why. Placeholders stand for values; what is left out is left to the reader.
fn problem(phrase: &str) -> Option<String> {
    let mut words = Vec::new();
    let mut quoted: Option<String> = None;
    for word in phrase.split_whitespace() {
        match quoted.as_mut() {
            Some(begun) => {
                begun.push(' ');
                begun.push_str(word);
                if word.ends_with(['"', '\'']) {
                    words.extend(quoted.take());
                }
            }
            None if word.starts_with(['"', '\'']) && (word.len() < 2 || !word.ends_with(['"', '\''])) => {
                quoted = Some(word.to_owned());
            }
            None => words.push(word.trim_matches(['[', ']']).to_owned()),
        }
    }
    words.extend(quoted);
    if let Some(at) = words.iter().position(|word| word == "|" || word.ends_with('<') || word == "#") {
        words.truncate(at);
    }
    let named = |word: &String| {
        let capital = word.chars().any(|c| c.is_ascii_uppercase());
        let lower = word.chars().any(|c| c.is_ascii_lowercase());
        word.contains('{') || (capital && !lower)
    };
    let placeholder = words.iter().any(named);
    let any_command = words.get(2).is_some_and(|word| word.contains('{'));
    let words: Vec<String> = words
        .into_iter()
        // A number is a name, an id and a number.
        .map(|word| if named(&word) { "7".to_owned() } else { word })
        .collect();
    let error = Cli::try_parse_from(words).err()?;
    let left_out = matches!(
        error.kind(),
        ErrorKind::MissingRequiredArgument
            | ErrorKind::MissingSubcommand
            | ErrorKind::DisplayHelp
            | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
            | ErrorKind::DisplayVersion
    );
    let value = matches!(error.kind(), ErrorKind::InvalidValue | ErrorKind::ValueValidation);
    let command = error.kind() == ErrorKind::InvalidSubcommand;
    if left_out || value && placeholder || command && any_command {
        return None;
    }
    Some(format!("{phrase}: {}", error.to_string().lines().next().unwrap_or_default()))
}

#[test]
fn every_command_that_a_message_names_is_there() {
    let mut sources = Vec::new();
    for entry in std::fs::read_dir(root().join("crates")).unwrap() {
        let crate_folder = entry.unwrap().path();
        // Development tools speak of no one's commands.
        if !crate_folder.ends_with("testkit") {
            files(&crate_folder.join("src"), "rs", &mut sources);
        }
    }
    let (mut count, mut wrong) = (0, Vec::new());
    for file in sources {
        let source = std::fs::read_to_string(&file).unwrap();
        for literal in literals(&source) {
            for phrase in phrases(&literal) {
                count += 1;
                let place = file.file_name().unwrap().to_string_lossy().into_owned();
                wrong.extend(problem(&phrase).map(|why| format!("{place}: {why}")));
            }
        }
    }
    assert!(count > 100, "only {count} were found: the search is broken");
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn every_command_that_a_page_names_is_there() {
    let mut pages = vec![root().join("README.md")];
    files(&root().join("docs"), "md", &mut pages);
    // Decisions say what was, not what is.
    pages.retain(|page| !page.components().any(|part| part.as_os_str() == "decisions"));
    let (mut count, mut wrong) = (0, Vec::new());
    for page in pages {
        let text = std::fs::read_to_string(&page).unwrap();
        let mut fenced = false;
        for line in text.lines() {
            if line.starts_with("```") {
                fenced = !fenced;
            }
            let code: Vec<&str> = if fenced {
                vec![line]
            } else {
                // A bar within a table's cell is written `\|`.
                line.split('`').skip(1).step_by(2).collect()
            };
            for code in code.into_iter().filter(|code| code.trim_start().starts_with("steward ")) {
                for phrase in phrases(code) {
                    count += 1;
                    let place = page.file_name().unwrap().to_string_lossy().into_owned();
                    wrong.extend(problem(&phrase).map(|why| format!("{place}: {why}")));
                }
            }
        }
    }
    assert!(count > 50, "only {count} were found: the search is broken");
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn the_check_finds_what_is_wrong() {
    for (phrase, fine) in [
        ("steward mcp accept {server} {tool}", true),
        ("steward credential add", true),
        ("steward skill accept NAME HASH", true),
        ("steward budget set WHOSE --tokens N", true),
        ("steward skill forget", false),
        ("steward mcp accept x y --hush", false),
        ("steward skils", false),
        ("steward credential add x --kind spell", false),
    ] {
        assert_eq!(problem(phrase).is_none(), fine, "{phrase}");
    }
    let found = phrases("log in (steward mcp login {name}) or `steward doctor`, by steward itself; a steward server");
    assert_eq!(found[..2], ["steward mcp login {name}", "steward doctor"]);
}
