//! The sessions: any number at once, each with commands one after the other.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::json;
use tokio::sync::Mutex as Turn;
use tokio::task::spawn_blocking;
use uuid::Uuid;
use webdriver::command::{NewSessionParameters, WebDriverCommand};
use webdriver::error::{ErrorStatus, WebDriverError, WebDriverResult};
use webdriver::response::{CloseWindowResponse, NewSessionResponse, ValueResponse, WebDriverResponse};

use crate::capabilities::Agreement;
use crate::force_sample::ForceSample;
use crate::pages::{PageHost, PageOptions, Pages};
use crate::router::Message;
use crate::session::Session;

/// How many sessions there may be: each has a process of its own.
const MAX_SESSIONS: usize = 32;

pub struct Sessions {
    host: Arc<dyn PageHost>,
    /// Shared with the threads that start sessions.
    open: Arc<Mutex<HashMap<String, Entry>>>,
}

/// A session, and what ends it while a command is under way.
#[derive(Clone)]
struct Entry {
    session: Arc<Turn<Session>>,
    pages: Arc<dyn Pages>,
}

impl Sessions {
    pub fn new(host: Arc<dyn PageHost>) -> Self {
        Self { host, open: Arc::default() }
    }

    /// Does a command when its turn has come.
    pub async fn handle(&self, message: Message) -> WebDriverResult<WebDriverResponse> {
        let Message { session_id, command } = message;
        match (session_id, command) {
            (_, WebDriverCommand::Status) => Ok(self.status()),
            (_, WebDriverCommand::NewSession(parameters)) => self.begin(parameters).await,
            // It does not wait for a script that may run for ever.
            (Some(id), WebDriverCommand::DeleteSession) => {
                self.entry(&id)?;
                self.end(&id);
                Ok(WebDriverResponse::DeleteSession)
            }
            (Some(id), command) => self.command(id, command).await,
            (None, _) => {
                Err(WebDriverError::new(ErrorStatus::InvalidSessionId, "the command needs a session"))
            }
        }
    }

    /// Ends all of them.
    pub fn end_all(&self) {
        for (_, entry) in lock(&self.open).drain() {
            entry.pages.end();
        }
    }

    fn status(&self) -> WebDriverResponse {
        let count = lock(&self.open).len();
        let message = match count {
            1 => "1 session is open".to_owned(),
            count => format!("{count} sessions are open"),
        };
        let value = json!({ "ready": count < MAX_SESSIONS, "message": message });
        WebDriverResponse::Generic(ValueResponse(value))
    }

    async fn begin(&self, parameters: NewSessionParameters) -> WebDriverResult<WebDriverResponse> {
        let agreement = Agreement::reach(&parameters)?;
        let capabilities = agreement.describe();
        let (host, open) = (Arc::clone(&self.host), Arc::clone(&self.open));
        let full = || {
            let message = format!("{MAX_SESSIONS} sessions are open; end one first");
            WebDriverError::new(ErrorStatus::SessionNotCreated, message)
        };
        if lock(&open).len() >= MAX_SESSIONS {
            return Err(full());
        }
        let id = on_thread(move || {
            let options =
                PageOptions { accepts_insecure_certificates: agreement.accepts_insecure_certificates };
            let not_created =
                |error: crate::CallError| WebDriverError::new(ErrorStatus::SessionNotCreated, error.message);
            let pages = host.start(&options).map_err(not_created)?;
            let session = Session::open(Arc::clone(&pages), agreement).inspect_err(|_| pages.end())?;
            let id = Uuid::new_v4().to_string();
            let mut open = lock(&open);
            if open.len() >= MAX_SESSIONS {
                pages.end();
                return Err(full());
            }
            open.insert(id.clone(), Entry { session: Arc::new(Turn::new(session)), pages });
            Ok(id)
        })
        .await?;
        Ok(WebDriverResponse::NewSession(NewSessionResponse::new(id, capabilities)))
    }

    async fn command(
        &self,
        id: String,
        command: WebDriverCommand<ForceSample>,
    ) -> WebDriverResult<WebDriverResponse> {
        let mut session = self.entry(&id)?.session.lock_owned().await;
        // It may have ended while its turn was waited for.
        self.entry(&id)?;
        let result = on_thread(move || session.perform(command)).await;
        match &result {
            Ok(WebDriverResponse::CloseWindow(CloseWindowResponse(left))) if left.is_empty() => self.end(&id),
            Err(_) if self.entry(&id).is_err() => {
                return Err(WebDriverError::new(
                    ErrorStatus::InvalidSessionId,
                    "the session was ended meanwhile",
                ));
            }
            _ => {}
        }
        result
    }

    fn entry(&self, id: &str) -> WebDriverResult<Entry> {
        lock(&self.open).get(id).cloned().ok_or_else(|| {
            WebDriverError::new(ErrorStatus::InvalidSessionId, format!("there is no session {id}"))
        })
    }

    fn end(&self, id: &str) {
        let entry = lock(&self.open).remove(id);
        if let Some(entry) = entry {
            entry.pages.end();
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits on another thread than the one that serves.
async fn on_thread<T: Send + 'static>(
    work: impl FnOnce() -> WebDriverResult<T> + Send + 'static,
) -> WebDriverResult<T> {
    spawn_blocking(work).await.unwrap_or_else(|_| {
        Err(WebDriverError::new(
            ErrorStatus::UnknownError,
            "the command was not done: this is a bug of selfprof",
        ))
    })
}
