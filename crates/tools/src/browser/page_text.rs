//! A page as text, from its accessibility tree, with a number on everything that can be clicked or filled in.

use super::elements::{Element, Elements};
use crate::text::{clip_line, is_one_of};
use serde_json::Value;
use std::collections::HashMap;
use std::fmt::Write as _;

const ACTIVE_ROLES: &str = "button checkbox ColorWell combobox Date DateTime DisclosureTriangle InputTime link listbox menuitem \
    menuitemcheckbox menuitemradio option radio searchbox slider spinbutton switch tab textbox treeitem";
const BLOCKS: &str = "alert alertdialog article banner blockquote caption code complementary contentinfo DescriptionListDetail \
    DescriptionListTerm definition dialog figure form group LayoutTableRow list main navigation paragraph Pre \
    radiogroup region row search Section status table tabpanel term toolbar";
const NODES: usize = 100_000;
const NAME_CHARS: usize = 120;
const LINK_CHARS: usize = 150;
const OPTIONS: usize = 20;

#[derive(Debug, Default)]
pub(super) struct Snapshot {
    pub title: String,
    pub url: String,
    pub status: Option<u16>,
    pub dialogs: Vec<String>,
    /// The text, cut into parts that are shown at once; at least one.
    pub parts: Vec<String>,
    /// Whether there was more than is read.
    pub cut: bool,
}

/// Ids and addresses of a page's frames, outer ones first.
pub(super) fn frames(tree: &Value, most: usize) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut open = std::collections::VecDeque::from([tree]);
    while let Some(tree) = open.pop_front() {
        if found.len() >= most {
            break;
        }
        let text = |name: &str| tree["frame"][name].as_str().unwrap_or("").to_owned();
        found.push((text("id"), text("url")));
        open.extend(tree["childFrames"].as_array().into_iter().flatten());
    }
    found
}

pub(super) fn render_page(trees: &[(String, Value)], elements: &mut Elements) -> Snapshot {
    let mut out = LineWriter::default();
    let mut title = String::new();
    for (at, (url, nodes)) in trees.iter().enumerate() {
        let nodes = nodes.as_array().map_or(&[][..], Vec::as_slice);
        let tree = Tree::new(nodes);
        if at == 0 {
            title = tree.root.map(name).unwrap_or_default();
        } else {
            out.line();
            out.text(&format!("Frame {}:", clip_line(url, LINK_CHARS)));
            out.line();
        }
        tree.write(elements, &mut out);
    }
    let (parts, cut) = out.finish();
    Snapshot { title, parts, cut, ..Snapshot::default() }
}

fn name(node: &Value) -> String {
    clip_line(node["name"]["value"].as_str().unwrap_or(""), NAME_CHARS)
}

fn role(node: &Value) -> &str {
    node["role"]["value"].as_str().unwrap_or("")
}

pub(super) fn role_and_name(node: &Value) -> (String, String) {
    (role(node).to_owned(), name(node))
}

fn property<'a>(node: &'a Value, wanted: &str) -> &'a Value {
    let all = node["properties"].as_array();
    all.into_iter()
        .flatten()
        .find(|property| property["name"] == wanted)
        .map_or(&Value::Null, |property| &property["value"]["value"])
}

struct Tree<'a> {
    nodes: HashMap<&'a str, &'a Value>,
    root: Option<&'a Value>,
}

/// The next step, on an explicit stack since pages nest without limit.
enum Step<'a> {
    Enter(&'a Value),
    Line,
}

impl<'a> Tree<'a> {
    fn new(nodes: &'a [Value]) -> Self {
        let by_id = nodes.iter().take(NODES).filter_map(|node| Some((node["nodeId"].as_str()?, node)));
        Self { nodes: by_id.collect(), root: nodes.first() }
    }

    fn children(&self, node: &'a Value) -> impl DoubleEndedIterator<Item = &'a Value> {
        let ids = node["childIds"].as_array().map_or(&[][..], Vec::as_slice);
        ids.iter().filter_map(|id| self.nodes.get(id.as_str()?).copied())
    }

    fn write(&self, elements: &mut Elements, out: &mut LineWriter) {
        let mut steps: Vec<Step<'a>> = self.root.into_iter().map(Step::Enter).collect();
        let mut left = NODES;
        while let Some(step) = steps.pop() {
            let Step::Enter(node) = step else {
                out.line();
                continue;
            };
            left -= 1;
            if left == 0 || out.full() {
                out.cut = true;
                return;
            }
            if self.enter(node, elements, out) {
                if starts_line(role(node)) && node["ignored"] != true {
                    steps.push(Step::Line);
                }
                steps.extend(self.children(node).rev().map(Step::Enter));
            }
        }
        out.line();
    }

    /// Writes a node; returns whether to go into it.
    fn enter(&self, node: &'a Value, elements: &mut Elements, out: &mut LineWriter) -> bool {
        if node["ignored"] == true {
            return true;
        }
        let role = role(node);
        if starts_line(role) {
            out.line();
        }
        match role {
            "StaticText" => out.text(node["name"]["value"].as_str().unwrap_or("")),
            "InlineTextBox" | "ListMarker" | "Iframe" => {}
            "LineBreak" => out.line(),
            "heading" => {
                let level = property(node, "level").as_u64().unwrap_or(2);
                let level = usize::try_from(level.clamp(1, 6)).unwrap_or(2);
                out.text(&"#".repeat(level));
                return true;
            }
            "listitem" => {
                out.text("-");
                return true;
            }
            "dialog" | "alertdialog" | "alert" => {
                out.text(&format!("({role}: {})", name(node)));
                out.line();
                return true;
            }
            "cell" | "gridcell" | "columnheader" | "rowheader" => {
                out.cell();
                return true;
            }
            "img" | "image" => {
                let name = name(node);
                if !name.is_empty() {
                    out.text(&format!("(image: {name})"));
                }
            }
            _ if Self::active(node) => self.element(node, elements, out),
            _ => return true,
        }
        false
    }

    fn active(node: &Value) -> bool {
        is_one_of(role(node), ACTIVE_ROLES)
            || role(node) == "generic" && property(node, "focusable") == true && !name(node).is_empty()
    }

    fn element(&self, node: &'a Value, elements: &mut Elements, out: &mut LineWriter) {
        let (role, name) = role_and_name(node);
        let number = node["backendDOMNodeId"]
            .as_i64()
            .and_then(|node| elements.number(Element { node, role: role.clone(), name: name.clone() }));
        let mut text = number.map_or_else(|| "[".to_owned(), |number| format!("[{number} "));
        text.push_str(&role);
        if !name.is_empty() {
            let _ = write!(text, ": {name}");
        }
        if let Some(value) = node["value"]["value"].as_str().filter(|value| !value.is_empty()) {
            let _ = write!(text, " = {}", clip_line(value, NAME_CHARS));
        }
        for state in ["checked", "selected", "pressed", "expanded"] {
            let value = property(node, state);
            if value == true || value == "true" {
                let _ = write!(text, ", {state}");
            } else if value == "mixed" {
                let _ = write!(text, ", partly {state}");
            }
        }
        for state in ["disabled", "readonly", "required"] {
            if property(node, state) == true {
                let _ = write!(text, ", {state}");
            }
        }
        if matches!(role.as_str(), "combobox" | "listbox") {
            let options = self.options(node);
            if !options.is_empty() {
                let _ = write!(text, "; options: {}", options.join(" / "));
            }
        }
        if let Some(url) = property(node, "url").as_str()
            && url.starts_with("http")
        {
            let _ = write!(text, " → {}", clip_line(url, LINK_CHARS));
        }
        text.push(']');
        out.text(&text);
    }

    fn options(&self, node: &'a Value) -> Vec<String> {
        let mut found = Vec::new();
        let mut open: Vec<&Value> = self.children(node).rev().collect();
        let mut left = NODES / 100;
        while let Some(node) = open.pop() {
            left -= 1;
            if left == 0 || found.len() >= OPTIONS {
                found.push("…".to_owned());
                break;
            }
            if matches!(role(node), "option" | "MenuListOption") {
                found.push(name(node));
            } else {
                open.extend(self.children(node).rev());
            }
        }
        found
    }
}

fn starts_line(role: &str) -> bool {
    matches!(role, "heading" | "listitem") || is_one_of(role, BLOCKS)
}

const MAX_BYTES: usize = 400_000;
/// Longest part that is shown at once, characters.
pub(super) const PART_CHARS: usize = 8000;

#[derive(Default)]
pub(super) struct LineWriter {
    ended: Vec<String>,
    line: String,
    cells: usize,
    bytes: usize,
    pub cut: bool,
}

impl LineWriter {
    pub fn full(&self) -> bool {
        self.bytes > MAX_BYTES
    }

    pub fn text(&mut self, text: &str) {
        for word in text.split_whitespace() {
            if !self.line.is_empty() && !self.line.ends_with(' ') {
                self.line.push(' ');
            }
            self.line.push_str(word);
            self.bytes += word.len() + 1;
        }
    }

    pub fn cell(&mut self) {
        if self.cells > 0 {
            self.line.push_str(" | ");
        }
        self.cells += 1;
    }

    pub fn line(&mut self) {
        let line = std::mem::take(&mut self.line);
        let line = line.trim_end();
        self.cells = 0;
        if !line.trim_matches(['-', '#', '|', ' ']).is_empty() {
            self.ended.push(line.to_owned());
        }
    }

    /// The lines cut into parts, and whether something was left out.
    pub fn finish(mut self) -> (Vec<String>, bool) {
        self.line();
        let mut parts = vec![String::new()];
        let mut room = PART_CHARS;
        for line in self.ended {
            let mut rest: Vec<char> = line.chars().collect();
            while !rest.is_empty() {
                if room == 0 || rest.len() > room && room < PART_CHARS {
                    parts.push(String::new());
                    room = PART_CHARS;
                }
                let now = rest.len().min(room);
                let piece: String = rest.drain(..now).collect();
                room = (room - now).saturating_sub(1);
                if let Some(part) = parts.last_mut() {
                    part.push_str(&piece);
                    part.push('\n');
                }
            }
        }
        (parts, self.cut)
    }
}

#[cfg(test)]
mod tests {
    use super::{PART_CHARS, frames, render_page};
    use crate::browser::elements::Elements;
    use serde_json::{Value, json};

    fn node(id: &str, role: &str, name: &str, children: &[&str]) -> Value {
        json!({"nodeId": id, "role": {"value": role}, "name": {"value": name}, "childIds": children,
            "backendDOMNodeId": id.parse::<i64>().unwrap_or(0)})
    }

    #[test]
    fn lines_and_numbers() {
        let mut field = node("5", "textbox", "Search", &[]);
        field["value"] = json!({"value": "abc"});
        let mut link = node("4", "link", "the  docs", &["9"]);
        link["properties"] = json!([{"name": "url", "value": {"value": "https://example.org/d"}}]);
        let nodes = json!([
            node("1", "RootWebArea", "A page", &["2", "6", "3"]),
            node("2", "heading", "Head", &["7"]),
            node("7", "StaticText", "Head", &[]),
            node("3", "paragraph", "", &["8", "4", "5"]),
            node("8", "StaticText", "See", &[]),
            link,
            field,
            {"nodeId": "6", "ignored": true, "childIds": ["10"]},
            node("10", "button", "Send", &[]),
        ]);
        let mut elements = Elements::default();
        elements.begin("l", "https://example.org/");
        let seen = render_page(&[(String::new(), nodes.clone())], &mut elements);
        assert_eq!(seen.title, "A page");
        assert_eq!(
            seen.parts,
            ["## Head\n[1 button: Send]\nSee [2 link: the docs → https://example.org/d] [3 textbox: Search = abc]\n"]
        );
        assert_eq!(elements.of(1, "l").map(|element| element.words()), Some("button “Send”".to_owned()));
        assert_eq!(elements.of(1, "m"), None);
        let again = render_page(&[(String::new(), nodes)], &mut elements);
        assert_eq!(again.parts, seen.parts, "numbers stay");
        let renamed = json!([node("1", "RootWebArea", "", &["10"]), node("10", "button", "Buy", &[])]);
        let renamed = render_page(&[(String::new(), renamed)], &mut elements);
        assert_eq!(renamed.parts, ["[4 button: Buy]\n"]);
        assert_eq!(elements.of(1, "l"), None);
        elements.begin("m", "https://example.org/2");
        let other = json!([node("1", "RootWebArea", "", &["2"]), node("2", "button", "Send", &[])]);
        let other = render_page(&[(String::new(), other)], &mut elements);
        assert_eq!(other.parts, ["[5 button: Send]\n"], "numbers are not used again");
    }

    #[test]
    fn long_and_deep_pages_are_bounded() {
        let mut nodes = vec![node("0", "RootWebArea", "", &["1"])];
        for at in 1..60_000 {
            nodes.push(node(&at.to_string(), "generic", "", &[&(at + 1).to_string()]));
        }
        nodes.push(node("60000", "StaticText", &"word ".repeat(5000), &[]));
        let seen = render_page(&[(String::new(), json!(nodes))], &mut Elements::default());
        assert_eq!(seen.parts.len(), 4);
        assert!(seen.parts.iter().all(|part| part.chars().count() <= PART_CHARS + 1));
        assert_eq!(render_page(&[], &mut Elements::default()).parts, [""]);
    }

    #[test]
    fn frames_are_counted() {
        let tree = json!({"frame": {"id": "a", "url": "u"}, "childFrames": [
            {"frame": {"id": "b", "url": "v"}, "childFrames": [{"frame": {"id": "d", "url": ""}}]},
            {"frame": {"id": "c", "url": "w"}}]});
        let ids = |most| frames(&tree, most).into_iter().map(|(id, _)| id).collect::<String>();
        assert_eq!(ids(9), "abcd");
        assert_eq!(ids(2), "ab");
    }
}
