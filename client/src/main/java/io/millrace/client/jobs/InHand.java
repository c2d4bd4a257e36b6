package io.millrace.client.jobs;

/**
 * A job that came over a connection and whose end has not gone back over it. A class, since two
 * attempts at one job are two.
 */
final class InHand {
  private final JobContext context;
  private final Spool payload = new Spool();

  InHand(JobContext context) {
    this.context = context;
  }

  JobContext context() {
    return context;
  }

  Spool payload() {
    return payload;
  }

  /** Its work is in vain. */
  void cancel(String reason) {
    payload.breakOff(reason);
    context.cancel();
  }
}
