package io.millrace.server.queues;

import io.millrace.http.json.Json;
import io.millrace.http.message.ErrorForm;
import io.millrace.http.message.HttpProblem;
import io.millrace.http.message.Response;
import io.millrace.queues.QueuesException.InvalidRequestException;
import io.millrace.queues.QueuesException.StoreFullException;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** An error in the input of a request, with the field that is wrong. */
final class Refusal extends HttpProblem {
  /** Errors as objects: the message as {@code error}, with the field that is wrong. */
  static final ErrorForm OBJECT = form("DciError", Refusal::body);

  /** Errors of a change in version 3: the same with {@code success}. */
  static final ErrorForm UNSUCCESSFUL =
      form("DciError", refusal -> refusal.body().put("success", 0));

  /** Errors of version 3: {@code [0, error]}, with the result of what was done before. */
  static final ErrorForm PAIR = form("DciPair", Refusal::pair);

  /** The same with status 200, except for severe errors, as in version 3. */
  static final ErrorForm PAIR_AS_SUCCESS =
      ErrorForm.named(
          "DciPair",
          problem ->
              problem instanceof Refusal refusal && !refusal.severe && refusal.done == null
                  ? Json.response(200, refusal.pair())
                  : PAIR.response(problem));

  private final transient ObjectNode body;
  private final transient @Nullable ObjectNode done;
  private boolean severe;

  private Refusal(int status, ObjectNode body, @Nullable ObjectNode done) {
    super(
        status,
        body.path("error").asString(),
        status == 503 ? Map.of("Retry-After", "1") : Map.of());
    this.body = body;
    this.done = done;
  }

  /** The body of a response. */
  private interface Body {
    JsonNode of(Refusal refusal);
  }

  /** The form of refusals; other problems have the general form. */
  private static ErrorForm form(String schema, Body body) {
    return ErrorForm.named(
        schema,
        problem ->
            problem instanceof Refusal refusal
                ? new Response.Whole(
                    refusal.status(),
                    Response.JSON,
                    refusal.headers(),
                    Json.MAPPER.writeValueAsBytes(body.of(refusal)))
                : ErrorForm.PLAIN.response(problem));
  }

  static Refusal of(String message) {
    return new Refusal(400, Json.object().put("error", message), null);
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

  /**
   * The refusal for an error that a registry has found in this input; null if the input was not
   * read.
   */
  static Refusal of(InvalidRequestException e, @Nullable Input input) {
    String message = String.valueOf(e.getMessage());
    JsonNode value = input == null ? null : input.get(e.field());
    return value == null ? of(message) : of(message, e.field(), value);
  }

  /** The store has accepted a part of the request, with this result, and refused the rest. */
  static Refusal after(ObjectNode done, InvalidRequestException e) {
    ObjectNode body = Json.object().put("error", String.valueOf(e.getMessage())).setAll(done);
    return new Refusal(e instanceof StoreFullException ? 503 : 400, body, done);
  }

  /** The same with the result object of an operation that did nothing. */
  Refusal with(ObjectNode result) {
    body.setAll(result);
    return this;
  }

  /** The same, answered with 400 even on a route whose errors have status 200. */
  Refusal severe() {
    severe = true;
    return this;
  }

  ObjectNode body() {
    return body;
  }

  private ArrayNode pair() {
    ArrayNode pair = Json.array().add(0).add(message());
    return done == null ? pair : pair.add(done);
  }
}
