#![allow(clippy::unwrap_used, reason = "tests")]

use super::Hint::{self, Analytics, Documents, General};
use super::{DATA, FirstTools, TOOLS, ToolHint, hint};
use crate::policy::RiskClass;
use crate::routing::lexicon::Sheet;
use crate::tool::{EffectClass, ToolSpec};
use std::sync::Arc;

fn check(message: &str, expected: Hint, words: &[&str]) {
    let got = hint(message);
    assert_eq!(got.hint, expected, "{message}: {:?}", got.words);
    assert_eq!(got.words, words, "{message}");
}

#[test]
fn messages_about_figures_and_documents() {
    check("Show me the KPIs of March", Analytics, &["kpis"]);
    check("a metric for churn", Analytics, &["metric", "churn"]);
    check("Open the sales dashboard", Analytics, &["sales", "dashboard"]);
    check("Draw a chart of the visits", Analytics, &["chart"]);
    check("How many users signed up?", Analytics, &["how many"]);
    check("Which document names the owner?", Documents, &["document"]);
    check("search for the contract", Documents, &["search", "contract"]);
    check("Find the file about pensions", Documents, &["find the file"]);
    check("OCR this scan", Documents, &["ocr", "scan"]);
    check("Write a poem", General, &[]);
    check("", General, &[]);
    check("Zeig mir die Kennzahlen", Analytics, &["kennzahlen"]);
    check("Durchsuche die Rechnungen", Documents, &["durchsuche", "rechnungen"]);
    check("Montre le tableau de bord", Analytics, &["tableau de bord"]);
    check("Cherche la facture", Documents, &["cherche", "facture"]);
    check("Muéstrame los indicadores", Analytics, &["indicadores"]);
    check("Busca el contrato", Documents, &["busca", "contrato"]);
    check("اعرض المؤشرات", Analytics, &["المؤشرات"]);
    check("ابحث في المستندات", Documents, &["ابحث", "المستندات"]);
}

#[test]
fn whole_words_only() {
    check("He documented the flowcharts and researched metrics2", General, &[]);
    check("a pirate's treasure chart", General, &[]);
}

#[test]
fn with_as_much_of_both_figures_go_first() {
    check("chart and document", Analytics, &["chart"]);
    check("document, search and chart", Documents, &["document", "search"]);
}

#[test]
fn the_file_is_whole() {
    let sheet: Sheet = serde_json::from_str(DATA).unwrap();
    assert_eq!(sheet.order, ["analytics", "documents"]);
    assert_eq!(sheet.problems(), Vec::<String>::new());
}

#[test]
fn tools_that_fit_go_first_and_none_is_taken_away() {
    serde_json::from_str::<FirstTools>(TOOLS).unwrap();
    let tools = ["write", "sql", "read"].map(|name| ToolSpec {
        name: name.to_owned(),
        description: String::new(),
        parameters: serde_json::Value::Null.into(),
        effect: EffectClass::Read,
        risk: RiskClass::Read,
        sends_out: false,
        utterances: Arc::default(),
        result_limit: 0,
        skill: None,
    });
    let first = |request: &str| ToolHint::of(request, &tools).map(|hint| hint.tools);
    assert_eq!(first("Show me the KPIs of March"), Some(vec!["sql".to_owned()]));
    assert_eq!(first("search for the contract"), Some(vec!["read".to_owned()]));
    assert_eq!(first("Write a poem"), None);
}
