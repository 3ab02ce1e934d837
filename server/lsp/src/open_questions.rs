//! Records which questions the client was asked and has not answered.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

/// The unanswered questions; a question is never open twice.
#[derive(Clone, Default)]
pub(crate) struct OpenQuestions(Arc<Mutex<BTreeSet<String>>>);

/// Marks one question as open until it is dropped.
pub(crate) struct OpenQuestionGuard {
    questions: OpenQuestions,
    key: String,
}

impl OpenQuestions {
    /// `None` if the same question is already open.
    pub(crate) fn try_open(&self, key: String) -> Option<OpenQuestionGuard> {
        let is_new = self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(key.clone());
        is_new.then(|| OpenQuestionGuard { questions: self.clone(), key })
    }
}

impl Drop for OpenQuestionGuard {
    fn drop(&mut self) {
        self.questions.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.key);
    }
}
