//! A view against its domain and the views that it leads to.

use super::Checker;
use crate::diagnostic::suggest;
use crate::lower::{TargetRanges, ViewSource, WidgetRanges};
use crate::model::{Domain, FieldKind, Target, Widget, WidgetKind};

impl<'c> Checker<'c> {
    pub(super) fn view(&mut self, source: &'c ViewSource) {
        let ViewSource { view, ranges } = source;
        let domain = self.domains.get(view.domain.as_str()).copied();
        if domain.is_none() && !view.domain.is_empty() {
            self.unknown_domain(ranges.domain, &view.domain);
        }
        for (button, at) in view.toolbar.iter().zip(&ranges.toolbar) {
            if let (Some(target), Some(at)) = (&button.target, at) {
                self.target(target, at, domain);
            }
        }
        for (table, at) in view.tables.iter().zip(&ranges.tables) {
            let listed = self.domains.get(table.domain.as_str()).copied();
            match (listed, domain) {
                (None, _) => self.unknown_domain(at.domain, &table.domain),
                (Some(listed), Some(domain)) if !reaches(domain, listed) => {
                    let message = format!("The domain `{}` has no relation to `{}`.", domain.name, listed.name);
                    let hint = format!("List `{}` or a domain that it has a relation to.", domain.name);
                    self.error(at.domain, "no-relation", message, hint);
                }
                _ => {}
            }
            if let (Some(target), Some(at)) = (&table.on_select, &at.on_select) {
                self.target(target, at, listed);
            }
            for (column, at) in table.columns.iter().zip(&at.columns) {
                if let Some(listed) = listed {
                    self.field(*at, listed, &column.field);
                }
            }
        }
        let Some(domain) = domain else { return };
        let widgets = view.sections.iter().flat_map(|section| section.rows.iter().flatten());
        for (widget, at) in widgets.zip(ranges.sections.iter().flatten().flatten()) {
            self.widget(widget, *at, domain);
        }
    }

    fn target(&mut self, target: &Target, at: &TargetRanges, domain: Option<&Domain>) {
        if !self.views.contains(target.view.as_str()) {
            let hint = suggest(&target.view, self.views.iter().copied());
            self.error(at.view, "unknown-view", format!("There is no view `{}`.", target.view), hint);
        }
        if let (Some(bind), Some(range), Some(domain)) = (&target.bind, at.bind, domain) {
            self.field(range, domain, bind);
        }
    }

    fn widget(&mut self, widget: &Widget, at: WidgetRanges, domain: &Domain) {
        let Some(field) = self.field(at.field, domain, &widget.field) else { return };
        let fits = match widget.kind {
            WidgetKind::Text => true,
            WidgetKind::Textarea => field.kind.is_text(),
            WidgetKind::Select => field.options.is_some(),
            WidgetKind::Checkbox => field.kind == FieldKind::Bool,
            WidgetKind::Number => field.kind.is_number(),
            WidgetKind::Date => field.kind.is_time(),
        };
        if fits {
            return;
        }
        if widget.kind == WidgetKind::Select {
            let message = format!("The field `{}` has no options to select from.", field.name);
            self.warning(at.kind, "no-options", message, "Give the field `options=<meta>`, or use another widget.");
        } else {
            let name: &str = widget.kind.into();
            let message = format!("A {name} widget does not fit a field of the kind {}.", field.kind.name());
            self.warning(at.kind, "widget-does-not-fit", message, "Use the widget of the kind, or `text`.");
        }
    }
}

/// Whether a view over `domain` can list the rows of `listed`.
fn reaches(domain: &Domain, listed: &Domain) -> bool {
    domain.name == listed.name || domain.relations.iter().any(|relation| relation.domain == listed.name)
}
