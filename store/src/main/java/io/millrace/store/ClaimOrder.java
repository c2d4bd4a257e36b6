package io.millrace.store;

/** Which of a group's waiting tasks a claim takes. */
public enum ClaimOrder {
  /** Any, so that a task that no worker can finish does not block the others. */
  RANDOM,
  /** The one that became available first; of several at the same time, the smallest origin. */
  OLDEST,
  /** The one that became available last; of several at the same time, the largest origin. */
  NEWEST
}
