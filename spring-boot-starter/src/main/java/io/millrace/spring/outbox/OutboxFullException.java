package io.millrace.spring.outbox;

/** The outbox holds as many jobs as it may: the server has been out of reach for long. */
public final class OutboxFullException extends RuntimeException {
  private static final long serialVersionUID = 1;

  OutboxFullException(long waiting, long most) {
    super(
        "the outbox holds "
            + waiting
            + " jobs that were not sent yet, and millrace.outbox.max-rows is "
            + most);
  }
}
