//! The edges between rooms, from `cargo metadata`.

use std::process::Command;

use serde_json::Value;

/// Each room and the rooms it may use; `testkit` is open to all as a dev-dependency.
const ROOMS: &[(&str, &[&str])] = &[
    ("core", &[]),
    ("parse", &["core"]),
    ("intent", &["core"]),
    ("sandbox", &["core"]),
    ("models", &["core"]),
    ("tools", &["core", "sandbox"]),
    ("access", &["core"]),
    ("engine", &["core", "parse"]),
    ("store", &["core"]),
    ("infra", &["core"]),
    ("knowledge", &["core", "sandbox"]),
    ("domains", &["core"]),
    ("schedule", &["core"]),
    ("hooks", &["core"]),
    (
        "app",
        &[
            "core",
            "engine",
            "store",
            "access",
            "tools",
            "models",
            "parse",
            "knowledge",
            "domains",
            "infra",
            "schedule",
            "hooks",
        ],
    ),
    ("api", &["core", "app"]),
    ("cli", &["core"]),
    ("testkit", &["core"]),
    ("evals", &[ANY]),
];

/// Rooms that the tests of a room may use besides: those of `api` put an application together, and logins are tested over
/// a real store.
const TEST_ROOMS: &[(&str, &[&str])] = &[
    ("access", &["infra", "store"]),
    ("api", &["access", "engine", "infra", "store", "tools"]),
    ("sandbox", &["domains"]),
];

/// Every room: what measures the program looks into all of it.
const ANY: &str = "*";

/// The binary, which may use every room.
const BINARY: &str = "steward";

/// Crates that only these rooms (and the binary) may depend on, since they bring in a part of the world.
const OUTSIDE: &[(&str, &[&str])] = &[
    ("async-nats", &["infra"]),
    ("axum", &["api", "testkit"]),
    ("llama-cpp-2", &["models"]),
    ("reqwest", &["access", "cli", "models", "tools", "testkit"]),
    ("rusqlite", &["sandbox", "store", "tools", "testkit"]),
    ("sqlx", &["sandbox", "store", "testkit"]),
    ("utoipa", &["api", "app", "core"]),
];

/// What the pure rooms may not depend on: no I/O, no clock, no randomness, no runtime.
const IMPURE: &[&str] = &["tokio", "rand", "jiff", "hyper", "tempfile", "rustix", "fail"];
const PURE: &[&str] = &["core", "parse", "domains"];

/// A dependency as its own package states it.
struct Edge {
    from: String,
    to: String,
    dev: bool,
}

fn room_of(package: &str) -> Option<&str> {
    if package == BINARY {
        return Some(BINARY);
    }
    package.strip_prefix("steward-")
}

/// Says what is wrong with a set of packages and their edges.
fn violations(packages: &[String], edges: &[Edge]) -> Vec<String> {
    let known = |room: &str| room == BINARY || ROOMS.iter().any(|(name, _)| *name == room);
    let mut found: Vec<String> = packages
        .iter()
        .filter(|package| !room_of(package).is_some_and(known))
        .map(|package| format!("`{package}` is no room: add it to HOUSE's table and to ROOMS first"))
        .collect();
    found.extend(edges.iter().filter_map(forbidden));
    found
}

fn forbidden(edge: &Edge) -> Option<String> {
    let from = room_of(&edge.from)?;
    if from == BINARY {
        return match edge.to.as_str() {
            "steward-testkit" if !edge.dev => Some("`steward` may use `testkit` as a dev-dependency only".to_owned()),
            "steward-evals" => Some("`steward` may not use `evals`, which measures it".to_owned()),
            _ => None,
        };
    }
    let Some(to) = room_of(&edge.to) else {
        return outside(from, edge);
    };
    let allowed = ROOMS.iter().find(|(name, _)| *name == from)?.1;
    let in_tests = TEST_ROOMS.iter().any(|(name, rooms)| *name == from && rooms.contains(&to));
    let listed = allowed.contains(&to) || allowed.contains(&ANY) || (edge.dev && (to == "testkit" || in_tests));
    (!listed).then(|| format!("`{from}` may not use `{to}`, only {allowed:?}"))
}

fn outside(from: &str, edge: &Edge) -> Option<String> {
    let to = edge.to.as_str();
    let reserved = OUTSIDE.iter().find(|(name, _)| *name == to);
    if !edge.dev && reserved.is_some_and(|(_, rooms)| !rooms.contains(&from)) {
        return Some(format!("`{from}` may not depend on `{to}`, which belongs to other rooms"));
    }
    (!edge.dev && PURE.contains(&from) && IMPURE.contains(&to))
        .then(|| format!("`{from}` is pure and may not depend on `{to}`"))
}

pub(super) fn metadata(options: &[&str]) -> Value {
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/../../Cargo.toml");
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--offline", "--manifest-path", manifest])
        .args(options)
        .output()
        .expect("cargo starts");
    assert!(output.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("cargo metadata prints JSON")
}

fn text(value: &Value) -> String {
    value.as_str().expect("a string in cargo metadata").to_owned()
}

fn read_workspace() -> (Vec<String>, Vec<Edge>) {
    let metadata = metadata(&["--no-deps"]);
    let packages = metadata["packages"].as_array().expect("packages");
    let edges = packages.iter().flat_map(|package| {
        let dependencies = package["dependencies"].as_array().expect("dependencies");
        dependencies.iter().map(|dependency| Edge {
            from: text(&package["name"]),
            to: text(&dependency["name"]),
            dev: dependency["kind"] == "dev",
        })
    });
    (packages.iter().map(|package| text(&package["name"])).collect(), edges.collect())
}

fn edge(from: &str, to: &str, dev: bool) -> Edge {
    Edge { from: from.to_owned(), to: to.to_owned(), dev }
}

#[test]
fn the_workspace_keeps_to_the_table() {
    let (packages, edges) = read_workspace();
    let found = violations(&packages, &edges);
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn every_room_of_the_table_exists_in_its_folder() {
    let metadata = metadata(&["--no-deps"]);
    let packages = metadata["packages"].as_array().expect("packages");
    for (room, package) in
        ROOMS.iter().map(|(room, _)| (*room, format!("steward-{room}"))).chain([(BINARY, BINARY.to_owned())])
    {
        let found = packages.iter().find(|found| found["name"] == package.as_str());
        let manifest = text(&found.unwrap_or_else(|| panic!("no package {package}"))["manifest_path"]);
        assert!(manifest.ends_with(&format!("crates/{room}/Cargo.toml")), "{package} lies at {manifest}");
    }
}

#[test]
fn what_is_not_in_the_table_is_refused() {
    let cases = [
        edge("steward-store", "steward-models", false),
        edge("steward-engine", "steward-store", false),
        edge("steward-engine", "steward-store", true),
        edge("steward-tools", "steward-testkit", false),
        edge("steward", "steward-testkit", false),
        edge("steward", "steward-evals", true),
        edge("steward-engine", "steward-evals", true),
        edge("steward-core", "tokio", false),
        edge("steward-engine", "axum", false),
        edge("steward-engine", "steward-intent", false),
        edge("steward-api", "steward-engine", false),
        edge("steward-tools", "steward-app", false),
        edge("steward-intent", "steward-tools", true),
        edge("steward-core", "steward", false),
    ];
    for case in cases {
        let name = format!("{} -> {} (dev: {})", case.from, case.to, case.dev);
        assert_eq!(violations(&[], &[case]).len(), 1, "{name} passed");
    }
    for package in ["steward-utils", "helper"] {
        assert_eq!(violations(&[package.to_owned()], &[]).len(), 1, "{package} passed");
    }
}

#[test]
fn what_is_in_the_table_is_allowed() {
    let fine = [
        edge("steward-tools", "steward-sandbox", false),
        edge("steward-engine", "steward-testkit", true),
        edge("steward", "steward-store", false),
        edge("steward-evals", "steward", false),
        edge("steward-evals", "steward-testkit", false),
        edge("steward-store", "sqlx", false),
        edge("steward-parse", "serde_json", false),
    ];
    assert_eq!(violations(&["steward-core".to_owned()], &fine), Vec::<String>::new());
}
