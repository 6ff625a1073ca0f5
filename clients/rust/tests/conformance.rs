//! Runs the cases that all clients share against a real server: each through the generated stub and, where it takes a native
//! conversation as text, through the client's own method. It prints a line a case.

mod support;

use std::collections::HashSet;
use std::process::ExitCode;

use elbowroom::v1::context_service_client::ContextServiceClient;
use elbowroom::v1::native_request::Body as NativeBody;
use elbowroom::v1::stream_compress_response::Event as WireEvent;
use elbowroom::v1::{self, NativeRequest};
use elbowroom::{Client, Error};
use prost_reflect::prost::Message;
use prost_reflect::{DescriptorPool, DynamicMessage, SerializeOptions};
use serde::Deserialize;
use serde_json::Value;
use tonic::transport::Channel;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    call: String,
    #[serde(default)]
    before: Vec<Step>,
    #[serde(default)]
    carry: Vec<String>,
    request: Value,
    expect: Expect,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Step {
    call: String,
    request: Value,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expect {
    response: Option<Value>,
    json: Option<String>,
    error: Option<Failure>,
}

#[derive(Deserialize, Debug, Default)]
#[serde(deny_unknown_fields)]
struct Failure {
    code: String,
    reason: Option<String>,
    index: Option<u32>,
    field: Option<String>,
    byte_offset: Option<u64>,
}

impl Failure {
    /// Reads a typed error: what the stub gives goes through the same type as what the client gives.
    fn of(error: &Error) -> Self {
        let mut failure = Self {
            code: code_name(error.code()),
            reason: error.reason().map(str::to_owned),
            index: error.index(),
            ..Self::default()
        };
        match error {
            Error::InvalidRequest { field, byte_offset, .. } => {
                failure.field.clone_from(field);
                failure.byte_offset = *byte_offset;
            }
            // The client asks for the format before the service can.
            Error::UnknownFormat => failure.field = Some("conversation.native.format".to_owned()),
            _ => {}
        }
        failure
    }

    fn check(&self, got: &Result<String, Error>) -> Result<(), String> {
        let error = match got {
            Ok(_) => return Err(format!("no error, want {self:?}")),
            Err(error) => Self::of(error),
        };
        let same = self.code == error.code
            && (self.reason.is_none() || self.reason == error.reason)
            && (self.index.is_none() || self.index == error.index)
            && (self.field.is_none() || self.field == error.field)
            && (self.byte_offset.is_none() || self.byte_offset == error.byte_offset);
        if same { Ok(()) } else { Err(format!("got {error:?}, want {self:?}")) }
    }
}

/// The code as the specification of gRPC spells it.
fn code_name(code: tonic::Code) -> String {
    let name = format!("{code:?}");
    let upper = |(i, c): (usize, char)| {
        let gap = (i > 0 && c.is_uppercase()).then_some('_');
        gap.into_iter().chain(c.to_uppercase())
    };
    name.char_indices().flat_map(upper).collect()
}

/// Protobuf JSON by the published descriptor set.
struct Protobuf(DescriptorPool);

impl Protobuf {
    fn read<M: Message + Default>(&self, name: &str, json: &Value) -> M {
        let descriptor = self.0.get_message_by_name(&format!("elbowroom.v1.{name}")).unwrap();
        let message = DynamicMessage::deserialize(descriptor, json).unwrap_or_else(|e| panic!("{name}: {e}"));
        M::decode(message.encode_to_vec().as_slice()).unwrap()
    }

    fn write<M: Message>(&self, name: &str, message: &M) -> Value {
        let descriptor = self.0.get_message_by_name(&format!("elbowroom.v1.{name}")).unwrap();
        let message = DynamicMessage::decode(descriptor, message.encode_to_vec().as_slice()).unwrap();
        let options = SerializeOptions::new().use_proto_field_name(true);
        message.serialize_with_options(serde_json::value::Serializer, &options).unwrap()
    }
}

/// An answer: its protobuf JSON, and the native text that it makes of the request's.
struct Answer {
    response: Value,
    json: Option<String>,
}

struct Runner {
    protobuf: Protobuf,
    stub: ContextServiceClient<Channel>,
    client: Client,
}

impl Runner {
    async fn run(&self, case: &Case) -> Result<(), String> {
        let mut last = Value::Null;
        for step in &case.before {
            last = self.raw(&step.call, &step.request).await.map_err(|e| format!("before: {e}"))?.response;
        }
        let mut request = case.request.clone();
        for name in &case.carry {
            request[name] = last.get(name).cloned().ok_or_else(|| format!("nothing to carry as {name}"))?;
        }
        let raw = self.raw(&case.call, &request).await;
        let wrapped = self.wrapped(&case.call, &request).await;
        if let Some(want) = &case.expect.error {
            want.check(&raw.map(|_| String::new())).map_err(|e| format!("stub: {e}"))?;
            return wrapped.map_or(Ok(()), |got| want.check(&got).map_err(|e| format!("client: {e}")));
        }
        let raw = raw.map_err(|e| format!("stub: {e}"))?;
        if let Some(want) = &case.expect.response {
            subset("response", want, Some(&raw.response))?;
        }
        // A delta's base is not at hand here.
        if let (Some(want), Some(got)) = (&case.expect.json, &raw.json)
            && want != got
        {
            return Err(format!("stub: json is\n{got}\nwant\n{want}"));
        }
        match wrapped {
            None => Ok(()),
            Some(Err(error)) => Err(format!("client: {error:?}")),
            Some(Ok(got)) => match case.expect.json.as_ref().or(raw.json.as_ref()) {
                Some(want) if *want != got => Err(format!("client: json is\n{got}\nwant\n{want}")),
                _ => Ok(()),
            },
        }
    }

    /// The call as it stands, through the stub.
    async fn raw(&self, call: &str, request: &Value) -> Result<Answer, Error> {
        let mut stub = self.stub.clone();
        macro_rules! unary {
            ($request:ident, $response:ident, $method:ident) => {{
                let request: v1::$request = self.protobuf.read(stringify!($request), request);
                let response = stub.$method(request).await?.into_inner();
                self.protobuf.write(stringify!($response), &response)
            }};
        }
        let response = match call {
            "compress" => unary!(CompressRequest, CompressResponse, compress),
            "apply_cache_control" => {
                unary!(ApplyCacheControlRequest, ApplyCacheControlResponse, apply_cache_control)
            }
            "count_tokens" => unary!(CountTokensRequest, CountTokensResponse, count_tokens),
            "prepare" => unary!(PrepareRequest, PrepareResponse, prepare),
            "simulate_cache" => unary!(SimulateCacheRequest, SimulateCacheResponse, simulate_cache),
            "list_models" => unary!(ListModelsRequest, ListModelsResponse, list_models),
            "stream_compress" => {
                let request: v1::StreamCompressRequest = self.protobuf.read("StreamCompressRequest", request);
                let mut events = stub.stream_compress(request).await?.into_inner();
                let mut last = None;
                while let Some(event) = events.message().await? {
                    last = event.event;
                }
                let Some(WireEvent::Result(response)) = last else { panic!("the last event is no result: {last:?}") };
                self.protobuf.write("CompressResponse", &response)
            }
            _ => panic!("no such call: {call}"),
        };
        let native = response.get("conversation").and_then(|c| c.get("native"));
        let json = match native {
            Some(native) => {
                let native: NativeRequest = self.protobuf.read("NativeRequest", native);
                Some(text_of(&native).expect("a response holds its conversation in full"))
            }
            None => native_of(call, request)
                .and_then(|native| text_of(&self.protobuf.read("NativeRequest", native)))
                .filter(|_| call != "count_tokens")
                .map(|text| splice(&text, response.get("splices"))),
        };
        Ok(Answer { response, json })
    }

    /// The call through the client's own method. None: it has none for this request.
    async fn wrapped(&self, call: &str, request: &Value) -> Option<Result<String, Error>> {
        let native: NativeRequest = self.protobuf.read("NativeRequest", native_of(call, request)?);
        let inner = if call == "stream_compress" { request.get("request")? } else { request };
        macro_rules! call {
            ($method:ident, $request:literal) => {{
                let base = self.protobuf.read($request, inner);
                match &native.body {
                    Some(NativeBody::Json(text)) => self.client.$method(text, base).await.map(|reply| reply.body),
                    Some(NativeBody::JsonBytes(bytes)) => {
                        self.client.$method(bytes, base).await.map(|reply| String::from_utf8(reply.body).unwrap())
                    }
                    _ => return None,
                }
            }};
        }
        Some(match call {
            "compress" => call!(compress, "CompressRequest"),
            "apply_cache_control" => call!(apply_cache_control, "ApplyCacheControlRequest"),
            "prepare" => call!(prepare, "PrepareRequest"),
            "count_tokens" => {
                let base = self.protobuf.read("CountTokensRequest", inner);
                match &native.body {
                    Some(NativeBody::Json(text)) => self.client.count_tokens(text, base).await,
                    Some(NativeBody::JsonBytes(bytes)) => self.client.count_tokens(bytes, base).await,
                    _ => return None,
                }
                .map(|_| text_of(&native).unwrap())
            }
            "stream_compress" => {
                let base = self.protobuf.read("CompressRequest", inner);
                let text = text_of(&native)?;
                match self.client.stream_compress(&text, base).await {
                    Ok(stream) => stream.result().await.map(|reply| reply.body),
                    Err(error) => Err(error),
                }
            }
            _ => return None,
        })
    }
}

fn native_of<'a>(call: &str, request: &'a Value) -> Option<&'a Value> {
    let request = if call == "stream_compress" { request.get("request")? } else { request };
    request.get("conversation")?.get("native")
}

fn text_of(native: &NativeRequest) -> Option<String> {
    match native.body.as_ref()? {
        NativeBody::Json(text) => Some(text.clone()),
        NativeBody::JsonBytes(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
        NativeBody::Delta(_) => None,
    }
}

/// The runner's own way to apply splices: it must not share the client's.
fn splice(text: &str, splices: Option<&Value>) -> String {
    let mut text = text.as_bytes().to_vec();
    let number = |s: &Value, key: &str| s.get(key).map_or(0, |n| n.as_str().unwrap().parse::<usize>().unwrap());
    for s in splices.and_then(Value::as_array).into_iter().flatten().rev() {
        let start = number(s, "offset");
        let new = s.get("text").map_or("", |t| t.as_str().unwrap());
        text.splice(start..start + number(s, "length"), new.bytes());
    }
    String::from_utf8(text).unwrap()
}

/// Whether want is a part of got; else the first place where it is not.
fn subset(path: &str, want: &Value, got: Option<&Value>) -> Result<(), String> {
    let Some(got) = got else {
        return if is_default(want) { Ok(()) } else { Err(format!("{path}: missing, want {want}")) };
    };
    let same = match (want, got) {
        (Value::Object(want), Value::Object(got)) => {
            return want.iter().try_for_each(|(key, value)| subset(&format!("{path}.{key}"), value, got.get(key)));
        }
        (Value::Array(want), Value::Array(got)) if want.len() == got.len() => {
            let mut pairs = want.iter().zip(got).enumerate();
            return pairs.try_for_each(|(i, (want, got))| subset(&format!("{path}[{i}]"), want, Some(got)));
        }
        (Value::Number(want), Value::Number(got)) => want.as_f64() == got.as_f64(),
        _ => want == got,
    };
    if same { Ok(()) } else { Err(format!("{path}: got {got}, want {want}")) }
}

/// Whether protobuf JSON leaves a value out.
fn is_default(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(yes) => !yes,
        Value::Number(n) => n.as_f64() == Some(0.0),
        Value::String(s) => s.is_empty() || s == "0" || s.ends_with("_UNSPECIFIED"),
        Value::Array(list) => list.is_empty(),
        Value::Object(members) => members.is_empty(),
    }
}

fn cases() -> Vec<Case> {
    let folder = support::repository().join("clients/conformance");
    let Ok(entries) = std::fs::read_dir(&folder) else { return Vec::new() };
    let mut paths: Vec<_> =
        entries.map(|e| e.unwrap().path()).filter(|p| p.extension().is_some_and(|e| e == "json")).collect();
    paths.sort();
    let read = |path: std::path::PathBuf| {
        let text = std::fs::read_to_string(&path).unwrap();
        serde_json::from_str::<Vec<Case>>(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
    };
    paths.into_iter().flat_map(read).collect()
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let Some(server) = support::Server::get() else { return ExitCode::SUCCESS };
    let descriptors = std::fs::read(support::repository().join("gen/descriptor/elbowroom.binpb")).unwrap();
    let target = format!("http://{}", server.address);
    let runner = Runner {
        protobuf: Protobuf(DescriptorPool::decode(descriptors.as_slice()).unwrap()),
        stub: ContextServiceClient::connect(target.clone()).await.unwrap(),
        client: Client::connect(target).unwrap(),
    };
    let cases = cases();
    let mut names = HashSet::new();
    let mut failed = 0;
    for case in &cases {
        assert!(names.insert(&case.name), "the name {:?} is taken", case.name);
        match runner.run(case).await {
            Ok(()) => println!("ok   {}", case.name),
            Err(why) => {
                failed += 1;
                println!("FAIL {}: {why}", case.name);
            }
        }
    }
    println!("conformance: {} passed, {failed} failed", cases.len() - failed);
    if cases.is_empty() || failed > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
