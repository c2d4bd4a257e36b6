package io.millrace.jobs.worker;

import io.millrace.jobs.JobId;
import org.jspecify.annotations.Nullable;

/** A text message that a worker sends, by its code in the protocol. */
sealed interface WorkerMessage {
  /** Code 0: who it is. */
  record Register(Registration registration) implements WorkerMessage {}

  /** Code 1: whether it is ready, or busy. */
  record Status(boolean ready) implements WorkerMessage {}

  /**
   * Code 3: how far a job is.
   *
   * @param job which one; null for the only one
   * @param percent from 0 to 100; null when only {@code info} is given
   * @param info for people; null when only {@code percent} is given
   */
  record Advanced(@Nullable JobId job, @Nullable Double percent, @Nullable String info)
      implements WorkerMessage {}

  /**
   * Code 4: a job failed.
   *
   * @param job which one; null for the only one
   * @param info what went wrong; null for no word
   * @param logs details; null for none
   */
  record Failed(@Nullable JobId job, @Nullable String info, @Nullable String logs)
      implements WorkerMessage {}

  /** Something that this server does not know, and ignores. */
  record Unknown(String what) implements WorkerMessage {}

  /**
   * Code 6, only from workers that take several jobs: the next binary message is the result of this
   * one.
   */
  record ResultFollows(JobId job) implements WorkerMessage {}
}
