package io.millrace.server.queues;

import io.millrace.queues.InvalidRequestException;
import io.millrace.queues.StoreFullException;
import io.millrace.server.ServerException;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** An error: what is wrong, and the field at fault beside it. Of the input unless it says else. */
final class Refusal extends ServerException {
  private static final long serialVersionUID = 1;

  private final transient ObjectNode body;
  private transient @Nullable ObjectNode done;
  private boolean full;
  private boolean severe;

  private Refusal(String message, ObjectNode body) {
    super(message);
    this.body = body;
  }

  static Refusal of(String message) {
    return new Refusal(message, Form.object().put("error", message));
  }

  static Refusal of(String message, String field, @Nullable JsonNode value) {
    Refusal refusal = of(message);
    refusal.body.set(field, value);
    return refusal;
  }

  static Refusal of(String message, String field, String value) {
    Refusal refusal = of(message);
    refusal.body.put(field, value);
    return refusal;
  }

  /** With the result object of an operation that did nothing. */
  Refusal with(ObjectNode result) {
    body.setAll(result);
    return this;
  }

  /** Answered with 400 also where version 3 answers errors with 200. */
  Refusal severe() {
    severe = true;
    return this;
  }

  boolean isSevere() {
    return severe;
  }

  /** The store took some of what was asked for, with this result, and refused the rest. */
  static Refusal after(ObjectNode done, InvalidRequestException e) {
    Refusal refusal = of(String.valueOf(e.getMessage())).with(done);
    refusal.done = done;
    refusal.full = e instanceof StoreFullException;
    return refusal;
  }

  /** Whether nothing is wrong with the input, and the store has no room for it now. */
  boolean isFull() {
    return full;
  }

  /** The result of what was done before; null for nothing. */
  @Nullable ObjectNode done() {
    return done;
  }

  ObjectNode body() {
    return body;
  }

  String message() {
    return String.valueOf(getMessage());
  }

  @Override
  public synchronized Throwable fillInStackTrace() {
    return this;
  }
}
