package io.millrace.work.trace;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Something that has taken a time, as a trace shows it.
 *
 * @param context the trace, and the id of this span
 * @param parentId the id of the span to which it belongs; empty for the first one of a trace
 * @param name a name of few values: what is done and to which queue, type or route
 * @param kind its part in communication
 * @param startMillis when it began, in milliseconds since the epoch
 * @param endMillis when it ended, not before that
 * @param error the class of the failure; null for none
 * @param attributes texts and numbers ({@link Long}), by the names of OpenTelemetry's semantic
 *     conventions if there is one; never params, payloads or secrets
 */
public record Span(
    TraceContext context,
    String parentId,
    String name,
    Kind kind,
    long startMillis,
    long endMillis,
    @Nullable String error,
    Map<String, Object> attributes) {
  private static final int MAX_CHARACTERS = 256;

  /** Cuts texts of more than 256 characters. */
  public Span {
    endMillis = Math.max(startMillis, endMillis);
    name = cut(name);
    error = error == null ? null : cut(error);
    attributes.replaceAll((_, value) -> value instanceof String text ? cut(text) : value);
    attributes = Map.copyOf(attributes);
  }

  /** The part of a span in communication. */
  public enum Kind {
    /** It happens inside of the server. */
    INTERNAL,
    /** It answers a request. */
    SERVER,
    /** It processes work that somebody else has submitted. */
    CONSUMER
  }

  private static String cut(String text) {
    return text.length() <= MAX_CHARACTERS ? text : text.substring(0, MAX_CHARACTERS);
  }
}
