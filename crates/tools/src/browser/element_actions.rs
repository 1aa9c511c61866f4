use super::elements::Element;
use super::error::BrowserError;
use super::page::Page;
use super::page_text::role_and_name;
use serde_json::{Value, json};

/// Returns what kind of field an element is.
const KIND: &str = r"function () {
  const tag = this.tagName ? this.tagName.toLowerCase() : '';
  return {tag, type: (this.type || '').toLowerCase(), editable: !!this.isContentEditable,
    locked: !!(this.disabled || this.readOnly)};
}";
const CHOOSE_OPTION: &str = r"function (wanted) {
  const options = Array.from(this.options);
  const fits = (o) => o.label.trim() === wanted || o.value === wanted;
  const found = options.find((o) => !o.disabled && fits(o));
  if (!found) return {options: options.slice(0, 30).map((o) => o.label.trim().slice(0, 60))};
  found.selected = true;
  this.dispatchEvent(new Event('input', {bubbles: true}));
  this.dispatchEvent(new Event('change', {bubbles: true}));
  return {chosen: found.label.trim()};
}";
/// Fields with a format of their own (dates, colours) take only a whole value.
const SET_VALUE: &str = r"function (wanted) {
  Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(this, wanted);
  this.dispatchEvent(new Event('input', {bubbles: true}));
  this.dispatchEvent(new Event('change', {bubbles: true}));
  return {held: this.value};
}";
/// Selects the present content, so that typing replaces it.
const SELECT_CONTENT: &str = r"function () {
  if (this.select) { this.select(); return {}; }
  const range = document.createRange();
  range.selectNodeContents(this);
  const selection = getSelection();
  selection.removeAllRanges();
  selection.addRange(range);
  return {};
}";
/// Types of fields that take only a whole value.
const WHOLE_VALUE_TYPES: &[&str] = &["date", "time", "datetime-local", "month", "week", "color", "range"];
const CLICK_TYPES: &[&str] = &["checkbox", "radio", "button", "submit", "reset", "image"];

pub(super) struct ElementTarget<'a> {
    pub page: &'a Page,
    pub number: u32,
    pub element: Element,
}

impl ElementTarget<'_> {
    fn element_error(&self, what: impl Into<String>) -> BrowserError {
        BrowserError::Element { number: self.number, what: what.into() }
    }

    /// A command about the element's node; a node that is gone has its own error.
    async fn call(&self, method: &str, mut params: Value) -> Result<Value, BrowserError> {
        params["backendNodeId"] = json!(self.element.node);
        match self.page.call(method, params).await {
            Err(BrowserError::Protocol { message, .. }) if message.contains("node") => {
                Err(BrowserError::NoElement(self.number))
            }
            other => other,
        }
    }

    /// Whether the element still is what the person or the model was shown.
    pub async fn check(&self) -> Result<(), BrowserError> {
        let asked = json!({"fetchRelatives": false});
        let found = self.call("Accessibility.getPartialAXTree", asked).await?;
        let node = &found["nodes"][0];
        if node["ignored"] == true {
            return Err(self.element_error("is hidden now"));
        }
        let (role, name) = role_and_name(node);
        if (&role, &name) == (&self.element.role, &self.element.name) {
            return Ok(());
        }
        let now = Element { node: self.element.node, role, name };
        Err(self.element_error(format!("was {}, and is {} now", self.element.words(), now.words())))
    }

    pub async fn click(&self) -> Result<(), BrowserError> {
        self.call("DOM.scrollIntoViewIfNeeded", json!({})).await?;
        let found = self.call("DOM.getContentQuads", json!({})).await;
        let Some((x, y)) = found.ok().as_ref().and_then(middle) else {
            return Err(self.element_error("can't be seen, so it can't be clicked"));
        };
        for (kind, buttons) in [("mouseMoved", 0), ("mousePressed", 1), ("mouseReleased", 0)] {
            let button = if kind == "mouseMoved" { "none" } else { "left" };
            let clicks = u8::from(kind != "mouseMoved");
            let params = json!({"type": kind, "x": x, "y": y, "button": button,
                "buttons": buttons, "clickCount": clicks});
            self.page.input("Input.dispatchMouseEvent", params).await?;
        }
        Ok(())
    }

    pub async fn fill(&self, text: &str) -> Result<String, BrowserError> {
        let object = self.call("DOM.resolveNode", json!({})).await?;
        let object = object["object"]["objectId"].as_str().unwrap_or("").to_owned();
        let kind = self.call_function(&object, KIND, None).await?;
        let (tag, field) = (kind["tag"].as_str().unwrap_or(""), kind["type"].as_str().unwrap_or(""));
        if kind["locked"] == true {
            return Err(self.element_error("can't be changed: it is disabled or read-only"));
        }
        match (tag, field) {
            ("select", _) => self.choose_option(&object, text).await,
            ("input", "file") => Err(self.element_error("takes a file, and no file is sent")),
            ("input", field) if CLICK_TYPES.contains(&field) => {
                Err(self.element_error("takes no text; use browser_click"))
            }
            ("input", field) if WHOLE_VALUE_TYPES.contains(&field) => {
                let held = self.call_function(&object, SET_VALUE, Some(text)).await?;
                let held = held["held"].as_str().unwrap_or("").to_owned();
                if held == text {
                    return Ok(held);
                }
                Err(self.element_error(format!(
                    "takes a {field} in its own form, such as 2026-11-21, 14:30 or #ff8800, not `{text}`"
                )))
            }
            ("input" | "textarea", _) => self.replace(&object, text).await,
            _ if kind["editable"] == true => self.replace(&object, text).await,
            _ => Err(self.element_error("is no field for text")),
        }
    }

    async fn choose_option(&self, object: &str, text: &str) -> Result<String, BrowserError> {
        let done = self.call_function(object, CHOOSE_OPTION, Some(text)).await?;
        if let Some(chosen) = done["chosen"].as_str() {
            return Ok(chosen.to_owned());
        }
        let options: Vec<&str> = done["options"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        Err(self.element_error(format!("has no option `{text}`; its options are: {}", options.join(" / "))))
    }

    async fn replace(&self, object: &str, text: &str) -> Result<String, BrowserError> {
        self.call("DOM.focus", json!({})).await?;
        self.call_function(object, SELECT_CONTENT, None).await?;
        if text.is_empty() {
            self.key("Delete", 46, None).await?;
        } else {
            let typed = json!({"text": text});
            self.page.call("Input.insertText", typed).await?;
        }
        Ok(text.to_owned())
    }

    pub async fn submit(&self) -> Result<(), BrowserError> {
        self.call("DOM.focus", json!({})).await?;
        self.key("Enter", 13, Some("\r")).await
    }

    async fn key(&self, key: &str, code: u32, text: Option<&str>) -> Result<(), BrowserError> {
        let mut params = json!({"type": "keyDown", "key": key, "code": key,
            "windowsVirtualKeyCode": code, "nativeVirtualKeyCode": code});
        if let Some(text) = text {
            params["text"] = json!(text);
        }
        let mut up = params.clone();
        self.page.input("Input.dispatchKeyEvent", params).await?;
        up["type"] = json!("keyUp");
        if let Some(up) = up.as_object_mut() {
            up.remove("text");
        }
        self.page.input("Input.dispatchKeyEvent", up).await
    }

    /// Calls a JavaScript function with the element as `this`.
    async fn call_function(&self, object: &str, function: &str, argument: Option<&str>) -> Result<Value, BrowserError> {
        let arguments: Vec<Value> = argument.iter().map(|text| json!({"value": text})).collect();
        let params = json!({"objectId": object, "functionDeclaration": function,
            "arguments": arguments, "returnByValue": true});
        let mut done = self.page.call("Runtime.callFunctionOn", params).await?;
        if done.get("exceptionDetails").is_some() {
            return Err(self.element_error("can't be used: the page's script failed"));
        }
        Ok(done["result"]["value"].take())
    }
}

fn middle(found: &Value) -> Option<(f64, f64)> {
    let quads = found["quads"].as_array()?;
    quads.iter().find_map(|quad| {
        let at: Vec<f64> = quad.as_array()?.iter().filter_map(Value::as_f64).collect();
        let [x1, y1, x2, y2, x3, y3, x4, y4] = at.try_into().ok()?;
        let area = (x1 - x3) * (y2 - y4) - (x2 - x4) * (y1 - y3);
        (area.abs() >= 1.0).then(|| ((x1 + x2 + x3 + x4) / 4.0, (y1 + y2 + y3 + y4) / 4.0))
    })
}

#[cfg(test)]
mod tests {
    use super::middle;
    use serde_json::json;

    #[test]
    fn the_middle_of_what_has_an_extent() {
        let quads = json!({"quads": [[5, 5, 5, 5, 5, 5, 5, 5], [0, 0, 10, 0, 10, 20, 0, 20]]});
        assert_eq!(middle(&quads), Some((5.0, 10.0)));
        assert_eq!(middle(&json!({"quads": []})), None);
        assert_eq!(middle(&json!({})), None);
    }
}
