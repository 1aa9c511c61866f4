//! Every case of `cases/<form or dialect>/*.toml`, whole and in pieces, with one snapshot for each file.

use crate::support;
use steward_core::model::ModelChunk;
use steward_parse::{Dialects, Form, Reading, StreamParser, ToolIndex};
use support::case::{files, judge, parse, shown};

const SIZES: [&[usize]; 4] = [&[1], &[2, 3], &[7], &[1, 40]];

#[test]
fn all_cases() {
    let (mut count, mut failures, mut shots) = (0, Vec::new(), Vec::new());
    for (path, file) in files() {
        let tools = file.tools.specs();
        let mut all = Vec::new();
        for case in &file.case {
            count += 1;
            let (whole, started) = parse(file.reading(), &tools, case, &[usize::MAX]);
            let mut wrong = judge(case, &whole);
            for sizes in SIZES {
                let again = parse(file.reading(), &tools, case, sizes);
                if again != (whole.clone(), started.clone()) {
                    wrong.push(format!("in pieces of {sizes:?}: {again:?}"));
                }
            }
            if !wrong.is_empty() {
                failures.push(format!("{} / {}:\n{}\nof {whole:#?}", path.display(), case.name, wrong.join("\n")));
            }
            all.push(shown(case, &whole));
        }
        let name = path.with_extension("").to_string_lossy().replace(['/', '\\'], "__");
        shots.push((name, all.join("\n")));
    }
    assert!(failures.is_empty(), "{} of {count} cases fail:\n\n{}", failures.len(), failures.join("\n\n"));
    assert!(count >= 400, "only {count} cases were found");
    insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true }, {
        for (name, shot) in shots {
            insta::assert_snapshot!(name, shot);
        }
    });
}

/// What a trusted model writes stays as it is, but for its reasoning.
#[test]
fn a_trusted_models_unopened_reasoning_is_no_answer() {
    let read = |text: &str| {
        let reading = Reading { dialects: Dialects::Opening, ..Reading::strict(Form::Native) };
        let mut parser = StreamParser::with(reading, &ToolIndex::new(&[]), "c");
        text.split_inclusive(' ').for_each(|piece| drop(parser.push(&ModelChunk::Text(piece.to_owned()))));
        let parsed = parser.finish();
        (parsed.text, parsed.reasoning)
    };
    let own = |text: &str, reasoning: &str| (text.to_owned(), reasoning.to_owned());
    assert_eq!(read("The user greets me.\n</think>\n\nHello! `x`"), own("Hello! `x`", "The user greets me."));
    let about = "Write </think> where the reasoning ends.";
    assert_eq!(read(about), own(about, ""));
}
