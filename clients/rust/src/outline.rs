//! Where things stand in the JSON of a body, without reading more of it than that; and what its shape says about its format.

use std::fmt;
use std::ops::Range;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::error::Error;
use crate::v1::Format;

/// The byte ranges of a body's parts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Outline {
    /// Whether the body is a list of messages and nothing around it.
    pub bare: bool,
    /// The members of a request body other than its messages.
    pub members: Vec<(String, Range<usize>)>,
    /// The list of messages, brackets included.
    pub list: Range<usize>,
    /// The messages.
    pub messages: Vec<Range<usize>>,
}

impl Outline {
    /// Finds the parts. None: it is no list of messages and no object with one, or names a member twice.
    pub fn of(text: &str) -> Option<Self> {
        let place = |raw: &RawValue| {
            let start = raw.get().as_ptr() as usize - text.as_ptr() as usize;
            start..start + raw.get().len()
        };
        let mut outline = Self::default();
        let whole: &RawValue = serde_json::from_str(text).ok()?;
        let mut list = None;
        match members(whole) {
            None => {
                outline.bare = true;
                list = Some(whole);
            }
            Some(members) => {
                for (key, value) in members {
                    if key == "messages" {
                        if list.replace(value).is_some() {
                            return None;
                        }
                    } else if outline.members.iter().any(|(known, _)| *known == key) {
                        return None;
                    } else {
                        outline.members.push((key, place(value)));
                    }
                }
            }
        }
        let list = list?;
        outline.messages = elements(list)?.into_iter().map(place).collect();
        outline.list = place(list);
        Some(outline)
    }
}

/// Tells the format from the first thing that only one of them has.
///
/// # Errors
///
/// [`Error::InvalidRequest`] for broken JSON, [`Error::UnknownFormat`] when nothing tells.
pub(crate) fn format_of(text: &str) -> Result<Format, Error> {
    let whole: &RawValue = serde_json::from_str(text).map_err(|e| broken(text, &e))?;
    let mut messages = elements(whole);
    for (key, value) in members(whole).unwrap_or_default() {
        match key.as_str() {
            "system" | "stop_sequences" | "anthropic_version" => return Ok(Format::AnthropicMessages),
            "tools" => {
                for tool in elements(value).unwrap_or_default() {
                    if let Some(format) = format_of_tool(tool) {
                        return Ok(format);
                    }
                }
            }
            "messages" => messages = elements(value),
            _ => {}
        }
    }
    messages.unwrap_or_default().into_iter().find_map(format_of_message).ok_or(Error::UnknownFormat)
}

fn format_of_tool(tool: &RawValue) -> Option<Format> {
    members(tool)?.into_iter().find_map(|(key, value)| match (key.as_str(), value.get()) {
        ("input_schema", _) => Some(Format::AnthropicMessages),
        ("type", r#""function""#) => Some(Format::OpenaiChat),
        _ => None,
    })
}

fn format_of_message(message: &RawValue) -> Option<Format> {
    members(message)?.into_iter().find_map(|(key, value)| match (key.as_str(), value.get()) {
        ("role", r#""system""# | r#""developer""# | r#""tool""# | r#""function""#) => Some(Format::OpenaiChat),
        ("tool_calls" | "tool_call_id" | "function_call", _) => Some(Format::OpenaiChat),
        ("content", _) => elements(value)?.into_iter().find_map(format_of_block),
        _ => None,
    })
}

fn format_of_block(block: &RawValue) -> Option<Format> {
    members(block)?.into_iter().find_map(|(key, value)| match (key.as_str(), value.get()) {
        (
            "type",
            r#""tool_use""#
            | r#""tool_result""#
            | r#""thinking""#
            | r#""redacted_thinking""#
            | r#""image""#
            | r#""document""#,
        ) => Some(Format::AnthropicMessages),
        ("type", r#""image_url""# | r#""input_audio""# | r#""file""#) => Some(Format::OpenaiChat),
        _ => None,
    })
}

/// The error of a text that is no JSON, as the service would have said it.
fn broken(text: &str, e: &serde_json::Error) -> Error {
    let before: usize = text.split_inclusive('\n').take(e.line().saturating_sub(1)).map(str::len).sum();
    Error::InvalidRequest {
        message: format!("the body is no JSON: {e}"),
        field: Some("conversation.native.json".to_owned()),
        reason: Some("INVALID_CONVERSATION".to_owned()),
        byte_offset: Some((before + e.column().saturating_sub(1)) as u64),
        index: None,
    }
}

fn elements(value: &RawValue) -> Option<Vec<&RawValue>> {
    if !value.get().starts_with('[') {
        return None;
    }
    serde_json::from_str(value.get()).ok()
}

/// The members of an object in their order. None: it is none, or a key is no Unicode.
fn members(value: &RawValue) -> Option<Vec<(String, &RawValue)>> {
    if !value.get().starts_with('{') {
        return None;
    }
    serde_json::from_str::<Members<'_>>(value.get()).ok().map(|m| m.0)
}

struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Collect;
        impl<'de> Visitor<'de> for Collect {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut out = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    out.push(entry);
                }
                Ok(Members(out))
            }
        }
        deserializer.deserialize_map(Collect)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outline_finds_every_part_whatever_it_holds() {
        let text = " {\"system\" : \"s\\ud800\",\n\"messages\":[ {\"role\":\"user\"} ,\t{\"content\":\"\\udfff 日\"}\n],\"n\":1e999}";
        let outline = Outline::of(text).unwrap();
        let members: Vec<_> = outline.members.iter().map(|(key, at)| (key.as_str(), &text[at.clone()])).collect();
        assert_eq!(members, [("system", "\"s\\ud800\""), ("n", "1e999")]);
        let messages: Vec<_> = outline.messages.iter().map(|at| &text[at.clone()]).collect();
        assert_eq!(messages, ["{\"role\":\"user\"}", "{\"content\":\"\\udfff 日\"}"]);
        assert!(text[outline.list].starts_with("[ {"));
        assert!(!outline.bare);
        let outline = Outline::of("[1, [2]]").unwrap();
        assert!(outline.bare);
        assert_eq!(outline.messages, [1..2, 4..7]);
    }

    #[test]
    fn what_is_no_conversation_has_no_outline() {
        for text in [
            "",
            "{",
            "7",
            "{\"system\":1}",
            "{\"messages\":{}}",
            "{\"messages\":[],\"messages\":[]}",
            "{\"messages\":[],\"a\":1,\"a\":2}",
        ] {
            assert_eq!(Outline::of(text), None, "{text}");
        }
    }

    #[test]
    fn deep_nesting_is_no_trouble() {
        let text = format!("[{}1{}]", "[".repeat(10_000), "]".repeat(10_000));
        assert_eq!(Outline::of(&text).unwrap().messages.len(), 1);
    }

    #[test]
    fn the_format_is_told_from_what_only_one_of_them_has() {
        use Format::{AnthropicMessages as A, OpenaiChat as O};
        for (text, want) in [
            (r#"{"system":"be brief","messages":[]}"#, A),
            (r#"{"messages":[{"role":"user","content":"hi"}],"tools":[{"name":"t","input_schema":{}}]}"#, A),
            (r#"{"messages":[],"tools":[{"type":"function","function":{}}]}"#, O),
            (r#"[{"role":"system","content":"be brief"}]"#, O),
            (r#"[{"role":"user","content":"hi"},{"role":"tool","content":"1"}]"#, O),
            (r#"[{"role":"assistant","content":null,"tool_calls":[]}]"#, O),
            (r#"[{"role":"user","content":[{"type":"tool_result","content":"\ud800"}]}]"#, A),
            (r#"[{"role":"user","content":[{"type":"text","text":"x"},{"type":"image_url"}]}]"#, O),
        ] {
            assert_eq!(format_of(text), Ok(want), "{text}");
        }
        for text in [r#"[{"role":"user","content":"hi"}]"#, "[]", "{}", "3"] {
            assert_eq!(format_of(text), Err(Error::UnknownFormat), "{text}");
        }
    }

    #[test]
    fn broken_json_is_located() {
        let Err(Error::InvalidRequest { byte_offset, .. }) = format_of("[1,\n é,2]") else { panic!("no error") };
        assert_eq!(byte_offset, Some(5));
    }
}
