package io.millrace.work.trace;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Makes the spans of pieces of work of one kind from the times that are stored with them, once an
 * attempt or the work has ended. Work whose trace is not sampled has none. For one thread.
 */
public final class SpanRecorder {
  /** How many pieces of work that wait for another attempt are remembered. */
  private static final int MOST_WAITING = 10_000;

  private final String word;
  private final Consumer<Span> spans;

  /** Since when work waits that has had an attempt. */
  private final Map<String, Long> waiting = new LinkedHashMap<>();

  /**
   * Spans of one kind of work.
   *
   * @param word the kind: {@code task}, {@code job} or {@code node}
   */
  public SpanRecorder(String word, Consumer<Span> spans) {
    this.word = word;
    this.spans = spans;
  }

  /**
   * A piece of work.
   *
   * @param id its id
   * @param destination its queue or type
   * @param trace stored with it: the span to which it belongs
   * @param createdMillis when it was submitted, in milliseconds since the epoch
   */
  public record Work(String id, String destination, TraceContext trace, long createdMillis) {}

  /**
   * An attempt that has ended.
   *
   * @param token its fencing token or number, as in {@link TraceContext#attempt}
   * @param first whether it was the first one
   * @param startedMillis when it began, in milliseconds since the epoch
   * @param endedMillis when it ended
   * @param host the execution node or worker; null if there was none
   */
  public record Attempt(
      long token, boolean first, long startedMillis, long endedMillis, @Nullable String host) {}

  /**
   * How something ended.
   *
   * @param word for example {@code succeeded}
   * @param error the class of the failure; null if it has not failed
   */
  public record End(String word, @Nullable String error) {
    /** A success. */
    public static End succeeded(String word) {
      return new End(word, null);
    }

    /** A failure, the class of which is how it ended. */
    public static End failed(String word) {
      return new End(word, word);
    }
  }

  /** The name under which processes derive ids of spans. */
  public static String name(String word, String id) {
    return word + "/" + id;
  }

  /** Notes that a piece of work waits for another attempt since this time. */
  public void waits(Work work, long sinceMillis) {
    if (!work.trace().sampled()) {
      return;
    }
    waiting.put(work.id(), sinceMillis);
    if (waiting.size() > MOST_WAITING) {
      waiting.remove(waiting.keySet().iterator().next());
    }
  }

  /** An attempt has ended: records it, and how long it was waited for if that is known. */
  public void attempted(Work work, Attempt attempt, End end) {
    Long again = waiting.remove(work.id());
    if (!work.trace().sampled()) {
      return;
    }
    String name = name(word, work.id());
    String parent = work.trace().work(name).spanId();
    Map<String, Object> attributes = attributes(work);
    attributes.put("millrace.attempt", attempt.token());
    Long since = again == null && attempt.first() ? Long.valueOf(work.createdMillis()) : again;
    if (since != null) {
      spans.accept(
          new Span(
              work.trace().waiting(name, attempt.token()),
              parent,
              "wait " + work.destination(),
              Span.Kind.INTERNAL,
              since,
              attempt.startedMillis(),
              null,
              new LinkedHashMap<>(attributes)));
    }
    attributes.put("messaging.operation.name", "attempt");
    attributes.put("messaging.operation.type", "process");
    attributes.put("millrace.outcome", end.word());
    if (attempt.host() != null) {
      attributes.put("millrace.host", attempt.host());
    }
    spans.accept(
        new Span(
            work.trace().attempt(name, attempt.token()),
            parent,
            "attempt " + work.destination(),
            Span.Kind.CONSUMER,
            attempt.startedMillis(),
            attempt.endedMillis(),
            end.error(),
            attributes));
  }

  /** A piece of work has ended: records all of it. */
  public void ended(Work work, long endedMillis, End end) {
    waiting.remove(work.id());
    if (!work.trace().sampled()) {
      return;
    }
    Map<String, Object> attributes = attributes(work);
    attributes.put("millrace.outcome", end.word());
    spans.accept(
        new Span(
            work.trace().work(name(word, work.id())),
            work.trace().spanId(),
            word + " " + work.destination(),
            Span.Kind.INTERNAL,
            work.createdMillis(),
            endedMillis,
            end.error(),
            attributes));
  }

  private Map<String, Object> attributes(Work work) {
    Map<String, Object> attributes = new LinkedHashMap<>();
    attributes.put("messaging.system", "millrace");
    attributes.put("messaging.destination.name", work.destination());
    attributes.put("messaging.message.id", work.id());
    attributes.put("millrace.kind", word);
    return attributes;
  }
}
