//! How spreadsheets show values: by the number formats of Excel (ECMA-376 part 1, 18.8.30), such as `#,##0.00 "EUR"`.
//!
//! Two things are shown otherwise than there: a date whose look depends on who looks at it is ISO 8601, and one that
//! leaves open which day it means has that behind it. What a format hides is shown.

mod code;
mod dates;
mod decimal;

pub(super) use dates::serial_number;

use code::{Condition, Part, Section};

/// A format's code, taken apart.
#[derive(Debug, Default)]
pub(super) struct Format {
    sections: Vec<Section>,
    /// Of texts.
    text: Option<Section>,
}

impl Format {
    /// By a format's code, such as `dd.mm.yyyy`. One that can't be understood shows values as they are.
    pub fn of(code: &str) -> Self {
        let mut sections = code::sections(code);
        let ends_in_text = sections.last().is_some_and(|last| last.parts.contains(&Part::Text));
        let text = (sections.len() > 3 || ends_in_text).then(|| sections.pop()).flatten();
        sections.truncate(3);
        Self { sections, text }
    }

    /// By the number of a format that files don't describe.
    pub fn built_in(id: u16) -> Self {
        Self::of(match id {
            1 => "0",
            2 => "0.00",
            3 => "#,##0",
            4 => "#,##0.00",
            5 | 6 => "\"$\"#,##0;\\-\"$\"#,##0",
            7 | 8 => "\"$\"#,##0.00;\\-\"$\"#,##0.00",
            9 => "0%",
            10 => "0.00%",
            11 => "0.00E+00",
            12 => "# ?/?",
            13 => "# ??/??",
            // Their look is the reader's.
            14 | 27..=31 | 34..=36 | 50..=58 => "yyyy-mm-dd",
            15 => "d-mmm-yy",
            16 => "d-mmm",
            17 => "mmm-yy",
            18 => "h:mm AM/PM",
            19 => "h:mm:ss AM/PM",
            20 | 32 => "h:mm",
            21 | 33 => "h:mm:ss",
            22 => "yyyy-mm-dd h:mm",
            37 | 38 => "#,##0;(#,##0)",
            39 | 40 => "#,##0.00;(#,##0.00)",
            41 => "_(* #,##0_);_(* (#,##0);_(* \"-\"_);_(@_)",
            42 => "_(\"$\"* #,##0_);_(\"$\"* (#,##0);_(\"$\"* \"-\"_);_(@_)",
            43 => "_(* #,##0.00_);_(* (#,##0.00);_(* \"-\"??_);_(@_)",
            44 => "_(\"$\"* #,##0.00_);_(\"$\"* (#,##0.00);_(\"$\"* \"-\"??_);_(@_)",
            45 => "mm:ss",
            46 => "[h]:mm:ss",
            47 => "mm:ss.0",
            48 => "##0.0E+0",
            _ => "General",
        })
    }

    /// A number, as it is shown.
    pub fn show(&self, number: f64, from_1904: bool) -> String {
        let shown = self.choose(number).and_then(|(section, number)| section.show(number, from_1904));
        let shown = shown.map(|shown| shown.trim().to_owned()).filter(|shown| !shown.is_empty());
        shown.unwrap_or_else(|| general(number))
    }

    /// Whether numbers are shown as dates or times.
    pub fn shows_dates(&self) -> bool {
        self.sections.first().is_some_and(Section::has_date)
    }

    /// A text, as it is shown.
    pub fn show_text(&self, text: String) -> String {
        let Some(section) = self.text.as_ref().filter(|section| section.parts.contains(&Part::Text)) else {
            return text;
        };
        if text.is_empty() {
            return text;
        }
        let shown: String = section
            .parts
            .iter()
            .map(|part| match part {
                Part::Literal(literal) => literal.as_str(),
                Part::Text => text.as_str(),
                _ => "",
            })
            .collect();
        shown.trim().to_owned()
    }

    /// The section for a number, and the number that it shows: without its sign where the section stands for it.
    fn choose(&self, number: f64) -> Option<(&Section, f64)> {
        let sections = &self.sections;
        if sections.iter().any(|section| section.condition.is_some()) {
            let at = sections
                .iter()
                .position(|section| section.condition.as_ref().is_none_or(|condition| condition.holds(number)))?;
            let is_signed =
                sections[at].has_sign() || sections[at].condition.as_ref().is_some_and(Condition::is_negative);
            return Some((&sections[at], if is_signed { number.abs() } else { number }));
        }
        match sections.as_slice() {
            [_, negative, ..] if number < 0.0 => Some((negative, -number)),
            [_, _, zero] if number == 0.0 => Some((zero, number)),
            [first, ..] => Some((first, number)),
            [] => None,
        }
    }
}

impl Section {
    /// `None` where it can't show the number.
    fn show(&self, number: f64, from_1904: bool) -> Option<String> {
        if self.has_date() {
            return dates::show(self, number, from_1904);
        }
        Some(decimal::show(self, number))
    }
}

/// With the 15 digits that spreadsheets know: without those that only binary fractions have.
pub(super) fn general(number: f64) -> String {
    // Adding nothing makes zero of negative zero.
    (format!("{number:.14e}").parse().unwrap_or(number) + 0.0).to_string()
}

#[cfg(test)]
mod tests;
