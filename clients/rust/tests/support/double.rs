//! A double of the service: it answers as it is told, and remembers what it was asked.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use elbowroom::v1::context_service_server::{ContextService, ContextServiceServer};
use elbowroom::v1::native_request::Body as NativeBody;
use elbowroom::v1::{self, stream_compress_response};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_stream::Stream;
use tokio_stream::wrappers::TcpListenerStream;
use tonic::metadata::MetadataMap;
use tonic::transport::{Server, ServerTlsConfig};
use tonic::{Request, Response, Status};

/// What the double does with a call.
pub enum Answer {
    Refuse(Status),
    /// Waits for that long and then answers as usual.
    Late(Duration),
    /// Puts a text in front of the body.
    Prepend(String),
    /// Puts a text in place of the body, which begins with the first.
    Replace(String, String),
}

/// A call that came in.
pub struct Seen {
    pub metadata: MetadataMap,
    pub native: Option<v1::NativeRequest>,
    pub last_usage: Option<v1::Usage>,
    pub compression_state: Vec<u8>,
    pub cache_state: Vec<u8>,
}

#[derive(Default)]
struct State {
    plan: VecDeque<Answer>,
    seen: Vec<Seen>,
}

/// A running double. It stops with this value.
pub struct Double {
    pub address: SocketAddr,
    state: Arc<Mutex<State>>,
    task: JoinHandle<()>,
}

impl Double {
    pub async fn start(plan: impl IntoIterator<Item = Answer>) -> Self {
        Self::start_at("127.0.0.1:0".parse().unwrap(), plan, None).await
    }

    pub async fn start_at(
        address: SocketAddr,
        plan: impl IntoIterator<Item = Answer>,
        tls: Option<ServerTlsConfig>,
    ) -> Self {
        let listener = TcpListener::bind(address).await.unwrap();
        let address = listener.local_addr().unwrap();
        let state = Arc::new(Mutex::new(State { plan: plan.into_iter().collect(), seen: Vec::new() }));
        let service = ContextServiceServer::new(Service(Arc::clone(&state)))
            .max_decoding_message_size(usize::MAX)
            .max_encoding_message_size(usize::MAX);
        let mut server = Server::builder();
        if let Some(tls) = tls {
            server = server.tls_config(tls).unwrap();
        }
        let task = tokio::spawn(async move {
            server.add_service(service).serve_with_incoming(TcpListenerStream::new(listener)).await.unwrap();
        });
        Self { address, state, task }
    }

    pub fn target(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn plan(&self, answer: Answer) {
        self.state.lock().unwrap().plan.push_back(answer);
    }

    /// The calls since the last time.
    pub fn seen(&self) -> Vec<Seen> {
        std::mem::take(&mut self.state.lock().unwrap().seen)
    }
}

impl Drop for Double {
    fn drop(&mut self) {
        self.task.abort();
    }
}

struct Service(Arc<Mutex<State>>);

impl Service {
    /// Remembers a call and carries out what is planned for it: the splices of its answer.
    async fn answer(&self, seen: Seen) -> Result<Vec<v1::Splice>, Status> {
        let body = match seen.native.as_ref().and_then(|n| n.body.as_ref()) {
            Some(NativeBody::Json(text)) => text.clone(),
            _ => String::new(),
        };
        let answer = {
            let mut state = self.0.lock().unwrap();
            state.seen.push(seen);
            state.plan.pop_front()
        };
        match answer {
            None => Ok(Vec::new()),
            Some(Answer::Refuse(status)) => Err(status),
            Some(Answer::Late(delay)) => {
                tokio::time::sleep(delay).await;
                Ok(Vec::new())
            }
            Some(Answer::Prepend(text)) => Ok(vec![v1::Splice { offset: 0, length: 0, text }]),
            Some(Answer::Replace(begin, text)) => {
                assert!(body.starts_with(&begin), "{body}");
                Ok(vec![v1::Splice { offset: 0, length: body.len() as i64, text }])
            }
        }
    }
}

fn seen<T>(request: &Request<T>, conversation: Option<&v1::Conversation>) -> Seen {
    Seen {
        metadata: request.metadata().clone(),
        native: conversation.and_then(|c| c.native.clone()),
        last_usage: None,
        compression_state: Vec::new(),
        cache_state: Vec::new(),
    }
}

#[tonic::async_trait]
impl ContextService for Service {
    type StreamCompressStream = Pin<Box<dyn Stream<Item = Result<v1::StreamCompressResponse, Status>> + Send>>;

    async fn compress(&self, request: Request<v1::CompressRequest>) -> Result<Response<v1::CompressResponse>, Status> {
        let splices = self.answer(seen(&request, request.get_ref().conversation.as_ref())).await?;
        Ok(Response::new(v1::CompressResponse { splices, ..Default::default() }))
    }

    /// Progress, then nothing for as long as is planned, then the result.
    async fn stream_compress(
        &self,
        request: Request<v1::StreamCompressRequest>,
    ) -> Result<Response<Self::StreamCompressStream>, Status> {
        let conversation = request.get_ref().request.as_ref().and_then(|r| r.conversation.as_ref());
        let seen = seen(&request, conversation);
        let state = Arc::clone(&self.0);
        let (sender, receiver) = tokio::sync::mpsc::channel(1);
        tokio::spawn(async move {
            let progress = stream_compress_response::Event::Progress(v1::CompressProgress::default());
            let _ = sender.send(Ok(v1::StreamCompressResponse { event: Some(progress) })).await;
            let result = Self(state).answer(seen).await.map(|splices| v1::StreamCompressResponse {
                event: Some(stream_compress_response::Event::Result(v1::CompressResponse {
                    splices,
                    ..Default::default()
                })),
            });
            let _ = sender.send(result).await;
        });
        Ok(Response::new(Box::pin(tokio_stream::wrappers::ReceiverStream::new(receiver))))
    }

    async fn apply_cache_control(
        &self,
        _: Request<v1::ApplyCacheControlRequest>,
    ) -> Result<Response<v1::ApplyCacheControlResponse>, Status> {
        Err(Status::unimplemented("not doubled"))
    }

    async fn count_tokens(
        &self,
        request: Request<v1::CountTokensRequest>,
    ) -> Result<Response<v1::CountTokensResponse>, Status> {
        self.answer(seen(&request, request.get_ref().conversation.as_ref())).await?;
        Ok(Response::new(v1::CountTokensResponse::default()))
    }

    /// States of one byte come with every answer, and what changes a body is a compression. A delta is as unknown here as after a
    /// restart.
    async fn prepare(&self, request: Request<v1::PrepareRequest>) -> Result<Response<v1::PrepareResponse>, Status> {
        let message = request.get_ref();
        let seen = Seen {
            last_usage: message.last_usage,
            compression_state: message.compression_state.clone(),
            cache_state: message.cache_state.clone(),
            ..seen(&request, message.conversation.as_ref())
        };
        let delta = matches!(seen.native.as_ref().and_then(|n| n.body.as_ref()), Some(NativeBody::Delta(_)));
        let splices = self.answer(seen).await?;
        if delta {
            return Err(refusal("BASE_UNKNOWN", &[]));
        }
        let outcome = if splices.is_empty() { v1::Outcome::BelowThreshold } else { v1::Outcome::Compressed };
        Ok(Response::new(v1::PrepareResponse {
            outcome: outcome.into(),
            splices,
            compression_state: vec![7],
            cache_state: vec![8],
            ..Default::default()
        }))
    }

    async fn simulate_cache(
        &self,
        _: Request<v1::SimulateCacheRequest>,
    ) -> Result<Response<v1::SimulateCacheResponse>, Status> {
        Err(Status::unimplemented("not doubled"))
    }

    async fn list_models(
        &self,
        request: Request<v1::ListModelsRequest>,
    ) -> Result<Response<v1::ListModelsResponse>, Status> {
        self.answer(seen(&request, None)).await?;
        Ok(Response::new(v1::ListModelsResponse::default()))
    }
}

/// FAILED_PRECONDITION as the service says it.
pub fn refusal(reason: &str, facts: &[(&str, &str)]) -> Status {
    use tonic_types::StatusExt as _;
    let facts: std::collections::HashMap<String, String> =
        facts.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    let details = tonic_types::ErrorDetails::with_error_info(reason, "elbowroom", facts);
    Status::with_error_details(tonic::Code::FailedPrecondition, reason.to_lowercase(), details)
}
