package io.millrace.server.queues;

import io.millrace.server.ServerException;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** An input error: what is wrong, and the field at fault beside it. */
final class Refusal extends ServerException {
  private static final long serialVersionUID = 1;

  private final transient ObjectNode body;

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
