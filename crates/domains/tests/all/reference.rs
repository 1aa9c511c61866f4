//! The page of the language has the grammar that the parser was written by, and its example is right.

use steward_domains::parser::parse;
use steward_domains::{GRAMMAR, lower};

const PAGE: &str = include_str!("../../../../docs/domain-language.md");

#[test]
fn the_page_has_the_grammar() {
    assert!(PAGE.contains(GRAMMAR.trim()), "copy crates/domains/src/grammar.ebnf into docs/domain-language.md");
}

#[test]
fn the_example_of_the_page_is_right() {
    let example = PAGE.split("```\n").nth(1).expect("an example");
    let parsed = parse(example);
    let lowered = lower::lower(&parsed);
    let all: Vec<_> = parsed.diagnostics.iter().chain(&lowered.diagnostics).collect();
    assert!(all.is_empty(), "{all:#?}");
    assert_eq!((lowered.domains.len(), lowered.views.len()), (1, 2));
}
