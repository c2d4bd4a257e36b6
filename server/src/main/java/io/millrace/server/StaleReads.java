package io.millrace.server;

import io.millrace.http.Request;
import io.millrace.http.Route;
import io.millrace.http.message.HttpProblem;
import io.millrace.http.message.Response;
import io.millrace.store.Position;
import io.millrace.store.TaskStore;
import io.millrace.wire.Responses;
import io.millrace.work.policy.TimeText;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A read whose caller accepts an answer of some age: {@code ?stale=2s}. A standby may answer it; a
 * server that leads, or shares its store with nobody, answers it as any other.
 *
 * @param bound the greatest age
 * @param after a position that the answer must have, such as that of the caller's last answer; null
 *     for none
 */
record StaleReads(Duration bound, @Nullable Position after) {
  /** The greatest age that a caller can accept. */
  static final Duration LONGEST = Duration.ofMinutes(1);

  /**
   * What a request accepts.
   *
   * @return null if it does not say, and so accepts no age
   * @throws HttpProblem 400 if what it says is malformed, or too much
   */
  static @Nullable StaleReads of(Request request) {
    String text = request.query().text(Route.STALE).orElse(null);
    if (text == null) {
      return null;
    }
    Duration bound =
        TimeText.parse(text)
            .filter(given -> given.compareTo(LONGEST) <= 0)
            .orElseThrow(() ->
                HttpProblem.malformed(
                    "the parameter stale must be a duration of up to %ds, for example 2s, not \"%s\""
                        .formatted(LONGEST.toSeconds(), text)));
    String position = request.header(Responses.POSITION_HEADER).orElse(null);
    try {
      return new StaleReads(bound, position == null ? null : Position.parse(position));
    } catch (IllegalArgumentException _) {
      throw HttpProblem.malformed(
          "the header %s must be that of an earlier answer, not \"%s\""
              .formatted(Responses.POSITION_HEADER, position));
    }
  }

  /** The route of a server that leads a store: its answers are of age zero. */
  static Route atLeader(Route route, TaskStore store) {
    if (!route.stale()) {
      return route;
    }
    return route.withHandler(request -> {
      boolean asked = of(request) != null;
      Response response = route.handler().handle(request);
      return asked
          ? with(response, Duration.ZERO, () -> store.tasks(List.of()).position())
          : response;
    });
  }

  /**
   * An answer with its age and position.
   *
   * @param position the position, unless the answer has it already: of when it was read, or later
   */
  static Response with(Response response, Duration age, Supplier<@Nullable Position> position) {
    Map<String, String> headers = new LinkedHashMap<>();
    // Rounded up, so that it is never younger than it says.
    headers.put(Responses.STALENESS_HEADER, Long.toString(age.plusNanos(999_999).toMillis()));
    if (!response.headers().containsKey(Responses.POSITION_HEADER)) {
      Position seen = position.get();
      if (seen != null) {
        headers.put(Responses.POSITION_HEADER, seen.toString());
      }
    }
    return Response.withHeaders(response, headers);
  }
}
