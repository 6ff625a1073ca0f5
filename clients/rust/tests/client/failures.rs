//! A server that is down, restarting, slow, or refusing: what the caller sees, and how often the server is asked.

use std::net::{SocketAddr, TcpListener};
use std::time::Duration;

use elbowroom::v1::{CompressRequest, CountTokensRequest};
use elbowroom::{Client, Error, Event};
use tonic::{Code, Status};
use tonic_types::{ErrorDetails, StatusExt};

use crate::double::{Answer, Double, refusal};

const BODY: &str = r#"{"messages":[{"role":"system","content":"be brief"}]}"#;

/// An address where nobody listens.
fn nobody() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}

fn unavailable() -> Answer {
    Answer::Refuse(Status::unavailable("not now"))
}

async fn compress(client: &Client) -> Result<String, Error> {
    client.compress(BODY, CompressRequest::default()).await.map(|reply| reply.body)
}

#[tokio::test]
async fn a_server_that_is_down_is_unavailable_and_the_cause_is_told() {
    let client = Client::connect(nobody().to_string()).unwrap();
    let error = compress(&client).await.unwrap_err();
    assert!(matches!(error, Error::Unavailable { reason: None, .. }), "{error:?}");
    assert!(error.to_string().contains("refused"), "{error}");
    assert!(error.advice().contains("address"), "{}", error.advice());
}

#[tokio::test]
async fn a_server_that_comes_up_while_the_client_tries_is_reached() {
    let address = nobody();
    let client = Client::connect(address.to_string()).unwrap();
    let call = tokio::spawn(async move { compress(&client).await });
    tokio::time::sleep(Duration::from_millis(120)).await;
    let _server = Double::start_at(address, [], None).await;
    assert_eq!(call.await.unwrap().unwrap(), BODY);
}

#[tokio::test]
async fn a_server_that_restarted_is_reached_again() {
    let server = Double::start([]).await;
    let client = Client::connect(server.target()).unwrap();
    compress(&client).await.unwrap();
    let address = server.address;
    drop(server);
    // The port is free once the old listener is gone.
    while std::net::TcpStream::connect(address).is_ok() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let _server = Double::start_at(address, [], None).await;
    assert_eq!(compress(&client).await.unwrap(), BODY);
}

#[tokio::test]
async fn a_connection_that_breaks_is_unavailable() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let server = tokio::spawn(async move {
        loop {
            drop(listener.accept().await);
        }
    });
    let error = compress(&Client::connect(address.to_string()).unwrap()).await.unwrap_err();
    assert!(matches!(error, Error::Unavailable { .. }), "{error:?}");
    server.abort();
}

#[tokio::test]
async fn a_slow_server_ends_in_a_deadline_that_it_was_told() {
    let server = Double::start([Answer::Late(Duration::from_secs(20))]).await;
    let client = Client::builder(server.target()).timeout(Duration::from_millis(200)).build().unwrap();
    let error = compress(&client).await.unwrap_err();
    assert!(matches!(error, Error::DeadlineExceeded { .. }), "{error:?}");
    assert!(error.to_string().contains("200ms"), "{error}");
    let seen = server.seen();
    assert_eq!(seen.len(), 1);
    assert!(seen[0].metadata.contains_key("grpc-timeout"));
    // A client of its own timeout, for one call.
    server.plan(Answer::Late(Duration::from_millis(400)));
    compress(&client.with_timeout(Duration::from_secs(10))).await.unwrap();
}

#[tokio::test]
async fn a_slow_stream_ends_in_a_deadline_too() {
    let server = Double::start([Answer::Late(Duration::from_secs(20))]).await;
    let client = Client::builder(server.target()).timeout(Duration::from_millis(300)).build().unwrap();
    let mut stream = client.stream_compress(BODY, CompressRequest::default()).await.unwrap();
    assert!(matches!(stream.next().await, Ok(Some(Event::Progress(_)))));
    assert!(matches!(stream.next().await, Err(Error::DeadlineExceeded { .. })));
    assert!(matches!(stream.next().await, Ok(None)));
}

#[tokio::test]
async fn a_stream_gives_its_events_and_then_the_result() {
    let server = Double::start([Answer::Prepend(" ".into()), Answer::Refuse(refusal("SOMETHING", &[]))]).await;
    let client = Client::connect(server.target()).unwrap();
    let mut stream = client.stream_compress(BODY, CompressRequest::default()).await.unwrap();
    assert!(matches!(stream.next().await, Ok(Some(Event::Progress(_)))));
    let Ok(Some(Event::Result(reply))) = stream.next().await else { panic!("no result") };
    assert_eq!(reply.body, format!(" {BODY}"));
    assert_eq!(stream.next().await, Ok(None));
    let stream = client.stream_compress(BODY, CompressRequest::default()).await.unwrap();
    assert!(matches!(stream.result().await, Err(Error::Refused { .. })));
}

#[tokio::test]
async fn unavailable_is_tried_four_times_and_what_names_no_time_is_not() {
    let server = Double::start([unavailable(), unavailable()]).await;
    let client = Client::connect(server.target()).unwrap();
    compress(&client).await.unwrap();
    assert_eq!(server.seen().len(), 3);

    (0..4).for_each(|_| server.plan(unavailable()));
    assert!(matches!(compress(&client).await, Err(Error::Unavailable { .. })));
    assert_eq!(server.seen().len(), 4);

    for code in [Code::Internal, Code::ResourceExhausted, Code::FailedPrecondition, Code::Aborted, Code::Unknown] {
        server.plan(Answer::Refuse(Status::new(code, "no")));
        assert_eq!(compress(&client).await.unwrap_err().code(), code);
        assert_eq!(server.seen().len(), 1, "{code:?}");
    }
}

#[tokio::test]
async fn a_server_that_asks_for_a_long_pause_is_left_alone() {
    let later = ErrorDetails::with_retry_info(Some(Duration::from_secs(60)));
    let status = Status::with_error_details(Code::Unavailable, "the server is shutting down", later);
    let server = Double::start([Answer::Refuse(status)]).await;
    let error = compress(&Client::connect(server.target()).unwrap()).await.unwrap_err();
    assert_eq!(error.retry_after(), Some(Duration::from_secs(60)));
    assert_eq!(server.seen().len(), 1);
}

fn busy(retry_after: Duration) -> Answer {
    let details = ErrorDetails::with_retry_info(Some(retry_after));
    Answer::Refuse(Status::with_error_details(Code::ResourceExhausted, "busy", details))
}

#[tokio::test]
async fn an_overloaded_server_is_tried_again_when_it_says() {
    let soon = Duration::from_millis(1);
    let server = Double::start([busy(soon), busy(soon)]).await;
    let client = Client::connect(server.target()).unwrap();
    compress(&client).await.unwrap();
    assert_eq!(server.seen().len(), 3);

    (0..4).for_each(|_| server.plan(busy(soon)));
    assert_eq!(compress(&client).await.unwrap_err().retry_after(), Some(soon));
    assert_eq!(server.seen().len(), 4);

    // Not where the time is beyond the longest pause, or beyond the deadline.
    server.plan(busy(Duration::from_millis(2001)));
    assert!(matches!(compress(&client).await, Err(Error::Overloaded { .. })));
    server.plan(busy(Duration::from_secs(1)));
    let hurried = client.with_timeout(Duration::from_millis(900));
    assert!(matches!(compress(&hurried).await, Err(Error::Overloaded { .. })));
    assert_eq!(server.seen().len(), 2);
}

#[tokio::test]
async fn refusals_are_typed() {
    let server = Double::start([
        Answer::Refuse(refusal("TOO_MANY_MARKS", &[("message_index", "4")])),
        busy(Duration::from_secs(60)),
        Answer::Refuse(Status::unauthenticated("who are you")),
        Answer::Refuse(Status::permission_denied("not you")),
        Answer::Refuse(Status::internal("internal error, logged as 0123456789abcdef")),
    ])
    .await;
    let client = Client::connect(server.target()).unwrap();
    let refused = compress(&client).await.unwrap_err();
    assert_eq!((refused.reason(), refused.index()), (Some("TOO_MANY_MARKS"), Some(4)));
    assert_eq!(compress(&client).await.unwrap_err().retry_after(), Some(Duration::from_secs(60)));
    assert!(matches!(compress(&client).await, Err(Error::Unauthenticated { .. })));
    assert!(matches!(compress(&client).await, Err(Error::PermissionDenied { .. })));
    assert!(
        matches!(compress(&client).await, Err(Error::Internal { error_id: Some(id), .. }) if id == "0123456789abcdef")
    );
}

#[tokio::test]
async fn calls_take_turns_over_servers_and_pass_over_one_that_is_down() {
    let (one, two) = (Double::start([]).await, Double::start([]).await);
    let client = Client::builder(one.target()).endpoint(two.target()).build().unwrap();
    for _ in 0..6 {
        compress(&client).await.unwrap();
    }
    assert_eq!((one.seen().len(), two.seen().len()), (3, 3));

    let client = Client::builder(nobody().to_string()).endpoint(two.target()).build().unwrap();
    for _ in 0..6 {
        compress(&client).await.unwrap();
    }
    assert_eq!(two.seen().len(), 6);

    // One that drains is passed over in the same way.
    one.plan(unavailable());
    let client = Client::builder(one.target()).endpoint(two.target()).build().unwrap();
    compress(&client).await.unwrap();
    assert_eq!((one.seen().len(), two.seen().len()), (1, 1));
}

#[tokio::test]
async fn what_fails_behind_a_server_is_no_reason_to_go_to_another_at_once() {
    let facts = std::collections::HashMap::<String, String>::new();
    let mut details = ErrorDetails::with_error_info("SUMMARIZER_FAILED", "elbowroom", facts);
    details.set_retry_info(Some(Duration::from_secs(30)));
    let failed = Status::with_error_details(Code::Unavailable, "the summarizer failed", details);
    let (one, two) = (Double::start([Answer::Refuse(failed)]).await, Double::start([]).await);
    let client = Client::builder(one.target()).endpoint(two.target()).build().unwrap();
    let error = compress(&client).await.unwrap_err();
    assert_eq!((error.reason(), error.retry_after()), (Some("SUMMARIZER_FAILED"), Some(Duration::from_secs(30))));
    assert!(two.seen().is_empty());
}

#[tokio::test]
async fn large_messages_pass_and_larger_ones_are_refused_before_they_travel() {
    let server = Double::start([Answer::Prepend(" ".repeat(6 << 20))]).await;
    let client = Client::connect(server.target()).unwrap();
    let body = format!(r#"[{{"role":"system","content":"{}"}}]"#, "x".repeat(6 << 20));
    let reply = client.compress(&body, CompressRequest::default()).await.unwrap();
    assert_eq!(reply.body.len(), body.len() + (6 << 20));
    server.seen();

    let body = format!(r#"[{{"role":"system","content":"{}"}}]"#, "x".repeat(64 << 20));
    let error = client.count_tokens(&body, CountTokensRequest::default()).await.unwrap_err();
    assert!(matches!(&error, Error::InvalidRequest { field: Some(f), .. } if f == "conversation.native"), "{error:?}");
    assert!(server.seen().is_empty());
}

#[tokio::test]
async fn a_body_of_no_format_asks_for_it_and_broken_json_is_located() {
    let server = Double::start([]).await;
    let client = Client::connect(server.target()).unwrap();
    let plain = r#"[{"role":"user","content":"hi"}]"#;
    let error = client.compress(plain, CompressRequest::default()).await.unwrap_err();
    assert_eq!(error, Error::UnknownFormat);
    assert!(error.advice().contains("with_format"));
    assert!(error.to_string().contains("body.with_format(Format::OpenaiChat)"), "{error}");
    let error = client.compress(r#"[{"role":}]"#, CompressRequest::default()).await.unwrap_err();
    assert!(matches!(error, Error::InvalidRequest { byte_offset: Some(9), .. }), "{error:?}");
    assert!(server.seen().is_empty());
}
