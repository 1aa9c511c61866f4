//! Every crate that is linked may be used as `deny.toml` says. `cargo deny check`, where it is installed, looks at other
//! platforms and at advisories, too.

use super::edges::metadata;
use serde_json::Value;
use spdx::{Expression, ParseMode};
use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

fn host() -> String {
    let output = Command::new("rustc").arg("-vV").output().expect("rustc starts");
    let told = String::from_utf8(output.stdout).expect("text");
    told.lines().find_map(|line| line.strip_prefix("host: ")).expect("a line with the host").to_owned()
}

struct Rules {
    licences: BTreeSet<String>,
    /// Those that single crates may have besides.
    exceptions: BTreeMap<String, BTreeSet<String>>,
    denied: Vec<String>,
}

fn rules() -> Rules {
    let file: toml::Value = toml::from_str(include_str!("../../../../deny.toml")).expect("deny.toml");
    let list = |value: &toml::Value| value.as_array().expect("a list").clone();
    let text = |value: &toml::Value| value.as_str().expect("a string").to_owned();
    Rules {
        licences: list(&file["licenses"]["allow"]).iter().map(text).collect(),
        exceptions: list(&file["licenses"]["exceptions"])
            .iter()
            .map(|one| (text(&one["crate"]), list(&one["allow"]).iter().map(text).collect()))
            .collect(),
        denied: list(&file["bans"]["deny"]).iter().map(|one| text(&one["crate"])).collect(),
    }
}

/// What is wrong with a package.
fn fault(rules: &Rules, package: &Value) -> Option<String> {
    let name = package["name"].as_str()?;
    if rules.denied.iter().any(|denied| denied == name) {
        return Some(format!("{name} is not wanted; deny.toml says why"));
    }
    // Packages of the workspace have no source.
    package["source"].as_str()?;
    let Some(licence) = package["license"].as_str() else {
        return Some(format!("{name} names no licence"));
    };
    let besides = rules.exceptions.get(name);
    let allowed = Expression::parse_mode(licence, ParseMode::LAX).is_ok_and(|expression| {
        expression.evaluate(|one| {
            one.license.id().is_some_and(|id| {
                rules.licences.contains(id.name) || besides.is_some_and(|licences| licences.contains(id.name))
            })
        })
    });
    (!allowed).then(|| format!("{name}: {licence} is not among the licences of deny.toml"))
}

#[test]
fn every_licence_is_one_that_we_allow() {
    let metadata = metadata(&["--locked", "--all-features", "--filter-platform", &host()]);
    let packages = metadata["packages"].as_array().expect("packages");
    assert!(packages.len() > 300, "only {} packages were found", packages.len());
    let rules = rules();
    let faults: Vec<String> = packages.iter().filter_map(|package| fault(&rules, package)).collect();
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn a_licence_that_asks_for_more_is_found() {
    let rules = rules();
    let package =
        |name: &str, licence: Value| serde_json::json!({"name": name, "license": licence, "source": "registry"});
    for (name, licence, allowed) in [
        ("a", Value::from("MIT/Apache-2.0"), true),
        ("b", Value::from("GPL-3.0-only OR MIT"), true),
        ("c", Value::from("Apache-2.0 WITH LLVM-exception"), true),
        ("d", Value::from("GPL-3.0-only"), false),
        ("e", Value::from("MIT AND AGPL-3.0-only"), false),
        ("f", Value::Null, false),
        ("openssl", Value::from("Apache-2.0"), false),
        ("tiny-keccak", Value::from("CC0-1.0"), true),
        ("g", Value::from("CC0-1.0"), false),
    ] {
        let found = fault(&rules, &package(name, licence));
        assert_eq!(found.is_none(), allowed, "{name}: {found:?}");
    }
}
