//! The conversation helper against a double: what it sends, what it keeps, and what it does without an answer.

use elbowroom::v1::native_request::Body as NativeBody;
use elbowroom::v1::{Format, Outcome, PrepareRequest, Usage};
use elbowroom::{Client, Conversation, Error};
use serde_json::{Value, json};
use tonic::Status;

use crate::double::{Answer, Double, Seen};

async fn against(server: &Double) -> Conversation {
    Conversation::new(Client::connect(server.target()).unwrap(), PrepareRequest::default()).format(Format::OpenaiChat)
}

fn down() -> Answer {
    Answer::Refuse(Status::permission_denied("no"))
}

fn full(seen: &Seen) -> &str {
    match seen.native.as_ref().and_then(|n| n.body.as_ref()) {
        Some(NativeBody::Json(text)) => text,
        other => panic!("no full body: {other:?}"),
    }
}

/// A message long enough for a delta to be worth it.
fn long(word: &str) -> String {
    format!(r#"{{"role":"user","content":"{}"}}"#, word.repeat(100))
}

#[tokio::test]
async fn a_delta_that_the_server_does_not_know_is_sent_again_in_full() {
    let server = Double::start([]).await;
    let mut conversation = against(&server).await;
    let first = format!("[{}]", long("one"));
    assert_eq!(conversation.before_request(&first).await.unwrap(), first);
    let seen = server.seen();
    assert_eq!(full(&seen[0]), first);
    assert!(seen[0].native.as_ref().unwrap().keep);

    let second = format!("[{},{}]", long("one"), long("two"));
    assert_eq!(conversation.before_request(&second).await.unwrap(), second);
    let seen = server.seen();
    let Some(NativeBody::Delta(delta)) = &seen[0].native.as_ref().unwrap().body else { panic!("no delta") };
    assert_eq!(delta.splices[0].text, format!(",{}", long("two")));
    assert_eq!(full(&seen[1]), second);
    assert_eq!(seen.len(), 2);
    assert_eq!(conversation.last_error(), None);
    assert!(conversation.bytes_sent() > 0 && conversation.bytes_received() > 0);
}

#[tokio::test]
async fn usage_and_state_go_with_the_next_request_and_end_with_their_history() {
    let server = Double::start([]).await;
    let mut conversation = against(&server).await;
    conversation.before_request("[1]").await.unwrap();
    conversation.after_response(json!({"prompt_tokens": 10, "completion_tokens": 2}));
    conversation.before_request("[1,2]").await.unwrap();
    conversation.before_request("[9,9,9]").await.unwrap();
    let seen = server.seen();
    let took = |s: &Seen| (s.last_usage, s.compression_state.clone(), s.cache_state.clone());
    assert_eq!(took(&seen[0]), (None, vec![], vec![]));
    let usage = Usage { prompt_tokens: 10, completion_tokens: 2, message_count: 1 };
    assert_eq!(took(&seen[1]), (Some(usage), vec![7], vec![8]));
    let last = seen.last().unwrap();
    assert_eq!(took(last), (None, vec![], vec![]));
    assert_eq!(full(last), "[9,9,9]");
}

#[tokio::test]
async fn usage_of_a_list_that_was_compressed_is_not_reported_again() {
    let server = Double::start([]).await;
    let mut conversation = against(&server).await;
    conversation.before_request("[1]").await.unwrap();
    conversation.after_response(json!({"input_tokens": 10, "output_tokens": 2}));
    server.plan(Answer::Replace("[1".into(), "[3]".into()));
    conversation.before_request("[1,2]").await.unwrap();
    assert_eq!(conversation.last_outcome(), Outcome::Compressed);
    conversation.before_request("[1,2]").await.unwrap();
    let seen = server.seen();
    assert!(seen.iter().any(|s| s.last_usage.is_some()));
    assert_eq!(seen.last().unwrap().last_usage, None);
}

#[tokio::test]
async fn an_error_is_returned_unless_the_conversation_fails_open() {
    let server = Double::start([down(), down()]).await;
    let mut conversation = against(&server).await;
    let error = conversation.before_request("[1]").await.unwrap_err();
    assert!(matches!(error, Error::PermissionDenied { .. }));
    assert_eq!(conversation.last_error(), Some(&error));

    let mut conversation = against(&server).await.fail_open(true);
    let body = json!([{"role": "user", "content": "hi", "n": 1.50}]);
    assert_eq!(conversation.before_request(&body).await.unwrap(), body);
    assert_eq!(conversation.last_error(), Some(&error));
    conversation.before_request(&body).await.unwrap();
    assert_eq!(conversation.last_error(), None);
}

#[tokio::test]
async fn failing_open_goes_on_from_the_last_result() {
    // The double's compression: a message in front of the list.
    let server = Double::start([]).await;
    let mut conversation = against(&server).await.fail_open(true);
    let compressed = format!("[{},1]", long("sum"));
    // A delta's base is unknown here, so the plan is for full bodies only.
    server.plan(Answer::Replace("[1".into(), compressed.clone()));
    assert_eq!(conversation.before_request("[1]").await.unwrap(), compressed);
    // The caller's own list, and then the one it got back: both go on from the result.
    server.plan(down());
    let open = conversation.before_request("[1,2]").await.unwrap();
    assert_eq!(open, format!("[{},1,2]", long("sum")));
    server.plan(down());
    let open = conversation.before_request(&format!("[{},1,2,3]", long("sum"))).await.unwrap();
    assert_eq!(open, format!("[{},1,2,3]", long("sum")));
    assert!(matches!(conversation.last_error(), Some(Error::PermissionDenied { .. })));
    // With breakpoints of its own, the caller's body is the safe one.
    server.plan(down());
    let marked = format!(r#"[{},1,2,3,{{"cache_control":{{}}}}]"#, long("sum"));
    assert_eq!(conversation.before_request(&marked).await.unwrap(), marked);
    // A list that begins otherwise is as it is.
    server.plan(down());
    assert_eq!(conversation.before_request("[8]").await.unwrap(), "[8]");
}

#[tokio::test]
async fn failing_open_needs_no_conversation_at_all() {
    let client = Client::connect("127.0.0.1:1").unwrap();
    let mut conversation = Conversation::new(client, PrepareRequest::default()).fail_open(true);
    let undecided = json!([{"role": "user", "content": "hi"}]);
    assert_eq!(conversation.before_request(&undecided).await.unwrap(), undecided);
    assert_eq!(conversation.last_error(), Some(&Error::UnknownFormat));
    assert_eq!(conversation.before_request("[1,}").await.unwrap(), "[1,}");
    assert!(matches!(conversation.last_error(), Some(Error::InvalidRequest { byte_offset: Some(3), .. })));
    assert_eq!(conversation.before_request(&b"[\"\xff\"]"[..]).await.unwrap(), b"[\"\xff\"]");
    assert!(matches!(conversation.last_error(), Some(Error::InvalidRequest { byte_offset: Some(2), .. })));
}

#[tokio::test]
async fn what_the_service_made_of_a_value_is_recognized_when_it_comes_back() {
    let server = Double::start([Answer::Replace("[1".into(), "[ \"a\\u0062\" , 1.50]".into())]).await;
    let mut conversation = against(&server).await;
    let got: Value = conversation.before_request(&json!([1])).await.unwrap();
    assert_eq!(got[0], "ab");
    let mut next = got;
    next.as_array_mut().unwrap().push(json!(2));
    conversation.before_request(&next).await.unwrap();
    // The service gets its own spelling again.
    assert_eq!(full(server.seen().last().unwrap()), "[ \"a\\u0062\" , 1.50,2]");
}
