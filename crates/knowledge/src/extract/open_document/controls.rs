//! Controls of forms: what they are called, and what is typed, chosen and ticked in them.

use super::super::xml::Element;

/// The list that is open.
#[derive(Debug, Default)]
pub(super) struct Controls {
    label: String,
    /// What is typed into it.
    value: Option<String>,
    chosen: Vec<String>,
}

impl Controls {
    /// Takes an element that may be a control, and gives what it shows.
    pub fn open(&mut self, name: &str, element: &Element<'_>) -> Option<String> {
        let of = |name: &str| element.attribute(name).filter(|value| !value.trim().is_empty());
        let label = || of("label").or_else(|| of("name")).unwrap_or_default();
        match name {
            "checkbox" | "radio" => {
                let state = match name {
                    "checkbox" => of("current-state").or_else(|| of("state")),
                    _ => of("current-selected").or_else(|| of("selected")),
                };
                let sign = if state.is_some_and(|state| state == "checked" || state == "true") { "☒" } else { "☐" };
                Some(format!("{sign} {}", label()))
            }
            "combobox" | "listbox" => {
                let value = of("current-value").or_else(|| of("value"));
                *self = Self { label: label(), value, chosen: Vec::new() };
                None
            }
            "option" => {
                let is_chosen = of("current-selected").or_else(|| of("selected")).is_some_and(|on| on == "true");
                self.chosen.extend(of("label").filter(|_| is_chosen));
                None
            }
            "fixed-text" => of("label"),
            "password" | "hidden" | "file" => None,
            _ => {
                let value = of("current-value")?;
                Some(format!("{}: {value}", label()))
            }
        }
    }

    /// What the list that ends shows; `None` where nothing is chosen.
    pub fn end_list(&mut self) -> Option<String> {
        let list = std::mem::take(self);
        let shown = list.value.unwrap_or_else(|| list.chosen.join(", "));
        (!shown.is_empty()).then(|| format!("{}: {shown}", list.label))
    }
}
