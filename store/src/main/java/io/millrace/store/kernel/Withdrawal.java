package io.millrace.store.kernel;

/** The word that the asker of a waiting claim is gone. */
final class Withdrawal extends Mailbox.Message {
  private final Submission submission;

  Withdrawal(Submission submission) {
    this.submission = submission;
  }

  Submission submission() {
    return submission;
  }

  @Override
  long sizeBytes() {
    return Mailbox.MESSAGE_BYTES;
  }

  /** There is at most one for each claim that waits, and it makes room. */
  @Override
  boolean isUrgent() {
    return true;
  }

  @Override
  void reject(RuntimeException why) {
    // Whoever withdrew waits for nothing.
  }
}
