package io.millrace.client.jobs;

import org.jspecify.annotations.Nullable;

/** What waits to be said to the server. */
sealed interface Outgoing {
  /** A message as it is. */
  record Text(String text) implements Outgoing {}

  /** The status, as it is when it is said: then all results before it have gone out. */
  record Status() implements Outgoing {}

  /** How far a job is; a later one takes the place of one that still waits. */
  record Progress(JobContext job, @Nullable Double percent, @Nullable String info)
      implements Outgoing {}

  /** How a job ended. */
  sealed interface Outcome extends Outgoing {
    InHand job();
  }

  /** It has a result. */
  record Result(InHand job, JobResult.Ready bytes) implements Outcome {}

  /** It failed, or was taken back. */
  record Failed(InHand job, @Nullable String info, @Nullable String logs) implements Outcome {}

  /** The last word. */
  record Close(String reason) implements Outgoing {}
}
