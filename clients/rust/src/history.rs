//! What a conversation was last time: how the caller gave it, and what it became.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use sha2::{Digest as _, Sha256};

use crate::outline::Outline;

pub(crate) type Digest = [u8; 32];

pub(crate) fn digest(text: &str) -> Digest {
    Sha256::digest(text.as_bytes()).into()
}

/// The parts of a body, by digest: texts of the last turn are compared and never read again.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Parts {
    messages: Vec<Digest>,
    members: HashMap<String, Digest>,
}

impl Parts {
    pub fn of(text: &str, outline: &Outline) -> Self {
        Self {
            messages: outline.messages.iter().map(|at| digest(&text[at.clone()])).collect(),
            members: outline.members.iter().map(|(key, at)| (key.clone(), digest(&text[at.clone()]))).collect(),
        }
    }
}

/// The last turn.
#[derive(Debug, Clone)]
pub(crate) struct History {
    /// As the caller gave it.
    given: Parts,
    /// As the caller got it.
    returned: Parts,
    /// What the next request continues.
    text: Arc<str>,
    outline: Outline,
}

/// A new body with the history it had last time in place of what the caller has of it.
#[derive(Debug)]
pub(crate) struct Continued {
    pub text: String,
    /// The texts that are the caller's: everything but the history.
    pub own: Vec<Range<usize>>,
}

impl History {
    pub fn new(given: Parts, returned: Parts, text: Arc<str>, outline: Outline) -> Self {
        Self { given, returned, text, outline }
    }

    /// Whether the body that continues is the one that the caller got back, message for message.
    pub fn is_what_was_returned(&self) -> bool {
        self.outline.messages.len() == self.returned.messages.len()
    }

    /// Continues the last turn with a body whose messages begin with those that the caller gave or got then. None: they do not.
    pub fn continued(&self, text: &str, outline: &Outline, parts: &Parts) -> Option<Continued> {
        if outline.bare != self.outline.bare {
            return None;
        }
        let known = [&self.given, &self.returned]
            .into_iter()
            .find(|last| !last.messages.is_empty() && parts.messages.starts_with(&last.messages))?
            .messages
            .len();
        // What replaces what: ranges of the caller's text by ranges of the history.
        let mut replace: Vec<(Range<usize>, &str)> = Vec::new();
        let end = self.outline.messages.last()?.end;
        replace.push((
            outline.list.start + 1..outline.messages[known - 1].end,
            &self.text[self.outline.list.start + 1..end],
        ));
        for (key, at) in &outline.members {
            let now = parts.members.get(key);
            let same = now == self.given.members.get(key) || now == self.returned.members.get(key);
            let before = self.outline.members.iter().find(|(known, _)| known == key);
            // The service may have changed it: a note at the end of the system prompt, a mark on the last tool.
            if let (true, Some((_, before))) = (same, before) {
                replace.push((at.clone(), &self.text[before.clone()]));
            }
        }
        replace.sort_by_key(|(at, _)| at.start);
        let mut out = String::with_capacity(self.text.len() + text.len() / 8);
        let mut own = Vec::new();
        let mut at = 0;
        for (range, history) in replace {
            own.push(out.len()..out.len() + range.start - at);
            out.push_str(&text[at..range.start]);
            out.push_str(history);
            at = range.end;
        }
        own.push(out.len()..out.len() + text.len() - at);
        out.push_str(&text[at..]);
        Some(Continued { text: out, own })
    }
}

impl Continued {
    /// Whether the caller's own part carries cache breakpoints: then the whole may have more of them than a provider takes.
    pub fn own_part_is_marked(&self) -> bool {
        let marks = ["\"cache_control\"", "\"cachePoint\"", "\"prompt_cache_breakpoint\""];
        self.own.iter().any(|at| marks.iter().any(|mark| self.text[at.clone()].contains(mark)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn history(given: &str, result: &str) -> History {
        let (g, r) = (Outline::of(given).unwrap(), Outline::of(result).unwrap());
        History::new(Parts::of(given, &g), Parts::of(result, &r), result.into(), r)
    }

    fn continued(history: &History, body: &str) -> Option<Continued> {
        let outline = Outline::of(body).unwrap();
        history.continued(body, &outline, &Parts::of(body, &outline))
    }

    #[test]
    fn the_full_original_list_gets_the_history_it_had() {
        let last = history("[1, 2, 3]", r#"["sum", 3]"#);
        let next = continued(&last, "[1, 2, 3, 4,\n5]").unwrap();
        assert_eq!(next.text, "[\"sum\", 3, 4,\n5]");
    }

    #[test]
    fn the_returned_list_with_more_continues_too() {
        let last = history("[1,2,3]", r#"["sum",3]"#);
        assert_eq!(continued(&last, r#"["sum",3,4]"#).unwrap().text, r#"["sum",3,4]"#);
        assert_eq!(continued(&last, r#"["sum",3]"#).unwrap().text, r#"["sum",3]"#);
    }

    #[test]
    fn anything_else_begins_anew() {
        let last = history("[1,2,3]", r#"["sum",3]"#);
        for body in ["[]", "[1,2]", "[1,9,3,4]", r#"["sum",4]"#, r#"{"messages":[1,2,3,4]}"#] {
            assert!(continued(&last, body).is_none(), "{body}");
        }
        assert!(continued(&history("[]", "[]"), "[1]").is_none());
    }

    #[test]
    fn other_members_keep_what_the_service_made_of_them_while_the_caller_does_not_change_them() {
        let last = history(
            r#"{"system":"s","n":1,"messages":[1],"tools":[7]}"#,
            r#"{"system":"s+note","n":1,"messages":[1],"tools":["7m"]}"#,
        );
        let next = continued(&last, r#"{"system":"s","n":2,"messages":[1,2],"tools":[7],"new":0}"#).unwrap();
        assert_eq!(next.text, r#"{"system":"s+note","n":2,"messages":[1,2],"tools":["7m"],"new":0}"#);
        let next = continued(&last, r#"{"system":"other","messages":[1,2],"tools":["7m"]}"#).unwrap();
        assert_eq!(next.text, r#"{"system":"other","messages":[1,2],"tools":["7m"]}"#);
    }

    #[test]
    fn marks_are_seen_in_the_callers_part_only() {
        let last = history("[1]", r#"[{"cache_control":1}]"#);
        assert!(!continued(&last, "[1,2]").unwrap().own_part_is_marked());
        assert!(continued(&last, r#"[1,{"cache_control":2}]"#).unwrap().own_part_is_marked());
    }
}
