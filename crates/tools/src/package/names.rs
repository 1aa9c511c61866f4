//! Names of packages, skills and files in a package.

use super::error::{PackageError, entry};
use std::collections::BTreeMap;
use unicode_normalization::UnicodeNormalization as _;

/// Longest name of a package or skill.
const NAME: usize = 64;
/// Longest part of a path, bytes.
const PART: usize = 150;
/// Deepest path.
const DEPTH: usize = 10;
/// Longest path, bytes.
const PATH: usize = 400;
/// What systems leave in archives; nobody means it.
const LITTER: [&str; 4] = ["__MACOSX", ".DS_Store", "Thumbs.db", "desktop.ini"];

/// A package's name after the open format: lower-case letters, digits and single hyphens inside.
pub(crate) fn check_package_name(name: &str) -> Result<(), String> {
    let fits = !name.is_empty()
        && name.len() <= NAME
        && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
        && !name.starts_with('-')
        && !name.ends_with('-')
        && !name.contains("--");
    if fits {
        return Ok(());
    }
    Err(format!(
        "`{name}` is no name of a package; use 1 to {NAME} lower-case letters, digits and single hyphens between them, such as `infra-agent`"
    ))
}

/// How other programs that read packages call the tools that Steward has.
const ALIASES: [(&str, &str); 11] = [
    ("bash", "terminal"),
    ("shell", "terminal"),
    ("exec", "terminal"),
    ("run", "terminal"),
    ("glob", "list"),
    ("ls", "list"),
    ("edit", "write"),
    ("multiedit", "write"),
    ("webfetch", "web_fetch"),
    ("websearch", "web_search"),
    ("python_inline", "python"),
];

/// The tools of `allowed-tools` under their names here. What a name in brackets narrows further, `Bash(git:*)`, is left
/// out: the agent's policy decides on single calls.
pub(crate) fn tool_names(declared: &[String]) -> Vec<String> {
    let mut all: Vec<String> = declared
        .iter()
        .map(|name| {
            let name = name.split('(').next().unwrap_or_default();
            let name = name.trim().to_lowercase().replace('-', "_");
            let alias = ALIASES.iter().find(|(other, _)| *other == name);
            alias.map_or(name, |(_, here)| (*here).to_owned())
        })
        .filter(|name| !name.is_empty())
        .collect();
    all.sort();
    all.dedup();
    all
}

/// The name of a package's internal skill, since skills have underscores.
pub(crate) fn skill_of(package: &str) -> String {
    package.replace('-', "_")
}

/// A skill's name: it becomes the name of a tool.
pub(crate) fn check_skill_name(name: &str) -> Result<(), String> {
    let fits = !name.is_empty()
        && name.len() <= NAME
        && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
    if fits {
        return Ok(());
    }
    Err(format!(
        "`{name}` is no name of a skill; use 1 to {NAME} lower-case letters, digits and underscores, such as `restart_service`"
    ))
}

/// Whether a path is what an operating system left behind.
pub(crate) fn is_litter(path: &str) -> bool {
    path.split('/').any(|part| LITTER.contains(&part) || part.starts_with("._"))
}

/// Refuses a path that leads out, that another system reads otherwise, or that can't be seen.
pub(crate) fn check_path(name: &str) -> Result<(), PackageError> {
    let refuse = |problem: &str| Err(entry(name, problem));
    let trimmed = name.strip_suffix('/').unwrap_or(name);
    if trimmed.is_empty() {
        return refuse("has no name; zip the package's folder again");
    }
    if name.starts_with('/') {
        return refuse("is an absolute path; only paths inside the package's folder are taken");
    }
    if name.contains('\\') {
        return refuse("has a backslash; zip it with `/` between folders");
    }
    if name.contains(':') {
        return refuse("has a colon, which some systems read as a drive; rename the file");
    }
    if name.len() > PATH {
        return refuse("has too long a path (over 400 bytes); use shorter names");
    }
    if name.chars().any(|c| c.is_control() || is_invisible(c)) {
        return refuse("has a control or invisible character in its name; rename the file");
    }
    if trimmed.split('/').count() > DEPTH {
        return refuse("lies too deep (over 10 folders); use fewer folders");
    }
    for part in trimmed.split('/') {
        if part.is_empty() {
            return refuse("has an empty folder name; zip the folder again");
        }
        if part == "." || part == ".." {
            return refuse("leads out of the package's folder; only paths inside it are taken");
        }
        if part.len() > PART {
            return refuse("has too long a name (over 150 bytes); use a shorter one");
        }
        if part.ends_with('.') || part.ends_with(' ') || part.starts_with(' ') {
            return refuse("begins or ends with a space or ends with a dot; rename the file");
        }
    }
    Ok(())
}

/// Characters that change how a name looks without being seen.
fn is_invisible(c: char) -> bool {
    matches!(u32::from(c),
        0xAD | 0x061C | 0x180E | 0x200B..=0x200F | 0x2028..=0x202E | 0x2060..=0x206F
        | 0xFE00..=0xFE0F | 0xFEFF | 0xFFF9..=0xFFFB | 0xE0000..=0xE0FFF)
}

/// Finds names that are one file on some systems, and a file that is a folder too.
#[derive(Default)]
pub(crate) struct PathCollisions {
    /// Folded path to the path as written; and whether it's a folder.
    names: BTreeMap<String, (String, bool)>,
}

impl PathCollisions {
    /// Adds a path, its folders with it.
    pub(crate) fn add(&mut self, name: &str, folder: bool) -> Result<(), PackageError> {
        let trimmed = name.strip_suffix('/').unwrap_or(name);
        for (at, _) in trimmed.match_indices('/') {
            self.put(&trimmed[..at], true, name)?;
        }
        self.put(trimmed, folder, name)
    }

    fn put(&mut self, path: &str, folder: bool, name: &str) -> Result<(), PackageError> {
        let key: String = path.nfc().collect::<String>().to_lowercase();
        match self.names.get(&key) {
            None => {
                self.names.insert(key, (path.to_owned(), folder));
                Ok(())
            }
            Some((known, true)) if folder && known == path => Ok(()),
            Some((known, false)) if !folder && known == path => Err(entry(name, "is there twice; keep one of them")),
            Some((known, _)) if known == path => Err(entry(name, "is a file and a folder at once; rename one of them")),
            Some((known, _)) => Err(entry(
                name,
                format!("differs from `{known}` only in upper and lower case or in accents; rename one of them"),
            )),
        }
    }
}
