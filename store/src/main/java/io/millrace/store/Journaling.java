package io.millrace.store;

/** When a store answers. */
public enum Journaling {
  /** Only once everything that the answer rests on is on disk. */
  STRICT,
  /**
   * At once; the disk follows. A crash may lose the newest commits: at most what was handed over
   * within one sync of the disk, and never more than {@link Limits#unsyncedBytes}, beyond which
   * answers wait.
   */
  OPPORTUNISTIC
}
