//! No files of a room use each other in a circle: such files can only be read together.
//!
//! A module and those below it are one thing and may use each other. Unit tests don't count.

use super::sources::sources;
use std::collections::{BTreeMap, BTreeSet};

/// Circles that are left, since tools and the sandbox are yet to be taken apart. None may grow.
const KNOWN: &[(&str, &str)] = &[
    ("sandbox", "helper::child helper::supervise"),
    ("sandbox", "process::doctor process::launch process::machine_support process::run"),
    ("sandbox", "sql::mysql sql::postgres sql::remote"),
    ("sandbox", "sql::mysql::table sql::mysql::values"),
    ("tools", "browser dispatcher package::activate package::references skills"),
    ("tools", "mcp::call mcp::connect mcp::connection mcp::credentials mcp::oauth_token mcp::pool"),
    ("tools", "skills::executor skills::template"),
    ("tools", "sql::databases workspace"),
];

const IN_WORD: fn(char) -> bool = |c| c.is_alphanumeric() || c == '_';

/// Names from the root of a crate down.
type Path = Vec<String>;

/// The imports of a file, and all else in it that may be a path.
type Paths = (Vec<Path>, Vec<Path>);

fn paths(source: &str) -> Paths {
    let tokens = tokens(without_tests(source));
    let is_word = |at: usize| tokens.get(at).is_some_and(|token| token.starts_with(IN_WORD));
    let (mut imports, mut others, mut at) = (Vec::new(), Vec::new(), 0);
    while at < tokens.len() {
        // `use<…>` is a bound.
        if tokens[at] == "use" && tokens.get(at + 1) != Some(&"<") {
            at = read_use(&tokens, at + 1, &[], &mut imports);
            continue;
        }
        let begin = at;
        while is_word(at) && tokens.get(at + 1) == Some(&"::") && is_word(at + 2) {
            at += 2;
        }
        others.push(tokens[begin..=at].iter().step_by(2).map(|name| (*name).to_owned()).collect());
        at += 1;
    }
    (imports, others)
}

fn without_tests(source: &str) -> &str {
    let mut modules = source.match_indices("#[cfg(test)]\nmod ").map(|(at, _)| at);
    let tests = modules.find(|at| source[*at..].lines().nth(1).is_some_and(|line| line.ends_with('{')));
    &source[..tests.unwrap_or(source.len())]
}

/// Words and signs; comments and texts are left out.
fn tokens(code: &str) -> Vec<&str> {
    let (mut rest, mut found) = (code, Vec::new());
    while let Some(first) = rest.chars().next() {
        let mut length = first.len_utf8();
        if rest.starts_with("//") {
            length = rest.find('\n').unwrap_or(rest.len());
        } else if let Some(raw) = rest.strip_prefix("#\"") {
            length = raw.find("\"#").map_or(rest.len(), |end| end + 4);
        } else if first == '"' {
            length = 1;
            while rest.as_bytes().get(length).is_some_and(|byte| *byte != b'"') {
                length += 1 + usize::from(rest.as_bytes()[length] == b'\\');
            }
            length = rest.len().min(length + 1);
        } else if rest.starts_with("'\\") || rest.starts_with("'\"'") {
            length = rest[2..].find('\'').map_or(rest.len(), |end| end + 3);
        } else if !first.is_whitespace() {
            if IN_WORD(first) {
                length = rest.find(|c| !IN_WORD(c)).unwrap_or(rest.len());
            } else if rest.starts_with("::") {
                length = 2;
            }
            found.push(&rest[..length]);
        }
        rest = &rest[length..];
    }
    found
}

/// Reads one tree of imports below `above` and returns where it ends.
fn read_use(tokens: &[&str], mut at: usize, above: &[String], found: &mut Vec<Path>) -> usize {
    let mut path = above.to_vec();
    while let Some(token) = tokens.get(at).filter(|token| ![",", "}", ";"].contains(token)) {
        at += 1;
        if *token == "{" {
            while tokens.get(at).is_some_and(|token| !["}", ";"].contains(token)) {
                at = read_use(tokens, at, &path, found);
                at += usize::from(tokens.get(at) == Some(&","));
            }
            return at + 1;
        }
        // `a as b` becomes a path below `a`, with the name that it has here at its end.
        path.extend(Some((*token).to_owned()).filter(|word| word != "::"));
    }
    found.push(path);
    at
}

/// The module that a path written in `from` leads to, through imports of the modules on its way; `None` for another crate.
fn target(files: &BTreeMap<Path, Paths>, from: &[String], path: &[String], depth: usize) -> Option<Path> {
    let (mut module, mut rest) = (from.to_vec(), path);
    while let Some((name, after)) = rest.split_first() {
        match name.as_str() {
            "crate" => module.clear(),
            "self" => {}
            "super" => drop(module.pop()),
            name => module.push(name.to_owned()),
        }
        if !files.contains_key(&module) {
            module.pop();
            break;
        }
        rest = after;
    }
    let module = Some(module).filter(|module| rest.len() < path.len() && files.contains_key(module))?;
    let imported = |name: &String| files[&module].0.iter().find(|path| path.last() == Some(name));
    let further = rest.first().filter(|_| depth > 0).and_then(imported);
    Some(further.and_then(|path| target(files, &module, path, depth - 1)).unwrap_or_else(|| module.clone()))
}

/// The circles among the files of one crate, given by their paths below `src`.
fn circles(sources: &[(&str, &str)]) -> BTreeSet<Vec<String>> {
    let root = if sources.iter().any(|(name, _)| *name == "lib.rs") { "lib" } else { "main" };
    let mut files = BTreeMap::new();
    for (name, source) in sources {
        let names = name.trim_end_matches(".rs").trim_end_matches("/mod").split('/').filter(|name| *name != root);
        let path: Path = names.map(str::to_owned).collect();
        if !path.iter().any(|name| name == "tests" || name.ends_with("_tests")) {
            files.insert(path, paths(source));
        }
    }
    let uses = |from: &Path| -> Vec<Path> {
        let paths = files[from].0.iter().chain(&files[from].1);
        let targets = paths.filter_map(|path| target(&files, from, path, 6));
        targets.filter(|to| !to.starts_with(from) && !from.starts_with(to)).collect()
    };
    let edges: BTreeMap<&Path, Vec<Path>> = files.keys().map(|from| (from, uses(from))).collect();
    let reached = |from: &Path| {
        let (mut seen, mut open) = (BTreeSet::new(), edges[from].clone());
        while let Some(next) = open.pop() {
            if seen.insert(next.clone()) {
                open.extend_from_slice(&edges[&next]);
            }
        }
        seen
    };
    let reached: BTreeMap<&Path, BTreeSet<Path>> = files.keys().map(|from| (from, reached(from))).collect();
    let circle = |one: &Path| -> Vec<String> {
        let back = reached[one].iter().filter(|other| reached[*other].contains(one));
        back.map(|module| module.join("::")).collect()
    };
    files.keys().map(circle).filter(|circle| !circle.is_empty()).collect()
}

#[test]
fn no_files_use_each_other_in_a_circle() {
    let sources = sources();
    let mut rooms: BTreeMap<&str, Vec<(&str, &str)>> = BTreeMap::new();
    for (name, source) in &sources {
        let Some((room, file)) = name.split_once("/src/") else { continue };
        rooms.entry(room).or_default().push((file, source));
    }
    let is_known = |room: &str, circle: &[String]| {
        let holds = |files: &str| circle.iter().all(|file| files.split(' ').any(|known| known == file));
        KNOWN.iter().any(|(of, files)| *of == room && holds(files))
    };
    let mut new = Vec::new();
    for (room, files) in rooms {
        let circles = circles(&files).into_iter().filter(|circle| !is_known(room, circle));
        new.extend(circles.map(|circle| format!("{room}: {}", circle.join(", "))));
    }
    assert!(new.is_empty(), "these files use each other; move what two need into the lower one:\n{}", new.join("\n"));
}

#[test]
fn circles_are_found() {
    let a = ("a.rs", "use crate::{b::{self, B as Other}, c};\npub struct A;");
    let of = |b: &str| circles(&[a, ("b.rs", b), ("b/deep.rs", "use super::B;"), ("lib.rs", "mod a; use a::A;")]);
    for closed in ["use super::a::A;", "fn f() -> crate::a::A {}", "pub use crate::a::A;", "use {super::a as other};"] {
        assert_eq!(of(closed).first().unwrap(), &["a", "b"], "{closed}");
    }
    let comment =
        "// use super::a::A;\nconst TEXT: &str = \"\\\" use super::a::A;\"; const MARK: char = '\"'; // super::a";
    let test = "#[cfg(test)]\nmod tests {\n    use crate::a::A;\n}";
    for open in [comment, test, "use other::a::A;", "mod deep; use deep::B; use crate::c::A;"] {
        assert!(of(open).is_empty(), "{open}");
    }
}

#[test]
fn a_name_is_followed_to_its_file() {
    let of = |b| circles(&[("lib.rs", ""), ("a.rs", "use crate::b::D;"), ("b.rs", b), ("b/d.rs", "use crate::a::A;")]);
    assert_eq!(of("pub use d::D;").first().unwrap(), &["a", "b::d"]);
    assert!(of("pub struct D;").is_empty());
}
