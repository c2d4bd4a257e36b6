package io.millrace.store;

/** What a task is at a moment of store time. */
public enum TaskState {
  /** Anybody may claim it. */
  WAITING,
  /** Its time has not come and nobody owns it. */
  DELAYED,
  /** Its owner alone may change it until its time comes. */
  CLAIMED
}
