//! Charts: their titles, and their series as a table.

use super::super::draft::Draft;
use super::super::error::Result;
use super::super::escapes::unescape;
use super::super::number_format::Format;
use super::super::relations;
use super::super::rich_text::TextStyle;
use super::super::table;
use super::super::xml::{Element, Node, Xml};
use super::super::zip::Archive;
use super::{add_drawing, run_style};
use std::collections::{BTreeMap, BTreeSet};

/// Most points of a series.
const POINTS: u32 = 2000;
/// The element with the sizes of bubbles.
const SIZE: &str = "bubbleSize";

#[derive(Default)]
struct Series {
    name: String,
    /// Where its values are, if they are not in the chart.
    source: String,
    /// From the inner ones to the outer ones, which go on until the next of them.
    categories: Vec<BTreeMap<u32, String>>,
    values: BTreeMap<u32, String>,
    /// Of bubbles.
    sizes: BTreeMap<u32, String>,
}

impl Series {
    /// With its outer levels before it.
    fn category(&self, row: u32) -> String {
        let levels = self.categories.iter().enumerate().rev();
        let names = levels.filter_map(|(at, level)| match at {
            0 => level.get(&row),
            _ => level.range(..=row).next_back().map(|(_, name)| name),
        });
        names.map(String::as_str).collect::<Vec<_>>().join(" ")
    }
}

#[derive(Default)]
struct Chart {
    title: String,
    axes: Vec<String>,
    /// Texts of labels that somebody wrote.
    labels: Vec<String>,
    series: Vec<Series>,
    /// The elements that are open.
    open: Vec<String>,
    /// How many series of the newer kind have a name.
    named: usize,
    format: Option<Format>,
    /// Of the run of text that is open.
    style: TextStyle,
    point: u32,
    left_out: bool,
    /// Its values are those of another file.
    has_source_file: bool,
}

/// Adds a chart: what it is called, and a row for each category with the values of all series.
pub(in super::super) fn add_chart(part: &str, archive: &Archive<'_>, draft: &mut Draft<'_>) -> Result<()> {
    let text = archive.need(part)?;
    let mut chart = Chart::default();
    let mut xml = Xml::new(&text, part, draft.budget);
    while let Some(node) = xml.next()? {
        match node {
            Node::Open(element) => match element.name() {
                // Also the text of a point in charts of the newer kind.
                "v" | "t" | "f" | "formatCode" | "name" => {
                    let name = element.name().to_owned();
                    let text = xml.inner_text()?;
                    chart.take(&name, &text);
                }
                _ => chart.open(&element),
            },
            Node::Close(name) => chart.close(&name),
            Node::Text(text) if chart.open.last().is_some_and(|open| open == "pt") => chart.take("v", &text),
            Node::Text(_) => {}
        }
    }
    chart.write(draft)?;
    let related = relations::of(part, archive, draft.budget)?;
    related.of_kind("chartUserShapes").into_iter().try_for_each(|part| add_drawing(part, archive, draft))
}

impl Chart {
    fn open(&mut self, element: &Element<'_>) {
        match element.name() {
            "ser" | "data" => self.series.push(Series::default()),
            "series" => self.named += 1,
            "externalData" => self.has_source_file = true,
            "pt" => {
                self.point = element
                    .attribute("idx")
                    .and_then(|at| at.parse().ok())
                    .unwrap_or_else(|| self.point.saturating_add(1));
            }
            "numCache" | "strCache" | "numLit" | "strLit" | "lvl" => {
                let is_category = self.is_within(|name| matches!(name, "cat" | "xVal" | "strDim"));
                if let Some(series) = self.series.last_mut().filter(|_| is_category) {
                    series.categories.push(BTreeMap::new());
                }
                let code = element.attribute("formatCode");
                self.format = code.map(|code| Format::of(&code));
            }
            "r" | "fld" => self.style = TextStyle::default(),
            "rPr" => self.style = run_style(element),
            // A title above a title that is empty.
            "title" if self.is_within(|name| name.ends_with("Ax") || name == "axis") => self.axes.push(String::new()),
            _ => {}
        }
        self.open.push(element.name().to_owned());
    }

    fn close(&mut self, name: &str) {
        if self.open.last().is_some_and(|open| open == name) {
            self.open.pop();
        }
        // Paragraphs of titles.
        if name == "p" {
            let is_axis = self.is_within(|name| name.ends_with("Ax") || name == "axis");
            let title = if is_axis { self.axes.last_mut() } else { Some(&mut self.title) };
            if let Some(title) = title.filter(|title| !title.is_empty()) {
                title.push(' ');
            }
        }
    }

    fn is_within(&self, is_one: impl Fn(&str) -> bool) -> bool {
        self.open.iter().any(|open| is_one(open))
    }

    fn take(&mut self, element: &str, text: &str) {
        let text =
            &*if element == "t" { self.style.script.show(&unescape(text)).into_owned() } else { text.to_owned() };
        let within = |wanted: &[&str]| self.open.iter().any(|open| wanted.contains(&open.as_str()));
        let is_value = within(&["val", "yVal", "numDim"]);
        let is_category = within(&["cat", "xVal", "strDim"]);
        let is_axis = self.open.iter().any(|open| open.ends_with("Ax") || open == "axis");
        let in_title = within(&["title"]);
        let in_series = within(&["ser", "series"]);
        let in_text = within(&["tx"]);
        let is_label = within(&["dLbl", "dLbls", "dataLabels", "dataLabel"]);
        match element {
            "formatCode" => self.format = Some(Format::of(text)),
            "name" if within(&["trendline"]) => self.labels.push(text.trim().to_owned()),
            "name" => {}
            "f" => {
                if let Some(series) = self.series.last_mut().filter(|_| is_value) {
                    text.clone_into(&mut series.source);
                }
            }
            _ if in_title && is_axis => {
                if let Some(axis) = self.axes.last_mut() {
                    axis.push_str(text);
                }
            }
            _ if in_title => self.title.push_str(text),
            _ if is_label => self.labels.push(text.to_owned()),
            "t" => self.labels.push(text.to_owned()),
            _ if in_text && in_series => {
                // Series of the newer kind come after their data.
                let at = if within(&["series"]) {
                    self.named.saturating_sub(1)
                } else {
                    self.series.len().saturating_sub(1)
                };
                if let Some(series) = self.series.get_mut(at) {
                    series.name.push_str(text);
                }
            }
            _ if is_value || is_category || within(&[SIZE]) => self.take_point(text, is_value),
            _ => {}
        }
    }

    fn take_point(&mut self, text: &str, is_value: bool) {
        self.left_out |= self.point >= POINTS;
        let format = self.format.as_ref();
        let text = text.trim();
        let shown = match (text.parse::<f64>(), format) {
            (Ok(number), Some(format)) => format.show(number, false),
            _ => text.to_owned(),
        };
        let point = self.point;
        let is_size = self.is_within(|name| name == SIZE);
        let Some(series) = self.series.last_mut().filter(|_| point < POINTS) else { return };
        if is_size {
            series.sizes.insert(point, shown);
            return;
        }
        if !is_value && series.categories.is_empty() {
            series.categories.push(BTreeMap::new());
        }
        let points = match series.categories.last_mut().filter(|_| !is_value) {
            Some(level) => level,
            None => &mut series.values,
        };
        points.insert(point, shown);
    }

    fn write(&self, draft: &mut Draft<'_>) -> Result<()> {
        let axes: Vec<&str> = self.axes.iter().map(|axis| axis.trim()).filter(|axis| !axis.is_empty()).collect();
        let title = self.title.trim();
        let mut head = if title.is_empty() { "Chart".to_owned() } else { format!("Chart: {title}") };
        if !axes.is_empty() {
            head = format!("{head} ({})", axes.join(", "));
        }
        draft.paragraph(&head)?;
        for label in &self.labels {
            draft.paragraph(label)?;
        }
        let rows: BTreeSet<u32> = self
            .series
            .iter()
            .flat_map(|series| {
                series.values.keys().chain(series.categories.first().into_iter().flat_map(BTreeMap::keys))
            })
            .copied()
            .collect();
        let mut table = vec![vec![String::new()]];
        for (at, series) in self.series.iter().enumerate() {
            let name = match series.name.trim() {
                "" => format!("Series {}", at + 1),
                name => name.to_owned(),
            };
            let of_sizes = (!series.sizes.is_empty()).then(|| format!("{name} (size)"));
            table[0].extend(std::iter::once(name).chain(of_sizes));
        }
        for row in rows {
            let mut cells = vec![
                self.series.iter().map(|series| series.category(row)).find(|name| !name.is_empty()).unwrap_or_default(),
            ];
            for series in &self.series {
                let columns =
                    std::iter::once(&series.values).chain((!series.sizes.is_empty()).then_some(&series.sizes));
                cells.extend(columns.map(|column| column.get(&row).cloned().unwrap_or_default()));
            }
            table.push(cells);
        }
        if table.len() > 1 {
            table::add(&table, draft)?;
        } else {
            if self.has_source_file {
                let what = if title.is_empty() { "a chart".to_owned() } else { format!("the chart `{title}`") };
                draft.warn(format!(
                    "The values of {what} are in another file and not kept in this one. Open it in the program that \
                     made it, update the chart and save it, and add that; or add the other file."
                ));
            }
            for series in self.series.iter().filter(|series| !series.source.is_empty()) {
                let name = if series.name.is_empty() { "Series" } else { &series.name };
                draft.paragraph(&format!("{name}: {}", series.source))?;
            }
        }
        if self.left_out {
            draft.warn(format!("Of a chart, the first {POINTS} points of each series are read."));
        }
        Ok(())
    }
}
