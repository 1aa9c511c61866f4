use super::error::{PackageError, entry};
use std::collections::BTreeMap;
use unicode_normalization::UnicodeNormalization as _;

/// Longest name of a package or a skill.
pub(crate) const NAME_CHARS: usize = 64;
const PART_BYTES: usize = 150;
const MAX_DEPTH: usize = 10;
const PATH_BYTES: usize = 400;
/// Files that operating systems add to archives.
const OS_FILES: [&str; 4] = ["__MACOSX", ".DS_Store", "Thumbs.db", "desktop.ini"];

pub(crate) fn is_name(name: &str, separator: char) -> bool {
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == separator;
    (1..=NAME_CHARS).contains(&name.len()) && name.chars().all(fits)
}

/// Checks a package's name as the open format wants it: lower-case letters, digits, single hyphens inside.
pub(crate) fn check_package_name(name: &str) -> Result<(), String> {
    if is_name(name, '-') && name.split('-').all(|part| !part.is_empty()) {
        return Ok(());
    }
    Err(format!(
        "`{name}` is no name of a package; use 1 to {NAME_CHARS} lower-case letters, digits and single hyphens between them, such as `infra-agent`"
    ))
}

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

/// The built-in names of `allowed-tools`. Restrictions as in `Bash(git:*)` are ignored: the policy decides on calls.
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

/// The name of a package's internal skill; skill names have underscores.
pub(crate) fn skill_of(package: &str) -> String {
    package.replace('-', "_")
}

/// Checks a skill's name, which becomes the name of a tool.
pub(crate) fn check_skill_name(name: &str) -> Result<(), String> {
    if is_name(name, '_') {
        return Ok(());
    }
    Err(format!(
        "`{name}` is no name of a skill; use 1 to {NAME_CHARS} lower-case letters, digits and underscores, such as `restart_service`"
    ))
}

pub(crate) fn is_os_file(path: &str) -> bool {
    path.split('/').any(|part| OS_FILES.contains(&part) || part.starts_with("._"))
}

/// Refuses paths that lead outside, that other systems read differently, or that hold invisible characters.
pub(crate) fn check_path(name: &str) -> Result<(), PackageError> {
    let trimmed = name.strip_suffix('/').unwrap_or(name);
    let hidden = name.chars().any(|c| c.is_control() || is_invisible(c));
    let any_part = |bad: fn(&str) -> bool| trimmed.split('/').any(bad);
    let ragged = |part: &str| part.ends_with('.') || part.ends_with(' ') || part.starts_with(' ');
    let problems = [
        (trimmed.is_empty(), "has no name; zip the package's folder again"),
        (name.starts_with('/'), "is an absolute path; only paths inside the package's folder are taken"),
        (name.contains('\\'), "has a backslash; zip it with `/` between folders"),
        (name.contains(':'), "has a colon, which some systems read as a drive; rename the file"),
        (name.len() > PATH_BYTES, "has too long a path (over 400 bytes); use shorter names"),
        (hidden, "has a control or invisible character in its name; rename the file"),
        (trimmed.split('/').count() > MAX_DEPTH, "lies too deep (over 10 folders); use fewer folders"),
        (any_part(str::is_empty), "has an empty folder name; zip the folder again"),
        (
            any_part(|part| matches!(part, "." | "..")),
            "leads out of the package's folder; only paths inside it are taken",
        ),
        (any_part(|part| part.len() > PART_BYTES), "has too long a name (over 150 bytes); use a shorter one"),
        (any_part(ragged), "begins or ends with a space or ends with a dot; rename the file"),
    ];
    match problems.iter().find(|(bad, _)| *bad) {
        Some((_, problem)) => Err(entry(name, *problem)),
        None => Ok(()),
    }
}

fn is_invisible(c: char) -> bool {
    matches!(u32::from(c),
        0xAD | 0x061C | 0x180E | 0x200B..=0x200F | 0x2028..=0x202E | 0x2060..=0x206F
        | 0xFE00..=0xFE0F | 0xFEFF | 0xFFF9..=0xFFFB | 0xE0000..=0xE0FFF)
}

/// Finds paths that are one file on some systems, and paths that are file and folder.
#[derive(Default)]
pub(crate) struct PathCollisions {
    /// Folded path to the original path, and whether it is a folder.
    names: BTreeMap<String, (String, bool)>,
}

impl PathCollisions {
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
