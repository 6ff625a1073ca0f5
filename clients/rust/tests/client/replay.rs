//! A recorded conversation replayed as a live loop, with the checks of a strict provider on every request.

use std::collections::HashSet;

use elbowroom::v1::{CacheTtl, Format, Outcome, PrepareRequest, Strategy};
use elbowroom::{Body, Client, Conversation};
use serde_json::{Value, json};

use crate::support::{Recorded, Server, recorded};

const TURNS: usize = 60;

/// What a request takes beside its body and the compression's state: names, states and figures.
const OVERHEAD: u64 = 1024;

/// How a loop keeps its messages.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Keeps {
    Originals,
    WhatCameBack,
}

/// The lists of messages at which the recorded agent asked its model, as lengths.
fn turns(recorded: &Recorded) -> Vec<usize> {
    let asks =
        |i: &usize| role(&recorded.messages[*i]) == "assistant" && role(&recorded.messages[i - 1]) != "assistant";
    (1..recorded.messages.len()).filter(asks).take(TURNS).collect()
}

fn role(message: &str) -> String {
    let message: Value = serde_json::from_str(message).unwrap();
    message["role"].as_str().unwrap().to_owned()
}

/// A request without what may move between two of them: breakpoints, and a list of one text block for a string.
fn plain(value: &Value) -> Value {
    match value {
        Value::Array(list) => match list.as_slice() {
            [only] if only["type"] == "text" && plain(only).as_object().unwrap().len() == 2 => only["text"].clone(),
            list => Value::Array(list.iter().map(plain).collect()),
        },
        Value::Object(members) => {
            members.iter().filter(|(key, _)| *key != "cache_control").map(|(key, v)| (key.clone(), plain(v))).collect()
        }
        other => other.clone(),
    }
}

fn marks(value: &Value) -> usize {
    match value {
        Value::Array(list) => list.iter().map(marks).sum(),
        Value::Object(members) => members.iter().map(|(key, v)| usize::from(key == "cache_control") + marks(v)).sum(),
        _ => 0,
    }
}

fn blocks<'a>(message: &'a Value, kind: &'a str) -> impl Iterator<Item = &'a Value> {
    message["content"].as_array().into_iter().flatten().filter(move |b| b["type"] == kind)
}

fn ids<'a>(list: impl Iterator<Item = &'a Value>, key: &str) -> Vec<String> {
    let mut ids: Vec<_> = list.map(|b| b[key].as_str().unwrap().to_owned()).collect();
    ids.sort();
    ids
}

/// What a provider refuses. Lists that end with a call are never sent.
fn check_wire(format: Format, messages: &[Value]) -> Result<(), String> {
    for (i, message) in messages.iter().enumerate() {
        let next = messages.get(i + 1).unwrap_or(&Value::Null);
        let before = if i > 0 { &messages[i - 1] } else { &Value::Null };
        if blocks(message, "text").any(|b| b["text"] == "") {
            return Err(format!("messages[{i}]: an empty text block"));
        }
        let (calls, results) = if format == Format::AnthropicMessages {
            if !["user", "assistant"].contains(&message["role"].as_str().unwrap()) {
                return Err(format!("messages[{i}]: role {}", message["role"]));
            }
            let orphan = ids(blocks(message, "tool_result"), "tool_use_id") != ids(blocks(before, "tool_use"), "id");
            if message["role"] == "user" && orphan {
                return Err(format!("messages[{i}]: results are not those of the calls before"));
            }
            (ids(blocks(message, "tool_use"), "id"), ids(blocks(next, "tool_result"), "tool_use_id"))
        } else {
            let after = messages[i + 1..].iter().take_while(|m| m["role"] == "tool");
            let led = messages[..i].iter().rev().find(|m| m["role"] != "tool");
            if message["role"] == "tool" && led.is_none_or(|m| m["tool_calls"].as_array().is_none_or(Vec::is_empty)) {
                return Err(format!("messages[{i}]: a result without a call"));
            }
            (ids(message["tool_calls"].as_array().into_iter().flatten(), "id"), ids(after, "tool_call_id"))
        };
        if !calls.is_empty() && calls != results {
            return Err(format!("messages[{i}]: calls {calls:?} have results {results:?}"));
        }
    }
    Ok(())
}

/// What a replay came to.
#[derive(Default)]
struct Tally {
    compressions: usize,
    deltas: usize,
    sent: u64,
    would_be: u64,
}

/// Checks every request of a loop.
struct Provider {
    format: Format,
    thinking: HashSet<String>,
    before: Option<Value>,
}

impl Provider {
    fn take(&mut self, request: &Value, newest: &Value, compressed: bool) {
        let messages = request["messages"].as_array().unwrap();
        check_wire(self.format, messages).unwrap();
        assert!(marks(request) <= 4, "{} breakpoints", marks(request));
        for block in messages.iter().flat_map(|m| blocks(m, "thinking")) {
            assert!(self.thinking.contains(&plain(block).to_string()), "thinking that was never thought");
        }
        let now = plain(request);
        assert_eq!(now["messages"].as_array().unwrap().last().unwrap(), &plain(newest), "the newest message");
        if let Some(before) = self.before.take().filter(|_| !compressed) {
            assert_eq!(before["system"], now["system"], "the system prompt");
            let (before, now) = (before["messages"].as_array().unwrap(), now["messages"].as_array().unwrap());
            let differs = before.iter().zip(now).position(|(a, b)| a != b);
            assert!(now.len() >= before.len() && differs.is_none(), "the prefix changes at messages[{differs:?}]");
        }
        self.before = Some(now);
    }
}

async fn replay<B>(server: &Server, recorded: &Recorded, keeps: Keeps, read: fn(&str) -> B, model: &str) -> Tally
where
    B: Body<Output = B> + Clone,
{
    let options = PrepareRequest {
        strategy: Strategy::Anchored.into(),
        ttl: CacheTtl::CacheTtl5m.into(),
        context_window: 40_000,
        ..Default::default()
    };
    let mut conversation =
        Conversation::new(Client::connect(&server.address).unwrap(), options).format(recorded.format);
    let all: Vec<Value> = recorded.messages.iter().map(|m| serde_json::from_str(m).unwrap()).collect();
    let thoughts = all.iter().flat_map(|m| blocks(m, "thinking")).map(|b| plain(b).to_string());
    let mut provider = Provider { format: recorded.format, thinking: thoughts.collect(), before: None };
    let mut tally = Tally::default();
    let mut kept: Vec<String> = Vec::new();
    let mut had = 0;
    for n in turns(recorded) {
        let new: usize = recorded.messages[had..n].iter().map(|m| m.len() + 1).sum();
        let text = match keeps {
            Keeps::Originals => recorded.body(model, n),
            Keeps::WhatCameBack => {
                kept.extend_from_slice(&recorded.messages[had..n]);
                format!(r#"{{"model":"{model}","system":"Be brief.","messages":[{}]}}"#, kept.join(","))
            }
        };
        let (sent, state) =
            (conversation.bytes_sent(), conversation.last_response().map_or(0, |r| r.compression_state.len()));
        let body = conversation.before_request(&read(&text)).await.unwrap();
        let json = body.json().unwrap();
        let request: Value = serde_json::from_str(json.text().unwrap()).unwrap();
        let compressed = conversation.last_outcome() == Outcome::Compressed;
        provider.take(&request, &all[n - 1], compressed);
        tally.compressions += usize::from(compressed);
        tally.sent += conversation.bytes_sent() - sent;
        tally.would_be += text.len() as u64;
        if had > 0 {
            let sent = conversation.bytes_sent() - sent;
            let most = new as u64 * 6 / 5 + state as u64 + OVERHEAD;
            assert!(sent <= most, "{}: {sent} bytes for {new} new ones, a state of {state}", recorded.name);
            tally.deltas += 1;
        }
        let tokens = conversation.last_report().unwrap().tokens_after;
        conversation.after_response(json!({"input_tokens": tokens, "output_tokens": 100}));
        if keeps == Keeps::WhatCameBack {
            kept = request["messages"].as_array().unwrap().iter().map(Value::to_string).collect();
        }
        had = n;
    }
    assert!(tally.compressions >= 2, "{}: {} compressions", recorded.name, tally.compressions);
    println!(
        "{} {keeps:?}: {} turns, {} compressions, {} bytes sent for bodies of {}",
        recorded.name,
        tally.deltas + 1,
        tally.compressions,
        tally.sent,
        tally.would_be
    );
    tally
}

async fn replay_both_ways(name: &str, model: &str) {
    let (Some(server), Some(all)) = (Server::get(), recorded()) else { return };
    let recorded = all.iter().find(|r| r.name == name).unwrap();
    assert_eq!(turns(recorded).len(), TURNS);
    replay(&server, recorded, Keeps::Originals, str::to_owned, model).await;
    let read = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    replay(&server, recorded, Keeps::WhatCameBack, read, model).await;
}

#[tokio::test]
async fn an_anthropic_loop_of_sixty_turns_is_never_refused() {
    replay_both_ways("cc-go-thinking-590", "claude-sonnet-4-5").await;
}

#[tokio::test]
async fn an_openai_loop_of_sixty_turns_is_never_refused() {
    replay_both_ways("mini-deepseek-astroid-378", "anthropic/claude-sonnet-4-5").await;
}

#[test]
fn the_checks_see_what_a_provider_refuses() {
    let call = json!({"role": "assistant", "content": [{"type": "tool_use", "id": "a"}]});
    let result = json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a"}]});
    let user = json!({"role": "user", "content": "hi"});
    let anthropic = |messages: &[&Value]| {
        check_wire(Format::AnthropicMessages, &messages.iter().map(|m| (*m).clone()).collect::<Vec<_>>())
    };
    assert!(anthropic(&[&user, &call, &result]).is_ok());
    assert!(anthropic(&[&user, &call, &user]).is_err());
    assert!(anthropic(&[&user, &result]).is_err());
    assert!(anthropic(&[&user, &call, &user, &result]).is_err());
    let call = json!({"role": "assistant", "tool_calls": [{"id": "a"}, {"id": "b"}]});
    let result = |id: &str| json!({"role": "tool", "tool_call_id": id, "content": ""});
    let openai = |messages: &[Value]| check_wire(Format::OpenaiChat, messages);
    assert!(openai(&[call.clone(), result("b"), result("a"), user.clone()]).is_ok());
    assert!(openai(&[call.clone(), result("a"), user.clone()]).is_err());
    assert!(openai(&[user.clone(), result("a")]).is_err());
    assert_eq!(marks(&json!([{"cache_control": {}}, {"content": [{"cache_control": {}}]}])), 2);
    assert_eq!(plain(&json!([{"type": "text", "text": "x", "cache_control": {}}])), json!("x"));
}
