//! Every recorded conversation through the client, compressed by force: what is kept is the same.

use elbowroom::v1::{self, CompressRequest, Outcome, Section, edit::Op, replace_edit};
use elbowroom::{Body, Client, Reply};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::support::{Recorded, Server, recorded};

/// What the edits of a response make of the messages: the caller's own texts where they are kept.
fn expected(messages: &[String], edits: &[v1::Edit]) -> (Vec<String>, usize) {
    let mut out = Vec::new();
    let mut kept = 0;
    let mut at = 0;
    for edit in edits.iter().filter(|e| e.section() == Section::Messages) {
        match edit.op.as_ref().unwrap() {
            Op::Keep(range) => {
                assert_eq!(range.start, at);
                at = range.end;
                kept += (range.end - range.start) as usize;
                out.extend_from_slice(&messages[range.start as usize..range.end as usize]);
            }
            Op::Drop(range) => {
                assert_eq!(range.start, at);
                at = range.end;
            }
            Op::Replace(new) => {
                assert_eq!(new.index, at);
                at += 1;
                let Some(replace_edit::Element::Json(json)) = &new.element else { panic!("no JSON") };
                out.push(json.clone());
            }
            Op::Insert(new) => {
                let Some(v1::insert_edit::Element::Json(json)) = &new.element else { panic!("no JSON") };
                out.push(json.clone());
            }
        }
    }
    assert_eq!(at as usize, messages.len(), "an edit program names every message");
    (out, kept)
}

/// The same as values.
fn values(messages: &[String], edits: &[v1::Edit]) -> Vec<Value> {
    let want = if edits.is_empty() { messages.to_vec() } else { expected(messages, edits).0 };
    want.iter().map(|m| serde_json::from_str(m).unwrap()).collect()
}

#[derive(Deserialize)]
struct Messages<'a> {
    #[serde(borrow)]
    messages: Vec<&'a RawValue>,
}

async fn forced<B: Body + ?Sized>(
    client: &Client,
    recorded: &Recorded,
    body: &B,
) -> Reply<B::Output, v1::CompressResponse> {
    let request =
        CompressRequest { force: true, context_window: 32_000, view: v1::View::Edits.into(), ..Default::default() };
    client
        .compress(&body.with_format(recorded.format), request)
        .await
        .unwrap_or_else(|e| panic!("{}: {e:?}", recorded.name))
}

#[tokio::test]
async fn kept_messages_are_the_same() {
    let (Some(server), Some(all)) = (Server::get(), recorded()) else { return };
    let client = Client::connect(&server.address).unwrap();
    let mut compressed = 0;
    assert!(all.len() >= 20, "{} conversations", all.len());
    for recorded in &all {
        let name = &recorded.name;
        let body = recorded.body("some-model", recorded.messages.len());

        let reply = forced(&client, recorded, &body).await;
        let Messages { messages } = serde_json::from_str(&reply.body).unwrap();
        let got: Vec<_> = messages.iter().map(|m| m.get()).collect();
        let want = if reply.edits.is_empty() {
            assert_eq!(reply.body, body, "{name}");
            recorded.messages.clone()
        } else {
            let (want, kept) = expected(&recorded.messages, &reply.edits);
            assert!(kept > 0, "{name}");
            want
        };
        assert_eq!(got, want, "{name}: text");
        compressed += usize::from(reply.outcome() == Outcome::Compressed);

        let bytes = forced(&client, recorded, body.as_bytes()).await;
        assert_eq!(bytes.body, reply.body.as_bytes(), "{name}: bytes");

        let value: Value = serde_json::from_str(&body).unwrap();
        let texts: Vec<_> = value["messages"].as_array().unwrap().iter().map(Value::to_string).collect();
        let reply = forced(&client, recorded, &value).await;
        assert_eq!(reply.body["messages"].as_array().unwrap(), &values(&texts, &reply.edits), "{name}: a value");

        let list: Vec<Value> = recorded.messages.iter().map(|m| serde_json::from_str(m).unwrap()).collect();
        let reply = forced(&client, recorded, &list).await;
        assert_eq!(reply.body, values(&texts, &reply.edits), "{name}: a list");
    }
    assert!(compressed >= 10, "only {compressed} of {} were compressed", all.len());
}
