//! One call: which server, with which deadline, and how often. tonic knows no service config, so the policy that the other clients
//! state there is carried out here.

use std::hash::{BuildHasher, RandomState};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::time::{Instant, sleep, timeout_at};
use tonic::metadata::MetadataMap;
use tonic::transport::Channel;
use tonic::{Request, Response, Status};

use crate::client::{MAX_RECEIVED_BYTES, MAX_SENT_BYTES};
use crate::error::Error;
use crate::v1::context_service_client::ContextServiceClient;

pub(crate) type Stub = ContextServiceClient<Channel>;

/// How often a call is made that finds no server or an overloaded one, the first time included.
const ATTEMPTS: u32 = 4;
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);
/// How long a server that could not be reached is passed over while another one can be.
const REST: Duration = Duration::from_secs(1);

/// The servers of a client.
#[derive(Debug)]
pub(crate) struct Endpoints {
    all: Vec<Place>,
    next: AtomicUsize,
}

#[derive(Debug)]
struct Place {
    channel: Channel,
    rests_until: Mutex<Option<Instant>>,
}

impl Place {
    fn rests(&self) -> bool {
        self.rests_until.lock().is_ok_and(|until| until.is_some_and(|t| t > Instant::now()))
    }

    fn mark(&self, reached: bool) {
        if let Ok(mut until) = self.rests_until.lock() {
            *until = (!reached).then(|| Instant::now() + REST);
        }
    }
}

impl Endpoints {
    pub fn new(channels: Vec<Channel>) -> Self {
        let all = channels.into_iter().map(|channel| Place { channel, rests_until: Mutex::new(None) }).collect();
        Self { all, next: AtomicUsize::new(0) }
    }

    /// The server whose turn it is; those that rest come last.
    fn pick(&self) -> &Place {
        let turn = self.next.fetch_add(1, Ordering::Relaxed);
        let count = self.all.len();
        let order = || (0..count).map(|i| &self.all[turn.wrapping_add(i) % count]);
        order().find(|place| !place.rests()).unwrap_or(&self.all[turn % count])
    }

    fn someone_is_awake(&self) -> bool {
        self.all.iter().any(|place| !place.rests())
    }
}

/// What a call takes with it.
pub(crate) struct Call<'a> {
    pub endpoints: &'a Endpoints,
    pub metadata: MetadataMap,
    pub timeout: Duration,
}

impl Call<'_> {
    /// Makes a unary call, again while time is left and the service is unavailable, or overloaded and says until when.
    pub async fn unary<Req, Resp, Fut>(
        self,
        message: Req,
        call: impl Fn(Stub, Request<Req>) -> Fut,
    ) -> Result<Resp, Error>
    where
        Req: Clone,
        Fut: Future<Output = Result<Response<Resp>, Status>>,
    {
        let deadline = Instant::now() + self.timeout;
        let mut message = Some(message);
        let mut attempt = 1;
        loop {
            let place = self.endpoints.pick();
            let last = attempt == ATTEMPTS;
            // A body can be large: the last attempt takes it, those before it copy it.
            let Some(body) = (if last { message.take() } else { message.clone() }) else {
                return Err(Error::Internal { message: "no attempt is left".to_owned(), error_id: None });
            };
            let request = self.request(body, deadline);
            let error = match timeout_at(deadline, call(stub(&place.channel), request)).await {
                Ok(Ok(response)) => {
                    place.mark(true);
                    return Ok(response.into_inner());
                }
                Ok(Err(status)) => Error::from(status),
                Err(_) => return Err(self.too_late()),
            };
            if matches!(error, Error::DeadlineExceeded { .. }) {
                return Err(self.too_late());
            }
            let reached = match &error {
                // With a reason the server itself answers: what failed stands behind it, and behind the others too.
                Error::Unavailable { reason, .. } => reason.is_some(),
                // Without a time it is the size of the request.
                Error::Overloaded { retry_after: Some(_), .. } => true,
                _ => return Err(error),
            };
            place.mark(reached);
            let elsewhere = !reached && self.endpoints.someone_is_awake();
            let pause = if elsewhere { Duration::ZERO } else { pause(attempt, error.retry_after()) };
            // Waiting for what cannot come in time would only hide why.
            if last || pause > LONGEST_PAUSE || Instant::now() + pause >= deadline {
                return Err(error);
            }
            sleep(pause).await;
            attempt += 1;
        }
    }

    /// The server for a streamed call, its request, and the time at which the stream must have ended. Streams are not retried.
    pub fn stream<Req>(&self, message: Req) -> (Stub, Request<Req>, Instant) {
        let deadline = Instant::now() + self.timeout;
        (stub(&self.endpoints.pick().channel), self.request(message, deadline), deadline)
    }

    fn request<Req>(&self, message: Req, deadline: Instant) -> Request<Req> {
        let mut request = Request::new(message);
        *request.metadata_mut() = self.metadata.clone();
        request.set_timeout(deadline.saturating_duration_since(Instant::now()));
        request
    }

    pub fn too_late(&self) -> Error {
        too_late(self.timeout)
    }
}

pub(crate) fn too_late(timeout: Duration) -> Error {
    Error::DeadlineExceeded { message: format!("no answer within {timeout:?}") }
}

fn stub(channel: &Channel) -> Stub {
    Stub::new(channel.clone()).max_encoding_message_size(MAX_SENT_BYTES).max_decoding_message_size(MAX_RECEIVED_BYTES)
}

/// How long to wait after an attempt: what the server asks for, at least 0.1 s doubled each time up to 2 s, a fifth more or less so
/// that clients do not come back together.
fn pause(attempt: u32, asked: Option<Duration>) -> Duration {
    let doubled = FIRST_PAUSE.saturating_mul(1 << (attempt - 1)).min(LONGEST_PAUSE);
    let spread = 0.8 + 0.4 * (random() as f64 / u64::MAX as f64);
    doubled.mul_f64(spread).min(LONGEST_PAUSE).max(asked.unwrap_or_default())
}

/// A random number. The standard library seeds its hash maps from the system; that is good enough for pauses and names.
pub(crate) fn random() -> u64 {
    RandomState::new().hash_one(0_u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_two_seconds_and_honour_the_server() {
        for (attempt, low, high) in [(1, 80, 120), (2, 160, 240), (3, 320, 480), (6, 1600, 2000)] {
            let got = pause(attempt, None).as_millis();
            assert!((low..=high).contains(&got), "attempt {attempt}: {got} ms");
        }
        assert_eq!(pause(1, Some(Duration::from_secs(7))), Duration::from_secs(7));
    }

    #[tokio::test]
    async fn servers_take_turns_and_those_that_rest_come_last() {
        let channel = || tonic::transport::Endpoint::from_static("http://127.0.0.1:1").connect_lazy();
        let servers = Endpoints::new(vec![channel(), channel(), channel()]);
        let at = |place: &Place| servers.all.iter().position(|p| std::ptr::eq(p, place)).unwrap();
        assert_eq!([at(servers.pick()), at(servers.pick()), at(servers.pick()), at(servers.pick())], [0, 1, 2, 0]);
        servers.all[1].mark(false);
        assert_eq!([at(servers.pick()), at(servers.pick())], [2, 2]);
        for place in &servers.all {
            place.mark(false);
        }
        assert!(!servers.someone_is_awake());
        servers.pick(); // someone has to try
        servers.all[0].mark(true);
        assert_eq!(at(servers.pick()), 0);
    }
}
