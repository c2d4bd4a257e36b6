package io.millrace.queues;

/**
 * The store has no room for what a request would add. Nothing is wrong with the request: it can be
 * repeated when there is room again. What shrinks the store goes on meanwhile.
 */
public final class StoreFullException extends InvalidRequestException {
  private static final long serialVersionUID = 1;

  StoreFullException(String message) {
    super("", message);
  }
}
