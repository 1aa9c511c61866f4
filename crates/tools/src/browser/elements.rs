use std::collections::{BTreeMap, HashMap};

const NUMBERED: usize = 2000;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Element {
    pub node: i64,
    pub role: String,
    pub name: String,
}

impl Element {
    /// In words: `button “Send”`.
    pub fn words(&self) -> String {
        if self.name.is_empty() {
            format!("{} without a name", self.role)
        } else {
            format!("{} “{}”", self.role, self.name)
        }
    }
}

/// A number always means one element under one name, so that what a person approved is what is clicked.
#[derive(Debug, Default)]
pub(super) struct Elements {
    last: u32,
    loader: String,
    pub url: String,
    numbers: HashMap<i64, u32>,
    known: BTreeMap<u32, Element>,
}

impl Elements {
    /// Called before a snapshot: a new document forgets the elements of the one before.
    pub fn begin(&mut self, loader: &str, url: &str) {
        if self.loader != loader {
            loader.clone_into(&mut self.loader);
            self.numbers.clear();
            self.known.clear();
        }
        url.clone_into(&mut self.url);
    }

    /// The element of a number, if it belongs to the document `loader`.
    pub fn of(&self, number: u32, loader: &str) -> Option<Element> {
        let same = self.loader == loader;
        self.known.get(&number).filter(|_| same).cloned()
    }

    pub fn seen(&self, number: u32) -> Option<&Element> {
        self.known.get(&number)
    }

    /// The number of an element, a new one if needed; `None` when too many are numbered.
    pub fn number(&mut self, element: Element) -> Option<u32> {
        if let Some(number) = self.numbers.get(&element.node) {
            if self.known.get(number) == Some(&element) {
                return Some(*number);
            }
            self.known.remove(number);
        } else if self.numbers.len() >= NUMBERED {
            return None;
        }
        self.last += 1;
        self.numbers.insert(element.node, self.last);
        self.known.insert(self.last, element);
        Some(self.last)
    }
}
