use super::html::feed;
use crate::error::ToolsError;
use html5ever::driver::{ParseOpts, parse_document};
use html5ever::tendril::TendrilSink as _;
use scraper::html::HtmlTreeSink;
use scraper::{ElementRef, Html, Selector};

/// Most tables, and most rows and cells of each.
const TABLES: usize = 20;
const ROWS: usize = 500;
const CELLS: usize = 50;
const MATCHES: usize = 500;

pub(crate) type Table = Vec<Vec<String>>;

pub(crate) fn selector(text: &str) -> Result<Selector, String> {
    Selector::parse(text)
        .map_err(|error| format!("`{text}` is no CSS selector ({error}); write it as main .price or #content > p"))
}

#[derive(Debug, Default)]
pub(crate) struct SelectedPart {
    pub html: Option<String>,
    pub matches: usize,
    pub tables: Vec<Table>,
    /// Whether parsing was stopped before the end.
    pub cut: bool,
}

/// Finds the elements of `select`, and tables within them. Blocking.
pub(crate) fn selected_part(html: &str, select: Option<&str>) -> Result<SelectedPart, ToolsError> {
    let wanted = select.map(selector).transpose().map_err(ToolsError::Refused)?;
    let table = selector("table").map_err(ToolsError::Refused)?;
    let (document, cut) = parse(html);
    let mut part = SelectedPart { cut, ..SelectedPart::default() };
    match wanted {
        None => part.tables = document.select(&table).take(TABLES).map(rows).collect(),
        Some(wanted) => {
            let mut kept = String::new();
            for found in document.select(&wanted).take(MATCHES) {
                part.matches += 1;
                // Content of an earlier match is part of it already.
                let inner = found.ancestors().filter_map(ElementRef::wrap).any(|outer| wanted.matches(&outer));
                if inner {
                    continue;
                }
                kept.push_str("<div>");
                kept.push_str(&found.html());
                kept.push_str("</div>");
                let own = table.matches(&found).then_some(found);
                let room = TABLES.saturating_sub(part.tables.len());
                let tables = own.into_iter().chain(found.select(&table));
                part.tables.extend(tables.take(room).map(rows));
            }
            part.html = Some(kept);
        }
    }
    part.tables.retain(|table| !table.is_empty());
    Ok(part)
}

/// The tree of a page, and whether parsing was stopped before the end. Blocking.
pub(crate) fn parse(html: &str) -> (Html, bool) {
    let sink = HtmlTreeSink::new(Html::new_document());
    let mut parser = parse_document(sink, ParseOpts::default());
    let cut = feed(html, |chunk| parser.process(chunk));
    (parser.finish(), cut)
}

fn rows(table: ElementRef<'_>) -> Table {
    let is = |element: &ElementRef<'_>, names: &[&str]| names.contains(&element.value().name());
    let nearest = |row: &ElementRef<'_>| {
        // A row's parent is its table or a section of it.
        let tables = row.ancestors().take(3).filter_map(ElementRef::wrap);
        tables.into_iter().find(|outer| is(outer, &["table"])).map(|outer| outer.id())
    };
    table
        .descendent_elements()
        .filter(|element| is(element, &["tr"]) && nearest(element) == Some(table.id()))
        .take(ROWS)
        .map(|row| {
            row.child_elements()
                .filter(|cell| is(cell, &["td", "th"]))
                .take(CELLS)
                .map(|cell| {
                    let text: Vec<&str> = cell.text().flat_map(str::split_whitespace).collect();
                    text.join(" ")
                })
                .collect::<Vec<String>>()
        })
        .filter(|row| !row.is_empty())
        .collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::{selected_part, selector};
    use std::fmt::Write as _;

    #[test]
    fn parts_and_tables() {
        let page = "<main><p class=a>One <b>two</b></p><p class=b>no</p><table><tr><th>k<th>v<tr><td> 1 <td>2 <table><tr><td>in</table></table></main><p class=a>three";
        let all = selected_part(page, None).unwrap();
        assert_eq!(
            all.tables,
            [vec![vec!["k".to_owned(), "v".into()], vec!["1".into(), "2 in".into()]], vec![vec!["in".to_owned()]],]
        );
        let some = selected_part(page, Some("p.a")).unwrap();
        assert_eq!(some.matches, 2);
        assert!(some.html.unwrap().contains("<p class=\"a\">three"));
        assert_eq!(selected_part(page, Some("table")).unwrap().tables.len(), 2);
        assert_eq!(selected_part(page, Some("#no")).unwrap().matches, 0);
        assert!(selector("p[").is_err());
    }

    #[test]
    fn hostile_pages_end() {
        let deep = "<div>".repeat(100_000);
        selected_part(&deep, Some("div")).unwrap();
        let mut wide = String::from("<a ");
        for n in 0..50_000 {
            let _ = write!(wide, "a{n} ");
        }
        selected_part(&wide, None).unwrap();
        selected_part(&"<table>".repeat(20_000), Some("table")).unwrap();
    }
}
